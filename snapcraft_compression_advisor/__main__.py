"""``python -m snapcraft_compression_advisor`` is the console script."""

import sys

from snapcraft_compression_advisor.cli.main import main

sys.exit(main())

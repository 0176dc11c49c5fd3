"""``python -m snapcraft_compression_advisor`` is the console script."""

from snapcraft_compression_advisor.cli.main import run

run()

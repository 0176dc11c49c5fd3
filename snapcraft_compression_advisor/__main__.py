"""``python -m snapcraft_compression_advisor`` is the console script."""

from .cli.main import run

run()

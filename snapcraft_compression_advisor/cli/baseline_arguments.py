"""The options of a lint run's baseline."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from snapcraft_compression_advisor.core.errors import UsageError

if TYPE_CHECKING:
    import argparse


def add_baseline_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that ``open_baseline`` and ``keep_baseline`` read."""
    parser.add_argument(
        "--baseline",
        metavar="FILE",
        type=Path,
        help="a JSON report of an earlier run, or the build before (a .snap): only "
        "what is new or worse counts, and regressions are looked for (default: none)",
    )
    parser.add_argument(
        "--write-baseline",
        metavar="FILE",
        type=Path,
        help="write the JSON report into this file, for --baseline; what it holds "
        "doesn't make this run fail (default: none)",
    )


def check_baseline_options(parsed_args: argparse.Namespace) -> None:
    """Refuse options that contradict each other.

    :raises UsageError: likewise.
    """
    given = parsed_args.baseline or parsed_args.write_baseline
    if given and parsed_args.diff:
        message = "--diff shows fixes and knows no baseline"
        raise UsageError(message, resolution="Leave one of the two out.")

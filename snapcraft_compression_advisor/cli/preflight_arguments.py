"""Arguments of lint that go with the store: a repack, and the previous snap."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from snapcraft_compression_advisor.core.errors import UsageError
from snapcraft_compression_advisor.lint.rules.declared import COMPRESSION_CHANGED
from snapcraft_compression_advisor.lint.rules.preflight_contents import RESQUASH_DIFFERS
from snapcraft_compression_advisor.lint.select import make_selection
from snapcraft_compression_advisor.preflight.previous import read_previous

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping

    from snapcraft_compression_advisor.lint.lint import LintRequest


def add_preflight_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that :func:`with_preflight` reads."""
    parser.add_argument(
        "--resquash",
        action="store_true",
        help="unpack built snaps, pack them again as the store's review does, and say "
        "what differs: takes as long as packing, and room for the files in TMPDIR",
    )
    parser.add_argument(
        "--previous",
        metavar="SNAP",
        action="append",
        type=Path,
        default=[],
        help="the snap that was published before, to compare the compression with; "
        "for several snaps may be given again (default: none)",
    )


def with_preflight(
    requests: Mapping[Path, LintRequest], parsed_args: argparse.Namespace
) -> dict[Path, LintRequest]:
    """Return the requests of payloads with what the arguments ask for.

    :raises UsageError: where they ask for a rule that isn't checked.
    :raises AdvisorError: where a previous snap can't be read or is none.
    """
    selections = [make_selection(request.policy) for request in requests.values()]
    for option, is_given, rule in (
        ("--resquash", parsed_args.resquash, RESQUASH_DIFFERS.id),
        ("--previous", bool(parsed_args.previous), COMPRESSION_CHANGED.id),
    ):
        if is_given and not any(each.wants(rule) for each in selections):
            message = f"{option} is given, but its rule {rule} isn't checked"
            raise UsageError(message, resolution=f"Leave {option} out, or select it.")
    previous = tuple(map(read_previous, dict.fromkeys(parsed_args.previous)))
    return {
        path: replace(request, resquash=parsed_args.resquash, previous=previous)
        for path, request in requests.items()
    }

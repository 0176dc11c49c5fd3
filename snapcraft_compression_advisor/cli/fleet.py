"""``compression-advisor fleet``: many snaps, as rows of one data set."""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import ClassVar

from ..core.errors import NoInputError, UsageError
from ..core.printable import printable
from ..core.terminal import emit
from ..fleet import imported
from ..fleet.bounded import Limits
from ..fleet.dataset import Dataset
from ..fleet.engines import Engine, Pool, dask_rows
from ..fleet.run import Summary, run_fleet, settings_digest
from ..fleet.sources import find_snaps
from ..fleet.task import FleetRequest
from .arguments import Arguments, Command, details, whole_number
from .policy_options import RULE_ARGUMENTS, lint_request, rule_options

_LIMITS = Limits()
_OF_THE_POLICY = ("--policy FILE", "--device NAME|FILE…", "--select RULES…")
_OF_ONE_SNAP: Mapping[str, object] = {"app": [], "launch_profile": [], "fail_on": None}
"""Options of lint's that say something of one snap, left out here."""


class FleetCommand(Command):
    """Analyse many snaps."""

    name = "fleet"
    overview = (
        "Analyse built snaps, several at once, and add a row for each to a data set: "
        "identity, sizes by codec, seconds of launches, advice and findings. The data "
        "set is a directory of Parquet files. A snap that can't be analysed gets a row "
        "with its error.\n\n"
        "Rows are keyed by the image's digest and the advisor's version. A later run "
        "analyses only what is new, and one that was interrupted is continued by "
        "running it again. Two runs may add to one data set.\n\n"
        "Of snaps in object stores and on web servers, only the tables and the blocks "
        "that are examined are read.\n\n"
        "It needs the extra [fleet]."
    )

    arguments: ClassVar[Arguments] = {
        "SOURCE…": ".snap and .comp files, directories with such files in or below "
        "them, quoted patterns, addresses of these (s3://, gs://, https://), or .txt "
        "files with a source a line",
        "-o, --output DATASET": details(
            "directory of the data set; made if it doesn't exist (required)",
            required=True,
            type=Path,
        ),
        **{name: RULE_ARGUMENTS[name] for name in _OF_THE_POLICY},
        "--ignore RULES…": RULE_ARGUMENTS["--ignore RULES…"],
        "--base SNAP…": "a base snap; each snap uses its own, to follow launches into; "
        "may be repeated (default: none)",
        "--content SNAP…": "a content snap that provides libraries, likewise; may be "
        "repeated (default: none)",
        "--launch-profiles DIR": details(
            "directory of launch profiles, as 'record' writes them: NAME.json or "
            "NAME.APP.json for the snap NAME; launches of other apps are guessed "
            "(default: none)",
            type=Path,
        ),
        "--processes COUNT": details(
            "worker processes (default: one for each processor)",
            type=whole_number(least=1, most=1024),
        ),
        "--workers COUNT": details(
            "start a Dask cluster of this number of workers on this machine, and print "
            "where its dashboard is (default: none)",
            type=whole_number(least=1, most=1024),
        ),
        "--scheduler ADDRESS": "run on the Dask cluster of this scheduler, such as "
        "tcp://10.0.0.5:8786; its workers need the advisor, and the sources at the "
        "same paths (default: none)",
        "--time-limit SECONDS": details(
            "seconds that one snap may take; it then gets a row with that error "
            f"(default: {_LIMITS.seconds:g})",
            type=whole_number(least=1),
            default=int(_LIMITS.seconds),
        ),
        "--memory-limit MB": details(
            "memory that one snap may take, in MB, likewise "
            f"(default: {_LIMITS.memory_bytes // 10**6})",
            type=whole_number(least=16),
            default=_LIMITS.memory_bytes // 10**6,
        ),
        "--retry": "analyse snaps again whose row has an error",
    }

    def run(self, parsed_args: argparse.Namespace) -> None:
        """Add the rows and say what came of it."""
        imported("pyarrow.parquet")
        snaps = find_snaps(parsed_args.source)
        _check_folder(parsed_args.launch_profiles)
        options = rule_options(argparse.Namespace(**vars(parsed_args), **_OF_ONE_SNAP))
        request = FleetRequest(
            lint=lint_request(parsed_args.policy, options),
            bases=tuple(parsed_args.base),
            contents=tuple(parsed_args.content),
            launch_profiles=parsed_args.launch_profiles,
        )
        dataset = Dataset(
            parsed_args.output,
            settings=settings_digest(request, limit_s=parsed_args.time_limit),
            retries=parsed_args.retry,
        )
        limits = Limits(
            seconds=parsed_args.time_limit,
            memory_bytes=parsed_args.memory_limit * 10**6,
        )
        known = replace(request, known=dataset.digests())
        engine = _engine(parsed_args, known, limits)
        summary = run_fleet(snaps, dataset, engine, progress=emit.progress)
        emit.message(_told(summary, parsed_args.output))


def _engine(
    parsed_args: argparse.Namespace, request: FleetRequest, limits: Limits
) -> Engine:
    """Return where the snaps are analysed.

    :raises UsageError: where several places are named.
    """
    address, workers = parsed_args.scheduler, parsed_args.workers
    given = [each for each in (address, workers, parsed_args.processes) if each]
    if len(given) > 1:
        message = "--processes, --workers and --scheduler exclude each other"
        raise UsageError(message, resolution="Leave out all but one.")
    if not (address or workers):
        count = parsed_args.processes or len(os.sched_getaffinity(0))
        return Pool(request, limits, workers=count).rows
    return partial(
        dask_rows,
        request=request,
        limits=limits,
        address=address,
        workers=workers or 1,
        progress=lambda text: emit.progress(text, permanent=True),
    )


def _check_folder(folder: Path | None) -> None:
    if folder is not None and not folder.is_dir():
        message = f"{str(folder)!r} isn't a directory of launch profiles"
        raise NoInputError(message, resolution="Check its path.")


def _told(summary: Summary, output: Path) -> str:
    failed = f", {summary.failed:,} of them with an error" if summary.failed else ""
    return (
        f"{summary.found:,} snaps; {summary.added:,} new rows{failed}, "
        f"{summary.there:,} were there already.\nData set: {printable(str(output))}"
    )

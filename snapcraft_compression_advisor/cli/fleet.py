"""``compression-advisor fleet``: many snaps as one data set; its lint, query, page."""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import ClassVar, get_args

from ..core.errors import NoInputError
from ..core.files import replace_text
from ..core.terminal import emit, printable
from ..fleet import imported
from ..fleet.bounded import Limits, Pool
from ..fleet.dataset import Dataset, current_rows
from ..fleet.page import build_fleet_page
from ..fleet.page_lists import FleetSources
from ..fleet.query import FORMATS as ANSWER_FORMATS
from ..fleet.query import ask, render_answer
from ..fleet.reading import lint_report, read_fleet, read_weights
from ..fleet.run import run_fleet, settings_digest
from ..fleet.sources import find_snaps
from ..fleet.task import FleetRequest
from ..lint.baseline import Baseline, judge
from ..lint.lint import LintRequest
from ..lint.run import failing
from ..report.document import read_page
from ..report.lint_formats import FORMATS
from ..settings.parts import SeverityName
from .commands import (
    Arguments,
    Command,
    details,
    output_arguments,
    stack_arguments,
    whole_number,
)
from .lint import FINDINGS_STATUS
from .settings_options import RULE_ARGUMENTS, given_settings, read_settings
from .write import (
    cannot_write,
    check_outputs,
    check_page_name,
    note,
    print_page,
    write_findings,
    write_output,
)

_LIMITS = Limits()
_OF_THE_POLICY = (
    "--policy FILE", "--device NAME|FILE…", "--select RULES…", "--ignore RULES…",
)  # fmt: skip
_DATASET: Arguments = {"DATASET": "directory that 'fleet' made"}
_SINCE: Arguments = {
    "--since DATASET": "an earlier data set of the same snaps (default: none)"
}
_WHOLE = 100
_FEW_SNAPS = 100
"""Their reports take less than a minute."""
_UNSAFE = re.compile(r"[^A-Za-z0-9+.-]+")


class FleetCommand(Command):
    """Analyse many snaps."""

    name = "fleet"
    overview = (
        "Analyse built snaps, several at once, and add a row for each to a data set, a "
        "directory of Parquet files: identity, sizes by codec, seconds of launches, "
        "advice and findings, or an error. The same command continues a run that was "
        "interrupted, and analyses only what is new. It needs the extra [fleet]."
    )

    arguments: ClassVar[Arguments] = {
        "SOURCE…": ".snap and .comp files, directories with such files in or below "
        "them, quoted patterns, addresses of these (s3://, gs://, https://), or .txt "
        "files with a source a line",
        "-o, --output DATASET": details(
            "directory of the data set; made if it doesn't exist (required)",
            required=True,
        ),
        **{name: RULE_ARGUMENTS[name] for name in _OF_THE_POLICY},
        **stack_arguments("none"),
        "--launch-profiles DIR": "directory of launch profiles, as 'record' writes "
        "them: NAME.json or NAME.APP.json for the snap NAME; other launches are "
        "guessed (default: none)",
        "--processes COUNT": details(
            "worker processes (default: one for each processor)",
            type=whole_number(least=1, most=1024),
        ),
        "--time-limit SECONDS": details(
            "seconds that one snap may take; it then gets a row with that error",
            type=whole_number(least=1),
            default=int(_LIMITS.seconds),
        ),
        "--memory-limit MB": details(
            "memory that one snap may take; it then gets a row with that error",
            type=whole_number(least=16),
            default=_LIMITS.memory_bytes // 10**6,
        ),
        "--retry": "analyse snaps again whose row has an error",
    }

    def run(self, parsed_args: argparse.Namespace) -> None:
        """Add the rows and say what came of it."""
        imported("pyarrow.parquet")
        snaps = find_snaps(parsed_args.source)
        folder: Path | None = parsed_args.launch_profiles
        if folder is not None and not folder.is_dir():
            message = f"{str(folder)!r} isn't a directory of launch profiles"
            raise NoInputError(message, resolution="Check its path.")
        request = FleetRequest(
            lint=LintRequest(
                loaded=read_settings(parsed_args.policy, given_settings(parsed_args))
            ),
            bases=tuple(parsed_args.base),
            contents=tuple(parsed_args.content),
            launch_profiles=folder,
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
        pool = Pool(
            replace(request, known=dataset.digests()),
            limits,
            workers=parsed_args.processes or len(os.sched_getaffinity(0)),
        )
        summary = run_fleet(snaps, dataset, pool.rows, progress=emit.progress)
        failed = f", {summary.failed:,} of them with an error" if summary.failed else ""
        emit.message(
            f"{summary.found:,} snaps; {summary.added:,} new rows{failed}, "
            f"{summary.there:,} were there already.\n"
            f"Data set: {printable(str(parsed_args.output))}"
        )


class FleetLintCommand(Command):
    """Check a data set."""

    name = "fleet lint"
    overview = (
        "Print the findings of all snaps of a data set. The exit status is 1 if more "
        "snaps than --max-share have a finding as severe as --fail-on. Budgets are "
        "those of the policy that 'fleet' was given. A snap that couldn't be analysed "
        "counts as one with such a finding.\n\n"
        "With --since, only findings count that are new or worse since an earlier data "
        "set. It needs the extra [fleet]."
    )

    arguments: ClassVar[Arguments] = {
        **_DATASET,
        "--fail-on": details(
            "the least severe finding that counts",
            choices=get_args(SeverityName),
            default="error",
        ),
        "--max-share PERCENT": details(
            "share of the snaps that may have such a finding",
            type=whole_number(least=0, most=_WHOLE),
            default=0,
        ),
        **_SINCE,
        **output_arguments(FORMATS),
    }

    def run(self, parsed_args: argparse.Namespace) -> int:
        """Print the findings, and the number of snaps with one that counts."""
        check_outputs(parsed_args.output)
        report = lint_report(parsed_args.dataset, parsed_args.fail_on)
        if parsed_args.since is not None:
            before = lint_report(parsed_args.since, parsed_args.fail_on)
            report = judge(
                report, Baseline(where=str(parsed_args.since), report=before)
            )
        write_findings(parsed_args.format, report, parsed_args.output)
        bad = sum(bool(each.error or failing([each])) for each in report.payloads)
        share = bad / len(report.payloads) * _WHOLE
        most = parsed_args.max_share
        limits = f"fail-on: {parsed_args.fail_on}, max-share: {most}%"
        word = "failed" if share > most else "passed"
        note(f"{word}: {bad:,} of {len(report.payloads):,} snaps ({limits})")
        return FINDINGS_STATUS if share > most else os.EX_OK


class FleetQueryCommand(Command):
    """Query a data set."""

    name = "fleet query"
    overview = (
        "Run SQL on a data set, by DuckDB. The view 'snaps' has a row for each snap, "
        "'launches' one for each app and device of it, 'findings' one for each of its "
        "findings. With --since, 'before' is the earlier data set. It needs the extra "
        "[fleet]."
    )

    arguments: ClassVar[Arguments] = {
        **_DATASET,
        "SQL": "one statement, such as 'SELECT codec, count(*) FROM snaps GROUP BY "
        "codec'",
        **_SINCE,
        **output_arguments(ANSWER_FORMATS, text="the answer"),
    }

    def run(self, parsed_args: argparse.Namespace) -> None:
        """Print the answer."""
        check_outputs(parsed_args.output)
        answer = ask(parsed_args.dataset, parsed_args.sql, before=parsed_args.since)
        write_output(render_answer(answer, parsed_args.format), parsed_args.output)


class FleetReportCommand(Command):
    """Make a fleet's page."""

    name = "fleet report"
    overview = (
        "Write a page on all snaps of a data set: which should change their "
        "compression, ranked by gain, distributions, findings. The snaps' "
        f"own reports are in a directory beside it: of more than {_FEW_SNAPS} snaps, "
        "of those that should change. It needs the extras [fleet] and, for .html, "
        "[report]."
    )

    arguments: ClassVar[Arguments] = {
        **_DATASET,
        "-o, --output FILE": details(
            "write the page to this file: .html (self-contained) or .md (required)",
            required=True,
        ),
        "--weights FILE": "a CSV with columns name and weight, such as devices or "
        "installs: gains are ranked by their product with it (default: all snaps count "
        "alike)",
        **_SINCE,
    }

    def run(self, parsed_args: argparse.Namespace) -> None:
        """Write the page and those that it links to."""
        output: Path = parsed_args.output
        check_page_name(output, "fleet")
        check_outputs(output)
        weights, since = parsed_args.weights, parsed_args.since
        fleet = read_fleet(parsed_args.dataset)
        few = len(fleet.snaps) <= _FEW_SNAPS
        sources = FleetSources(
            fleet=fleet,
            before=None if since is None else read_fleet(since),
            weights=None if weights is None else read_weights(weights),
            links=dict(_own_pages(parsed_args.dataset, output, all_of_them=few)),
        )
        write_output(print_page(build_fleet_page(sources), output), output)


def _own_pages(
    root: Path, output: Path, *, all_of_them: bool
) -> Iterator[tuple[str, str]]:
    """Write the snaps' own reports and yield where each is, by its digest."""
    folder = output.with_name(f"{output.stem}-snaps")
    columns = ["name", "verdict", "page"]
    for row in current_rows(root, columns):
        if row["page"] is None or not (all_of_them or row["verdict"] == "change"):
            continue
        stem = f"{row['name']}-{row['digest'].partition(':')[2][:12]}"
        page = folder / f"{_UNSAFE.sub('_', stem).lstrip('.')}{output.suffix}"
        emit.progress(f"Report of {row['name']}")
        text = print_page(read_page(row["page"]), page)
        try:
            folder.mkdir(exist_ok=True)
            replace_text(page, text, mode=0o644)
        except OSError as error:
            raise cannot_write(page, error) from error
        yield row["digest"], f"{folder.name}/{page.name}"

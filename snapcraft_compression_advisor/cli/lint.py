"""``compression-advisor lint``: findings on prime directories and built snaps."""

from __future__ import annotations

import argparse
import os
import sys
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from craft_cli import BaseCommand

from snapcraft_compression_advisor import __version__
from snapcraft_compression_advisor.cli.baseline_arguments import (
    add_baseline_arguments,
    check_baseline_options,
)
from snapcraft_compression_advisor.cli.lint_formats import (
    JUDGED_RENDERERS,
    RENDERERS,
    render_text,
    render_text_judged,
)
from snapcraft_compression_advisor.cli.lint_policy import (
    add_policy_arguments,
    chosen_request,
)
from snapcraft_compression_advisor.cli.lint_run import lint_all
from snapcraft_compression_advisor.cli.preflight_arguments import (
    add_preflight_arguments,
    with_preflight,
)
from snapcraft_compression_advisor.cli.write import write_output
from snapcraft_compression_advisor.errors import UsageError
from snapcraft_compression_advisor.output.colour import wants_colour
from snapcraft_compression_advisor.payload.find_payload import (
    find_payload,
    named_payloads,
)
from snapcraft_compression_advisor.payload.source import open_payload
from snapcraft_compression_advisor.rules.finding import LintReport
from snapcraft_compression_advisor.rules.run import at_least

if TYPE_CHECKING:
    from collections.abc import Sequence

    from snapcraft_compression_advisor.cli.baseline import OpenBaseline
    from snapcraft_compression_advisor.cli.lint_run import Outcome
    from snapcraft_compression_advisor.payload.source import Payload
    from snapcraft_compression_advisor.rules.baseline import JudgedReport
    from snapcraft_compression_advisor.rules.finding import Severity
    from snapcraft_compression_advisor.rules.lint import LintRequest

FINDINGS_STATUS = 1
"""Exit status where there are findings; errors have those of sysexits, 64 and up."""


class LintCommand(BaseCommand):
    """Check rules and budgets."""

    name = "lint"
    common = True
    help_msg = "Look for what makes prime directories or built snaps slow or large"
    overview = (
        "Check the rules and the project's budgets on prime directories or built "
        "snaps, and print what was found. 'rule' explains the rules.\n\n"
        "The policy is compression-advisor.yaml here, unless --policy names another. "
        "The project is --project, else the one beside the payload if it has the "
        "snap's name; its 'lint: ignore:' counts.\n\n"
        "The exit status is 0 where nothing is as severe as --fail-on, 1 where "
        "something is, and 64 or more for an error. A payload that can't be linted "
        "doesn't stop the others: its error is in the report, and the exit status is "
        "that of the first such error, whatever was found.\n\n"
        "With --baseline, only findings that are new or worse count."
    )

    def fill_parser(self, parser: argparse.ArgumentParser) -> None:
        """Add the command's arguments."""
        parser.add_argument(
            "paths",
            metavar="PATH",
            nargs="*",
            type=Path,
            help="prime directories, .snap or .comp files, or directories of such "
            "files, some linted at once (default: 'prime' here, else the one .snap "
            "here)",
        )
        add_policy_arguments(parser)
        parser.add_argument(
            "--project",
            metavar="PROJECT_DIR",
            type=Path,
            help="the project of the payloads (default: see above)",
        )
        for option, what in (
            ("--base", "the base snap; of several, each payload takes its own"),
            ("--content", "a content snap that brings libraries"),
        ):
            parser.add_argument(
                option,
                metavar="SNAP",
                action="append",
                type=Path,
                default=[],
                help=f"{what}, or its directory, to compare libraries with; may be "
                "given again",
            )
        add_preflight_arguments(parser)
        add_baseline_arguments(parser)
        _add_output_arguments(parser)

    def run(self, parsed_args: argparse.Namespace) -> int | None:
        """Print the findings, and fix what is to be fixed."""
        _check_options(parsed_args)
        check_baseline_options(parsed_args)
        paths = named_payloads(parsed_args.paths or [find_payload(Path())])
        with ExitStack() as suppliers:
            request = replace(
                with_preflight(chosen_request(parsed_args), parsed_args),
                bases=_opened(parsed_args.base, suppliers),
                content=_opened(parsed_args.content, suppliers),
            )
            baseline = _baseline(parsed_args, request, paths, until=suppliers)
            if baseline is not None:
                request = replace(request, baseline=baseline.sources)
            outcomes = lint_all(paths, request, project_dir=parsed_args.project)
        report = LintReport(
            version=__version__, payloads=tuple(each.linted for each in outcomes)
        )
        fail_on = request.policy.fail_on
        if parsed_args.diff:
            write_output(_fixes(report), parsed_args.output)
        else:
            if parsed_args.fix:
                report = _fixed(report)
            judged = None if baseline is None else _judged(report, baseline)
            if parsed_args.write_baseline is not None:
                _keep(report, parsed_args.write_baseline)
            write_output(
                _rendered(report, judged, fail_on, parsed_args), parsed_args.output
            )
            for name, path in parsed_args.also:
                write_output(_in_format(name, report, judged, fail_on), path)
            if judged is not None:
                report = judged.counting()
        status = _status(outcomes, report, fail_on)
        kept = parsed_args.write_baseline is not None and baseline is None
        if (parsed_args.exit_zero or kept) and status == FINDINGS_STATUS:
            return os.EX_OK
        return status


def _baseline(
    parsed_args: argparse.Namespace,
    request: LintRequest,
    paths: Sequence[Path],
    *,
    until: ExitStack,
) -> OpenBaseline | None:
    if parsed_args.baseline is None:
        return None
    from snapcraft_compression_advisor.cli.baseline import open_baseline

    return open_baseline(parsed_args, request, paths, until=until)


def _judged(report: LintReport, baseline: OpenBaseline) -> JudgedReport:
    from snapcraft_compression_advisor.cli.baseline import judged_report

    return judged_report(report, baseline)


def _keep(report: LintReport, path: Path) -> None:
    from snapcraft_compression_advisor.cli.baseline import keep_baseline

    keep_baseline(report, path)


def _fixes(report: LintReport) -> str:
    from snapcraft_compression_advisor.cli.fix import fixes_diff

    return fixes_diff(report)


def _fixed(report: LintReport) -> LintReport:
    from snapcraft_compression_advisor.cli.fix import apply_fixes

    return apply_fixes(report)


def _check_options(parsed_args: argparse.Namespace) -> None:
    if parsed_args.fix and parsed_args.diff:
        message = "Both --fix and --diff are given"
        raise UsageError(message, resolution="Give --diff to see, --fix to change.")
    if parsed_args.statistics and parsed_args.format != "text":
        message = f"--statistics has no format {parsed_args.format!r}"
        raise UsageError(message, resolution="Leave one of the two out.")


def _add_output_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--format", choices=tuple(RENDERERS), default="text", help="default: text"
    )
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        type=Path,
        help="write the report there instead of the standard output",
    )
    parser.add_argument(
        "--also",
        metavar="FORMAT=FILE",
        action="append",
        type=_format_and_file,
        default=[],
        help="write the report in another format as well, as in 'sarif=lint.sarif'; "
        "may be given again",
    )
    parser.add_argument(
        "--statistics",
        action="store_true",
        help="print how often each rule was broken instead (text only)",
    )
    parser.add_argument(
        "--exit-zero",
        action="store_true",
        help="exit with 0 whatever is found; errors keep their status",
    )
    parser.add_argument(
        "--fix",
        action="store_true",
        help="make the safe fixes in snapcraft.yaml and report what is left",
    )
    parser.add_argument(
        "--diff",
        action="store_true",
        help="print the safe fixes as a unified diff instead of a report, make none",
    )


def _status(outcomes: Sequence[Outcome], report: LintReport, fail_on: Severity) -> int:
    """Return the exit status: an error's before that of findings."""
    for outcome in outcomes:
        if outcome.error_status is not None:
            return outcome.error_status
    broken = any(
        at_least(finding.severity, fail_on)
        for payload in report.payloads
        for finding in payload.findings
    )
    return FINDINGS_STATUS if broken else os.EX_OK


def _in_format(
    name: str, report: LintReport, judged: JudgedReport | None, fail_on: Severity
) -> str:
    if judged is not None:
        return JUDGED_RENDERERS[name](judged, fail_on)
    return RENDERERS[name](report, fail_on)


def _rendered(
    report: LintReport,
    judged: JudgedReport | None,
    fail_on: Severity,
    parsed_args: argparse.Namespace,
) -> str:
    if parsed_args.format != "text":
        return _in_format(parsed_args.format, report, judged, fail_on)
    terminal = parsed_args.output is None and sys.stdout.isatty()
    coloured = wants_colour(os.environ, terminal=terminal)
    statistics: bool = parsed_args.statistics
    if judged is not None:
        return render_text_judged(judged, coloured=coloured, statistics=statistics)
    return render_text(report, coloured=coloured, statistics=statistics)


def _format_and_file(text: str) -> tuple[str, Path]:
    name, equals, path = text.partition("=")
    if name not in RENDERERS or not equals or not path:
        message = f"{text!r} isn't FORMAT=FILE; formats: {', '.join(RENDERERS)}"
        raise argparse.ArgumentTypeError(message)
    return name, Path(path)


def _opened(paths: Sequence[Path], until: ExitStack) -> tuple[Payload, ...]:
    return tuple(until.enter_context(open_payload(path)) for path in paths)

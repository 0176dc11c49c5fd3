"""``compression-advisor lint``: findings on prime directories and built snaps."""

from __future__ import annotations

import os
import sys
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from craft_cli import BaseCommand, emit

from snapcraft_compression_advisor import __version__
from snapcraft_compression_advisor.cli.find_project import find_project
from snapcraft_compression_advisor.cli.fix import apply_fixes, fixes_diff
from snapcraft_compression_advisor.cli.lint_policy import (
    add_policy_arguments,
    chosen_request,
)
from snapcraft_compression_advisor.cli.write import write_output
from snapcraft_compression_advisor.errors import AdvisorError, UsageError
from snapcraft_compression_advisor.output.colour import wants_colour
from snapcraft_compression_advisor.output.lint_github import render_lint_github
from snapcraft_compression_advisor.output.lint_gitlab import render_lint_gitlab
from snapcraft_compression_advisor.output.lint_json import render_lint_json
from snapcraft_compression_advisor.output.lint_junit import render_lint_junit
from snapcraft_compression_advisor.output.lint_markdown import render_lint_markdown
from snapcraft_compression_advisor.output.lint_sarif import render_lint_sarif
from snapcraft_compression_advisor.output.lint_text import render_lint_text
from snapcraft_compression_advisor.payload.find_payload import find_payload
from snapcraft_compression_advisor.payload.source import open_payload
from snapcraft_compression_advisor.rules.all_rules import ALL_RULES
from snapcraft_compression_advisor.rules.finding import LintedPayload, LintReport
from snapcraft_compression_advisor.rules.lint import LintRequest, lint_payload
from snapcraft_compression_advisor.rules.run import at_least
from snapcraft_compression_advisor.rules.select import check_selectors

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Mapping, Sequence

    from snapcraft_compression_advisor.payload.source import Payload
    from snapcraft_compression_advisor.rules.finding import Severity
    from snapcraft_compression_advisor.rules.project import ProjectFile

RENDERERS: Mapping[str, Callable[[LintReport, Severity], str]] = {
    "text": lambda report, _: render_lint_text(report),
    "json": lambda report, _: render_lint_json(report),
    "sarif": lambda report, _: render_lint_sarif(report, ALL_RULES),
    "github": lambda report, _: render_lint_github(report),
    "gitlab": lambda report, _: render_lint_gitlab(report),
    "junit": lambda report, fail_on: render_lint_junit(report, fail_on=fail_on),
    "markdown": lambda report, _: render_lint_markdown(report),
}
"""By name; they take the least severity that fails, as well."""

FINDINGS_STATUS = 1
"""Exit status where there are findings; errors have those of sysexits, 64 and up."""


@dataclass(slots=True, kw_only=True)
class _Run:
    """One run over several payloads; what failed is kept, not raised."""

    request: LintRequest
    project_dir: Path | None
    payloads: list[LintedPayload] = field(default_factory=list)
    error_statuses: list[int] = field(default_factory=list)

    def lint(self, path: Path) -> None:
        """Lint a payload, or note why that isn't possible."""
        name = ""
        try:
            with open_payload(path) as payload:
                name = payload.snap.name
                self.payloads.append(self._linted(payload, path))
        except AdvisorError as error:
            message = ". ".join(filter(None, (str(error), error.resolution)))
            self._fail(path, name, message, error.retcode)
        except OSError as error:
            message = f"Cannot read {str(path)!r}: {error.strerror}"
            self._fail(path, name, message, os.EX_IOERR)

    def _linted(self, payload: Payload, path: Path) -> LintedPayload:
        project = self._project(payload)
        return lint_payload(
            payload,
            self.request,
            path=str(path),
            project=project,
            progress=emit.progress,
        )

    def _project(self, payload: Payload) -> ProjectFile | None:
        project = find_project(payload, self.project_dir)
        if project is not None:
            check_selectors(project.ignored, ALL_RULES, where=str(project.path))
        return project

    def _fail(self, path: Path, name: str, message: str, status: int) -> None:
        emit.progress(f"Not linted: {message}", permanent=True)
        self.error_statuses.append(status)
        self.payloads.append(
            LintedPayload(path=str(path), snap_name=name, findings=(), error=message)
        )

    def status(self, report: LintReport) -> int:
        """Return the exit status: an error's before that of findings."""
        if self.error_statuses:
            return self.error_statuses[0]
        limit = self.request.policy.fail_on
        broken = any(
            at_least(finding.severity, limit)
            for payload in report.payloads
            for finding in payload.findings
        )
        return FINDINGS_STATUS if broken else os.EX_OK


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
        "that of the first such error, whatever was found."
    )

    def fill_parser(self, parser: argparse.ArgumentParser) -> None:
        """Add the command's arguments."""
        parser.add_argument(
            "paths",
            metavar="PATH",
            nargs="*",
            type=Path,
            help="prime directories or .snap files (default: 'prime' here, else the "
            "one .snap here)",
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
        _add_output_arguments(parser)

    def run(self, parsed_args: argparse.Namespace) -> int | None:
        """Print the findings, and fix what is to be fixed."""
        _check_options(parsed_args)
        paths = _distinct(parsed_args.paths or [find_payload(Path.cwd())])
        with ExitStack() as suppliers:
            request = replace(
                chosen_request(parsed_args),
                bases=_opened(parsed_args.base, suppliers),
                content=_opened(parsed_args.content, suppliers),
            )
            run = _Run(request=request, project_dir=parsed_args.project)
            for path in paths:
                run.lint(path)
        report = LintReport(version=__version__, payloads=tuple(run.payloads))
        if parsed_args.diff:
            write_output(fixes_diff(report), parsed_args.output)
        else:
            if parsed_args.fix:
                report = apply_fixes(report)
            write_output(_rendered(report, run, parsed_args), parsed_args.output)
        status = run.status(report)
        if parsed_args.exit_zero and status == FINDINGS_STATUS:
            return os.EX_OK
        return status


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


def _rendered(report: LintReport, run: _Run, parsed_args: argparse.Namespace) -> str:
    if parsed_args.format != "text":
        return RENDERERS[parsed_args.format](report, run.request.policy.fail_on)
    terminal = parsed_args.output is None and sys.stdout.isatty()
    return render_lint_text(
        report,
        coloured=wants_colour(os.environ, terminal=terminal),
        statistics=parsed_args.statistics,
    )


def _opened(paths: Sequence[Path], until: ExitStack) -> tuple[Payload, ...]:
    return tuple(until.enter_context(open_payload(path)) for path in paths)


def _distinct(paths: Sequence[Path]) -> list[Path]:
    return list(dict.fromkeys(paths))

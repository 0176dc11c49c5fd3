"""``compression-advisor lint``: findings on prime directories and built snaps."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import ClassVar

from .. import __version__
from ..analysis import check_apps
from ..core.errors import AdvisorError
from ..core.terminal import emit
from ..launches import Surroundings
from ..lint.baseline import Baseline, judge
from ..lint.finding import LintedPayload, LintReport
from ..lint.lint import LintRequest, lint_payload
from ..lint.run import check_selectors, failing
from ..payload.source import Payload, find_payload, named_payloads, open_payload
from ..project.project_file import ProjectFile
from ..report.lint_formats import FORMATS
from ..report.lint_formats.phrases import verdict_text
from ..report.lint_formats.saved import BASELINE, parse_baseline
from .commands import (
    EDITS,
    PAYLOAD_DEFAULT,
    Arguments,
    Command,
    check_edit_options,
    details,
    exclude,
    output_arguments,
    stack_arguments,
)
from .edits import apply_fixes, fixes_diff
from .settings_options import (
    RECORD_ARGUMENTS,
    RULE_ARGUMENTS,
    check_record_options,
    given_settings,
    read_settings,
    with_recordings,
)
from .subject import find_policy, find_project
from .write import check_outputs, note, write_findings, write_output

FINDINGS_STATUS = 1
"""Exit status if there are findings; errors have those of sysexits, 64 and up."""
_IMAGE_MAGIC = b"hsqs"
"""First bytes of a squashfs image; no JSON text begins with them."""


def _format_and_file(text: str) -> tuple[str, Path]:
    name, equals, path = text.partition("=")
    if name not in FORMATS or not equals or not path:
        message = f"{text!r} isn't FORMAT=FILE; formats: {', '.join(FORMATS)}"
        raise argparse.ArgumentTypeError(message)
    return name, Path(path)


class LintCommand(Command):
    """Check rules and budgets."""

    name = "lint"
    overview = (
        "Check prime directories or built snaps against the rules and the "
        "project's budgets, and print the findings. 'rule' explains the rules.\n\n"
        "The exit status is 0 if no finding is as severe as --fail-on, 1 if one "
        "is, and 64 or more for an error. A payload that can't be linted doesn't "
        "stop the others: the report contains its error, and the exit status is "
        "that of the first such error.\n\n"
        "With --baseline, only new or worse findings count."
    )

    arguments: ClassVar[Arguments] = {
        "[PATH…]": "prime directories, .snap or .comp files, or directories of such "
        f"files (default: {PAYLOAD_DEFAULT})",
        **RULE_ARGUMENTS,
        **RECORD_ARGUMENTS,
        "--project PROJECT_DIR": "the project of the snaps, or its snapcraft.yaml "
        "(default: the one beside each snap if it has the snap's name)",
        **stack_arguments("the policy's, else none"),
        "--resquash": "unpack built snaps, repack them as the store's review does, and "
        "report the differences; takes as long as packing, and space in TMPDIR",
        "--baseline FILE": "compare with a JSON report of an earlier run, or with the "
        "previous build (a .snap): only new or worse findings count, and regressions "
        "are checked (default: none)",
        "--write-baseline FILE": "write the JSON report to this file, for --baseline; "
        "findings that it contains don't make this run fail (default: none)",
        **output_arguments(FORMATS),
        "--also FORMAT=FILE…": details(
            "also write the report in another format, as in 'sarif=lint.sarif'; may be "
            "repeated (default: none)",
            type=_format_and_file,
        ),
        "--exit-zero": "exit with 0 even if there are findings; errors keep their "
        "status",
        **EDITS,
    }

    def run(self, parsed_args: argparse.Namespace) -> int | None:
        """Print the findings, and fix what is to be fixed."""
        check_edit_options(parsed_args)
        baselines = parsed_args.baseline or parsed_args.write_baseline
        exclude({"--diff": parsed_args.diff, "a baseline": baselines})
        check_record_options(parsed_args)
        kept: Path | None = parsed_args.write_baseline
        check_outputs(
            parsed_args.output,
            *(path for _, path in parsed_args.also),
            *([kept] if kept else []),
        )
        paths = named_payloads(parsed_args.path or [find_payload(Path())])
        with ExitStack() as until:
            requests = _requests(parsed_args, paths, until)
            requests, failed = _recorded(requests, parsed_args)
            baseline = None
            if parsed_args.baseline is not None:
                baseline = _open_baseline(parsed_args, requests, until)
                requests = {
                    path: replace(request, baseline=baseline)
                    for path, request in requests.items()
                }
            outcomes = [
                lint_path(path, request, parsed_args.project, failed.get(path))
                for path, request in requests.items()
            ]
        linted, statuses = zip(*outcomes, strict=True)
        report = LintReport(version=__version__, payloads=linted)
        # The report as text says so itself.
        if parsed_args.diff or parsed_args.output or parsed_args.format != "text":
            for error in filter(None, (each.error for each in linted)):
                note(f"Not linted: {error}")
        if parsed_args.diff:
            write_output(fixes_diff(report), parsed_args.output, kept="patch")
        else:
            report = _write(report, baseline, parsed_args)
        errors = [*filter(None, statuses)]
        excused = parsed_args.exit_zero or (kept and baseline is None)
        if errors or excused or not failing(report.payloads):
            return errors[0] if errors else os.EX_OK
        word, why = verdict_text(report)
        note(f"{word.lower()}: {why}")
        return FINDINGS_STATUS


def lint_path(
    path: Path,
    request: LintRequest,
    project_dir: Path | None = None,
    failed: AdvisorError | None = None,
) -> tuple[LintedPayload, int]:
    """Lint a payload, or note why that isn't possible, with the error's status.

    :param failed: why it isn't possible, if that is known already.
    """
    name = ""
    emit.progress(f"Linting {path}")
    try:
        with open_payload(path) as payload:
            name = payload.snap.name
            if failed is not None:
                raise failed
            project = find_project(payload, project_dir)
            if project is not None:
                check_selectors(project.ignored, where=str(project.path))
            linted = lint_payload(
                payload,
                request,
                project=project,
                progress=emit.progress,
            )
    except AdvisorError as error:
        message = ". ".join(filter(None, (str(error), error.resolution)))
        status = error.retcode
    except OSError as error:
        message = f"Cannot read {str(path)!r}: {error.strerror}"
        status = os.EX_IOERR
    else:
        return linted, os.EX_OK
    failure = LintedPayload(path=str(path), snap_name=name, findings=(), error=message)
    return failure, status


def _recorded(
    requests: Mapping[Path, LintRequest], parsed_args: argparse.Namespace
) -> tuple[dict[Path, LintRequest], dict[Path, AdvisorError]]:
    """Record the launches that are asked for, and why a payload can't be linted."""
    recorded, failed = dict(requests), {}
    for path, request in requests.items():
        loaded = request.loaded
        if loaded.settings.record or parsed_args.record:
            try:
                with open_payload(path) as payload:
                    check_apps(payload, loaded)
                    loaded = with_recordings(payload, loaded, parsed_args)
                    recorded[path] = replace(request, loaded=loaded)
            except AdvisorError as error:
                failed[path] = error
    return recorded, failed


def _requests(
    parsed_args: argparse.Namespace, paths: Sequence[Path], until: ExitStack
) -> dict[Path, LintRequest]:
    """Return the request of each payload's check: one for each policy file."""
    options = given_settings(parsed_args)

    @cache
    def request(file: Path | None) -> LintRequest:
        loaded = read_settings(file, options)
        return LintRequest(
            loaded=loaded,
            resquash=parsed_args.resquash,
            surroundings=Surroundings.opened(
                until,
                parsed_args.base or loaded.settings.bases,
                parsed_args.content or loaded.settings.contents,
            ),
        )

    return {
        path: request(parsed_args.policy or find_policy(path, parsed_args.project))
        for path in paths
    }


def _write(
    report: LintReport, baseline: Baseline | None, parsed_args: argparse.Namespace
) -> LintReport:
    """Write the report, fixed first if it is to be; return the findings that count."""
    if parsed_args.fix:
        report = apply_fixes(report)
    kept = parsed_args.write_baseline
    if kept and any(payload.error is not None for payload in report.payloads):
        note(f"Not written: {kept}, because some payloads couldn't be linted")
    elif kept:
        write_findings("json", report, kept)
    if baseline is not None:
        report = judge(report, baseline)
    write_findings(parsed_args.format, report, parsed_args.output)
    for name, path in parsed_args.also:
        write_findings(name, report, path)
    return report.counting()


def _open_baseline(
    parsed_args: argparse.Namespace,
    requests: Mapping[Path, LintRequest],
    until: ExitStack,
) -> Baseline:
    """Read a baseline: a saved report, or a build, linted as its snap is now."""
    path: Path = parsed_args.baseline
    content = _report_text(path)
    if content is not None:
        report = parse_baseline(content, where=str(path))
        return Baseline(where=str(path), report=report)
    payload = until.enter_context(open_payload(path))
    now, project = _build_now(payload, requests, parsed_args.project)
    request = next(iter(requests.values())) if now is None else requests[now]
    emit.progress(f"Linting the baseline {path}")
    linted = lint_payload(
        payload,
        _as_it_was(request, payload),
        project=project,
        progress=emit.progress,
    )
    report = LintReport(version=__version__, payloads=(linted,))
    return Baseline(where=str(path), report=report, payload=payload)


def _report_text(path: Path) -> bytes | None:
    """Return a file's text, or None for an image or a directory."""
    content = None if path.is_dir() else BASELINE.read(path)
    return None if content and content.startswith(_IMAGE_MAGIC) else content


def _build_now(
    payload: Payload, paths: Iterable[Path], project_dir: Path | None
) -> tuple[Path | None, ProjectFile | None]:
    """Return the payload of the same snap, and its project, which judge both."""
    for path in paths:
        if path.exists():
            with open_payload(path) as now:
                if now.snap.name == payload.snap.name:
                    return path, find_project(now, project_dir)
    return None, None if project_dir is None else find_project(payload, project_dir)


def _as_it_was(request: LintRequest, payload: Payload) -> LintRequest:
    """Return the request without the apps that the build before hadn't."""
    apps, loaded = payload.snap.apps, request.loaded
    settings = loaded.settings
    cold_start = {
        device: {app: limit for app, limit in budget.items() if app in apps}
        if isinstance(budget, dict)
        else budget
        for device, budget in settings.max_cold_start.items()
    }
    known = tuple(app for app in settings.apps if app in apps)
    settings = settings.model_copy(update={"apps": known, "max_cold_start": cold_start})
    profiles = tuple(each for each in loaded.profiles if each.app in apps)
    loaded = replace(loaded, settings=settings, profiles=profiles)
    return replace(request, loaded=loaded, resquash=False)

"""The baseline of a lint run: a saved report, or the build before."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from .. import __version__
from ..core.files import open_regular
from ..core.terminal import emit
from ..lint.baseline import Baseline
from ..lint.finding import LintReport
from ..lint.lint import lint_payload
from ..lint.project import ProjectFile
from ..lint.request import LintRequest
from ..payload.source import Payload, open_payload
from ..report.lint_formats import Findings
from ..report.lint_formats.saved import BASELINE, parse_baseline
from .find_project import find_project
from .write import write_findings

_IMAGE_MAGIC = b"hsqs"
"""First bytes of a squashfs image; no JSON text begins with them."""


def open_baseline(
    path: Path,
    requests: Mapping[Path, LintRequest],
    project_dir: Path | None,
    *,
    until: ExitStack,
) -> Baseline:
    """Read a baseline; a build is linted as it will be now.

    :param path: a saved report, or a build.
    :param requests: of the payloads to be linted, whose policy and project count for
        the build too.
    :param until: closes the build's file.
    :raises AdvisorError: if it is neither, of another schema version, or broken.
    """
    content = _report_text(path)
    if content is not None:
        report = parse_baseline(content, where=str(path))
        return Baseline(where=str(path), report=report)
    payload = until.enter_context(open_payload(path))
    now, project = _build_now(payload, requests, project_dir)
    request = next(iter(requests.values())) if now is None else requests[now]
    emit.progress(f"Linting the baseline {path}")
    linted = lint_payload(
        payload,
        _as_it_was(request, payload),
        path=str(path),
        project=project,
        progress=emit.progress,
    )
    report = LintReport(version=__version__, payloads=(linted,))
    return Baseline(where=str(path), report=report, payload=payload)


def keep_baseline(report: LintReport, path: Path) -> None:
    """Write a report as the next run's baseline; one with holes isn't written."""
    if any(payload.error is not None for payload in report.payloads):
        emit.progress(
            f"Not written: {path}, because some payloads couldn't be linted",
            permanent=True,
        )
        return
    write_findings("json", Findings(report=report), path)


def _report_text(path: Path) -> bytes | None:
    """Return a file's text, or None for an image or a directory."""
    if path.is_dir():
        return None
    try:
        with open_regular(path) as file:
            magic = file.read(len(_IMAGE_MAGIC))
            if magic == _IMAGE_MAGIC:
                return None
            return magic + file.read(BASELINE.max_bytes)
    except (OSError, ValueError) as error:  # ValueError: a null byte in the path
        raise BASELINE.unreadable(path, error) from error


def _build_now(
    payload: Payload, paths: Iterable[Path], project_dir: Path | None
) -> tuple[Path | None, ProjectFile | None]:
    """Return the payload of the same snap, and its project: both builds' judges."""
    for path in paths:
        if path.exists():
            with open_payload(path) as now:
                if now.snap.name == payload.snap.name:
                    return path, find_project(now, project_dir)
    return None, None if project_dir is None else find_project(payload, project_dir)


def _as_it_was(request: LintRequest, payload: Payload) -> LintRequest:
    """Return the request without the apps that the build before hadn't."""
    apps, policy = payload.snap.apps, request.policy
    cold_start = {
        device: {app: limit for app, limit in budget.items() if app in apps}
        if isinstance(budget, dict)
        else budget
        for device, budget in policy.max_cold_start.items()
    }
    known = tuple(app for app in policy.apps if app in apps)
    return replace(
        request,
        policy=policy.model_copy(update={"apps": known, "max_cold_start": cold_start}),
        profiles=tuple(each for each in request.profiles if each.app in apps),
        previous=(),
        resquash=False,
    )

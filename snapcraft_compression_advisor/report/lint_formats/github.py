"""Findings as annotations: commands that GitHub's runner reads from a job's log.

The syntax is that of "Workflow commands for GitHub Actions"; what has to be escaped,
that of ``command.ts`` in actions/toolkit. GitHub shows ten annotations of each kind
per step, so the most severe come first.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ...core.terminal import printable
from .phrases import title, unchecked_lines

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ...lint.finding import Finding, LintedPayload, Location, Severity
    from . import Findings

_COMMANDS: dict[Severity, str] = {
    "error": "error",
    "warning": "warning",
    "info": "notice",
}


def render(findings: Findings) -> str:
    """Return one command per finding; nothing if there is none."""
    return "".join(
        f"{line}\n"
        for payload in findings.counting.payloads
        for line in _lines(payload)
    )


def _lines(payload: LintedPayload) -> Iterator[str]:
    if payload.error is not None:
        message = f"{printable(payload.path)}: {printable(payload.error)}"
        yield _command("error", message, payload.project, title="not linted")
    for rules, why in unchecked_lines(payload):
        yield _command(
            "notice", f"{rules}: {why}", payload.project, title="not checked"
        )
    for finding in payload.findings:
        place: Location | None = finding.location
        if finding.location.kind != "project":  # whose line is that of 'compression'
            place = payload.project and replace(payload.project, line=None)
        yield _command(
            _COMMANDS[finding.severity],
            _message(payload, finding),
            place,
            title=title(finding),
        )


def _message(payload: LintedPayload, finding: Finding) -> str:
    """Return a finding's text with the snap's name: annotations carry no heading.

    A file of the payload isn't a file of the change, so it is named here.
    """
    message, place = printable(finding.message), finding.location
    if place.kind == "payload" and printable(place.path) not in message:
        message = f"{printable(place.path)}: {message}"
    name = printable(payload.snap_name)
    return f"{name}: {message}" if name else message


def _command(name: str, message: str, place: Location | None, *, title: str) -> str:
    """Return a command; without a place it is about the whole run."""
    where = {} if place is None else {"file": place.path, "line": place.line}
    shown = ",".join(
        f"{key}={_property(printable(str(value)))}"
        for key, value in {**where, "title": title}.items()
        if value is not None
    )
    return f"::{name} {shown}::{_data(message)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")

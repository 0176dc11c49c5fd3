"""Findings as annotations: commands that GitHub's runner reads from a job's log.

The syntax is that of "Workflow commands for GitHub Actions"; what has to be escaped,
that of ``command.ts`` in actions/toolkit. GitHub shows ten annotations of each kind
per step, so the most severe come first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...core.printable import printable
from .phrases import full_path, title, unchecked_lines

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ...lint.finding import Finding, LintedPayload, Severity
    from . import Findings

_COMMANDS: dict[Severity, str] = {
    "error": "error",
    "warning": "warning",
    "info": "notice",
}


def render(findings: Findings) -> str:
    """Return one command per finding; nothing where there is none."""
    return "".join(
        f"{line}\n"
        for payload in findings.counting.payloads
        for line in _lines(payload)
    )


def _lines(payload: LintedPayload) -> Iterator[str]:
    if payload.error is not None:
        yield _command(
            "error", printable(payload.error), file=payload.path, title="not linted"
        )
    for rules, why in unchecked_lines(payload):
        yield _command(
            "notice", f"{rules}: {why}", file=payload.path, title="not checked"
        )
    for finding in payload.findings:
        yield _command(
            _COMMANDS[finding.severity],
            _message(payload, finding),
            file=full_path(payload, finding.location),
            line=finding.location.line,
            title=title(finding),
        )


def _message(payload: LintedPayload, finding: Finding) -> str:
    """Return a finding's text with the snap's name: annotations carry no heading."""
    name = printable(payload.snap_name)
    message = printable(finding.message)
    return f"{name}: {message}" if name else message


def _command(name: str, message: str, **properties: str | int | None) -> str:
    shown = ",".join(
        f"{key}={_property(printable(str(value)))}"
        for key, value in properties.items()
        if value is not None
    )
    return f"::{name} {shown}::{_data(message)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")

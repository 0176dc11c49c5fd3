"""Findings as SARIF 2.1.0 (OASIS standard), one run for all payloads.

Nothing in it tells when or where it was made. Levels: ``error``, ``warning`` and
``note``; what is undecided has the kind ``open`` ("insufficient information",
3.27.9) and so the level ``none``.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING
from urllib.parse import quote

from ...core.terminal import printable
from ...lint.rules import ALL_RULES
from .phrases import SCHEME, details, fingerprints

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ...lint.finding import (
        Finding,
        LintedPayload,
        LintReport,
        Location,
        Severity,
        State,
    )
    from ...lint.rule import Rule
    from . import Findings

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
RELATED_FILES = 100
"""Files of a finding that become locations of their own; its text counts all."""

_STATES: dict[State, str] = {
    "new": "new",
    "worse": "updated",
    "moved": "updated",
    "known": "unchanged",
}
"""SARIF's ``baselineState`` (3.27.24). Code scanning compares runs by itself, so all
findings stay in."""

_LEVELS: dict[Severity, str] = {"error": "error", "warning": "warning", "info": "note"}


def render(findings: Findings, rules: Sequence[Rule] = ALL_RULES) -> str:
    """Return the findings as SARIF's JSON text.

    :param rules: all that there are, whether or not they found something.
    """
    run = _run(findings, rules)
    log = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
    return json.dumps(log, indent=2, ensure_ascii=False) + "\n"


def _run(findings: Findings, rules: Sequence[Rule]) -> dict[str, object]:
    report = findings.report
    indices = {rule.id: index for index, rule in enumerate(rules)}
    return {
        "tool": {
            "driver": {
                "name": "compression-advisor",
                "semanticVersion": report.version,
                "rules": [_rule(rule) for rule in rules],
            }
        },
        "columnKind": "unicodeCodePoints",
        "invocations": [_invocation(report, indices)],
        "originalUriBaseIds": {
            _base_id(number): {
                "description": {
                    "text": f"root directory of the payload {printable(payload.path)}"
                }
            }
            for number, payload in enumerate(report.payloads, start=1)
        },
        "results": [*_results(findings, indices)],
    }


def _rule(rule: Rule) -> dict[str, object]:
    return {
        "id": rule.id,
        "name": rule.name,
        "shortDescription": {"text": rule.text.summary},
        "fullDescription": {"text": rule.text.fails_if},
        "help": {"text": f"{rule.text.why}\n\n{rule.text.how_to_fix}"},
        "defaultConfiguration": {"level": _LEVELS[rule.severity]},
    }


def _invocation(report: LintReport, indices: dict[str, int]) -> dict[str, object]:
    """Return whether all payloads could be linted, and why not, or not by a rule."""
    failed = [payload for payload in report.payloads if payload.error is not None]
    return {
        "executionSuccessful": not failed,
        "toolExecutionNotifications": [
            {
                "level": "error",
                "message": {"text": printable(payload.error or "")},
                "locations": [_physical({"uri": relative_uri(payload.path)})],
            }
            for payload in failed
        ]
        + [
            {
                "level": "warning",
                "message": {"text": f"not checked: {printable(each.why)}"},
                "associatedRule": {
                    "id": each.rule,
                    **({"index": indices[each.rule]} if each.rule in indices else {}),
                },
                "locations": [_physical({"uri": relative_uri(payload.path)})],
            }
            for payload in report.payloads
            for each in payload.unchecked
        ],
    }


def _results(
    findings: Findings, indices: dict[str, int]
) -> Iterator[dict[str, object]]:
    report = findings.report
    prints = fingerprints(report)
    for number, payload in enumerate(report.payloads):
        for place, finding in enumerate(payload.findings):
            known = finding.rule in indices
            yield {
                "ruleId": finding.rule,
                **({"ruleIndex": indices[finding.rule]} if known else {}),
                "kind": "open" if finding.undecided else "fail",
                "level": "none" if finding.undecided else _LEVELS[finding.severity],
                "message": {"text": _message(payload, finding)},
                "locations": [_location(finding.location, number + 1)],
                "partialFingerprints": {SCHEME: prints[number][place]},
                **_related(finding, number + 1),
                **({"baselineState": _STATES[finding.state]} if finding.state else {}),
            }


def _message(payload: LintedPayload, finding: Finding) -> str:
    """Return the finding's text: what it says, then what it rests on."""
    name = printable(payload.snap_name)
    text = printable(finding.message)
    lines = [f"{name}: {text}" if name else text]
    lines += [f"- {detail}" for detail in details(finding)]
    return "\n".join(lines)


def _location(location: Location, number: int) -> dict[str, object]:
    artifact = {"uri": relative_uri(location.path)}
    if location.kind == "payload":
        artifact["uriBaseId"] = _base_id(number)
    return _physical(artifact, line=location.line)


def _related(finding: Finding, number: int) -> dict[str, object]:
    places = (
        _physical({"uri": relative_uri(path), "uriBaseId": _base_id(number)})
        for path in finding.files[:RELATED_FILES]
    )
    related = [{"id": index, **place} for index, place in enumerate(places, start=1)]
    return {"relatedLocations": related} if related else {}


def _physical(
    artifact: dict[str, str], *, line: int | None = None
) -> dict[str, object]:
    region = {} if line is None else {"region": {"startLine": line}}
    return {"physicalLocation": {"artifactLocation": artifact, **region}}


def _base_id(number: int) -> str:
    return f"PAYLOAD{number}"


def relative_uri(path: str) -> str:
    r"""Return a path as a URI reference (RFC 3986), an absolute one with its scheme.

    Every byte of a name survives, those that aren't UTF-8 as well.

    >>> relative_uri("lib/a b\udcff")
    'lib/a%20b%FF'
    """
    encoded = quote(path.encode("utf-8", "surrogateescape"), safe="/")
    return f"file://{encoded}" if encoded.startswith("/") else encoded

"""Findings as SARIF 2.1.0 (OASIS standard), one run for all payloads.

Nothing in it tells when or where it was made. Levels: ``error``, ``warning`` and
``note``; what is undecided has the kind ``open`` ("insufficient information",
3.27.9) and so the level ``none``.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING
from urllib.parse import quote

from snapcraft_compression_advisor.report.fingerprint import SCHEME, fingerprints
from snapcraft_compression_advisor.report.names import printable
from snapcraft_compression_advisor.report.phrases import details
from snapcraft_compression_advisor.report.sarif_fix import fix_object

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from snapcraft_compression_advisor.lint.finding import (
        Finding,
        LintedPayload,
        LintReport,
        Location,
        Severity,
    )
    from snapcraft_compression_advisor.lint.rule import Rule

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
RELATED_FILES = 100
"""Files of a finding that become locations of their own; its text counts all."""

_LEVELS: dict[Severity, str] = {"error": "error", "warning": "warning", "info": "note"}


def render_lint_sarif(report: LintReport, rules: Sequence[Rule]) -> str:
    """Return the findings as SARIF's JSON text.

    :param rules: all that there are, whether or not they found something.
    """
    log = {"$schema": SCHEMA, "version": "2.1.0", "runs": [_run(report, rules)]}
    return json.dumps(log, indent=2, ensure_ascii=False) + "\n"


def _run(report: LintReport, rules: Sequence[Rule]) -> dict[str, object]:
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
        "invocations": [_invocation(report)],
        "originalUriBaseIds": {
            _base_id(number): {
                "description": {
                    "text": f"root directory of the payload {printable(payload.path)}"
                }
            }
            for number, payload in enumerate(report.payloads, start=1)
        },
        "results": [*_results(report, indices)],
    }


def _rule(rule: Rule) -> dict[str, object]:
    return {
        "id": rule.id,
        "name": rule.name,
        "shortDescription": {"text": rule.summary},
        "fullDescription": {"text": rule.fails_if},
        "help": {"text": f"{rule.why}\n\n{rule.how_to_fix}"},
        "defaultConfiguration": {"level": _LEVELS[rule.severity]},
    }


def _invocation(report: LintReport) -> dict[str, object]:
    """Return whether all payloads could be linted, and why not."""
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
        ],
    }


def _results(
    report: LintReport, indices: dict[str, int]
) -> Iterator[dict[str, object]]:
    prints = fingerprints(report)
    for number, payload in enumerate(report.payloads, start=1):
        of_payload = zip(payload.findings, prints[number - 1], strict=True)
        for finding, fingerprint in of_payload:
            yield {
                **_rule_reference(finding, indices),
                "kind": "open" if finding.undecided else "fail",
                "level": "none" if finding.undecided else _LEVELS[finding.severity],
                "message": {"text": _message(payload, finding)},
                "locations": [_location(finding.location, number)],
                "partialFingerprints": {SCHEME: fingerprint},
                **_related(finding, number),
                **_fixes(finding),
            }


def _rule_reference(finding: Finding, indices: dict[str, int]) -> dict[str, object]:
    index = indices.get(finding.rule)
    known = {} if index is None else {"ruleIndex": index}
    return {"ruleId": finding.rule, **known}


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
    files = finding.files[:RELATED_FILES]
    if not files:
        return {}
    base = _base_id(number)
    return {
        "relatedLocations": [
            {
                "id": index,
                **_physical({"uri": relative_uri(path), "uriBaseId": base}),
            }
            for index, path in enumerate(files, start=1)
        ]
    }


def _fixes(finding: Finding) -> dict[str, object]:
    fix = finding.fix
    if fix is None or fix.edit is None or not fix.edit.changes:
        return {}
    uri = relative_uri(str(fix.edit.path))
    return {"fixes": [fix_object(fix.edit, printable(fix.description), uri)]}


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

"""SARIF with ``baselineState`` (SARIF 2.1.0, section 3.27.24).

Code scanning compares runs by itself, so all findings stay in.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from snapcraft_compression_advisor.report.fingerprint import SCHEME, fingerprints
from snapcraft_compression_advisor.report.lint_sarif import render_lint_sarif

if TYPE_CHECKING:
    from collections.abc import Sequence

    from snapcraft_compression_advisor.lint.baseline import JudgedReport, State
    from snapcraft_compression_advisor.lint.rule import Rule

_STATES: dict[State, str] = {
    "new": "new",
    "worse": "updated",
    "moved": "updated",
    "known": "unchanged",
}


def render_judged_sarif(judged: JudgedReport, rules: Sequence[Rule]) -> str:
    """Return the findings as SARIF, each with its state."""
    document: dict[str, Any] = json.loads(render_lint_sarif(judged.report, rules))
    states = {
        fingerprint: _STATES[each.state]
        for payload, prints in zip(
            judged.payloads, fingerprints(judged.report), strict=True
        )
        for each, fingerprint in zip(payload.findings, prints, strict=True)
    }
    for run in document["runs"]:
        for result in run["results"]:
            state = states.get(result.get("partialFingerprints", {}).get(SCHEME))
            if state is not None:
                result["baselineState"] = state
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"

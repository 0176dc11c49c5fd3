"""Names for findings that stay the same from one run and checkout to the next."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..lint.finding import Finding, LintedPayload, LintReport

SCHEME = "compressionAdvisor/v2"
"""Changes when the same finding would get another fingerprint."""


def fingerprints(report: LintReport) -> tuple[tuple[str, ...], ...]:
    """Return one fingerprint (64 hexadecimal digits) for each payload's findings.

    A fingerprint is made of the snap, the rule, the place (the path within the
    payload) and the subject: data alone, so that texts can change. Figures, lines and
    the way to the checkout aren't part of it, as they change while the finding stays.
    Findings that are alike in all of these are numbered in their order.
    """
    seen: Counter[str] = Counter()
    return tuple(
        tuple(_numbered(_identity(payload, f), seen) for f in payload.findings)
        for payload in report.payloads
    )


def payload_fingerprint(payload: LintedPayload) -> str:
    """Return the fingerprint of a payload that couldn't be linted."""
    return _digest(["not linted", _snap(payload)])


def _identity(payload: LintedPayload, finding: Finding) -> list[str]:
    subject = [
        text for pair in sorted((finding.subject or {}).items()) for text in pair
    ]
    return [_snap(payload), *finding.place, *subject]


def _snap(payload: LintedPayload) -> str:
    return payload.snap_name or PurePosixPath(payload.path).name


def _numbered(identity: list[str], seen: Counter[str]) -> str:
    plain = _digest(identity)
    seen[plain] += 1
    return plain if seen[plain] == 1 else _digest([*identity, str(seen[plain])])


def _digest(parts: list[str]) -> str:
    # JSON in ASCII: surrogates of names that aren't UTF-8 are escaped, not refused.
    return hashlib.sha256(json.dumps(parts).encode("ascii")).hexdigest()

"""Findings beside those of a baseline: what is new, worse, moved, known, gone.

A run fails for what is new or worse, as with the baselines of Android Lint, PHPStan,
Psalm and detekt. Their names for states aside, these are SARIF's ``baselineState``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import PurePath, PurePosixPath
from typing import TYPE_CHECKING, Literal, Protocol, TypeVar

from snapcraft_compression_advisor.codecs import CODECS
from snapcraft_compression_advisor.core.errors import BadDataError
from snapcraft_compression_advisor.lint.finding import LintReport
from snapcraft_compression_advisor.lint.rules.regressions import REGRESSIONS
from snapcraft_compression_advisor.lint.run import SEVERITIES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from snapcraft_compression_advisor.diff.figures import PayloadFigures
    from snapcraft_compression_advisor.lint.finding import (
        Finding,
        LintedPayload,
        Severity,
    )

State = Literal["new", "worse", "moved", "known"]
_CODEC = re.compile(rf"\b(?:{'|'.join(CODECS)})\b")
COUNTING: tuple[State, ...] = ("new", "worse")
"""States of findings that fail a run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownFinding:
    """A finding of a baseline, in printable texts.

    :param subject: label of the first evidence, which tells findings of one rule apart.
    """

    rule: str
    name: str
    severity: Severity
    undecided: bool
    message: str
    kind: str
    path: str
    subject: str
    fingerprint: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BaselinePayload:
    """What a baseline knows of one build.

    :param path: it was given by.
    """

    path: str
    snap_name: str
    findings: tuple[KnownFinding, ...]
    figures: PayloadFigures | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Baseline:
    """What was known before this run.

    :param where: the file that it is from, as it was given.
    """

    where: str
    payloads: tuple[BaselinePayload, ...]

    def named(self, snap_name: str) -> list[BaselinePayload]:
        """Return what is known of a snap's builds."""
        return [each for each in self.payloads if each.snap_name == snap_name]


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedFinding:
    """A finding, and what it is against the baseline.

    :param was: the baseline's; ``None`` for a new one.
    """

    finding: Finding
    state: State
    was: KnownFinding | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedPayload:
    """One payload's findings against the baseline.

    :param before: ``None`` where the baseline doesn't know the snap.
    """

    linted: LintedPayload
    findings: tuple[JudgedFinding, ...]
    gone: tuple[KnownFinding, ...]
    before: BaselinePayload | None

    def of(self, *states: State) -> tuple[JudgedFinding, ...]:
        """Return the findings of some states."""
        return tuple(each for each in self.findings if each.state in states)

    @property
    def not_counting(self) -> tuple[JudgedFinding, ...]:
        """The findings that the baseline knows."""
        return tuple(each for each in self.findings if each.state not in COUNTING)


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedReport:
    """A report against a baseline."""

    report: LintReport
    where: str
    payloads: tuple[JudgedPayload, ...]

    def counting(self) -> LintReport:
        """Return the report of what counts: findings that are new or worse."""
        return LintReport(
            version=self.report.version,
            payloads=tuple(
                replace(
                    each.linted,
                    findings=tuple(one.finding for one in each.of(*COUNTING)),
                )
                for each in self.payloads
            ),
        )


def judge(
    report: LintReport, prints: Sequence[Sequence[str]], baseline: Baseline
) -> JudgedReport:
    """Compare findings with those of a baseline.

    :param prints: fingerprints of the report's findings, payload by payload.
    :raises BadDataError: where the baseline is of none of the payloads that could be
        linted.
    """
    linted = [each for each in report.payloads if each.error is None]
    check_baseline(baseline, [each.snap_name for each in linted])
    return JudgedReport(
        report=report,
        where=baseline.where,
        payloads=tuple(
            _judged(payload, each, _before(payload, baseline))
            for payload, each in zip(report.payloads, prints, strict=True)
        ),
    )


def check_baseline(baseline: Baseline, snap_names: Sequence[str]) -> None:
    """Refuse a baseline of other snaps.

    :raises BadDataError: where it knows none of them.
    """
    if not snap_names or any(baseline.named(name) for name in snap_names):
        return
    known = ", ".join(repr(each.snap_name) for each in baseline.payloads) or "no snap"
    given = ", ".join(repr(name) for name in snap_names)
    message = f"The baseline {baseline.where!r} is of {known}, not of {given}"
    raise BadDataError(
        message,
        resolution="Name a report or a build of the same snap, or write a new baseline "
        "with --write-baseline.",
    )


def _before(payload: LintedPayload, baseline: Baseline) -> BaselinePayload | None:
    return same_build(payload.path, baseline.named(payload.snap_name))


def _judged(
    payload: LintedPayload, prints: Sequence[str], before: BaselinePayload | None
) -> JudgedPayload:
    known = [*before.findings] if before else []
    pairs: dict[int, tuple[State, KnownFinding]] = {}
    for number, fingerprint in enumerate(prints):
        was = next((each for each in known if each.fingerprint == fingerprint), None)
        if was is not None and not was.rule.startswith(REGRESSIONS):
            known.remove(was)
            state: State = "worse" if _worse(payload.findings[number], was) else "known"
            pairs[number] = (state, was)
    for number, finding in enumerate(payload.findings):
        was = next((each for each in known if _elsewhere(finding, each)), None)
        if number not in pairs and was is not None:
            known.remove(was)
            place = finding.location
            stays = place.kind != "payload" or place.path == was.path
            moved: State = "known" if stays else "moved"
            pairs[number] = ("worse" if _worse(finding, was) else moved, was)
    return JudgedPayload(
        linted=payload,
        findings=tuple(_with_states(payload.findings, pairs)),
        gone=tuple(each for each in known if not each.rule.startswith(REGRESSIONS))
        if payload.error is None
        else (),
        before=before,
    )


def _with_states(
    findings: Sequence[Finding], pairs: dict[int, tuple[State, KnownFinding]]
) -> Iterator[JudgedFinding]:
    for number, finding in enumerate(findings):
        if number in pairs:
            state, was = pairs[number]
            yield JudgedFinding(finding=finding, state=state, was=was)
        else:
            yield JudgedFinding(finding=finding, state="new")


def _worse(finding: Finding, was: KnownFinding) -> bool:
    """Tell whether a known finding weighs more than it did."""
    return _weight(finding.severity, finding.undecided) < _weight(
        was.severity, was.undecided
    )


def _weight(severity: Severity, undecided: bool) -> tuple[int, bool]:  # noqa: FBT001 # as findings have it
    return SEVERITIES.index(severity), undecided


def _elsewhere(finding: Finding, was: KnownFinding) -> bool:
    """Tell whether a finding is the same, of a file that moved or another codec."""
    place = finding.location
    subject = finding.evidence[0].label if finding.evidence else ""
    return (
        not was.rule.startswith(REGRESSIONS)
        and (finding.rule, place.kind) == (was.rule, was.kind)
        and _CODEC.sub("codec", subject) == _CODEC.sub("codec", was.subject)
        and (
            place.kind != "payload"
            or PurePosixPath(place.path).name == PurePosixPath(was.path).name
        )
    )


class HasPath(Protocol):
    """What knows the path that its payload was given by."""

    @property
    def path(self) -> str:
        """Return the path."""


Known = TypeVar("Known", bound=HasPath)


def same_build(path: str, known: Sequence[Known]) -> Known | None:
    """Return what is known of a payload, of all that is known of its snap.

    A snap is built for several architectures, so a baseline may hold several builds of
    one name. That counts which has the same path, else the same file name, else the
    same architecture in its name, which is ``NAME_VERSION_ARCHITECTURE.snap``.

    :returns: ``None`` where there is none, or it isn't clear which.
    """
    if len(known) == 1:
        return known[0]
    likenesses: tuple[Callable[[str], str], ...] = (str, _file_name, _architecture)
    for likeness in likenesses:
        alike = [each for each in known if likeness(each.path) == likeness(path)]
        if alike:
            return alike[0] if len(alike) == 1 else None
    return None


def _file_name(path: str) -> str:
    return PurePath(path).name


def _architecture(path: str) -> str:
    return PurePath(path).stem.rpartition("_")[2]

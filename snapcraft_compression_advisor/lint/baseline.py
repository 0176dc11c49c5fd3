"""Findings beside those of a baseline: what is new, worse, moved, known, gone.

A run fails for what is new or worse, as with the baselines of Android Lint, PHPStan,
Psalm and detekt. Their names for states aside, these are SARIF's ``baselineState``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath, PurePosixPath

from ..core.errors import BadDataError
from ..core.terminal import printable
from ..payload.source import Payload
from .finding import REGRESSIONS, Finding, LintedPayload, LintReport, State
from .run import SEVERITIES


@dataclass(frozen=True, slots=True, kw_only=True)
class Baseline:
    """What was known before this run.

    :param report: what it knows; payloads that couldn't be linted tell nothing.
    :param payload: the build itself, if it is one; open while it is looked at.
    """

    where: str
    report: LintReport
    payload: Payload | None = None


def judge(report: LintReport, baseline: Baseline) -> LintReport:
    """Return a report whose findings have a state against a baseline.

    If it doesn't have a payload's snap, all of the payload's findings are new.

    :raises BadDataError: if the baseline is of none of the payloads that could be
        linted.
    """
    given = [each.snap_name for each in report.payloads if each.error is None]
    known = [each.snap_name for each in baseline.report.payloads if each.error is None]
    if given and not set(given) & set(known):
        message = (
            f"The baseline {baseline.where!r} is of {_listed(known) or 'no snap'}, not "
            f"of {_listed(given)}"
        )
        raise BadDataError(
            message,
            resolution="Specify a report or a build of the same snap, or write a new "
            "baseline with --write-baseline.",
        )
    payloads = tuple(
        _judged(each, same_build(each.path, each.snap_name, baseline.report))
        for each in report.payloads
    )
    return replace(report, payloads=payloads, against=baseline.where)


def _listed(names: Sequence[str]) -> str:
    return ", ".join(map(repr, names))


def _judged(payload: LintedPayload, before: LintedPayload | None) -> LintedPayload:
    """Return a payload whose findings have states; those that stayed come first."""
    known = [
        each
        for each in (before.findings if before else ())
        if not each.rule.startswith(REGRESSIONS)
    ]
    pairs: dict[int, tuple[State, Finding]] = {}
    ways: tuple[tuple[State, Callable[[Finding, Finding], bool]], ...] = (
        ("known", _stays),
        ("moved", _moves),
    )
    for state, is_same in ways:
        for number, finding in enumerate(payload.findings):
            was = next((each for each in known if is_same(finding, each)), None)
            if number not in pairs and was is not None:
                known.remove(was)
                worse = _rank(finding) < _rank(was)
                pairs[number] = ("worse" if worse else state, was)
    findings = []
    for number, finding in enumerate(payload.findings):
        state, was = pairs.get(number, ("new", None))
        findings.append(replace(finding, state=state, was=was))
    return replace(
        payload,
        findings=tuple(findings),
        before=before,
        gone=tuple(known) if payload.error is None else (),
    )


def _stays(finding: Finding, was: Finding) -> bool:
    return finding.place == was.place and _same_subject(finding, was)


def _moves(finding: Finding, was: Finding) -> bool:
    """Return whether a finding is a known one whose file moved."""
    (rule, kind, path), (was_rule, was_kind, was_path) = finding.place, was.place
    return (
        (rule, kind) == (was_rule, was_kind)
        and PurePosixPath(path).name == PurePosixPath(was_path).name
        and _same_subject(finding, was)
    )


def _same_subject(finding: Finding, was: Finding) -> bool:
    """Return whether subjects are the same, as reports save them."""
    now, before = (
        {kind: printable(name) for kind, name in each.subject.items()}
        for each in (finding, was)
    )
    return now == before


def _rank(finding: Finding) -> tuple[int, bool]:
    """Return a key that sorts findings by severity, the most severe first."""
    return SEVERITIES.index(finding.severity), finding.undecided


def same_build(path: str, snap_name: str, baseline: LintReport) -> LintedPayload | None:
    """Return the build of a baseline that a payload continues.

    A snap is built for several architectures, so a baseline may hold several builds of
    one name. That counts which has the same path, else the same file name, else the
    same architecture in its name, which is ``NAME_VERSION_ARCHITECTURE.snap``.

    :returns: ``None`` if there is none, or it isn't clear which.
    """
    known = [
        each
        for each in baseline.payloads
        if each.snap_name == snap_name and each.error is None
    ]
    if len(known) == 1:
        return known[0]
    likenesses: tuple[Callable[[str], str], ...] = (
        str,
        lambda each: PurePath(each).name,
        lambda each: PurePath(each).stem.rpartition("_")[2],
    )
    for likeness in likenesses:
        alike = [each for each in known if likeness(each.path) == likeness(path)]
        if alike:
            return alike[0] if len(alike) == 1 else None
    return None

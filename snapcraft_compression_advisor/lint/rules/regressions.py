"""SCA6: what is worse than in the build before, its delta included."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...core.units import bytes_text, format_bytes, format_seconds, seconds_text
from ...diff.figures import figures_of, image_change, launch_changes
from ...diff.launches import lost_text
from ...settings.quantities import Share
from ..finding import (
    MOST_FILES,
    Evidence,
    Finding,
    Location,
    declared,
    estimated,
    measured,
)
from ..rule import Context, Rule, delta_name, no_baseline
from .budgets import NO_BUDGET

if TYPE_CHECKING:
    from ...diff.figures import BaselineBuild, BaselineDelta, PayloadFigures
    from ...diff.launches import FigureChange
    from ...refresh.changes import ChangeKind

_CAUSES = 3
LEAST_BYTES = 100_000
LEAST_SHARE = 0.01
"""What is worth a finding: so many bytes of the delta and so large a share of it."""


@Rule(id="SCA601", severity="warning", unasked=no_baseline)
def launch_slower(rule: Rule, context: Context) -> Iterator[Finding]:
    """Yield a finding for each launch that takes longer than in the baseline."""
    if context.baseline is None:
        return
    limit_s = context.settings.max_launch_growth
    for change in launch_changes(context.baseline, figures_of(context.analysis)):
        if change.change_s.mid <= limit_s:
            continue
        undecided = change.change_s.low <= limit_s
        causes = _causes(context.baseline, change)
        because = f", mainly because of {causes[0]}" if causes else ""
        within = ", which lies within that interval" if undecided else ""
        yield rule.finding(
            context,
            f"A cold launch of {change.app} on {change.device} takes an estimated "
            f"{seconds_text(change.change_s)} longer than in the baseline{because}; "
            f"{format_seconds(limit_s)} is allowed{within}.",
            subject={"app": change.app, "device": change.device},
            evidence=_launch_evidence(change, limit_s),
            files=causes,
            undecided=undecided,
        )


@Rule(
    id="SCA602",
    severity="error",
    unasked=lambda context: (
        no_baseline(context)
        or (None if context.settings.max_image_growth else NO_BUDGET)
    ),
)
def image_grown(rule: Rule, context: Context) -> Iterator[Finding]:
    """Yield a finding if the image grew by more than its budget."""
    previous, budget = context.baseline, context.settings.max_image_growth
    if previous is None or budget is None:
        return
    now = figures_of(context.analysis)
    change = image_change(previous, now)
    before = previous.figures.image_bytes if previous.figures else None
    if change is None or before is None:
        text = (
            f"{budget.root:.1%}" if isinstance(budget, Share) else format_bytes(budget)
        )
        yield rule.finding(
            context,
            "How much the image grew since the baseline isn't known; "
            f"{text} is allowed.",
            files=_grown_files(previous),
            undecided=True,
        )
        return
    limit = budget.root * before.mid if isinstance(budget, Share) else budget
    if change.high <= limit:
        return
    undecided = change.low <= limit
    within = ", which lies within that interval" if undecided else ""
    estimated = "" if change.known else " an estimated"
    yield rule.finding(
        context,
        f"The image has grown by{estimated} {bytes_text(change)} since the baseline; "
        f"{format_bytes(limit)} is allowed{within}.",
        evidence=_size_evidence(previous, now, limit),
        files=_grown_files(previous),
        undecided=undecided,
    )


def _no_delta(context: Context) -> str | None:
    """Return why the delta from the baseline isn't known."""
    baseline = context.baseline
    if baseline is None or baseline.delta is not None:
        return None
    return baseline.no_delta or "the baseline is a report, not a built snap"


@Rule(
    id="SCA603",
    severity="error",
    unasked=lambda context: (
        no_baseline(context)
        or (None if context.settings.max_refresh_size else NO_BUDGET)
    ),
)
def refresh_large(rule: Rule, context: Context) -> Iterator[Finding]:
    """Yield a finding if the delta is larger than its budget, or may be."""
    baseline, budget = context.baseline, context.settings.max_refresh_size
    if baseline is None or budget is None:
        return
    delta = baseline.delta
    image = context.analysis.image_bytes(delta.codec) if delta else None
    if delta is None or (image is None and isinstance(budget, Share)):
        allowed = (
            f"{budget.root:.0%} of the image"
            if isinstance(budget, Share)
            else format_bytes(budget)
        )
        why = f": {baseline.no_delta}" if baseline.no_delta else ""
        yield rule.finding(
            context,
            f"How much a refresh from the baseline downloads isn't known{why}; "
            f"{allowed} is allowed.",
            undecided=True,
        )
        return
    limit = budget
    if isinstance(limit, Share):
        limit = limit.root * (image.mid if image else 0.0)
    if delta.size_bytes.high <= limit:
        return
    undecided = delta.size_bytes.low <= limit
    within = ", which lies within that interval" if undecided else ""
    known = "a measured" if delta.size_bytes.known else "an estimated"
    yield rule.finding(
        context,
        f"A refresh from the baseline downloads {known} "
        f"{bytes_text(delta.size_bytes)} ({delta_name(delta)}); "
        f"{format_bytes(limit)} is allowed{within}.",
        evidence=_delta_evidence(delta, limit),
        files=[change.path for change in delta.changes[:MOST_FILES]],
        undecided=undecided,
    )


@Rule(id="SCA608", severity="warning", unasked=no_baseline)
def library_gone(rule: Rule, context: Context) -> Iterator[Finding]:
    """Yield a finding for each app that lacks what it had."""
    difference = context.baseline.difference if context.baseline else None
    lacking = {
        launch.launch_set.app: {each.name for each in launch.launch_set.unresolved}
        for launch in context.analysis.launches
    }
    for app, names in difference.lost.items() if difference else ():
        # The analysis knows the base and the content snaps, the difference doesn't.
        gone = [name for name in names if name in lacking.get(app, ())]
        if gone:
            yield rule.finding(
                context,
                lost_text(app, gone),
                subject={"app": app},
                evidence=[estimated("needed by", app)],
            )


def _delta_rule(rule: str, kind: ChangeKind, name: str, one: str, several: str) -> Rule:
    """Return the rule that finds changes of a kind if they are significant.

    :param one: what such a file does, after "1 file".
    :param several: what such files do.
    """

    def judge(rule: Rule, context: Context) -> Iterator[Finding]:
        delta = context.baseline.delta if context.baseline else None
        if delta is None:
            return
        found = [change for change in delta.changes if change.change == kind]
        added = sum(change.delta_bytes for change in found)
        if added < max(LEAST_BYTES, LEAST_SHARE * delta.size_bytes.mid):
            return
        share = min(1.0, added / delta.size_bytes.mid)
        what = f"1 file {one}, and adds"
        if len(found) > 1:
            what = f"{len(found)} files {several}, and add"
        yield rule.finding(
            context,
            f"{what} an estimated {format_bytes(added)} ({share:.0%}) to the "
            f"{delta_name(delta)}.",
            location=Location("payload", found[0].path) if len(found) == 1 else None,
            evidence=[
                estimated(change.path, format_bytes(change.delta_bytes))
                for change in found[:MOST_FILES]
            ],
            files=[change.path for change in found[:MOST_FILES]],
        )

    return Rule(
        id=rule,
        name=name,
        severity="info",
        judge=judge,
        blocked=_no_delta,
        unasked=no_baseline,
    )


def _launch_evidence(change: FigureChange, limit_s: float) -> Iterator[Evidence]:
    allowed = f"allowed growth of {change.app} on {change.device}"
    yield declared(allowed, format_seconds(limit_s))
    for label, figure in (
        ("difference", change.change_s),
        ("added to a cold start in the baseline", change.old_s),
        ("added to a cold start now", change.new_s),
    ):
        yield estimated(label, seconds_text(figure))


def _causes(previous: BaselineBuild, change: FigureChange) -> list[str]:
    """Return the files that add most to a launch, if that is known."""
    if previous.difference is None:
        return []
    return [
        cause.path
        for launch in previous.difference.launches
        if (launch.app, launch.device) == (change.app, change.device)
        for cause in launch.causes
        if cause.seconds > 0 and cause.path is not None
    ][:_CAUSES]


def _grown_files(previous: BaselineBuild) -> list[str]:
    if previous.difference is None:
        return []
    files = previous.difference.files.changes
    return [each.path for each in files if each.stored_change.mid > 0][:_CAUSES]


def _size_evidence(
    previous: BaselineBuild, now: PayloadFigures, limit: float
) -> Iterator[Evidence]:
    yield declared("allowed growth of the image", format_bytes(limit))
    for label, figures in (("baseline", previous.figures), ("now", now)):
        if figures is not None and figures.image_bytes is not None:
            yield Evidence(
                f"image, {label}, with {figures.codec}",
                bytes_text(figures.image_bytes),
                "measured" if figures.measured else "estimated",
            )


def _delta_evidence(delta: BaselineDelta, limit: float) -> Iterator[Evidence]:
    yield declared("allowed size of a refresh", format_bytes(limit))
    known = measured if delta.size_bytes.known else estimated
    yield known(delta_name(delta), bytes_text(delta.size_bytes))
    for change in delta.changes[:MOST_FILES]:
        yield estimated(f"of that, {change.path}", format_bytes(change.delta_bytes))


DELTA_RULES = (
    refresh_large,
    _delta_rule("SCA604", "moved", "file-moved", "has moved", "have moved"),
    _delta_rule(
        "SCA605",
        "recompressed",
        "archive-recompressed",
        "is an archive packed again",
        "are archives packed again",
    ),
    _delta_rule(
        "SCA606",
        "timestamp",
        "file-stamped",
        "differs in a few bytes only",
        "differ in a few bytes only",
    ),
    _delta_rule(
        "SCA607",
        "cache",
        "cache-unstable",
        "is a cache of files that didn't change",
        "are caches of files that didn't change",
    ),
)
"""Those that look at the delta, which takes long to make."""

RULES = (launch_slower, image_grown, *DELTA_RULES, library_gone)

"""SCA601, SCA602 and SCA608: what is worse than in the build before."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...core.units import bytes_text, format_bytes, format_seconds, seconds_text
from ...diff.figures import figures_of, image_change, launch_changes
from ...diff.launches import lost_text
from ...settings.quantities import Share
from ..finding import Evidence, Finding, declared, estimated
from ..rule import Context, Rule, no_baseline
from .budgets import NO_BUDGET

if TYPE_CHECKING:
    from ...diff.figures import BaselineBuild, PayloadFigures
    from ...diff.launches import FigureChange

_CAUSES = 3


@Rule(
    id="SCA601",
    severity="warning",
    summary="A cold launch takes longer than in the baseline.",
    fails_if="A cold launch of an app on a device takes longer than in the baseline "
    "by more than `max-launch-growth` (default 0.1 s, which people perceive as "
    "immediate), even at the low end of the difference's interval. If only its middle "
    "exceeds the budget, the finding is undecided. If the baseline is the previous "
    "`.snap`, what both launches share cancels out; if it is a report, only the "
    "intervals of both are known, so few differences are decided. Without "
    "`--baseline`, the rule is skipped.",
    why="Launches slow down one file at a time. The cause is obvious when the change "
    "is made, but not a year later.",
    how_to_fix="Check the files that the finding names, or run `compression-advisor "
    "diff` on both builds. If the finding is undecided, record a launch with "
    "`compression-advisor record`, or use the previous `.snap` as the baseline.",
    options={
        "max-launch-growth": "a duration, such as `0.1s`",
        "apps": "target apps, the deciding one first",
        "launch-profile": "recorded launches",
    },
    unasked=no_baseline,
)
def launch_slower(rule: Rule, context: Context) -> Iterator[Finding]:
    """Yield a finding for each launch that takes longer than in the baseline."""
    if context.baseline is None:
        return
    limit_s = context.policy.max_launch_growth
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
    summary="The image has grown by more than its budget.",
    fails_if="The image is larger than in the baseline by more than "
    "`max-image-growth`, even at the low end of the difference's interval. If the "
    "interval includes the budget, or a size isn't known, the finding is undecided. "
    "Built snaps are measured, prime directories estimated. Without `--baseline` or "
    "without the budget, the rule is skipped.",
    why="Every user downloads the growth, and keeps it on disk in two or three "
    "revisions.",
    how_to_fix="Run `compression-advisor diff` on both builds to see which files made "
    "the image grow. Leave out what needn't ship, or raise the budget.",
    options={
        "max-image-growth": "a size with its unit, such as `5MB`, or a percentage "
        "of the baseline's image, such as `3%`"
    },
    unasked=lambda context: (
        no_baseline(context) or (None if context.policy.max_image_growth else NO_BUDGET)
    ),
)
def image_grown(rule: Rule, context: Context) -> Iterator[Finding]:
    """Yield a finding if the image grew by more than its budget."""
    previous, budget = context.baseline, context.policy.max_image_growth
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


@Rule(
    id="SCA608",
    severity="warning",
    summary="A library that a launch needs is gone.",
    fails_if="The baseline is the previous `.snap` or prime directory, a program that "
    "a target app starts needs a library that only the baseline has, and no base or "
    "content snap is known to bring it. Without `--baseline`, the rule is skipped.",
    why="A cleanup that removes a library too many shows at the next start of the app, "
    "and on the developer's machine often not at all.",
    how_to_fix="Ship the library again. If the base or a content snap has it, and the "
    "app's search path leads there, specify them as `bases` and `contents`.",
    options={"bases": "base snaps", "contents": "content snaps"},
    unasked=no_baseline,
)
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


RULES = (launch_slower, image_grown, library_gone)

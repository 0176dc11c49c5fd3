"""SCA601 and SCA602: what is worse than in the build before."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from snapcraft_compression_advisor.core.units import format_bytes, format_seconds
from snapcraft_compression_advisor.diff.figures import (
    figures_of,
    image_change,
    launch_changes,
)
from snapcraft_compression_advisor.lint.figures import bytes_text, seconds_text
from snapcraft_compression_advisor.lint.finding import Evidence, Finding
from snapcraft_compression_advisor.lint.places import image_place
from snapcraft_compression_advisor.settings.policy_model import Share

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from snapcraft_compression_advisor.diff.figures import (
        BaselineBuild,
        FigureChange,
        PayloadFigures,
    )
    from snapcraft_compression_advisor.diff.launches import LaunchCause
    from snapcraft_compression_advisor.lint.context import Context
    from snapcraft_compression_advisor.lint.finding import Severity

REGRESSIONS = "SCA6"
"""Prefix of the rules about a change: their findings are never known before."""
_CAUSES = 3


class LaunchSlower:
    """A cold launch takes longer than in the build before."""

    id: ClassVar[str] = "SCA601"
    name: ClassVar[str] = "launch-slower"
    severity: ClassVar[Severity] = "warning"
    summary: ClassVar[str] = "A cold launch takes longer than in the baseline."
    fails_if: ClassVar[str] = (
        "A cold launch of an app on a device takes longer than in the baseline by more "
        "than `budgets.launch-growth` (0.1 s unless set: what people still take for "
        "at once), at the low end of the difference's interval, so that the intervals "
        "of both lie apart. Given the previous `.snap`, what both builds' launches "
        "share cancels out, and the device is the same for both; given a report, only "
        "the launches' whole intervals are known, and few differences are decided. "
        "Undecided where only the middle of the difference exceeds it. Silent without "
        "`--baseline`."
    )
    why: ClassVar[str] = (
        "Launches become slower by a library here and a file there. In the change that "
        "does it, the cause is plain; a year later it isn't."
    )
    how_to_fix: ClassVar[str] = (
        "Look at the files that the finding names, or run `compression-advisor diff` "
        "on both builds. Where it is undecided, record a launch with "
        "`compression-advisor record`, or give the previous `.snap` as the baseline."
    )
    options: ClassVar[Mapping[str, str]] = {
        "budgets.launch-growth": "a duration, as in `0.1s`",
        "apps": "whose launch counts, the deciding one first",
        "launch-profile": "recorded launches",
    }

    def check(self, context: Context) -> Iterator[Finding]:
        """Yield one finding for each app and device."""
        if context.baseline is None:
            return
        limit_s = context.policy.budgets.launch_growth
        for change in launch_changes(context.baseline, figures_of(context.analysis)):
            if change.change_s.mid > limit_s:
                yield self._finding(context, change, limit_s)

    def _finding(
        self, context: Context, change: FigureChange, limit_s: float
    ) -> Finding:
        undecided = change.change_s.low <= limit_s
        causes = _causes(context.baseline, change)
        because = f", above all because of {causes[0].path}" if causes else ""
        open_ = "; the difference's interval leaves it open" if undecided else ""
        message = (
            f"A cold launch of {change.app} on {change.device} takes an estimated "
            f"{seconds_text(change.change_s)} longer than in the baseline"
            f"{because}; {format_seconds(limit_s)} is allowed{open_}."
        )
        return Finding(
            rule=self.id,
            name=self.name,
            severity="info" if undecided else self.severity,
            message=message,
            location=image_place(context),
            evidence=_launch_evidence(change, limit_s),
            files=tuple(each.path for each in causes if each.path is not None),
            undecided=undecided,
        )


class ImageGrown:
    """The image has grown by more than the project allows."""

    id: ClassVar[str] = "SCA602"
    name: ClassVar[str] = "image-grown"
    severity: ClassVar[Severity] = "error"
    summary: ClassVar[str] = "The image has grown past its budget."
    fails_if: ClassVar[str] = (
        "The image is larger than in the baseline by more than `budgets.image-growth`, "
        "at the low end of the difference's interval; undecided where the budget lies "
        "within the interval, or where a size isn't known. Built snaps' sizes are "
        "measured, those of prime directories estimated. Silent without "
        "`--baseline`, and without that budget."
    )
    why: ClassVar[str] = (
        "Every user downloads the growth, and keeps it on the disk, two or three "
        "revisions of it."
    )
    how_to_fix: ClassVar[str] = (
        "`compression-advisor diff` on both builds names the files that made it grow. "
        "Leave out what needn't ship, or raise the budget."
    )
    options: ClassVar[Mapping[str, str]] = {
        "budgets.image-growth": "bytes with a unit, as in `5MB`, or percent, as in "
        "`3%`, of the baseline's image"
    }

    def check(self, context: Context) -> Iterator[Finding]:
        """Yield one finding where the budget is broken, or may be."""
        previous, budget = context.baseline, context.policy.budgets.image_growth
        if previous is None or budget is None:
            return
        now = figures_of(context.analysis)
        change = image_change(previous, now)
        before = previous.figures.image_bytes if previous.figures else None
        if change is None or before is None:
            message = "How much the image grew since the baseline isn't known"
            text = f"{budget.root:.1%}" if isinstance(budget, Share) else _of(budget)
            message += f"; {text} is allowed."
            yield self._finding(context, message, (), undecided=True)
            return
        limit = budget.root * before.mid if isinstance(budget, Share) else budget
        if change.high <= limit:
            return
        undecided = change.low <= limit
        within = ", which lies within that" if undecided else ""
        estimated = "" if change.known else " an estimated"
        message = (
            f"The image has grown by{estimated} {bytes_text(change)} since the "
            f"baseline; {_of(limit)} is allowed{within}."
        )
        evidence = tuple(_size_evidence(previous, now, limit))
        yield self._finding(context, message, evidence, undecided=undecided)

    def _finding(
        self,
        context: Context,
        message: str,
        evidence: tuple[Evidence, ...],
        *,
        undecided: bool,
    ) -> Finding:
        return Finding(
            rule=self.id,
            name=self.name,
            severity="info" if undecided else self.severity,
            message=message,
            location=image_place(context),
            evidence=evidence,
            files=_grown_files(context.baseline),
            undecided=undecided,
        )


def _of(limit: float) -> str:
    return format_bytes(limit)


def _launch_evidence(change: FigureChange, limit_s: float) -> tuple[Evidence, ...]:
    figures = (
        ("difference", change.change_s),
        ("added to a cold start in the baseline", change.old_s),
        ("added to a cold start now", change.new_s),
    )
    return (
        Evidence(
            label=f"allowed growth of {change.app} on {change.device}",
            text=format_seconds(limit_s),
            origin="declared",
        ),
        *(
            Evidence(label=label, text=seconds_text(figure), origin="estimated")
            for label, figure in figures
        ),
    )


def _causes(previous: BaselineBuild | None, change: FigureChange) -> list[LaunchCause]:
    """Return the files that add most to a launch, where that is known."""
    if previous is None or previous.difference is None:
        return []
    return [
        cause
        for launch in previous.difference.launches
        if (launch.app, launch.device) == (change.app, change.device)
        for cause in launch.causes
        if cause.seconds > 0 and cause.path is not None
    ][:_CAUSES]


def _grown_files(previous: BaselineBuild | None) -> tuple[str, ...]:
    if previous is None or previous.difference is None:
        return ()
    files = previous.difference.files.changes
    return tuple(each.path for each in files if each.stored_change.mid > 0)[:_CAUSES]


def _size_evidence(
    previous: BaselineBuild, now: PayloadFigures, limit: float
) -> Iterator[Evidence]:
    yield Evidence(
        label="allowed growth of the image", text=_of(limit), origin="declared"
    )
    for label, figures in (("baseline", previous.figures), ("now", now)):
        if figures is not None and figures.image_bytes is not None:
            yield Evidence(
                label=f"image, {label}, with {figures.codec}",
                text=bytes_text(figures.image_bytes),
                origin="measured" if figures.measured else "estimated",
            )


RULES = (LaunchSlower(), ImageGrown())

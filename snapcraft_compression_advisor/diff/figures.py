"""The build before this one, as far as a baseline knows it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from ..advice.judging import SNAPCRAFT_DEFAULT
from ..core.units import Interval
from .launches import FigureChange

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..analysis import Analysis
    from ..refresh.changes import FileChange
    from ..refresh.delta import DeltaFormat
    from .difference import BuildDifference

_SAVED_DIGITS = 6
"""Of seconds, in a saved report."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchFigure:
    """What a cold launch adds over a warm one; an estimate."""

    app: str
    device: str
    source: Literal["static", "recorded"]
    added_s: Interval


@dataclass(frozen=True, slots=True, kw_only=True)
class PayloadFigures:
    """What of a build is compared with the next one's.

    :param codec: what it is packed with, or will be.
    :param image_bytes: ``None`` if nothing is known of that codec.
    """

    codec: str
    image_bytes: Interval | None
    measured: bool
    launches: tuple[LaunchFigure, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class BaselineDelta:
    """What a refresh from the previous build downloads, and files that add most."""

    codec: str
    delta_format: DeltaFormat
    size_bytes: Interval
    changes: Sequence[FileChange]


@dataclass(frozen=True, slots=True, kw_only=True)
class BaselineBuild:
    """The build that a baseline is of.

    :param figures: ``None`` for a report that has none.
    :param difference: from the previous build, if that is at hand.
    :param delta: from that build, if a rule asks for it.
    :param no_delta: why it isn't known although a rule asks for it.
    """

    figures: PayloadFigures | None
    difference: BuildDifference | None = None
    delta: BaselineDelta | None = None
    no_delta: str | None = None


def figures_of(analysis: Analysis) -> PayloadFigures:
    """Return the figures of a build that was analysed."""
    codec = analysis.payload.declared_compression or SNAPCRAFT_DEFAULT
    return PayloadFigures(
        codec=codec,
        image_bytes=analysis.image_bytes(codec),
        measured=analysis.payload.image_bytes is not None,
        launches=tuple(_launch_figures(analysis, codec)),
    )


def launch_changes(
    previous: BaselineBuild, now: PayloadFigures
) -> Iterator[FigureChange]:
    """Yield what became of each launch that both builds have.

    Given the previous build itself, what both launches share cancels out. Given its
    figures alone, nothing does: only intervals that lie apart tell.
    """
    if previous.difference is not None:
        yield from previous.difference.launches
        return
    known = {} if previous.figures is None else _by_launch(previous.figures)
    for (app, device), new_s in _by_launch(now).items():
        old_s = known.get((app, device))
        if old_s is not None:
            yield FigureChange(
                app=app,
                device=device,
                old_s=old_s,
                new_s=new_s,
                change_s=_change(old_s, new_s),
            )


def image_change(previous: BaselineBuild, now: PayloadFigures) -> Interval | None:
    """Return the growth of the image; None if either size is unknown."""
    before = previous.figures
    if before is None or before.image_bytes is None or now.image_bytes is None:
        return None
    return _change(before.image_bytes, now.image_bytes)


def _change(old: Interval, new: Interval) -> Interval:
    """Return a difference; zero if the figures are the same as printed."""
    ends = ((old.low, new.low), (old.mid, new.mid), (old.high, new.high))
    if all(round(one - other, _SAVED_DIGITS - 1) == 0 for one, other in ends):
        return Interval.exactly(0)
    return new + -old


def _by_launch(figures: PayloadFigures) -> dict[tuple[str, str], Interval]:
    return {(each.app, each.device): each.added_s for each in figures.launches}


def _launch_figures(analysis: Analysis, codec: str) -> Iterator[LaunchFigure]:
    for launch in analysis.launches:
        for device, estimates in launch.estimates.items():
            if codec in estimates and launch.launch_set.files:
                yield LaunchFigure(
                    app=launch.launch_set.app,
                    device=device,
                    source=launch.launch_set.source,
                    added_s=estimates[codec].added_s,
                )

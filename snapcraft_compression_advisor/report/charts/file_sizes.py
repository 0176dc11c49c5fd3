"""How large files are: what the largest make up, and how many are of which size."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from snapcraft_compression_advisor.report.charts.spec import (
    MUTED,
    PAPER,
    TOLD,
    Drawing,
    Spec,
    layered,
    legend,
    mark,
    quantity,
    rows,
    telling,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_HEIGHT = 280
_ROW_PX = 36
_AXES_PX = 60
_ROOMY_PX = 400
_TWO_LINES = (
    "indexof(datum.label, ' (') < 0 ? datum.label : "
    "[slice(datum.label, 0, indexof(datum.label, ' (')), "
    "slice(datum.label, indexof(datum.label, ' (') + 1)]"
)
"""What stands in parentheses goes below its name, where there's little room."""

_LETTER_PX = 6.5
_NAME_GAP_PX = 8
_STEPS = 8
_NEAR_SHARE = 0.05
"""Of the axis: half a line of text and what the curve's own stroke takes."""

_SIDES: Mapping[str, Spec] = {
    "right": {"align": "left", "dx": 8, "dy": 4},
    "left": {"align": "right", "dx": -8, "dy": 0},
    "below": {"align": "center", "dy": 20},
    "above": {"align": "center", "dy": -10},
}
_NAME_PLACES = {
    "right": (0.0, 1.0, 0.0),
    "left": (-1.0, 0.0, 0.0),
    "below": (-0.5, 0.5, -0.07),
    "above": (-0.5, 0.5, 0.07),
}
"""Where a name starts and ends, in its own lengths from its point, and how far it
stands above it, share of the axis; the first clear place is taken."""
_OWN = "var(--lzo)"


@dataclass(frozen=True, slots=True, kw_only=True)
class CurvePoint:
    """So many of the largest files, and their share of all, 0 to 1.

    :param label: shown beside the point; empty for those of the payload itself.
    """

    files: int
    share: float
    text: str
    label: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedBar:
    """A row with one share, 0 to 1, or with several in a group.

    :param series: name of the group's member.
    :param colour: of the bar.
    """

    label: str
    series: str
    share: float
    colour: str
    text: str


def draw_size_curve(
    points: Sequence[CurvePoint], published: Sequence[CurvePoint], *, width: int
) -> Drawing:
    """Draw what part of the payload its largest files are, beside published ones."""
    x = quantity(
        "files",
        "largest files (logarithmic)",
        scale={"type": "log", "nice": False},
        axis={"tickCount": 4, "format": "~s", "grid": False},
    )
    y = quantity(
        "share",
        "share of the payload",
        scale={"domain": [0, 1]},
        axis={"format": ".0%", "tickCount": 5},
    )
    own: Spec = {"transform": [{"filter": "datum.own"}]}
    other: Spec = {"transform": [{"filter": "!datum.own"}]}
    place: Spec = {"x": x, "y": y}
    return layered(
        [
            {
                **own,
                "mark": mark("line", stroke=_OWN, strokeWidth=2),
                "encoding": place,
            },
            {
                **own,
                "mark": telling("point", filled=True, color=_OWN, size=70, opacity=1),
                "encoding": {**place, "description": TOLD},
            },
            {
                **other,
                "mark": telling(
                    "point", shape="diamond", stroke=MUTED, fill=PAPER, size=80
                ),
                "encoding": {**place, "description": TOLD},
            },
            *(_name(side, place) for side in _SIDES),
        ],
        values=[
            {
                "files": point.files,
                "share": point.share,
                "text": point.text,
                "label": point.label,
                "own": not point.label,
                "side": _clear_side(point, points, width) if point.label else "",
            }
            for point in (*points, *published)
        ],
        width=width,
        height=_HEIGHT,
    )


def _name(side: str, place: Spec) -> Spec:
    return {
        "transform": [{"filter": f"datum.side === '{side}'"}],
        "mark": mark("text", fill=MUTED, **_SIDES[side]),
        "encoding": {**place, "text": {"field": "label", "type": "nominal"}},
    }


def _clear_side(point: CurvePoint, curve: Sequence[CurvePoint], width: int) -> str:
    """Return on which side of a point its name doesn't lie on the curve."""
    most = max(each.files for each in (*curve, point))
    room_px = width - _AXES_PX
    decade_px = room_px / max(1.0, math.log10(most))
    at_px = decade_px * math.log10(point.files)
    name_px = _LETTER_PX * len(point.label) + _NAME_GAP_PX
    for side, (start, end, rise) in _NAME_PLACES.items():
        start_px, end_px = at_px + start * name_px, at_px + end * name_px
        ranks = (
            10 ** ((start_px + (end_px - start_px) * step / _STEPS) / decade_px)
            for step in range(_STEPS + 1)
        )
        if (side == "right" or start_px >= 0) and all(
            abs(_share_at(curve, rank) - point.share - rise) > _NEAR_SHARE
            for rank in ranks
        ):
            return side
    return "right"


def _share_at(curve: Sequence[CurvePoint], files: float) -> float:
    """Return the height of the line through the curve's points; infinity beside it."""
    for before, after in pairwise(curve):
        if before.files <= files <= after.files:
            way = math.log(files / before.files) / math.log(after.files / before.files)
            return before.share + way * (after.share - before.share)
    return math.inf


def draw_shares(bars: Sequence[SharedBar], *, title: str, width: int) -> Drawing:
    """Draw bars from none to all, in groups of rows."""
    labels = list(dict.fromkeys(bar.label for bar in bars))
    series = {bar.series: bar.colour for bar in reversed(bars)}
    names = list(dict.fromkeys(bar.series for bar in bars))
    roomy = width > _ROOMY_PX
    y = rows(labels, **({} if roomy else {"labelExpr": _TWO_LINES}))
    x = quantity(
        "share",
        title,
        scale={"domain": [0, max(1, *(bar.share for bar in bars))]},
        axis={"format": ".0%", "tickCount": 5 if roomy else 2},
    )
    colour: Spec = {
        "field": "series",
        "type": "nominal",
        "scale": {"domain": names, "range": [series[name] for name in names]},
        "legend": legend(symbolType="square"),
    }
    bar_of_each: Spec = {
        "mark": telling("bar"),
        "encoding": {
            "y": {**y, "scale": {"paddingInner": 0.3}},
            "yOffset": {"field": "series", "type": "nominal", "sort": names},
            "x": x,
            "color": colour,
            "description": TOLD,
        },
    }
    return layered(
        [bar_of_each],
        values=[_value(bar) for bar in bars],
        width=width,
        height=_AXES_PX + 24 + _ROW_PX * len(labels),
    )


def _value(bar: SharedBar) -> Spec:
    return {
        "label": bar.label,
        "series": bar.series,
        "share": bar.share,
        "text": bar.text,
    }

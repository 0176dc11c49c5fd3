"""How large files are: what the largest make up, and how many are of which size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from snapcraft_compression_advisor.output.charts.spec import (
    MUTED,
    PAPER,
    TOLD,
    Drawing,
    Spec,
    layered,
    mark,
    quantity,
    telling,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

_HEIGHT = 280
_ROW_PX = 36
_AXES_PX = 60
_ROOMY_PX = 400
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
    own = {"transform": [{"filter": "datum.own"}]}
    other = {"transform": [{"filter": "!datum.own"}]}
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
            {
                **other,
                "mark": mark("text", align="left", dx=8, dy=4, fill=MUTED),
                "encoding": {**place, "text": {"field": "label", "type": "nominal"}},
            },
        ],
        values=[
            {
                "files": point.files,
                "share": point.share,
                "text": point.text,
                "label": point.label,
                "own": not point.label,
            }
            for point in (*points, *published)
        ],
        width=width,
        height=_HEIGHT,
    )


def draw_shares(bars: Sequence[SharedBar], *, title: str, width: int) -> Drawing:
    """Draw bars from none to all, in groups of rows."""
    rows = list(dict.fromkeys(bar.label for bar in bars))
    series = list(dict.fromkeys(bar.series for bar in bars))
    return layered(
        [
            {
                "mark": telling("bar"),
                "encoding": {
                    "y": {
                        "field": "label",
                        "type": "nominal",
                        "sort": rows,
                        "title": None,
                        "axis": {"ticks": False, "domain": False, "labelPadding": 6},
                        "scale": {"paddingInner": 0.3},
                    },
                    "yOffset": {"field": "series", "type": "nominal", "sort": series},
                    "x": quantity(
                        "share",
                        title,
                        scale={"domain": [0, max(1, *(bar.share for bar in bars))]},
                        axis={
                            "format": ".0%",
                            "tickCount": 5 if width > _ROOMY_PX else 2,
                        },
                    ),
                    "color": {
                        "field": "series",
                        "type": "nominal",
                        "scale": {
                            "domain": series,
                            "range": [
                                next(b.colour for b in bars if b.series == name)
                                for name in series
                            ],
                        },
                        "legend": {
                            "orient": "top",
                            "title": None,
                            "aria": False,
                            "labelColor": "var(--ink)",
                            "labelFontSize": 12,
                            "symbolType": "square",
                        },
                    },
                    "description": TOLD,
                },
            }
        ],
        values=[
            {
                "label": bar.label,
                "series": bar.series,
                "share": bar.share,
                "text": bar.text,
            }
            for bar in bars
        ],
        width=width,
        height=_AXES_PX + 24 + _ROW_PX * len(rows),
    )

"""Figures before and now, a row each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from snapcraft_compression_advisor.report.charts.spec import (
    MUTED,
    PAPER,
    TOLD,
    Drawing,
    Spec,
    layered,
    mark,
    quantity,
    rows,
    telling,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from snapcraft_compression_advisor.report.contract import Interval

_ROW_PX = 48
_AXES_PX = 50
_NOW = "var(--lzo)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """One figure.

    :param text: what is told of it.
    """

    label: str
    before: Interval
    now: Interval
    text: str


def draw_moves(moves: Sequence[Move], *, width: int) -> Drawing:
    """Draw each figure's two values with their intervals."""
    y = rows([move.label for move in moves])
    offset = {"field": "when", "type": "nominal", "sort": ["before", "now"]}
    places: Spec = {"y": y, "yOffset": offset}
    colour: Spec = {"field": "colour", "type": "nominal", "scale": None}
    x = quantity("mid", "seconds", axis={"tickCount": 5})
    return layered(
        [
            {
                "mark": mark("rule", strokeWidth=2, opacity=0.6),
                "encoding": {
                    **places,
                    "x": {**x, "field": "low"},
                    "x2": {"field": "high"},
                    "color": colour,
                },
            },
            {
                "mark": telling("point", size=110, strokeWidth=2, opacity=1),
                "encoding": {
                    **places,
                    "x": x,
                    "stroke": colour,
                    "fill": {**colour, "field": "fill"},
                    "description": TOLD,
                },
            },
        ],
        values=[
            {
                "label": move.label,
                "when": when,
                "low": figure.low,
                "mid": figure.mid,
                "high": figure.high,
                "colour": colour_,
                "fill": fill,
                "text": move.text,
            }
            for move in moves
            for when, figure, colour_, fill in (
                ("before", move.before, MUTED, PAPER),
                ("now", move.now, _NOW, _NOW),
            )
        ],
        width=width,
        height=_AXES_PX + _ROW_PX * len(moves),
    )

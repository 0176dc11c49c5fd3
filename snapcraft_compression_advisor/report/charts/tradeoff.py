"""The image's size against what a cold launch takes longer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from snapcraft_compression_advisor.report.charts.spec import (
    CODEC_COLOURS,
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

    from snapcraft_compression_advisor.report.contract import Interval

_HEIGHT = 300
_MB = 1e6
_NEAR = 1.15
"""Times a size: labels of nearer ones would overlap."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TradeoffPoint:
    """One codec.

    :param text: what is told of it.
    """

    codec: str
    shippable: bool
    image_bytes: Interval
    added_s: Interval
    text: str


def draw_tradeoff(points: Sequence[TradeoffPoint], *, width: int) -> Drawing:
    """Draw each codec's size and launch on one device, with their intervals."""
    by_size = sorted(points, key=lambda point: point.image_bytes.mid)
    values = [*map(_value, by_size, _labelled_above(by_size))]
    x = quantity(
        "mb",
        "image, MB (logarithmic)",
        scale={"type": "log", "nice": False, "padding": 32},
        axis={"tickCount": 4, "format": "~f", "grid": False},
    )
    y = quantity("s", "seconds added to a cold launch", axis={"tickCount": 5})
    colour: Spec = {"field": "colour", "type": "nominal", "scale": None}
    faint = {"value": 0.55}
    return layered(
        [
            {
                "mark": mark("rule", strokeWidth=2),
                "encoding": {
                    "x": x,
                    "y": {**y, "field": "s_low"},
                    "y2": {"field": "s_high"},
                    "color": colour,
                    "opacity": faint,
                },
            },
            {
                "mark": mark("rule", strokeWidth=2),
                "encoding": {
                    "x": {**x, "field": "mb_low"},
                    "x2": {"field": "mb_high"},
                    "y": y,
                    "color": colour,
                    "opacity": faint,
                },
            },
            {
                "mark": telling("point", size=120, strokeWidth=2, opacity=1),
                "encoding": {
                    "x": x,
                    "y": y,
                    "stroke": colour,
                    "fill": {**colour, "field": "fill"},
                    "description": TOLD,
                },
            },
            *(_labels(above, x, y) for above in (True, False)),
        ],
        values=values,
        width=width,
        height=_HEIGHT,
    )


def _labels(above: bool, x: Spec, y: Spec) -> Spec:  # noqa: FBT001 # one of two layers
    """Return labels beside and above their points, or centred below them."""
    place = {"align": "left", "dx": 9, "dy": -9}
    if not above:
        place = {"align": "center", "dy": 16}
    return {
        "transform": [{"filter": f"datum.above === {str(above).lower()}"}],
        "mark": mark("text", **place),
        "encoding": {"x": x, "y": y, "text": {"field": "label", "type": "nominal"}},
    }


def _labelled_above(points: Sequence[TradeoffPoint]) -> list[bool]:
    """Return for each point, sorted by size, whether its label stands above it.

    Below it does where the label before stands above and too near.
    """
    above: list[bool] = []
    for number, point in enumerate(points):
        before = points[number - 1]
        near = number and point.image_bytes.mid < _NEAR * before.image_bytes.mid
        above.append(not (near and above[-1]))
    return above


def _value(point: TradeoffPoint, above: bool) -> Spec:  # noqa: FBT001 # for map
    colour = CODEC_COLOURS.get(point.codec, MUTED)
    return {
        "mb": point.image_bytes.mid / _MB,
        "mb_low": point.image_bytes.low / _MB,
        "mb_high": point.image_bytes.high / _MB,
        "s": point.added_s.mid,
        "s_low": point.added_s.low,
        "s_high": point.added_s.high,
        "colour": colour,
        "fill": colour if point.shippable else PAPER,
        "label": point.codec if point.shippable else f"{point.codec} *",
        "above": above,
        "text": point.text,
    }

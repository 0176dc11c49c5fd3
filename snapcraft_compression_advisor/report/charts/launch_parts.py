"""What a launch takes, stacked into its parts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from snapcraft_compression_advisor.report.charts.spec import (
    INK,
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

PART_COLOURS: Mapping[str, str] = {
    "warm launch": "var(--warm)",
    "fixed": "var(--fixed)",
    "storage": "var(--storage)",
    "decompression": "var(--decompression)",
}
"""By part, in the order of the stack."""

_ROW_PX = 32
_AXES_PX = 74
_ONE_ROW_PX = 400
"""A chart so wide has its legend in one row."""

_WHAT_IF_OPACITY = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchBar:
    """One codec's launch.

    :param parts: seconds by part, in the order of the stack.
    :param texts: what is told of each part.
    :param low: seconds that the whole takes at least.
    :param high: at most.
    """

    label: str
    shippable: bool
    parts: Mapping[str, float]
    texts: Mapping[str, str]
    low: float
    high: float


def draw_launch_parts(bars: Sequence[LaunchBar], *, title: str, width: int) -> Drawing:
    """Draw a bar for each codec, with the interval of the whole.

    :param title: of the axis of seconds.
    """
    shown = {part for bar in bars for part in bar.parts}
    y = rows([bar.label for bar in bars])
    x = quantity("start", title, axis={"tickCount": 5})
    colour: Spec = {
        "field": "part",
        "type": "nominal",
        "scale": {
            "domain": [part for part in PART_COLOURS if part in shown],
            "range": [each for part, each in PART_COLOURS.items() if part in shown],
        },
        "legend": legend(symbolType="square", columns=2 if width < _ONE_ROW_PX else 4),
    }
    return layered(
        [
            {
                "transform": [{"filter": "datum.whole === false"}],
                "mark": telling("bar", stroke=PAPER, strokeWidth=1, height=18),
                "encoding": {
                    "y": y,
                    "x": x,
                    "x2": {"field": "end"},
                    "color": colour,
                    "opacity": {
                        "field": "opacity",
                        "type": "quantitative",
                        "scale": None,
                    },
                    "description": TOLD,
                },
            },
            *(
                {
                    "transform": [{"filter": "datum.whole === true"}],
                    "mark": kind,
                    "encoding": encoding,
                }
                for kind, encoding in _whiskers(x, y)
            ),
        ],
        values=[value for bar in bars for value in _values(bar)],
        width=width,
        height=_AXES_PX + _ROW_PX * len(bars) + 20 * (width < _ONE_ROW_PX),
    )


def _whiskers(x: Spec, y: Spec) -> tuple[tuple[Spec, Spec], ...]:
    end = {**x, "field": "end"}
    line = mark("rule", stroke=INK, strokeWidth=1.5)
    stop = mark("tick", stroke=INK, size=9)
    return (
        (line, {"y": y, "x": x, "x2": {"field": "end"}}),
        (stop, {"y": y, "x": x}),
        (stop, {"y": y, "x": end}),
    )


def _values(bar: LaunchBar) -> list[Spec]:
    opacity = 1 if bar.shippable else _WHAT_IF_OPACITY
    values: list[Spec] = [
        {"label": bar.label, "whole": True, "start": bar.low, "end": bar.high}
    ]
    start = 0.0
    for part, seconds in bar.parts.items():
        values.append(
            {
                "label": bar.label,
                "whole": False,
                "part": part,
                "start": start,
                "end": start + seconds,
                "opacity": opacity,
                "text": bar.texts[part],
            }
        )
        start += seconds
    return values

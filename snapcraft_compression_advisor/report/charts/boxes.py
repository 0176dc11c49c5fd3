"""Measured launches as box plots, with what was predicted of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from snapcraft_compression_advisor.report.charts.spec import (
    CODEC_COLOURS,
    FONT_PX,
    INK,
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
    from collections.abc import Sequence

_ROW_PX = 40
_AXES_PX = 50
_LEGEND_PX = 26
_FORETOLD = "var(--decompression)"
_SHAPES = ("diamond", "triangle-up", "square", "cross")


@dataclass(frozen=True, slots=True, kw_only=True)
class Predicted:
    """A launch as a device's profile predicts it.

    :param text: what is told of it.
    """

    device: str
    seconds: float
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Box:
    """One codec's runs.

    :param five: shortest, first quartile, median, third quartile, longest; seconds.
    :param runs_s: each run.
    :param predicted: on each device.
    """

    codec: str
    label: str
    five: tuple[float, float, float, float, float]
    runs_s: tuple[float, ...]
    text: str
    predicted: tuple[Predicted, ...] = ()


def draw_boxes(boxes: Sequence[Box], *, title: str, width: int) -> Drawing:
    """Draw a box for each codec, its runs as dots, what was predicted as shapes."""
    devices = list(
        dict.fromkeys(each.device for box in boxes for each in box.predicted)
    )
    y = rows([box.label for box in boxes])
    x = quantity("a", title, axis={"tickCount": 5}, scale={"zero": False})
    colour: Spec = {"field": "colour", "type": "nominal", "scale": None}
    to: Spec = {"y": y, "x": x, "x2": {"field": "b"}}
    return layered(
        [
            {**_only("reach"), "mark": mark("rule", stroke=INK), "encoding": to},
            {
                **_only("box"),
                "mark": telling("bar", height=20, stroke=INK, fillOpacity=0.75),
                "encoding": {**to, "fill": colour, "description": TOLD},
            },
            {
                **_only("median"),
                "mark": mark("tick", stroke=INK, strokeWidth=3, size=20),
                "encoding": {"y": y, "x": x},
            },
            {
                **_only("run"),
                "mark": mark("point", filled=True, fill=INK, size=12, opacity=0.6),
                "encoding": {"y": y, "x": x},
            },
            # A layer without marks would be a picture without a name.
            *([_predicted(x, y, devices, width=width)] if devices else []),
        ],
        values=[value for box in boxes for value in _values(box)],
        width=width,
        height=_AXES_PX + _ROW_PX * len(boxes) + (_LEGEND_PX if devices else 0),
    )


def _predicted(x: Spec, y: Spec, devices: Sequence[str], *, width: int) -> Spec:
    shape: Spec = {
        "field": "device",
        "type": "nominal",
        "scale": {
            "domain": list(devices),
            "range": [_SHAPES[place % len(_SHAPES)] for place in range(len(devices))],
        },
        "legend": legend(
            title="predicted for",
            titleOrient="left",
            titleFontWeight="normal",
            titleFontSize=FONT_PX,
            titleColor=INK,
            labelLimit=width // 3,
            symbolFillColor=_FORETOLD,
            symbolOpacity=1,
            symbolSize=90,
        ),
    }
    return {
        **_only("predicted"),
        "mark": telling(
            "point",
            filled=True,
            fill=_FORETOLD,
            stroke=PAPER,
            strokeWidth=1.5,
            size=150,
            opacity=1,
        ),
        "encoding": {"y": y, "x": x, "shape": shape, "description": TOLD},
    }


def _only(what: str) -> Spec:
    return {"transform": [{"filter": f"datum.what === '{what}'"}]}


def _values(box: Box) -> list[Spec]:
    least, first, median, third, most = box.five
    row = {"label": box.label, "colour": CODEC_COLOURS.get(box.codec, MUTED)}
    return [
        {**row, "what": "reach", "a": least, "b": most},
        {**row, "what": "box", "a": first, "b": third, "text": box.text},
        {**row, "what": "median", "a": median},
        *({**row, "what": "run", "a": seconds} for seconds in box.runs_s),
        *(
            {
                **row,
                "what": "predicted",
                "a": each.seconds,
                "device": each.device,
                "text": each.text,
            }
            for each in box.predicted
        ),
    ]

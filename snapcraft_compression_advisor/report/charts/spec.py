"""What all charts share: a specification's frame, fonts, and colours by name.

Colours are CSS variables, so that one drawing serves light and dark screens and paper;
``html/report.css`` gives them their values.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Spec = dict[str, Any]
"""JSON of Vega or Vega-Lite: its shape is theirs to define."""

INK = "var(--ink)"
MUTED = "var(--muted)"
GRID = "var(--grid)"
PAPER = "var(--paper)"
CODEC_COLOURS: Mapping[str, str] = {"xz": "var(--xz)", "lzo": "var(--lzo)"}
"""Of the codecs that can be shipped; the others are grey."""

FONT_PX = 12
_LABEL_SHARE = 0.45
"""Of the width, what names beside an axis may take."""

_SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawing:
    """What the chart library is to draw.

    :param language: of the specification.
    :param spec: JSON; names of files in it are data, never code.
    """

    language: Literal["vega-lite", "vega"]
    spec: Spec


def layered(
    layers: Sequence[Spec], *, values: Sequence[Spec], width: int, height: int
) -> Drawing:
    """Return a chart of layers over the same data.

    :param width: of everything, axes included, pixels; likewise the height.
    """
    return Drawing(
        language="vega-lite",
        spec={
            "$schema": _SCHEMA,
            "background": None,
            "width": width,
            "height": height,
            "autosize": {"type": "fit", "contains": "padding"},
            "padding": 4,
            "data": {"values": list(values)},
            "layer": list(layers),
            "config": {**CONFIG, "axisY": {"labelLimit": round(width * _LABEL_SHARE)}},
        },
    )


def quantity(field: str, title: str | None = None, **more: object) -> Spec:
    """Return the encoding of a number."""
    return {"field": field, "type": "quantitative", "title": title, **more}


def rows(labels: Sequence[str], **axis: object) -> Spec:
    """Return the encoding of named rows, from top to bottom.

    :param axis: what its names are to look like besides.
    """
    return {
        "field": "label",
        "type": "nominal",
        "sort": list(labels),
        "title": None,
        "axis": {"ticks": False, "domain": False, "labelPadding": 6, **axis},
    }


def legend(**more: object) -> Spec:
    """Return a line of symbols and names above the chart."""
    return {
        "orient": "top",
        "title": None,
        "aria": False,
        "labelColor": INK,
        "labelFontSize": FONT_PX,
        **more,
    }


def mark(kind: str, **more: object) -> Spec:
    """Return a mark that says nothing of itself to screen readers and tooltips."""
    return {"type": kind, "aria": False, **more}


def telling(kind: str, **more: object) -> Spec:
    """Return a mark whose ``text`` is read out and shown on hover."""
    return {"type": kind, **more}


TOLD = {"field": "text", "type": "nominal"}
"""The encoding ``description`` of a telling mark."""

CONFIG: Spec = {
    "font": "sans-serif",
    "view": {"stroke": None},
    "axis": {
        "aria": False,
        "labelColor": MUTED,
        "titleColor": INK,
        "titleFontWeight": "normal",
        "labelFontSize": FONT_PX,
        "labelSeparation": 6,
        "titleFontSize": FONT_PX,
        "gridColor": GRID,
        "domainColor": GRID,
        "tickColor": GRID,
    },
    "text": {"fontSize": FONT_PX, "fill": INK},
}

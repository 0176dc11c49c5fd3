"""What charts share: a specification's frame, layers, fonts, and colours by name.

Charts are Vega and Vega-Lite specifications: plain data, drawn by :mod:`.html_report`.
Colours are CSS variables, so that one drawing serves light and dark screens and paper;
``html/report.css`` gives them their values.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
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

PLAIN: Spec = {"field": "colour", "type": "nominal", "scale": None}
"""The encoding of a colour that the data name."""

LABEL: Spec = {"field": "label", "type": "nominal"}

_BAR_ROW_PX = 36
_BAR_AXES_PX = 84
_ROOMY_PX = 400
_TWO_LINES = (
    "indexof(datum.label, ' (') < 0 ? datum.label : "
    "[slice(datum.label, 0, indexof(datum.label, ' (')), "
    "slice(datum.label, indexof(datum.label, ' (') + 1)]"
)
"""What stands in parentheses goes below its name, where there's little room."""


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


def layer(mark: Spec, *, where: str = "", **encoding: Spec) -> Spec:
    """Return a layer.

    :param where: condition on the data that it draws; all of them where it is empty.
    """
    chosen = {"transform": [{"filter": where}]} if where else {}
    return {**chosen, "mark": mark, "encoding": encoding}


def only(what: str) -> str:
    """Return the condition for data of one kind, as their ``what`` says."""
    return f"datum.what === '{what}'"


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
    bar_of_each = layer(
        telling("bar"),
        y={**y, "scale": {"paddingInner": 0.3}},
        yOffset={"field": "series", "type": "nominal", "sort": names},
        x=x,
        color=colour,
        description=TOLD,
    )
    return layered(
        [bar_of_each],
        values=[asdict(bar) for bar in bars],
        width=width,
        height=_BAR_AXES_PX + _BAR_ROW_PX * len(labels),
    )

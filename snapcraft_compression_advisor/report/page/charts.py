"""What charts share: a specification's frame, layers, fonts, and colours by name.

Charts are Vega and Vega-Lite specifications: plain data, drawn by :mod:`.html_report`.
Colours are CSS variables, so that one drawing serves light and dark screens and paper;
``html/report.css`` gives them their values.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from ...core.frozen import frozen

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..contract import Figure

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

_LABEL: Spec = {"field": "label", "type": "nominal"}
_TEXT: Spec = {"field": "text", "type": "nominal"}

_BAR_ROW_PX = 36
_BAR_AXES_PX = 84
_ROOMY_PX = 400
_TWO_LINES = (
    "indexof(datum.label, ' (') < 0 ? datum.label : "
    "[slice(datum.label, 0, indexof(datum.label, ' (')), "
    "slice(datum.label, indexof(datum.label, ' (') + 1)]"
)
"""What stands in parentheses goes below its name, where there's little room."""


@frozen
class Drawing:
    """What the chart library is to draw.

    :param language: of the specification.
    :param spec: JSON; names of files in it are data, never code.
    """

    language: Literal["vega-lite", "vega"]
    spec: Spec


def layered(
    layers: Sequence[Spec],
    *,
    values: Sequence[Spec],
    width: int,
    height: int,
    **shared: Spec,
) -> Drawing:
    """Return a chart of layers over the same data.

    :param width: of everything, axes included, pixels; likewise the height.
    :param shared: encodings of all layers that have no other.
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
            "encoding": shared,
            "layer": list(layers),
            "config": {**CONFIG, "axisY": {"labelLimit": round(width * _LABEL_SHARE)}},
        },
    )


def layer(mark: Spec, *, where: str = "", **encoding: Spec) -> Spec:
    """Return a layer.

    :param mark: a telling one tells each value's ``text``.
    :param where: condition on the data that it draws; all of them where it is empty.
    """
    chosen = {"transform": [{"filter": where}]} if where else {}
    told = {} if "aria" in mark else {"description": _TEXT}
    return {**chosen, "mark": mark, "encoding": {**encoding, **told}}


def only(what: str) -> str:
    """Return the condition for data of one kind, as their ``what`` says."""
    return f"datum.what === '{what}'"


def names(
    sides: Mapping[str, Spec], *, fill: str = INK, **encoding: Spec
) -> list[Spec]:
    """Return layers that write labels on the side of their points, as ``what`` says."""
    return [
        layer(
            mark("text", fill=fill, **placed),
            where=only(side),
            text=_LABEL,
            **encoding,
        )
        for side, placed in sides.items()
    ]


def points(size: int, *, where: str = "") -> Spec:
    """Return a layer of points that are filled, or hollow, as the data say.

    :param where: as of a :func:`layer`.
    """
    look = telling("point", size=size, strokeWidth=2, opacity=1)
    return layer(look, where=where, stroke=PLAIN, fill={**PLAIN, "field": "fill"})


def quantity(field: str, title: str | None = None, **more: object) -> Spec:
    """Return the encoding of a number."""
    return {"field": field, "type": "quantitative", "title": title, **more}


def rows(values: Sequence[Spec], **axis: object) -> Spec:
    """Return the encoding of rows named by ``label``, from top to bottom.

    :param axis: what its names are to look like besides.
    """
    return {
        "field": "label",
        "type": "nominal",
        "sort": distinct(values, "label"),
        "title": None,
        "axis": {"ticks": False, "domain": False, "labelPadding": 6, **axis},
    }


def distinct(values: Sequence[Spec], field: str) -> list[str]:
    """Return what data have in a field, each once, in their order."""
    return list(dict.fromkeys(value[field] for value in values if field in value))


def series(field: str, looks: Mapping[str, str], **legend: object) -> Spec:
    """Return the encoding of names by a colour or shape, and the legend above.

    :param looks: colour or shape by name.
    """
    return {
        "field": field,
        "type": "nominal",
        "scale": {"domain": list(looks), "range": list(looks.values())},
        "legend": {
            "orient": "top",
            "title": None,
            "aria": False,
            "labelColor": INK,
            "labelFontSize": FONT_PX,
            **legend,
        },
    }


def ends(field: str, figure: Figure, unit: float = 1) -> Spec:
    """Return the data of a point and of the line through it."""
    return {
        field: figure.mid / unit,
        f"{field}_low": figure.low / unit,
        f"{field}_high": figure.high / unit,
    }


def mark(kind: str, **more: object) -> Spec:
    """Return a mark that says nothing of itself to screen readers and tooltips."""
    return {"type": kind, "aria": False, **more}


def telling(kind: str, **more: object) -> Spec:
    """Return a mark whose ``text`` is read out and shown on hover."""
    return {"type": kind, **more}


def draw_shares(bars: Sequence[Spec], *, title: str, width: int) -> Drawing:
    """Draw bars from none to all, in groups of rows.

    :param bars: each with its row's ``label``, the ``series`` within the row, its
        ``colour``, its ``share``, 0 to 1, and a ``text``.
    """
    roomy = width > _ROOMY_PX
    y = rows(bars, **({} if roomy else {"labelExpr": _TWO_LINES}))
    colours = {bar["series"]: bar["colour"] for bar in bars}
    x = quantity(
        "share",
        title,
        scale={"domain": [0, max(1, *(bar["share"] for bar in bars))]},
        axis={"format": ".0%", "tickCount": 5 if roomy else 2},
    )
    return layered(
        [layer(telling("bar"))],
        values=bars,
        width=width,
        height=_BAR_AXES_PX + _BAR_ROW_PX * len(y["sort"]),
        x=x,
        y={**y, "scale": {"paddingInner": 0.3}},
        yOffset={"field": "series", "type": "nominal", "sort": list(colours)},
        color=series("series", colours, symbolType="square"),
    )

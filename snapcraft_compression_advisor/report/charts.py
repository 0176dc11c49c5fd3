"""Charts: what lzo saves, download and start as bars, what a launch reads as a map.

Plain data for Vega and Vega-Lite, drawn by :mod:`.html_printer`. Colours are CSS
variables, so that one drawing serves light and dark screens and paper.
"""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

from ..codecs import SHIPPABLE
from ..core.units import counted, percent, seconds, size
from .answer import deciding_launch
from .files import launch_groups
from .model import Chart, Section, Spec

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ..advice.evidence import Saving
    from ..analysis import Analysis
    from ..launches import LaunchAnalysis
    from .files import LaunchGroup

INK, MUTED, GRID, PAPER = (
    f"var(--{name})" for name in ("ink", "muted", "grid", "paper")
)
COLOURS: Mapping[str, str] = {"xz": "var(--xz)", "lzo": "var(--lzo)"}
"""Of the codecs that can be shipped; others are grey."""

_WIDTH_PX = 344
"""Of every chart but the map: what a screen of 360 pixels leaves."""
_MAP_PX = (1088, 240)
_FONT_PX = 12
_ROW_PX = 32
_AXES_PX = 58
_LABEL_SHARE = 0.45
"""Of the width, what names beside an axis may take."""
_TINTS = 4
_HEADER_PX = 18
_LITE = "https://vega.github.io/schema/vega-lite/v6.json"
_VEGA = "https://vega.github.io/schema/vega/v6.json"

_PLAIN: Spec = {"field": "colour", "type": "nominal", "scale": None}
_SERIES: Spec = {"field": "series", "type": "nominal", "sort": None}


def _layered(
    layers: Sequence[Spec], values: Sequence[Spec], rows: int, **shared: Spec
) -> Spec:
    """Return a chart of layers over the same data, as high as its rows ask for."""
    axis = {
        "labelColor": MUTED,
        "titleColor": INK,
        "titleFontWeight": "normal",
        "labelFontSize": _FONT_PX,
        "titleFontSize": _FONT_PX,
        "gridColor": GRID,
        "domainColor": GRID,
        "tickColor": GRID,
    }
    return {
        "$schema": _LITE,
        "background": None,
        "width": _WIDTH_PX,
        "height": _AXES_PX + _ROW_PX * rows,
        "autosize": {"type": "fit", "contains": "padding"},
        "padding": 4,
        "data": {"values": [*values]},
        "encoding": shared,
        "layer": [*layers],
        "config": {
            "aria": False,
            "font": "sans-serif",
            "view": {"stroke": None},
            "axis": axis,
            "axisY": {"labelLimit": round(_WIDTH_PX * _LABEL_SHARE)},
            "text": {"fontSize": _FONT_PX, "fill": INK},
        },
    }


def _layer(
    kind: str, where: str = "", encoding: Spec | None = None, **look: object
) -> Spec:
    """Return a layer.

    :param where: kind of the data that it draws; all of them if it is empty.
    """
    chosen = {"transform": [{"filter": f"datum.what === '{where}'"}]} if where else {}
    return {**chosen, "mark": {"type": kind, **look}, "encoding": encoding or {}}


def _quantity(field: str, title: str | None, **more: object) -> Spec:
    return {"field": field, "type": "quantitative", "title": title, **more}


def _rows(**more: object) -> Spec:
    """Return the encoding of rows named by ``label``, in their order."""
    axis = {"ticks": False, "domain": False, "labelPadding": 6}
    return {"field": "label", "type": "nominal", "sort": None, "title": None,
            "axis": axis, **more}  # fmt: skip


def chart_sections(analysis: Analysis) -> Iterator[Section]:
    """Yield charts of what the verdict rests on, and of what its launch reads."""
    launch = deciding_launch(analysis)
    if launch is None:
        return
    every = (
        _saved_chart(analysis, launch),
        _bytes_chart(analysis),
        _start_chart(launch),
    )
    yield Section(opened=True, charts=tuple(each for each in every if each is not None))
    groups = launch_groups(launch.launch_set.files)
    if len(launch.launch_set.files) > 1:
        yield Section(
            title=f"Map of what a cold start of {launch.launch_set.app} reads",
            charts=(_map_chart(launch, groups),),
        )


def _saved_chart(analysis: Analysis, launch: LaunchAnalysis) -> Chart | None:
    """Return a bar for each device, zero, and the policy's limit."""
    savings = [*launch.savings()]
    decisive = analysis.recommendation.decisive
    if decisive is not None and decisive.shares:
        savings.append(decisive)
    if not savings:
        return None
    decides = decisive and (decisive.app, decisive.device)
    bars = [
        _bar(each, is_decisive=(each.app, each.device) == decides) for each in savings
    ]
    limit = analysis.policy.min_saving_s
    rules = [{"what": "zero", "low": 0.0}]
    if analysis.policy.min_saving_share is None:
        rules.append({"what": "limit", "low": limit})
        name = f"policy: {seconds(limit)}"
        rules.append({"what": "name", "low": limit, "text": name})
    ends_s = [0.0, limit, *(s for each in bars for s in (each["low"], each["high"]))]
    is_right = limit > (min(ends_s) + max(ends_s)) / 2
    side: Spec = (
        {"align": "right", "dx": -3} if is_right else {"align": "left", "dx": 3}
    )
    ends: Spec = {"x2": {"field": "high"}, "y": _rows()}
    opacity: Spec = {
        "opacity": {"field": "opacity", "type": "quantitative", "scale": None}
    }
    middle: Spec = {"x": {"field": "mid", "type": "quantitative"}, "y": _rows()}
    top: Spec = {"y": {"value": 0}, "text": {"field": "text"}}
    spec = _layered(
        [
            _layer("rule", "zero", stroke=INK),
            _layer("rule", "limit", stroke=INK, strokeDash=[5, 3]),
            _layer("text", "name", top, dy=-4, **side),
            _layer("bar", "bar", {**ends, **opacity}, height=12, fill=COLOURS["lzo"]),
            _layer("point", "bar", middle, filled=True, fill=INK, size=60, opacity=1),
        ],
        [*bars, *rules],
        len(bars),
        x=_quantity("low", "seconds, with intervals", axis={"tickCount": 5}),
    )
    app = launch.launch_set.app
    texts = "; ".join(f"{each.device} {seconds(each.seconds)}" for each in savings)
    return Chart(
        key="saved",
        title=f"lzo saves per cold start of {app}",
        alt=f"Seconds that lzo saves over xz per cold start of {app}: {texts}.",
        spec=spec,
    )


def _bar(saving: Saving, *, is_decisive: bool) -> Spec:
    figure = saving.seconds
    return {
        "label": f"{saving.device}{', decides' if is_decisive else ''}",
        "what": "bar",
        "low": figure.low,
        "mid": figure.mid,
        "high": figure.high,
        "opacity": 1 if is_decisive else 0.45,
    }


def _bytes_chart(analysis: Analysis) -> Chart | None:
    found = {
        codec: image
        for codec in SHIPPABLE
        if (image := analysis.trial.codecs[codec].image_bytes) is not None
    }
    values = [
        {"label": codec, "length": image.mid, "colour": COLOURS[codec],
         "text": str(size(image.mid))}
        for codec, image in found.items()
    ]  # fmt: skip
    if not values:
        return None
    return _bar_chart("download", "Download", values)


def _start_chart(launch: LaunchAnalysis) -> Chart | None:
    values = [
        {"label": device, "series": codec, "length": added, "colour": COLOURS[codec],
         "text": f"{codec} {seconds(added)}"}
        for device, costs in launch.estimates.items()
        for codec in SHIPPABLE
        if codec in costs
        for added in (costs[codec].added_s.mid,)
    ]  # fmt: skip
    if not values:
        return None
    title = f"Cold start of {launch.launch_set.app} adds"
    return _bar_chart("start", title, values)


def _bar_chart(key: str, title: str, values: Sequence[Spec]) -> Chart:
    """Return bars from zero, each with its figure beside it."""
    grouped = {"yOffset": _SERIES} if "series" in values[0] else {}
    rows = len({value["label"] for value in values})
    room = 1.45 * max(value["length"] for value in values) or 1.0
    scale = {"domain": [0, room], "nice": False}
    x = _quantity("length", None, axis=None, scale=scale)
    text: Spec = {"text": {"field": "text"}}
    spec = _layered(
        [
            _layer("bar", encoding={"fill": _PLAIN}),
            _layer("text", encoding=text, align="left", dx=4),
        ],
        values,
        rows,
        x=x,
        y=_rows(scale={"paddingInner": 0.25}),
        **grouped,
    )
    texts = "; ".join(f"{value['label']} {value['text']}" for value in values)
    return Chart(key=key, title=title, alt=f"{title}: {texts}.", spec=spec)


def share_chart(key: str, title: str, bars: Sequence[Spec], alt: str) -> Chart:
    """Return bars from none to all, in groups of rows.

    :param bars: each with its row's ``label``, the ``series`` within the row, its
        ``colour`` and its ``share``, 0 to 1.
    """
    colours = {bar["series"]: bar["colour"] for bar in bars}
    legend = {"orient": "top", "title": None, "labelColor": INK, "symbolType": "square"}
    spec = _layered(
        [_layer("bar")],
        bars,
        len({bar["label"] for bar in bars}),
        x=_quantity("share", None, axis={"format": ".0%", "tickCount": 4}),
        y=_rows(scale={"paddingInner": 0.3}),
        yOffset=_SERIES,
        color={
            **_SERIES,
            "scale": {"domain": [*colours], "range": [*colours.values()]},
            "legend": legend,
        },
    )
    return Chart(key=key, title=title, alt=alt, spec=spec)


def _map_chart(launch: LaunchAnalysis, groups: Sequence[LaunchGroup]) -> Chart:
    """Return groups of files as areas, by the blocks that a launch reads of them."""
    width, height = _MAP_PX
    whole = launch.launch_set.expected_blocks
    first, app = groups[0], launch.launch_set.app
    share = percent(first.blocks / whole if whole else 0.0)
    return Chart(
        key="map",
        title="The larger an area, the more data blocks a cold launch reads of it",
        alt=f"What a launch of {app} reads, by data blocks; most are of {first.name}, "
        f"{share}.",
        wide=True,
        spec={
            "$schema": _VEGA,
            "background": None,
            "width": width - 4,
            "height": height,
            "padding": 2,
            "autosize": "none",
            "config": {"aria": False},
            "data": _map_data(groups),
            "marks": _map_marks(),
        },
    )


def _map_data(groups: Sequence[LaunchGroup]) -> list[Spec]:
    nodes: list[Spec] = [{"id": "root", "parent": None, "share": 0}]
    for number, group in enumerate(groups):
        key, tint = f"d{number}", f"var(--tint{number % _TINTS})"
        nodes.append({"id": key, "parent": "root", "name": group.name, "share": 0})
        for place, (name, blocks) in enumerate(_tiles(group)):
            nodes.append(
                {"id": f"{key}f{place}", "parent": key, "tint": tint, "name": name,
                 "share": blocks}
            )  # fmt: skip
    treemap = {
        "type": "treemap",
        "field": "share",
        "sort": {"field": "value", "order": "descending"},
        "method": "squarify",
        "ratio": 1.6,
        "round": True,
        "paddingInner": 1,
        "paddingOuter": 1,
        "paddingTop": _HEADER_PX,
        "size": [{"signal": "width"}, {"signal": f"height + {_HEADER_PX}"}],
    }
    stratify = {"type": "stratify", "key": "id", "parentKey": "parent"}
    return [
        {"name": "nodes", "values": nodes, "transform": [stratify, treemap]},
        *(
            {
                "name": name,
                "source": "nodes",
                "transform": [{"type": "filter", "expr": f"datum.depth === {depth}"}],
            }
            for depth, name in enumerate(("groups", "tiles"), start=1)
        ),
    ]


def _tiles(group: LaunchGroup) -> Iterator[tuple[str, float]]:
    for each in group.parts:
        name = posixpath.basename(each.path)
        if each.files > 1:
            name = f"{name}, {counted(each.files, 'file')}"
        yield name, each.blocks


def _map_marks() -> list[Spec]:
    # The root has no heading.
    up = -_HEADER_PX
    box: Spec = {
        "x": {"field": "x0"},
        "x2": {"field": "x1"},
        "y": {"field": "y0", "offset": up},
        "y2": {"field": "y1", "offset": up},
        "fill": {"field": "tint"},
        "stroke": {"value": PAPER},
    }
    room = "(datum.x1 - datum.x0 - 6)"
    fits = f"{room} >= min(44, length(datum.name) * 6.5) && datum.y1 - datum.y0 > 15"
    label: Spec = {
        "x": {"signal": "datum.x0 + 4"},
        "y": {"signal": f"datum.y0 + 13 - {_HEADER_PX}"},
        "text": {"field": "name"},
        "limit": {"signal": f"max(0, {room} * 0.84)"},
        "fill": {"value": INK},
        "fontSize": {"value": _FONT_PX},
        "font": {"value": "sans-serif"},
        "opacity": {"signal": f"{fits} ? 1 : 0"},
    }
    return [
        {"type": "rect", "from": {"data": "tiles"}, "encode": {"enter": box}},
        *(
            {
                "type": "text",
                "from": {"data": data},
                "encode": {"enter": {**label, "fontWeight": {"value": weight}}},
            }
            for data, weight in (("tiles", "normal"), ("groups", "bold"))
        ),
    ]

"""Charts: what lzo saves, download and start as bars, what a launch reads as a map.

``html/charts.json`` has how each looks, as Vega and Vega-Lite; what it shows is added
here, and :mod:`.html_printer` draws it. Colours are CSS variables, so that one drawing
serves light and dark screens and paper. All but the map are 344 pixels wide: what a
screen of 360 leaves.
"""

from __future__ import annotations

import json
import posixpath
from importlib.resources import files as resources
from typing import TYPE_CHECKING

from ..codecs import SHIPPABLE
from ..core.units import counted, percent, seconds, size
from .answer import deciding_launch
from .files import launch_groups
from .model import Chart, Section, Spec

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from ..analysis import Analysis
    from ..launches import LaunchAnalysis
    from .files import LaunchGroup

MUTED = "var(--muted)"
COLOURS: Mapping[str, str] = {"xz": "var(--xz)", "lzo": "var(--lzo)"}
"""Of the codecs that can be shipped; others are grey."""

_ROW_PX, _AXES_PX = 32, 58
_TINTS = 4


def _spec(name: str, values: Sequence[Spec]) -> Spec:
    """Return a chart of values, as high as its rows ask for."""
    file = resources(__package__) / "html" / "charts.json"
    looks: Mapping[str, Spec] = json.loads(file.read_text(encoding="utf-8"))
    if name == "map":
        looks["map"]["data"][0]["values"] = [*values]
        return looks["map"]
    rows = {value["label"] for value in values if "label" in value}
    return {
        **looks["frame"],
        **looks[name],
        "height": _AXES_PX + _ROW_PX * len(rows),
        "data": {"values": [*values]},
    }


def chart_sections(analysis: Analysis) -> Iterator[Section]:
    """Yield charts of what the verdict rests on, and of what its launch reads."""
    launch = deciding_launch(analysis)
    if launch is None:
        return
    app, files = launch.launch_set.app, launch.launch_set.files
    every = (
        _saved_chart(analysis, launch),
        _bar_chart("download", "Download", _downloads(analysis)),
        _bar_chart("start", f"Cold start of {app} adds", _starts(launch)),
    )
    yield Section(opened=True, charts=tuple(each for each in every if each is not None))
    if len(files) > 1:
        yield Section(
            title=f"Map of what a cold start of {app} reads",
            charts=(_map_chart(launch, launch_groups(files)),),
        )


def _saved_chart(analysis: Analysis, launch: LaunchAnalysis) -> Chart | None:
    """Return a bar for each device, zero, and the policy's limit."""
    savings = [*launch.savings()]
    decisive = analysis.recommendation.decisive
    if decisive is not None and decisive.shares:
        savings.append(decisive)
    if not savings:
        return None
    values: list[Spec] = [{"what": "zero", "low": 0.0}]
    for each in savings:
        is_decisive = each == decisive
        values.append({
            "label": f"{each.device}{', decides' if is_decisive else ''}",
            "what": "bar",
            "low": each.seconds.low,
            "mid": each.seconds.mid,
            "high": each.seconds.high,
            "opacity": 1 if is_decisive else 0.45,
        })  # fmt: skip
    if analysis.policy.min_saving_share is None:
        limit = analysis.policy.min_saving_s
        ends = [0.0, limit, *(end for each in savings for end in each.seconds.ends)]
        side = "left" if limit > (min(ends) + max(ends)) / 2 else "right"
        text = f"policy: {seconds(limit)}"
        values += [
            {"what": "limit", "low": limit},
            {"what": f"name to the {side}", "low": limit, "text": text},
        ]
    app = launch.launch_set.app
    texts = "; ".join(f"{each.device} {seconds(each.seconds)}" for each in savings)
    return Chart(
        key="saved",
        title=f"lzo saves per cold start of {app}",
        alt=f"Seconds that lzo saves over xz per cold start of {app}: {texts}.",
        spec=_spec("saved", values),
    )


def _downloads(analysis: Analysis) -> Iterator[Spec]:
    for codec in SHIPPABLE:
        image = analysis.trial.codecs[codec].image_bytes
        if image is not None:
            yield {
                "label": codec,
                "length": image.mid,
                "colour": COLOURS[codec],
                "text": str(size(image.mid)),
            }


def _starts(launch: LaunchAnalysis) -> Iterator[Spec]:
    for device, costs in launch.estimates.items():
        for codec in SHIPPABLE:
            if codec in costs:
                added_s = costs[codec].added_s.mid
                yield {
                    "label": device,
                    "series": codec,
                    "length": added_s,
                    "colour": COLOURS[codec],
                    "text": f"{codec} {seconds(added_s)}",
                }


def _bar_chart(key: str, title: str, bars: Iterable[Spec]) -> Chart | None:
    """Return bars from zero, each with its figure beside it; None if there are none."""
    values = [*bars]
    if not values:
        return None
    spec = _spec("bars", values)
    room = 1.45 * max(value["length"] for value in values) or 1.0
    spec["encoding"]["x"]["scale"]["domain"] = [0, room]
    texts = "; ".join(f"{value['label']} {value['text']}" for value in values)
    return Chart(key=key, title=title, alt=f"{title}: {texts}.", spec=spec)


def share_chart(key: str, title: str, bars: Sequence[Spec], alt: str) -> Chart:
    """Return bars from none to all, in groups of rows.

    :param bars: each with its row's ``label``, the ``series`` within the row, its
        ``colour`` and its ``share``, 0 to 1.
    """
    colours = {bar["series"]: bar["colour"] for bar in bars}
    spec = _spec("shares", bars)
    scale = {"domain": [*colours], "range": [*colours.values()]}
    spec["encoding"]["color"]["scale"] = scale
    return Chart(key=key, title=title, alt=alt, spec=spec)


def _map_chart(launch: LaunchAnalysis, groups: Sequence[LaunchGroup]) -> Chart:
    """Return groups of files as areas, by the blocks that a launch reads of them."""
    whole = launch.launch_set.expected_blocks
    first, app = groups[0], launch.launch_set.app
    share = percent(first.blocks / whole if whole else 0.0)
    return Chart(
        key="map",
        title="The larger an area, the more data blocks a cold launch reads of it",
        alt=f"What a launch of {app} reads, by data blocks; most are of {first.name}, "
        f"{share}.",
        wide=True,
        spec=_spec("map", [*_tiles(groups)]),
    )


def _tiles(groups: Sequence[LaunchGroup]) -> Iterator[Spec]:
    """Yield the root, each group, and below it its files."""
    yield {"id": "root", "parent": None, "share": 0}
    for number, group in enumerate(groups):
        key, tint = f"d{number}", f"var(--tint{number % _TINTS})"
        yield {"id": key, "parent": "root", "name": group.name, "share": 0}
        for place, each in enumerate(group.parts):
            name = posixpath.basename(each.path)
            if each.files > 1:
                name = f"{name}, {counted(each.files, 'file')}"
            tile = {"id": f"{key}f{place}", "parent": key, "tint": tint}
            yield {**tile, "name": name, "share": each.blocks}

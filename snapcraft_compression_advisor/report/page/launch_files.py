"""Where a launch goes: a map of its files, and what the heaviest cost."""

from __future__ import annotations

import posixpath
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from ...codecs import SHIPPABLE
from ...core.units import format_bytes
from ...wording import not_followed
from ..phrases import counted, how_it_fits, how_known, how_sure, how_traced, not_shipped
from .charts import FONT_PX, INK, PAPER, Drawing, Spec
from .model import Chart, Group, Section, Table
from .texts import launch_groups, percent, seconds, sentence

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..json_report import Report
    from ..launch_groups import LaunchGroupReport
    from ..report_launch import (
        LaunchReport,
    )

_SCHEMA = "https://vega.github.io/schema/vega/v6.json"
_TINTS = 4
_PADDING_PX = 2
_TEXT_ROOM = 0.84
"""Readers' fonts are wider than the one that the text is cut for."""
_HEADER_PX = 18
_LETTER_PX = 6.5
_LEAST_LABEL_PX = 44
"""A name that is cut shorter says nothing."""
_HEIGHT = 240

TileGroup = tuple[str, Sequence[Spec]]
"""A group's name, and its tiles."""

_LEGEND = (
    "The larger an area, the more data blocks a cold launch reads. Reading any part of "
    "a 128 KiB block brings in the whole block."
)


def files_section(report: Report) -> Section | None:
    """Return where launches go; ``None`` where that isn't known."""
    launches = [
        launch for launch in report.launches if launch.groups and blocks_of(launch) > 0
    ]
    if not launches:
        return None
    known = dict.fromkeys(
        how_known(launch.source, launch.method) for launch in launches
    )
    groups = launch_groups(
        launches,
        lambda launch: Group(
            paragraphs=(_reads(launch),),
            charts=(_chart(launch),) if launch.files > 1 else (),
            table=_heavy_table(launch) if launch.heaviest else None,
            notes=tuple(_notes(launch)),
        ),
    )
    return Section(
        key="files",
        title="Where the launch goes",
        origin="Blocks read: " + " and ".join(known) + ". Seconds: estimated.",
        legend=_LEGEND if any(group.charts for group in groups) else "",
        groups=groups,
    )


def blocks_of(launch: LaunchReport) -> float:
    """Return the data blocks that a launch is expected to read."""
    estimate = launch.guess or launch.trace
    return estimate.expected_blocks if estimate else launch.data_blocks


def _reads(launch: LaunchReport) -> str:
    blocks = round(blocks_of(launch))
    some = "" if blocks == launch.data_blocks else f"about {blocks:,} of the "
    return (
        f"{launch.app} reads {some}{counted(launch.data_blocks, 'data block')} of "
        f"{counted(launch.files, 'file')}."
    )


def _notes(launch: LaunchReport) -> Iterator[str]:
    """Yield what to know of a launch, the figures of its heaviest files included."""
    yield from map(sentence, launch_accuracy(launch))
    shares = [
        f"{percent(share)} on {device}"
        for device in launch.devices
        if (share := _heaviest_share(launch, device)) is not None
    ]
    if shares and len(launch.heaviest) < launch.files:
        files = counted(len(launch.heaviest), "file")
        verb = "adds" if len(launch.heaviest) == 1 else "add"
        yield (
            f"The {files} that {verb} most account for {', '.join(shares)} of the time "
            "that a cold launch adds with xz (estimated)."
        )
    yield from map(sentence, not_shipped(launch.unresolved))


def launch_accuracy(launch: LaunchReport) -> Iterator[str]:
    """Yield how far what is known of a launch can be trusted, in clauses."""
    if launch.guess is not None:
        yield how_sure(launch.guess.kind, [*launch.guess.recorded.values()])
        if launch.guess.blind_spots:
            yield not_followed(
                [
                    (spot.reason, spot.where, spot.what)
                    for spot in launch.guess.blind_spots
                ],
                recorded=len(launch.guess.reference),
            )
    if launch.trace is not None:
        yield how_traced()
    if launch.fit is not None:
        yield how_it_fits(launch.fit)


def _heaviest_share(launch: LaunchReport, device: str) -> float | None:
    """Return what the heaviest files add of all that xz adds, 0 to 1."""
    whole = launch.devices[device].get("xz")
    if whole is None or whole.added_s.mid <= 0 or not launch.heaviest:
        return None
    added_s = sum(
        file.added_s[device]["xz"].mid
        for file in launch.heaviest
        if "xz" in file.added_s.get(device, {})
    )
    return min(1.0, added_s / whole.added_s.mid)


def _chart(launch: LaunchReport) -> Chart:
    blocks = blocks_of(launch)
    first = launch.groups[0]
    return Chart(
        key="map",
        title="",
        alt=f"What a launch of {launch.app} reads, by data blocks; most are of "
        f"{first.name}, {percent(first.blocks / blocks)}.",
        draw=partial(
            draw_launch_map,
            [(each.name, [*_tiles(each, blocks)]) for each in launch.groups],
        ),
        wide=True,
        table=Table(
            caption=f"What a launch of {launch.app} reads, by data blocks",
            heads=("toolkit, package or directory", "files", "data blocks", "share"),
            short="groups of files",
            rows=tuple(
                (
                    each.name,
                    f"{each.files:,}",
                    f"{each.blocks:,.0f}",
                    percent(each.blocks / blocks),
                )
                for each in launch.groups
            ),
        ),
    )


def _tiles(group: LaunchGroupReport, whole: float) -> Iterator[Spec]:
    """Yield a tile for each file, or for several that are listed together.

    :param whole: the blocks of the launch.
    """
    for part in group.parts:
        name, text = posixpath.basename(part.path), part.path
        if part.files > 1:
            files = counted(part.files, "file")
            names = f"{part.first} to {part.last}" if part.first else ""
            text = f"{text}, {names + ', ' if names else ''}{files}"
            name = f"{names or name}, {files}"
        read = f"{part.blocks:,.0f} data blocks, {percent(part.blocks / whole)}"
        yield {"name": name, "share": part.blocks, "text": f"{text}: {read}"}


def _heavy_table(launch: LaunchReport) -> Table:
    columns = [
        (device, name)
        for device, costs in launch.devices.items()
        for name in SHIPPABLE
        if name in costs
    ]
    return Table(
        caption=f"The files that add most to a cold launch of {launch.app}, seconds by "
        "codec and device",
        heads=(
            "file",
            "length",
            "data blocks",
            *(f"{name} on {device}" for device, name in columns),
        ),
        short="the files that add most",
        rows=tuple(
            (
                file.path,
                format_bytes(file.size_bytes),
                f"{file.blocks:,.0f}",
                *(
                    seconds(file.added_s[device][name])
                    if name in file.added_s.get(device, {})
                    else ""
                    for device, name in columns
                ),
            )
            for file in launch.heaviest
        ),
        names=frozenset((0,)),
    )


def draw_launch_map(groups: Sequence[TileGroup], *, width: int) -> Drawing:
    """Draw groups of files by the blocks that are read of them.

    :param groups: by name, each with its files: a ``name``, the blocks as its
        ``share``, and a ``text``.
    """
    spec = {
        "$schema": _SCHEMA,
        "background": None,
        "width": width - 2 * _PADDING_PX,
        "height": _HEIGHT,
        "padding": _PADDING_PX,
        "autosize": "none",
        "data": _data(groups),
        "marks": _marks(),
    }
    return Drawing(language="vega", spec=spec)


def _data(groups: Sequence[TileGroup]) -> list[Spec]:
    whole = sum(tile["share"] for _, tiles in groups for tile in tiles)
    nodes: list[Spec] = [{"id": "root", "parent": None, "share": 0}]
    for number, (name, tiles) in enumerate(groups):
        key, tint = f"d{number}", f"var(--tint{number % _TINTS})"
        nodes.append({"id": key, "parent": "root", "name": name, "share": 0})
        for place, tile in enumerate(tiles):
            share = tile["share"] / whole
            place_of = {"id": f"{key}f{place}", "parent": key, "tint": tint}
            nodes.append({**tile, **place_of, "share": share})
    return [
        {
            "name": "nodes",
            "values": nodes,
            "transform": [
                {"type": "stratify", "key": "id", "parentKey": "parent"},
                {
                    "type": "treemap",
                    "field": "share",
                    "sort": {"field": "value", "order": "descending"},
                    "method": "squarify",
                    "ratio": 1.6,
                    "round": True,
                    "paddingInner": 1,
                    "paddingOuter": 1,
                    "paddingTop": _HEADER_PX,
                    "size": [
                        {"signal": "width"},
                        {"signal": f"height + {_HEADER_PX}"},
                    ],
                },
            ],
        },
        {"name": "groups", "source": "nodes", "transform": _filter("depth === 1")},
        {"name": "tiles", "source": "nodes", "transform": _filter("depth === 2")},
    ]


def _filter(condition: str) -> list[Spec]:
    return [{"type": "filter", "expr": f"datum.{condition}"}]


def _marks() -> list[Spec]:
    box: Spec = {
        "x": {"field": "x0"},
        "x2": {"field": "x1"},
        "y": {"field": "y0", "offset": -_HEADER_PX},  # the root has no heading
        "y2": {"field": "y1", "offset": -_HEADER_PX},
    }
    room = "(datum.x1 - datum.x0 - 6)"
    fits = (
        f"{room} >= min({_LEAST_LABEL_PX}, length(datum.name) * {_LETTER_PX}) "
        "&& datum.y1 - datum.y0 > 15"
    )
    label: Spec = {
        "x": {"signal": "datum.x0 + 4"},
        "y": {"signal": f"datum.y0 + 13 - {_HEADER_PX}"},
        "text": {"field": "name"},
        "limit": {"signal": f"max(0, {room} * {_TEXT_ROOM})"},
        "fill": {"value": INK},
        "fontSize": {"value": FONT_PX},
        "font": {"value": "sans-serif"},
        "opacity": {"signal": f"{fits} ? 1 : 0"},
    }
    return [
        {
            "type": "rect",
            "from": {"data": "tiles"},
            "encode": {
                "enter": {
                    **box,
                    "fill": {"field": "tint"},
                    "stroke": {"value": PAPER},
                    "description": {"field": "text"},
                }
            },
        },
        *(
            {
                "type": "text",
                "from": {"data": data},
                "aria": False,
                "encode": {"enter": {**label, "fontWeight": {"value": weight}}},
            }
            for data, weight in (("tiles", "normal"), ("groups", "bold"))
        ),
    ]

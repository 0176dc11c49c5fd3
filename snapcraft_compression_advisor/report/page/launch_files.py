"""Where a launch goes: files and directories, and what the heaviest cost."""

from __future__ import annotations

import posixpath
from functools import partial
from typing import TYPE_CHECKING

from ...core.units import format_bytes
from ..phrases import counted, how_it_fits, how_known, how_sure, how_traced, not_shipped
from .launch_map import Tile, TileGroup, draw_launch_map
from .model import Chart, Group, Section, Table
from .texts import app_heading, percent, seconds, starred
from .tradeoff import DRAWN_APPS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..json_report import Report
    from ..report_launch import LaunchDirectoryReport, LaunchReport

_LONG_PATH = 24
_LEGEND = (
    "The larger an area of the map, the more blocks a cold launch reads of that file."
)

_LEAST_TILE = 0.002
"""Of all blocks: a smaller tile would not show."""

_LEAST_GROUP = 0.015
"""Of all blocks: a smaller directory would be a heading and nothing below it."""


def files_section(report: Report) -> Section | None:
    """Return where launches go; ``None`` where that isn't known."""
    launches = [
        launch
        for launch in report.launches
        if launch.directories and blocks_of(launch) > 0
    ]
    if not launches:
        return None
    known = dict.fromkeys(
        how_known(launch.source, launch.method) for launch in launches
    )
    groups = tuple(
        Group(
            heading=app_heading(launch, launches),
            paragraphs=tuple(_paragraphs(launch)),
            charts=(_chart(launch),)
            if number < DRAWN_APPS and launch.files > 1
            else (),
            table=_heavy_table(report, launch) if launch.heaviest else None,
            open_table=True,
        )
        for number, launch in enumerate(launches)
    )
    return Section(
        key="files",
        title="Where the launch goes",
        origin="Blocks read: " + " and ".join(known) + ". Seconds: estimated.",
        paragraphs=(
            "Reading any part of a 128 KiB data block brings in the whole block.",
        ),
        legend=_LEGEND if any(group.charts for group in groups) else "",
        groups=groups,
    )


def blocks_of(launch: LaunchReport) -> float:
    """Return the data blocks that a launch is expected to read."""
    estimate = launch.guess or launch.trace
    return estimate.expected_blocks if estimate else launch.data_blocks


def _paragraphs(launch: LaunchReport) -> Iterator[str]:
    blocks = blocks_of(launch)
    some = ""
    if round(blocks) != launch.data_blocks:
        some = f"about {round(blocks):,} of the "
    yield (
        f"{launch.app} reads {some}{counted(launch.data_blocks, 'data block')} of "
        f"{counted(launch.files, 'file')}."
    )
    if launch.guess is not None:
        yield _sentence(how_sure(launch.guess.kind, [*launch.guess.recorded.values()]))
    if launch.trace is not None:
        yield _sentence(how_traced())
    if launch.fit is not None:
        fit = launch.fit
        text = how_it_fits(fit.blocks_share, gone=fit.gone, changed=fit.changed)
        yield _sentence(text)
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
    for text in not_shipped((each.supplier, each.name) for each in launch.unresolved):
        yield _sentence(text)


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."


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
    groups = tuple(_groups(launch, blocks))
    first = launch.directories[0]
    return Chart(
        key="map",
        title=f"Data blocks that a launch of {launch.app} reads",
        alt=f"Directories and files by the data blocks that a launch of {launch.app} "
        f"reads; most are in {first.path}, {percent(first.blocks / blocks)}.",
        draw=partial(draw_launch_map, groups),
        wide=True,
        table=Table(
            caption=f"Directories by data blocks that a launch of {launch.app} reads",
            heads=("directory", "files", "data blocks", "share"),
            rows=tuple(
                (
                    each.path,
                    f"{each.files:,}",
                    f"{each.blocks:,.0f}",
                    percent(each.blocks / blocks),
                )
                for each in launch.directories
            ),
            names=frozenset((0,)),
        ),
    )


def _groups(launch: LaunchReport, blocks: float) -> Iterator[TileGroup]:
    small = []
    for directory in launch.directories:
        if directory.blocks < _LEAST_GROUP * blocks:
            small.append(directory)
            continue
        tiles = tuple(_tiles(directory, blocks))
        if tiles:
            yield TileGroup(name=_short(directory.path), tiles=tiles)
    if small:
        yield TileGroup(
            name="other directories",
            tiles=tuple(_directory_tile(each, blocks) for each in small),
        )


def _directory_tile(directory: LaunchDirectoryReport, blocks: float) -> Tile:
    return Tile(
        name=_short(directory.path),
        blocks=directory.blocks,
        text=f"{directory.path}, {counted(directory.files, 'file')}: "
        f"{directory.blocks:,.0f} data blocks, {percent(directory.blocks / blocks)}",
    )


def _short(path: str) -> str:
    """Return the end of a long path: starts are alike."""
    if len(path) <= _LONG_PATH:
        return path
    return f"\N{HORIZONTAL ELLIPSIS}/{posixpath.basename(path)}"


def _tiles(directory: LaunchDirectoryReport, blocks: float) -> Iterator[Tile]:
    left, names = directory.blocks, directory.files
    for file in directory.largest:
        if file.blocks <= _LEAST_TILE * blocks:
            continue
        left, names = left - file.blocks, names - 1
        yield Tile(
            name=posixpath.basename(file.path),
            blocks=file.blocks,
            text=f"{file.path}: {file.blocks:,.0f} data blocks, "
            f"{percent(file.blocks / blocks)}",
        )
    if left > _LEAST_TILE * blocks and names:
        others = counted(names, "other file")
        yield Tile(
            name=others,
            blocks=left,
            text=f"{directory.path}, {others}: {left:,.0f} data blocks, "
            f"{percent(left / blocks)}",
        )


def _heavy_table(report: Report, launch: LaunchReport) -> Table:
    codecs = [
        name
        for name, codec in report.trial.codecs.items()
        if codec.available and any(name in d for d in launch.devices.values())
    ]
    device = next(iter(launch.devices), "")
    return Table(
        caption=f"The files that add most to a cold launch of {launch.app} on {device},"
        " seconds by codec",
        heads=(
            "file",
            "length",
            "data blocks",
            *(starred(name, report.trial.codecs[name]) for name in codecs),
        ),
        rows=tuple(
            (
                file.path,
                format_bytes(file.size_bytes),
                f"{file.blocks:,.0f}",
                *(
                    seconds(file.added_s[device][name])
                    if name in file.added_s.get(device, {})
                    else ""
                    for name in codecs
                ),
            )
            for file in launch.heaviest
        ),
        names=frozenset((0,)),
    )

"""The page of a whole fleet: what to act on first, and how all of it looks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from ..core.units import format_bytes
from ..report.page.model import Group, Page, Section, Table, Tile
from ..report.page.texts import seconds, size
from ..report.phrases import counted
from .distributions import kinds_section, launch_section, size_section
from .page_lists import (
    FleetSources,
    all_section,
    codec_section,
    error_section,
    links_of,
    outlier_section,
    rule_section,
    since_section,
)
from .ranking import Gain, to_lzo, to_xz, total
from .reading import Fleet

_FIRST = 25
"""Snaps that are listed openly; the whole list is folded."""


def build_fleet_page(sources: FleetSources) -> Page:
    """Return the page, its parts in the order in which people act on them."""
    fleet = sources.fleet
    lzo, xz = (find(fleet, sources.weights) for find in (to_lzo, to_xz))
    sections = (
        _order_section(sources, lzo, xz),
        since_section(sources),
        codec_section(fleet),
        launch_section(fleet),
        size_section(fleet),
        kinds_section(fleet),
        rule_section(fleet),
        outlier_section(sources),
        error_section(fleet),
        all_section(sources),
    )
    count = len(fleet.snaps)
    return Page(
        title=f"Fleet of {count:,} snaps",
        tone="change" if lzo or xz else "keep",
        verdict=f"{len(lzo) + len(xz):,} of {count:,} snaps should change their "
        "compression",
        reasons=tuple(_reasons(fleet, sources, lzo, xz)),
        facts=(f"Data set {fleet.where}, made by version {fleet.version}",),
        tiles=tuple(_tiles(sources, lzo, xz)),
        sections=tuple(each for each in sections if each is not None),
        version=fleet.version,
    )


def _reasons(
    fleet: Fleet, sources: FleetSources, lzo: list[Gain], xz: list[Gain]
) -> Iterator[str]:
    if lzo:
        yield f"{len(lzo):,} packed with xz would start faster with lzo."
    if xz:
        yield f"{len(xz):,} packed with lzo should use xz: lzo saves too little time."
    undecided = sum(snap.verdict == "undecided" for snap in fleet.snaps)
    if undecided:
        are = "1 is undecided: its interval is"
        if undecided > 1:
            are = f"{undecided:,} are undecided: their intervals are"
        yield f"{are} too wide. Recordings narrow those of guessed launches."
    if fleet.errors:
        yield f"{len(fleet.errors):,} more couldn't be analysed."
    if sources.weights is not None:
        without = sum(snap.name not in sources.weights for snap in fleet.snaps)
        counts = (
            "snap has none and counts 0"
            if without == 1
            else "snaps have none and count 0"
        )
        yield f"Gains are times the weights; {without:,} {counts}."


def _tiles(sources: FleetSources, lzo: list[Gain], xz: list[Gain]) -> Iterator[Tile]:
    times = " times the weights" if sources.weights is not None else ""
    yield Tile(
        label="lzo would save, over one cold launch of each",
        figure=seconds(total(lzo)),
        note=f"estimated, sum of {counted(len(lzo), 'snap')}{times}"
        if lzo
        else "no snap would gain",
    )
    saved = total(xz)
    low, mid, high = map(format_bytes, (saved.low, saved.mid, saved.high))
    yield Tile(
        label="xz would save in images",
        figure=mid,
        note=f"estimated, {low} to {high}, sum of {counted(len(xz), 'snap')}{times}"
        if xz
        else "no snap would gain",
    )
    codecs = Counter(snap.codec for snap in sources.fleet.snaps)
    yield Tile(
        label="packed with",
        figure=", ".join(f"{codec} {count:,}" for codec, count in codecs.most_common()),
        note="snaps, measured",
    )
    yield Tile(
        label="all images together",
        figure=format_bytes(sum(snap.image_bytes for snap in sources.fleet.snaps)),
        note="measured",
    )


def _order_section(
    sources: FleetSources, lzo: list[Gain], xz: list[Gain]
) -> Section | None:
    groups = [
        group
        for gains, heading in (
            (lzo, "Seconds to be won: pack with lzo"),
            (xz, "Bytes to be won: pack with xz"),
        )
        if gains
        for group in _order_groups(sources, gains, heading)
    ]
    if not groups:
        return None
    return Section(
        key="order",
        title="What to change first",
        origin="Estimated, with intervals; the largest gain first.",
        groups=tuple(groups),
    )


def _order_groups(
    sources: FleetSources, gains: list[Gain], heading: str
) -> Iterator[Group]:
    yield Group(
        table=_order_table(sources, gains[:_FIRST], heading),
        open_table=True,
    )
    if len(gains) > _FIRST:
        table = _order_table(sources, gains[_FIRST:], f"{heading}: the other snaps")
        yield Group(table=table)


def _order_table(sources: FleetSources, gains: list[Gain], caption: str) -> Table:
    weighted = sources.weights is not None
    rows = []
    for each in gains:
        snap = each.snap
        weight = (f"{each.weight:,g}",) if weighted else ()
        pays = snap.break_even_launches
        rows.append((
            snap.name,
            seconds(snap.saved_s) if snap.saved_s else "",
            size(snap.added_bytes) if snap.added_bytes else "",
            "never" if pays is None else f"{pays:,.1f}",
            *weight,
        ))  # fmt: skip
    return Table(
        caption=caption,
        heads=(
            "snap",
            "lzo saves per cold launch",
            "lzo adds to the image",
            "launches until lzo pays",
            *(("weight",) if weighted else ()),
        ),
        rows=tuple(rows),
        links=links_of(sources, [each.snap for each in gains]),
    )

"""The page of a whole fleet: what to act on first, and how all of it looks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from ..core.frozen import frozen
from ..core.units import Interval, format_bytes
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
from .reading import Fleet, SnapRow

_FIRST = 25
"""Snaps that are listed openly; the whole list is folded."""


@frozen
class Gain:
    """A snap's gain from the recommended compression, times its weight.

    :param gain: seconds of a cold launch, or bytes of the image.
    :param weight: of the snap; 1 if there are no weights.
    """

    snap: SnapRow
    gain: Interval
    weight: float


def ranked(fleet: Fleet, weights: Mapping[str, float] | None, codec: str) -> list[Gain]:
    """Return the snaps that should be packed with a codec, the largest gain first.

    :param codec: ``lzo``, which saves seconds, or ``xz``, which saves bytes.
    """
    found = []
    for snap in fleet.snaps:
        gain = snap.saved_s if codec == "lzo" else snap.added_bytes
        if (
            gain
            and snap.verdict == "change"
            and snap.recommended == codec != snap.codec
        ):
            weight = 1.0 if weights is None else weights.get(snap.name, 0.0)
            weighted = gain.map(weight.__mul__)
            found.append(Gain(snap=snap, gain=weighted, weight=weight))
    return sorted(found, key=lambda each: -each.gain.mid)


def total(gains: Sequence[Gain]) -> Interval:
    """Return the sum of gains, end by end."""
    return sum((each.gain for each in gains), Interval.exactly(0.0))


def build_fleet_page(sources: FleetSources) -> Page:
    """Return the page, its parts in the order in which people act on them."""
    fleet = sources.fleet
    lzo, xz = (ranked(fleet, sources.weights, codec) for codec in ("lzo", "xz"))
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
        reasons=tuple(_reasons(sources, lzo, xz)),
        facts=(f"Data set {fleet.where}, made by version {fleet.version}",),
        tiles=tuple(_tiles(sources, lzo, xz)),
        sections=tuple(each for each in sections if each is not None),
        version=fleet.version,
    )


def _reasons(sources: FleetSources, lzo: list[Gain], xz: list[Gain]) -> Iterator[str]:
    fleet = sources.fleet
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
        counts = "snaps have none and count 0"
        if without == 1:
            counts = "snap has none and counts 0"
        yield f"Gains are times the weights; {without:,} {counts}."


def _tiles(sources: FleetSources, lzo: list[Gain], xz: list[Gain]) -> Iterator[Tile]:
    times = " times the weights" if sources.weights is not None else ""
    snaps = sources.fleet.snaps

    def tile(label: str, gains: list[Gain], figure: str, interval: str = "") -> Tile:
        note = f"estimated{interval}, sum of {counted(len(gains), 'snap')}{times}"
        note = note if gains else "no snap would gain"
        return Tile(label=label, figure=figure, note=note)

    label = "lzo would save, over one cold launch of each"
    yield tile(label, lzo, seconds(total(lzo)))
    saved = total(xz)
    low, mid, high = map(format_bytes, (saved.low, saved.mid, saved.high))
    yield tile("xz would save in images", xz, mid, f", {low} to {high}")
    codecs = Counter(snap.codec for snap in snaps).most_common()
    figure = ", ".join(f"{codec} {count:,}" for codec, count in codecs)
    yield Tile(label="packed with", figure=figure, note="snaps, measured")
    figure = format_bytes(sum(snap.image_bytes for snap in snaps))
    yield Tile(label="all images together", figure=figure, note="measured")


def _order_section(
    sources: FleetSources, lzo: list[Gain], xz: list[Gain]
) -> Section | None:
    groups = []
    for gains, heading in (
        (lzo, "Seconds to be won: pack with lzo"),
        (xz, "Bytes to be won: pack with xz"),
    ):
        first, others = gains[:_FIRST], gains[_FIRST:]
        if first:
            table = _order_table(sources, first, heading)
            groups.append(Group(table=table, open_table=True))
        if others:
            table = _order_table(sources, others, f"{heading}: the other snaps")
            groups.append(Group(table=table))
    if not groups:
        return None
    return Section(
        key="order",
        title="What to change first",
        origin="Estimated, with intervals; the largest gain first.",
        groups=tuple(groups),
    )


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

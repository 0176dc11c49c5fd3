"""The page of a whole fleet: what to act on first, and how all of it looks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ..core.units import Interval, counted, seconds, size
from ..report.model import Cell, Page, Section, Table
from .distributions import kinds_section, launch_section, size_section
from .page_lists import (
    FleetSources,
    all_section,
    codec_section,
    error_section,
    links_of,
    rule_section,
    since_section,
)
from .reading import Fleet, SnapRow

_FIRST = 25
"""Snaps that are listed for each codec; the list of all snaps has what each gains."""


@dataclass(frozen=True, slots=True, kw_only=True)
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
            weighted = gain * weight
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
        Section(short=True, sentences=tuple(_reasons(sources, lzo, xz))),
        _figures(sources, lzo, xz),
        _order_section(sources, lzo, xz),
        since_section(sources),
        codec_section(fleet),
        launch_section(fleet),
        size_section(fleet),
        kinds_section(fleet),
        rule_section(fleet),
        error_section(fleet),
        all_section(sources),
    )
    count = len(fleet.snaps)
    return Page(
        title=f"Fleet of {count:,} snaps",
        tone="change" if lzo or xz else "keep",
        headline=f"{len(lzo) + len(xz):,} of {count:,} snaps should change their "
        "compression",
        facts=(f"Data set {fleet.where}, made by version {fleet.version}",),
        sections=tuple(each for each in sections if each is not None),
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


def _figures(sources: FleetSources, lzo: list[Gain], xz: list[Gain]) -> Section:
    times = " times the weights" if sources.weights is not None else ""
    snaps = sources.fleet.snaps
    rows: list[tuple[Cell, ...]] = []
    for label, gains, shown in (
        ("lzo would save, over one cold launch of each", lzo, seconds),
        ("xz would save in images", xz, size),
    ):
        known = f"estimated, sum of {counted(len(gains), 'snap')}{times}"
        figure = shown(total(gains)) if gains else "none"
        rows.append((label, figure, known if gains else "no snap would gain"))
    codecs = Counter(snap.codec for snap in snaps).most_common()
    listed = ", ".join(f"{codec} {count:,}" for codec, count in codecs)
    rows.append(("packed with", listed, "snaps, measured"))
    images = sum(snap.image_bytes for snap in snaps)
    rows.append(("all images together", size(images), "measured"))
    table = Table(heads=("", "", ""), rows=tuple(rows), words=frozenset({2}))
    return Section(short=True, tables=(table,))


def _order_section(
    sources: FleetSources, lzo: list[Gain], xz: list[Gain]
) -> Section | None:
    tables = tuple(
        _order_table(sources, gains[:_FIRST], heading)
        for heading, gains in (
            ("Seconds to be won: pack with lzo", lzo),
            ("Bytes to be won: pack with xz", xz),
        )
        if gains
    )
    if not tables:
        return None
    return Section(
        title="What to change first",
        short=True,
        origin="Estimated, with intervals; the largest gain first.",
        tables=tables,
    )


def _order_table(sources: FleetSources, gains: list[Gain], caption: str) -> Table:
    weighted = sources.weights is not None
    rows: list[tuple[Cell, ...]] = []
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

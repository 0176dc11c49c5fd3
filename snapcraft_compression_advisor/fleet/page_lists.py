"""Parts of a fleet's page that are looked up: codecs, rules, changes, all."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from ..core.units import counted, format_bytes, percent, seconds
from ..lint.rules import ALL_RULES
from ..report.model import Cell, Section, Table
from .reading import Fleet, SnapRow

_VERDICTS = ("change", "keep", "no-benefit", "undecided")
_SEVERITIES = ("error", "warning", "info", "undecided")
_GROWTH = 0.05
"""Of a size or time, as a share: a smaller change isn't listed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetSources:
    """What a fleet's page is made from.

    :param before: an earlier data set, to compare with.
    :param weights: of snaps, by name; all count alike if there are none.
    :param links: addresses of the snaps' own reports, by digest.
    """

    fleet: Fleet
    before: Fleet | None = None
    weights: Mapping[str, float] | None = None
    links: Mapping[str, str] = field(default_factory=dict)


def links_of(sources: FleetSources, snaps: Sequence[SnapRow]) -> tuple[str, ...]:
    """Return the addresses of the snaps' own reports; empty if there is none."""
    return tuple(sources.links.get(snap.digest, "") for snap in snaps)


def codec_section(fleet: Fleet) -> Section:
    """Return the number of snaps by codec, and by advice."""
    snaps: dict[str, list[SnapRow]] = defaultdict(list)
    for snap in fleet.snaps:
        snaps[snap.codec].append(snap)
    rows = []
    for codec, of_codec in sorted(snaps.items(), key=lambda each: -len(each[1])):
        verdicts = Counter(snap.verdict for snap in of_codec)
        rows.append((
            codec,
            f"{len(of_codec):,} ({percent(len(of_codec) / len(fleet.snaps))})",
            format_bytes(sum(snap.image_bytes for snap in of_codec)),
            *(f"{verdicts[each]:,}" for each in _VERDICTS),
        ))  # fmt: skip
    table = Table(
        caption="Snaps by the codec that they are packed with, and verdicts",
        heads=("codec", "snaps", "images", *_VERDICTS),
        rows=tuple(rows),
    )
    origin = "Measured; verdicts are estimated."
    return Section(title="Codecs", short=True, tables=(table,), origin=origin)


def rule_section(fleet: Fleet) -> Section | None:
    """Return the findings by rule; ``None`` if there are none."""
    found: dict[str, Counter[str]] = defaultdict(Counter)
    having: Counter[str] = Counter()
    for snap in fleet.snaps:
        for rule, severity in snap.findings:
            found[rule][severity] += 1
        having.update({rule for rule, _ in snap.findings})
    if not found:
        return None
    names = {rule.id: rule.name for rule in ALL_RULES}
    table = Table(
        caption="Findings of lint by rule",
        heads=("rule", "snaps", *_SEVERITIES),
        rows=tuple(
            (
                f"{rule} {names.get(rule, '')}".strip(),
                f"{having[rule]:,}",
                *(f"{found[rule][each]:,}" for each in _SEVERITIES),
            )
            for rule in sorted(found)
        ),
    )
    return Section(title="Findings by rule", tables=(table,))


def error_section(fleet: Fleet) -> Section | None:
    """Return why snaps couldn't be analysed; ``None`` if all could."""
    if not fleet.errors:
        return None
    table = Table(
        caption="Snaps that couldn't be analysed",
        heads=("snap", "error"),
        rows=fleet.errors,
        names=frozenset({0}),
        words=frozenset({1}),
    )
    return Section(title="Errors", tables=(table,))


def since_section(sources: FleetSources) -> Section | None:
    """Return the changes since an earlier data set; None without one.

    Snaps are the same if their names are; of several of one name, the first by path is
    paired with the first.
    """
    if sources.before is None:
        return None
    old, new = _keyed(sources.before.snaps), _keyed(sources.fleet.snaps)
    changed = [
        (old[key], snap)
        for key, snap in new.items()
        if key in old and old[key].digest != snap.digest
    ]
    added = [snap.name for key, snap in new.items() if key not in old]
    gone = [snap.name for key, snap in old.items() if key not in new]
    table = Table(
        caption="Changes of snaps in both data sets",
        heads=("snap", "what", "before", "now"),
        rows=tuple(row for before, now in changed for row in _changes(before, now)),
        words=frozenset({1}),
    )
    counts = (
        f"Changed: {counted(len(changed), 'snap')}; new: {len(added):,}; gone: "
        f"{len(gone):,}. Sizes and seconds are listed if they changed by more than 5%."
    )
    lists = (("New", added), ("Gone", gone))
    return Section(
        title=f"Since {sources.before.where}",
        short=True,
        origin="Sizes are measured; seconds are estimated.",
        sentences=(
            counts,
            *(f"{head}: {', '.join(names)}." for head, names in lists if names),
        ),
        tables=(table,) if table.rows else (),
    )


def _keyed(snaps: Sequence[SnapRow]) -> dict[tuple[str, int], SnapRow]:
    count: Counter[str] = Counter()
    keyed = {}
    for snap in snaps:
        keyed[snap.name, count[snap.name]] = snap
        count[snap.name] += 1
    return keyed


def _changes(before: SnapRow, now: SnapRow) -> Iterator[tuple[Cell, ...]]:
    for what, old, new in (
        ("codec", before.codec, now.codec),
        ("verdict", before.verdict, now.verdict),
    ):
        if old != new:
            yield now.name, what, old, new
    if _has_changed(before.image_bytes, now.image_bytes):
        old_size, new_size = map(format_bytes, (before.image_bytes, now.image_bytes))
        yield now.name, "image", old_size, new_size
    old_s, new_s = before.seconds_now(now.device), now.seconds_now()
    if old_s and new_s and _has_changed(old_s.mid, new_s.mid):
        yield now.name, "cold launch", seconds(old_s), seconds(new_s)


def _has_changed(before: float, now: float) -> bool:
    return bool(before) and abs(now / before - 1) > _GROWTH


def all_section(sources: FleetSources) -> Section:
    """Return all snaps, to be looked up."""
    snaps = sources.fleet.snaps
    table = Table(
        caption="All snaps",
        heads=("snap", "version", "codec", "image", "cold launch now", "lzo saves",
               "verdict"),
        rows=tuple(
            (
                snap.name,
                snap.version,
                snap.codec,
                format_bytes(snap.image_bytes),
                seconds(now) if (now := snap.seconds_now()) else "",
                seconds(snap.saved_s) if snap.saved_s else "",
                snap.verdict,
            )
            for snap in snaps
        ),
        words=frozenset({1, 2, 6}),
        links=links_of(sources, snaps),
    )  # fmt: skip
    origin = "Images are measured; seconds are estimated, with intervals."
    return Section(title="All snaps", tables=(table,), origin=origin)

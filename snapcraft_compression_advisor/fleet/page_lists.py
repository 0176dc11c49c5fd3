"""Parts of a fleet's page that are looked up: codecs, rules, outliers, changes, all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import field

from ..core.frozen import frozen
from ..core.units import format_bytes
from ..lint.all_rules import ALL_RULES
from ..report.page.model import Group, Section, Table
from ..report.page.texts import percent, seconds
from ..report.phrases import counted
from .ranking import by_rule, grown, outliers, pairs
from .reading import Fleet, SnapRow

_VERDICTS = ("change", "keep", "no-benefit", "undecided")
_FENCED = (
    "Beyond the upper quartile by more than 1.5 times the distance between the "
    "quartiles, in logarithms."
)


@frozen
class FleetSources:
    """What a fleet's page is made from.

    :param before: an earlier data set, to compare with.
    :param weights: of snaps, by name; all count alike where there are none.
    :param links: addresses of the snaps' own reports, by digest.
    """

    fleet: Fleet
    before: Fleet | None = None
    weights: Mapping[str, float] | None = None
    links: Mapping[str, str] = field(default_factory=dict)


def links_of(sources: FleetSources, snaps: list[SnapRow]) -> tuple[str, ...]:
    """Return where the snaps' own reports are; empty where there is none."""
    return tuple(sources.links.get(snap.digest, "") for snap in snaps)


def codec_section(fleet: Fleet) -> Section:
    """Return how many use which codec, and what is advised."""
    codecs = Counter(snap.codec for snap in fleet.snaps)
    rows = []
    for codec, count in codecs.most_common():
        of_codec = [snap for snap in fleet.snaps if snap.codec == codec]
        verdicts = Counter(snap.verdict for snap in of_codec)
        rows.append((
            codec,
            f"{count:,} ({percent(count / len(fleet.snaps))})",
            format_bytes(sum(snap.image_bytes for snap in of_codec)),
            *(f"{verdicts[each]:,}" for each in _VERDICTS),
        ))  # fmt: skip
    table = Table(
        caption="Snaps by the codec that they are packed with, and verdicts",
        heads=("codec", "snaps", "images", *_VERDICTS),
        rows=tuple(rows),
    )
    return Section(
        key="codecs",
        title="Codecs",
        origin="Measured; verdicts are estimated.",
        groups=(Group(table=table, open_table=True),),
    )


def rule_section(fleet: Fleet) -> Section | None:
    """Return the findings by rule; ``None`` where there are none."""
    found = by_rule(fleet.snaps)
    if not found:
        return None
    names = {rule.id: rule.name for rule in ALL_RULES}
    severities = ("error", "warning", "info", "undecided")
    table = Table(
        caption="Findings of lint by rule",
        heads=("rule", "snaps", *severities),
        rows=tuple(
            (
                f"{rule} {names.get(rule, '')}".strip(),
                f"{snaps:,}",
                *(f"{counts[each]:,}" for each in severities),
            )
            for rule, counts, snaps in found
        ),
    )
    return Section(
        key="rules",
        title="Findings by rule",
        folded=True,
        gist=f"{len(found)} rules",
        groups=(Group(table=table, open_table=True),),
    )


def _middle_s(snap: SnapRow) -> float | None:
    now = snap.seconds_now()
    return now.mid if now else None


def outlier_section(sources: FleetSources) -> Section | None:
    """Return the snaps that are far beyond the others; ``None`` where none is."""
    snaps = sources.fleet.snaps
    slow = outliers(snaps, _middle_s)
    large = outliers(snaps, lambda snap: float(snap.image_bytes))
    rows = [
        *((snap, "cold launch", f"{value:.2f} s, estimated") for snap, value in slow),
        *((snap, "image", f"{format_bytes(value)}, measured") for snap, value in large),
    ]
    if not rows:
        return None
    table = Table(
        caption="Snaps that are far beyond the others",
        heads=("snap", "what", "figure"),
        rows=tuple((snap.name, what, text) for snap, what, text in rows),
        words=frozenset({1}),
        links=links_of(sources, [snap for snap, _, _ in rows]),
    )
    return Section(
        key="outliers",
        title="Outliers",
        folded=True,
        gist=f"{len(rows)}",
        paragraphs=(_FENCED,),
        groups=(Group(table=table, open_table=True),),
    )


def error_section(fleet: Fleet) -> Section | None:
    """Return why snaps couldn't be analysed; ``None`` where all could."""
    if not fleet.errors:
        return None
    table = Table(
        caption="Snaps that couldn't be analysed",
        heads=("snap", "error"),
        rows=fleet.errors,
        names=frozenset({0}),
        words=frozenset({1}),
    )
    return Section(
        key="errors",
        title="Errors",
        folded=True,
        gist=f"{len(fleet.errors):,} snaps",
        groups=(Group(table=table, open_table=True),),
    )


def since_section(sources: FleetSources) -> Section | None:
    """Return what changed; ``None`` without an earlier data set."""
    if sources.before is None:
        return None
    changed, new, gone = pairs(sources.before, sources.fleet)
    rows = tuple(row for pair in changed for row in _changes(pair.before, pair.now))
    tables = (
        Group(
            table=Table(
                caption="Changes of snaps in both data sets",
                heads=("snap", "what", "before", "now"),
                rows=rows,
                words=frozenset({1}),
            ),
            open_table=True,
        ),
    )
    lists = (("New", new), ("Gone", gone))
    counts = (
        f"Changed: {counted(len(changed), 'snap')}; new: {len(new):,}; gone: "
        f"{len(gone):,}. Sizes and seconds are listed if they changed by more than 5%."
    )
    return Section(
        key="since",
        title=f"Since {sources.before.where}",
        origin="Sizes are measured; seconds are estimated.",
        paragraphs=(
            counts,
            *(f"{head}: {', '.join(names)}." for head, names in lists if names),
        ),
        groups=tables if rows else (),
    )


def _changes(before: SnapRow, now: SnapRow) -> Iterator[tuple[str, str, str, str]]:
    for what, old, new in (
        ("codec", before.codec, now.codec),
        ("verdict", before.verdict, now.verdict),
    ):
        if old != new:
            yield now.name, what, old, new
    if grown(before.image_bytes, now.image_bytes):
        old_size, new_size = map(format_bytes, (before.image_bytes, now.image_bytes))
        yield now.name, "image", old_size, new_size
    old_s, new_s = before.seconds_now(now.device), now.seconds_now()
    if old_s and new_s and grown(old_s.mid, new_s.mid):
        yield now.name, "cold launch", seconds(old_s), seconds(new_s)


def all_section(sources: FleetSources) -> Section:
    """Return all snaps, to be looked up."""
    snaps = [*sources.fleet.snaps]
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
    return Section(
        key="all",
        title="All snaps",
        folded=True,
        gist=f"{len(snaps):,}",
        origin="Images are measured; seconds are estimated, with intervals.",
        groups=(Group(table=table, open_table=True),),
    )

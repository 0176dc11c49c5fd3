"""How a fleet's figures are distributed: cold launches, images, kinds."""

from __future__ import annotations

import statistics
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import pairwise

from ..core.units import format_bytes, join_ends, percent
from ..report.charts import COLOURS, MUTED, share_chart
from ..report.model import Section, Spec, Table
from .reading import Fleet, SnapRow

_SECONDS = (0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
"""Bounds of classes, in steps of two; the policy takes 0.25 s as noticeable."""

_MB = 1_000_000
_SIZES = tuple(each * _MB for each in (1, 5, 20, 50, 100, 200, 500))
_COLOURS = ("var(--lzo)", "var(--xz)", "var(--keep)", "var(--undecided)", MUTED)
_OTHER_KIND = "no app"


def launch_section(fleet: Fleet) -> Section | None:
    """Return the distribution of seconds that snaps add with their own codec."""
    devices = [device for snap in fleet.snaps for _, device in snap.launches]
    series = {
        device: [now.mid for snap in fleet.snaps if (now := snap.seconds_now(device))]
        for device in dict.fromkeys(devices)
    }
    colours = dict(zip(series, _COLOURS * len(series), strict=False))
    return _section(
        "launches",
        "What a cold launch adds, with the codec that snaps have",
        "Estimated: middles of intervals, of each snap's deciding app.",
        _bars(series, _SECONDS, [f"{bound:g} s" for bound in _SECONDS], colours),
    )


def size_section(fleet: Fleet) -> Section | None:
    """Return the distribution of snaps' sizes, by codec."""
    series: dict[str, list[float]] = defaultdict(list)
    for snap in fleet.snaps:
        series[snap.codec].append(snap.image_bytes)
    colours = {codec: COLOURS.get(codec, MUTED) for codec in series}
    names = [format_bytes(bound).replace(".0", "") for bound in _SIZES]
    bars = _bars(series, _SIZES, names, colours)
    return _section("sizes", "Images", "Measured.", bars)


def _bars(
    series: dict[str, list[float]],
    bounds: Sequence[float],
    names: Sequence[str],
    colours: dict[str, str],
) -> list[Spec]:
    """Return the shares of each series in the classes between bounds."""
    between = (join_ends(low, high) for low, high in pairwise(names))
    labels = [f"under {names[0]}", *between, f"{names[-1]} and more"]
    counts = {
        name: Counter(bisect_right(bounds, value) for value in values)
        for name, values in series.items()
    }
    used = [n for n in range(len(labels)) if any(each[n] for each in counts.values())]
    bars: list[Spec] = []
    for number in range(min(used, default=0), max(used, default=-1) + 1):
        for name, values in series.items():
            count = counts[name][number]
            share = count / len(values) if values else 0.0
            text = f"{labels[number]}, {name}: {count:,} snaps ({percent(share)})"
            bars.append({
                "label": labels[number],
                "series": name,
                "colour": colours[name],
                "share": share,
                "text": text,
                "count": f"{count:,} ({percent(share)})",
            })  # fmt: skip
    return bars


def _section(key: str, title: str, origin: str, bars: list[Spec]) -> Section | None:
    if not bars:
        return None
    texts = "; ".join(bar["text"] for bar in bars)
    chart = share_chart(key, "Share of the snaps", bars, f"{title}: {texts}.")
    names = [*dict.fromkeys(bar["series"] for bar in bars)]
    counts: dict[str, list[str]] = defaultdict(list)
    for bar in bars:
        counts[bar["label"]].append(bar["count"])
    table = Table(
        caption=f"{title}: snaps",
        heads=("class", *names),
        rows=tuple((label, *row) for label, row in counts.items()),
    )
    return Section(
        title=title, short=True, origin=origin, charts=(chart,), tables=(table,)
    )


def kinds_section(fleet: Fleet) -> Section | None:
    """Return the gain of each kind of application."""
    kinds: dict[str, list[SnapRow]] = defaultdict(list)
    for snap in fleet.snaps:
        kinds[snap.kind or _OTHER_KIND].append(snap)
    rows = []
    for kind, snaps in sorted(kinds.items(), key=lambda each: (-len(each[1]), each[0])):
        saved = sorted(snap.saved_s.mid for snap in snaps if snap.saved_s)
        if saved:
            figures = statistics.median(saved), saved[0], saved[-1]
            lzo = sum(snap.recommended == "lzo" for snap in snaps)
            share = f"{lzo:,} ({percent(lzo / len(snaps))})"
            middle = (f"{each:.2f} s" for each in figures)
            rows.append((kind, f"{len(snaps):,}", *middle, share))
    if not rows:
        return None
    table = Table(
        caption="What lzo saves per cold launch, by kind of application",
        heads=("kind", "snaps", "median", "smallest", "largest", "lzo recommended"),
        rows=tuple(rows),
    )
    return Section(
        title="Kinds of applications",
        origin="Estimated: middles of intervals, on each snap's deciding device.",
        tables=(table,),
    )

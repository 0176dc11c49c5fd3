"""How large the payload's files are, and how kinds of them compress."""

from __future__ import annotations

import math
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

from ...codecs import SHIPPABLE
from ...core.units import KIB, MIB, format_bytes
from ..phrases import counted
from . import charts
from .model import Chart, Group, Section, Table
from .texts import percent, size, told

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ...codecs import CodecName
    from ..json_report import Report
    from ..report_files import (
        FileReport,
        FileSizesReport,
        IncompressibleReport,
        KindReport,
    )
    from .charts import Drawing, Spec

PUBLISHED = (
    ("Chromium", 10, 0.45),
    ("Chromium", 100, 0.85),
    ("SuperTuxKart", 10, 0.20),
    ("SuperTuxKart", 100, 0.50),
)
"""Application, its largest files, their share: of the published study of snaps
(snapcraft.io)."""

_HEIGHT = 280
_AXES_PX = 60
_LETTER_PX = 6.5
_NAME_GAP_PX = 8
_STEPS = 8
_NEAR_SHARE = 0.05
"""Of the axis: half a line of text and what the curve's own stroke takes."""

_SIDES: Mapping[str, Spec] = {
    "right": {"align": "left", "dx": 8, "dy": 4},
    "left": {"align": "right", "dx": -8, "dy": 0},
    "below": {"align": "center", "dy": 20},
    "above": {"align": "center", "dy": -10},
}
_NAME_PLACES = {
    "right": (0.0, 1.0, 0.0),
    "left": (-1.0, 0.0, 0.0),
    "below": (-0.5, 0.5, -0.07),
    "above": (-0.5, 0.5, 0.07),
}
"""Where a name starts and ends, in its own lengths from its point, and how far it
stands above it, share of the axis; the first clear place is taken."""
_OWN = "var(--lzo)"
_DRAWN_KINDS = 10


def sizes_section(report: Report) -> Section | None:
    """Return how large files are; ``None`` where that isn't known."""
    sizes = report.file_sizes
    if sizes is None or not (sizes.top and sizes.files and sizes.raw_bytes):
        return None
    return Section(
        key="sizes",
        title="How large the files are",
        origin="Measured; the points of comparison are published (snapcraft.io).",
        paragraphs=tuple(_size_paragraphs(sizes)),
        groups=(
            Group(
                charts=(_curve(sizes), _classes(sizes)),
                table=files_table(sizes.largest, "The largest files", sizes.raw_bytes),
            ),
        ),
    )


def _size_paragraphs(sizes: FileSizesReport) -> Iterator[str]:
    shares = {top.files: top.share for top in sizes.top}
    told = [
        f"the largest {rank} make up {percent(shares[rank])}"
        for rank in (10, 100)
        if rank in shares
    ]
    files = counted(sizes.files, "file")
    text = f"{files} with different contents, {format_bytes(sizes.raw_bytes)}"
    yield f"{text}: {', '.join(told)}." if told else f"{text}."
    yield (
        "In the published study, the ten largest files made up 45% of Chromium and 20% "
        "of SuperTuxKart, the hundred largest 85% and 50%. Where a few large files "
        "dominate the payload, they dominate its launch, and the codec matters more."
    )


def curve_point(files: int, share: float, name: str = "") -> Spec:
    """Return so many of the largest files, and their share of all, 0 to 1.

    :param name: of a published one; empty for those of the payload itself.
    """
    text = f"largest {files:,}: {percent(share)}"
    text = f"{name}, published: {text}" if name else f"{text} of the payload"
    return {"files": files, "share": share, "label": name, "text": text, "what": "own"}


def _curve(sizes: FileSizesReport) -> Chart:
    own = [curve_point(top.files, top.share) for top in sizes.top]
    published = [curve_point(files, share, name) for name, files, share in PUBLISHED]
    return Chart(
        key="curve",
        title="Share of the largest files",
        alt=told(
            "Share of the payload by number of its largest files",
            (point["text"] for point in own[:6]),
        ),
        draw=partial(draw_size_curve, own, published),
        wide=False,
        table=Table(
            caption="Share of the payload that its largest files make up",
            heads=("largest files", "share"),
            rows=tuple((f"{top.files:,}", percent(top.share)) for top in sizes.top),
        ),
    )


def draw_size_curve(
    points: Sequence[Spec], published: Sequence[Spec], *, width: int
) -> Drawing:
    """Draw what part of the payload its largest files are, beside published ones."""
    x = charts.quantity(
        "files",
        "largest files (logarithmic)",
        scale={"type": "log", "nice": False},
        axis={"tickCount": 4, "format": "~s", "grid": False},
    )
    y = charts.quantity(
        "share",
        "share of the payload",
        scale={"domain": [0, 1]},
        axis={"format": ".0%", "tickCount": 5},
    )
    own = f"({charts.only('own')})"
    line = charts.mark("line", stroke=_OWN, strokeWidth=2)
    dot = charts.telling("point", filled=True, color=_OWN, size=70, opacity=1)
    diamond = charts.telling(
        "point", shape="diamond", stroke=charts.MUTED, fill=charts.PAPER, size=80
    )
    return charts.layered(
        [
            charts.layer(line, where=own),
            charts.layer(dot, where=own),
            charts.layer(diamond, where="!" + own),
            *charts.names(_SIDES, fill=charts.MUTED),
        ],
        values=[
            *points,
            *({**p, "what": _clear_side(p, points, width)} for p in published),
        ],
        width=width,
        height=_HEIGHT,
        x=x,
        y=y,
    )


def _clear_side(point: Spec, curve: Sequence[Spec], width: int) -> str:
    """Return on which side of a point its name doesn't lie on the curve."""
    most = max(each["files"] for each in (*curve, point))
    room_px = width - _AXES_PX
    decade_px = room_px / max(1.0, math.log10(most))
    at_px = decade_px * math.log10(point["files"])
    name_px = _LETTER_PX * len(point["label"]) + _NAME_GAP_PX
    for side, (start, end, rise) in _NAME_PLACES.items():
        start_px, end_px = at_px + start * name_px, at_px + end * name_px
        ranks = (
            10 ** ((start_px + (end_px - start_px) * step / _STEPS) / decade_px)
            for step in range(_STEPS + 1)
        )
        if (side == "right" or start_px >= 0) and all(
            abs(_share_at(curve, rank) - point["share"] - rise) > _NEAR_SHARE
            for rank in ranks
        ):
            return side
    return "right"


def _share_at(curve: Sequence[Spec], files: float) -> float:
    """Return the height of the line through the curve's points; infinity beside it."""
    for before, after in pairwise(curve):
        if before["files"] <= files <= after["files"]:
            reach = math.log(after["files"] / before["files"])
            way = math.log(files / before["files"]) / reach
            share: float = before["share"] + way * (after["share"] - before["share"])
            return share
    return math.inf


def _classes(sizes: FileSizesReport) -> Chart:
    bars, rows = [], []
    below = 0
    for each in sizes.classes:
        end = each.up_to_bytes
        label = f"over {_binary(below)}" if end is None else f"up to {_binary(end)}"
        below = end or below
        files = each.files / sizes.files
        length = each.raw_bytes / sizes.raw_bytes
        size = format_bytes(each.raw_bytes)
        rows.append((label, f"{each.files:,}", percent(files), size, percent(length)))
        bars += [
            {
                "label": label,
                "series": series,
                "share": share,
                "colour": colour,
                "text": f"{label}: {percent(share)} {series}",
            }
            for series, share, colour in (
                ("of the files", files, "var(--warm)"),
                ("of the bytes", length, _OWN),
            )
        ]
    return Chart(
        key="classes",
        title="Files by size",
        alt=told(
            "Share of files and of bytes by size of file",
            (f"{row[0]}: {row[2]} of files, {row[4]} of bytes" for row in rows),
        ),
        draw=partial(charts.draw_shares, tuple(bars), title="share"),
        wide=False,
        table=Table(
            caption="Files by size",
            heads=("size", "files", "share", "bytes", "share of bytes"),
            rows=tuple(rows),
        ),
    )


def _binary(count: int) -> str:
    return f"{count / MIB:g} MiB" if count >= MIB else f"{count / KIB:g} KiB"


def files_table(files: Sequence[FileReport], caption: str, whole: float) -> Table:
    """Return files with their share of a whole, bytes."""
    return Table(
        caption=caption,
        heads=("file", "bytes", "share"),
        rows=tuple(
            (file.path, format_bytes(file.size_bytes), percent(file.size_bytes / whole))
            for file in files
        ),
        names=frozenset((0,)),
    )


def kinds_section(report: Report) -> Section | None:
    """Return how kinds of files compress; ``None`` where that isn't known."""
    kinds = [kind for kind in report.kinds if kind.raw_bytes]
    if not kinds:
        return None
    codecs = [name for name in report.trial.codecs if name in kinds[0].stored_bytes]
    return Section(
        key="kinds",
        title="What compresses, and what doesn't",
        origin="Measured."
        if report.trial.mode == "exact"
        else "Estimated."
        if report.payload.kind == "prime"
        else "Measured for the image's own codec, estimated for the others.",
        paragraphs=tuple(_incompressible(report.incompressible)),
        legend="A bar is the share of its length that a kind of file keeps.",
        groups=(
            Group(charts=(_kinds_chart(kinds),), table=_kinds_table(kinds, codecs)),
            *_resisting(report.incompressible),
        ),
    )


def _incompressible(found: IncompressibleReport | None) -> Iterator[str]:
    yield "The kind of a file is taken from its name."
    if found is None or not found.total_bytes:
        return
    share = found.stored_bytes
    low, mid, high = (
        percent(min(1.0, end / found.total_bytes))
        for end in (share.low, share.mid, share.high)
    )
    interval = "" if low == high else f" ({low} to {high})"
    yield (
        "Blocks that don't compress (they keep 95% of their length or more) make up "
        f"{mid}{interval} of the image's data with {found.codec}, in "
        f"{counted(found.files, 'file')}."
    )


def _resisting(found: IncompressibleReport | None) -> Iterator[Group]:
    if found is not None and found.largest and found.total_bytes > 0:
        caption = "The largest files that don't compress"
        yield Group(table=files_table(found.largest, caption, found.total_bytes))


def _kinds_chart(kinds: Sequence[KindReport]) -> Chart:
    bars: list[Spec] = [
        {
            "label": f"{kind.kind} ({length})",
            "series": codec,
            "share": (share := stored.mid / kind.raw_bytes),
            "colour": charts.CODEC_COLOURS[codec],
            "text": f"{kind.kind}, {codec}: {size(stored)} of {length}, "
            f"{percent(share)}",
        }
        for kind in kinds[:_DRAWN_KINDS]
        for length in (format_bytes(kind.raw_bytes),)
        for codec, stored in kind.stored_bytes.items()
        if codec in SHIPPABLE
    ]
    return Chart(
        key="kinds",
        title="Compressed size of each kind of file",
        alt=told(
            "Compressed size of each kind of file as a share of its length",
            (bar["text"] for bar in bars[:6]),
        ),
        draw=partial(charts.draw_shares, tuple(bars), title="of its length"),
        wide=True,
    )


def _kinds_table(kinds: Sequence[KindReport], codecs: Sequence[CodecName]) -> Table:
    return Table(
        caption="Kinds of files with their compressed size by codec",
        heads=("kind", "files", "length", *codecs),
        rows=tuple(
            (
                kind.kind,
                f"{kind.files:,}",
                format_bytes(kind.raw_bytes),
                *(
                    size(kind.stored_bytes[codec]) if codec in kind.stored_bytes else ""
                    for codec in codecs
                ),
            )
            for kind in kinds
        ),
    )

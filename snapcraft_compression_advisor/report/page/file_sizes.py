"""How large the payload's files are, and what the largest make up."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

from ...core.units import KIB, MIB, format_bytes
from ..phrases import counted
from . import charts
from .model import Chart, Group, Section, Table
from .texts import percent, told

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ..json_report import Report
    from ..report_files import FileReport, FileSizesReport, SizeClassReport
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


@dataclass(frozen=True, slots=True, kw_only=True)
class CurvePoint:
    """So many of the largest files, and their share of all, 0 to 1.

    :param label: shown beside the point; empty for those of the payload itself.
    """

    files: int
    share: float
    text: str
    label: str = ""


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


def _curve(sizes: FileSizesReport) -> Chart:
    own = tuple(
        CurvePoint(
            files=top.files,
            share=top.share,
            text=f"largest {top.files:,}: {percent(top.share)} of the payload",
        )
        for top in sizes.top
    )
    published = tuple(
        CurvePoint(
            files=files,
            share=share,
            label=name,
            text=f"{name}, published: largest {files:,}: {percent(share)}",
        )
        for name, files, share in PUBLISHED
    )
    return Chart(
        key="curve",
        title="Share of the largest files",
        alt=told(
            "Share of the payload by number of its largest files",
            (point.text for point in own[:6]),
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
    points: Sequence[CurvePoint], published: Sequence[CurvePoint], *, width: int
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
    own, other = "datum.own", "!datum.own"
    line = charts.mark("line", stroke=_OWN, strokeWidth=2)
    dot = charts.telling("point", filled=True, color=_OWN, size=70, opacity=1)
    diamond = charts.telling(
        "point", shape="diamond", stroke=charts.MUTED, fill=charts.PAPER, size=80
    )
    names = (
        charts.layer(
            charts.mark("text", fill=charts.MUTED, **placed),
            where=f"datum.side === '{side}'",
            x=x,
            y=y,
            text=charts.LABEL,
        )
        for side, placed in _SIDES.items()
    )
    return charts.layered(
        [
            charts.layer(line, where=own, x=x, y=y),
            charts.layer(dot, where=own, x=x, y=y, description=charts.TOLD),
            charts.layer(diamond, where=other, x=x, y=y, description=charts.TOLD),
            *names,
        ],
        values=[
            {
                **asdict(point),
                "own": not point.label,
                "side": _clear_side(point, points, width) if point.label else "",
            }
            for point in (*points, *published)
        ],
        width=width,
        height=_HEIGHT,
    )


def _clear_side(point: CurvePoint, curve: Sequence[CurvePoint], width: int) -> str:
    """Return on which side of a point its name doesn't lie on the curve."""
    most = max(each.files for each in (*curve, point))
    room_px = width - _AXES_PX
    decade_px = room_px / max(1.0, math.log10(most))
    at_px = decade_px * math.log10(point.files)
    name_px = _LETTER_PX * len(point.label) + _NAME_GAP_PX
    for side, (start, end, rise) in _NAME_PLACES.items():
        start_px, end_px = at_px + start * name_px, at_px + end * name_px
        ranks = (
            10 ** ((start_px + (end_px - start_px) * step / _STEPS) / decade_px)
            for step in range(_STEPS + 1)
        )
        if (side == "right" or start_px >= 0) and all(
            abs(_share_at(curve, rank) - point.share - rise) > _NEAR_SHARE
            for rank in ranks
        ):
            return side
    return "right"


def _share_at(curve: Sequence[CurvePoint], files: float) -> float:
    """Return the height of the line through the curve's points; infinity beside it."""
    for before, after in pairwise(curve):
        if before.files <= files <= after.files:
            way = math.log(files / before.files) / math.log(after.files / before.files)
            return before.share + way * (after.share - before.share)
    return math.inf


def _classes(sizes: FileSizesReport) -> Chart:
    bars, rows = [], []
    below = 0
    for each in sizes.classes:
        label = _class_label(each, below)
        below = each.up_to_bytes or below
        files = each.files / sizes.files
        length = each.raw_bytes / sizes.raw_bytes
        rows.append(
            (
                label,
                f"{each.files:,}",
                percent(files),
                format_bytes(each.raw_bytes),
                percent(length),
            )
        )
        for series, share, colour in (
            ("of the files", files, "var(--warm)"),
            ("of the bytes", length, "var(--lzo)"),
        ):
            text = f"{label}: {percent(share)} {series}"
            bars.append(
                charts.SharedBar(
                    label=label, series=series, share=share, colour=colour, text=text
                )
            )
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


def _class_label(each: SizeClassReport, below: int) -> str:
    if each.up_to_bytes is None:
        return f"over {_binary(below)}"
    return f"up to {_binary(each.up_to_bytes)}"


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

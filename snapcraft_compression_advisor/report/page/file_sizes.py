"""How large the payload's files are, and what the largest make up."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from snapcraft_compression_advisor.core.units import KIB, MIB, format_bytes
from snapcraft_compression_advisor.report.charts.file_sizes import (
    CurvePoint,
    SharedBar,
    draw_shares,
    draw_size_curve,
)
from snapcraft_compression_advisor.report.page.model import (
    Chart,
    Group,
    Section,
    Table,
)
from snapcraft_compression_advisor.report.page.texts import percent

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from snapcraft_compression_advisor.report.json_report import Report
    from snapcraft_compression_advisor.report.report_files import (
        FileReport,
        FileSizesReport,
        SizeClassReport,
    )

PUBLISHED = (
    ("Chromium", 10, 0.45),
    ("Chromium", 100, 0.85),
    ("SuperTuxKart", 10, 0.20),
    ("SuperTuxKart", 100, 0.50),
)
"""Application, its largest files, their share: of the published study of snaps
(snapcraft.io)."""


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
        f"the largest {rank} are {percent(shares[rank])} of it"
        for rank in (10, 100)
        if rank in shares
    ]
    head = f"{sizes.files:,} files of different contents, "
    text = f"{head}{format_bytes(sizes.raw_bytes)}"
    yield f"{text}: {', '.join(told)}." if told else f"{text}."
    yield (
        "In the published study the ten largest files were 45% of Chromium and 20% "
        "of SuperTuxKart, the hundred largest 85% and 50%. Where few large files "
        "make up the payload, so they do the launch, and the codec counts more."
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
        title="What the largest files make up",
        alt="Share of the payload by number of its largest files: "
        + "; ".join(point.text for point in own[:6])
        + ".",
        draw=partial(draw_size_curve, own, published),
        wide=False,
        table=Table(
            caption="Share of the payload that its largest files make up",
            heads=("largest files", "share"),
            rows=tuple((f"{top.files:,}", percent(top.share)) for top in sizes.top),
        ),
    )


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
                SharedBar(
                    label=label, series=series, share=share, colour=colour, text=text
                )
            )
    return Chart(
        key="classes",
        title="Files by size",
        alt="Share of files and of bytes by size of file: "
        + "; ".join(f"{row[0]}: {row[2]} of files, {row[4]} of bytes" for row in rows)
        + ".",
        draw=partial(draw_shares, tuple(bars), title="share"),
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

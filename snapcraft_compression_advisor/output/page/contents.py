"""What the payload is made of: sizes of files, and how kinds of them compress."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from snapcraft_compression_advisor.output.charts.file_sizes import (
    CurvePoint,
    SharedBar,
    draw_shares,
    draw_size_curve,
)
from snapcraft_compression_advisor.output.charts.spec import CODEC_COLOURS
from snapcraft_compression_advisor.output.page.model import (
    Chart,
    Group,
    Section,
    Table,
)
from snapcraft_compression_advisor.output.page.texts import percent, size
from snapcraft_compression_advisor.units import KIB, MIB, format_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from snapcraft_compression_advisor.output.json_report import Report
    from snapcraft_compression_advisor.output.report_files import (
        FileReport,
        FileSizesReport,
        IncompressibleReport,
        KindReport,
        SizeClassReport,
    )
    from snapcraft_compression_advisor.output.report_model import CodecName

PUBLISHED = (
    ("Chromium", 10, 0.45),
    ("Chromium", 100, 0.85),
    ("SuperTuxKart", 10, 0.20),
    ("SuperTuxKart", 100, 0.50),
)
"""Application, its largest files, their share: of the published study of snaps
(snapcraft.io)."""

_DRAWN_KINDS = 10
_COMPARED = ("xz", "lzo")


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
                table=_files_table(sizes.largest, "The largest files", sizes.raw_bytes),
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
        "In the published study the ten largest files were 45 % of Chromium and 20 % "
        "of SuperTuxKart, the hundred largest 85 % and 50 %. Where few large files "
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


def _files_table(files: Sequence[FileReport], caption: str, whole: float) -> Table:
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
        origin="Estimated."
        if report.trial.mode == "sampled" and report.payload.kind == "prime"
        else "Measured for the image's own codec, estimated for the others."
        if report.trial.mode == "sampled"
        else "Measured.",
        paragraphs=tuple(_incompressible(report.incompressible)),
        legend="A bar is what a kind of file keeps of its length.",
        groups=(
            Group(charts=(_kinds_chart(kinds),), table=_kinds_table(kinds, codecs)),
            *_resisting(report.incompressible),
        ),
    )


def _incompressible(found: IncompressibleReport | None) -> Iterator[str]:
    yield "Kinds of files are told by their names."
    if found is None or not found.total_bytes:
        return
    low, mid, high = (
        percent(min(1.0, end / found.total_bytes))
        for end in (
            found.stored_bytes.low,
            found.stored_bytes.mid,
            found.stored_bytes.high,
        )
    )
    interval = "" if low == high else f" ({low} to {high})"
    yield (
        f"{mid}{interval} of the image's data with {found.codec} are blocks that don't "
        f"compress, keeping 95 % of their length or more: {found.files:,} files."
    )


def _resisting(found: IncompressibleReport | None) -> Iterator[Group]:
    if found is not None and found.largest and found.total_bytes > 0:
        caption = "The largest files that don't compress"
        yield Group(table=_files_table(found.largest, caption, found.total_bytes))


def _kinds_chart(kinds: Sequence[KindReport]) -> Chart:
    bars = [
        SharedBar(
            label=f"{kind.kind} ({format_bytes(kind.raw_bytes)})",
            series=codec,
            share=stored.mid / kind.raw_bytes,
            colour=CODEC_COLOURS[codec],
            text=f"{kind.kind}, {codec}: {size(stored)} of "
            f"{format_bytes(kind.raw_bytes)}, {percent(stored.mid / kind.raw_bytes)}",
        )
        for kind in kinds[:_DRAWN_KINDS]
        for codec, stored in kind.stored_bytes.items()
        if codec in _COMPARED
    ]
    return Chart(
        key="kinds",
        title="What is left of each kind of file",
        alt="Compressed size of each kind of file as a share of its length: "
        + "; ".join(bar.text for bar in bars[:6])
        + ".",
        draw=partial(draw_shares, tuple(bars), title="of its length"),
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

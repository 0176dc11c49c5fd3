"""How kinds of files compress, and what doesn't."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from ...core.units import format_bytes
from ..phrases import counted
from .charts import CODEC_COLOURS, SharedBar, draw_shares
from .file_sizes import files_table
from .model import Chart, Group, Section, Table
from .texts import percent, size, told

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ...codecs import CodecName
    from ..json_report import Report
    from ..report_files import IncompressibleReport, KindReport


_DRAWN_KINDS = 10
_COMPARED = ("xz", "lzo")


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
        "Blocks that don't compress (they keep 95% of their length or more) make up "
        f"{mid}{interval} of the image's data with {found.codec}, in "
        f"{counted(found.files, 'file')}."
    )


def _resisting(found: IncompressibleReport | None) -> Iterator[Group]:
    if found is not None and found.largest and found.total_bytes > 0:
        caption = "The largest files that don't compress"
        yield Group(table=files_table(found.largest, caption, found.total_bytes))


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
        title="Compressed size of each kind of file",
        alt=told(
            "Compressed size of each kind of file as a share of its length",
            (bar.text for bar in bars[:6]),
        ),
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

"""What a refresh downloads, as a page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ... import __version__
from ...core.printable import printable
from ...core.units import format_bytes
from ...lint.figures import bytes_text
from ...refresh.changes import totals
from ...refresh.delta import DELTA_FORMATS
from ..month import refresh_month_section
from ..refresh_text import LISTED_FILES
from ..refresh_words import (
    EXPLANATION,
    TITLES,
    change_text,
    choice_text,
    kind_text,
    origin_of,
    rebuild_texts,
    remedy,
    size_cells,
    size_heads,
    what_if_text,
)
from .model import Entry, Group, Page, Section, Table, Tile

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ...advice.month import Month
    from ...refresh.refresh import CodecRefresh, Refresh


def refresh_page(refresh: Refresh, month: Month | None = None) -> Page:
    """Return the page of a refresh."""
    name = printable(refresh.new.snap.name)
    first = next(iter(refresh.codecs.values()))
    return Page(
        title=f"Refresh of {name}",
        tone="measured",
        verdict=_verdict(first),
        reasons=tuple(f"{printable(note)}." for note in refresh.notes),
        facts=tuple(
            f"{side}: {printable(str(payload.path))}"
            for side, payload in (("old", refresh.old), ("new", refresh.new))
        ),
        tiles=tuple(_tiles(first)),
        sections=tuple(_sections(refresh, month)),
        version=__version__,
    )


def _verdict(codec: CodecRefresh) -> str:
    default, featured = codec.choices
    full = format_bytes(codec.full_bytes.mid)
    if default.download is None and featured.download is None:
        return f"With {codec.codec}, a refresh downloads the whole image, {full}."
    text = f"With {codec.codec}, a refresh downloads "
    text += f"{format_bytes(default.size_bytes.mid)} in place of {full}"
    if featured.download == default.download:
        return f"{text}."
    other = format_bytes(featured.size_bytes.mid)
    return f"{text}, or {other} where snap-delta-format is set."


def _tiles(codec: CodecRefresh) -> Iterator[Tile]:
    for name in DELTA_FORMATS:
        if name in codec.deltas:
            size = codec.deltas[name].size_bytes
            yield Tile(
                label=f"{TITLES[name]}, {codec.codec}",
                figure=format_bytes(size.mid),
                note=f"{bytes_text(size)}, {origin_of(size)}",
            )


def _sections(refresh: Refresh, month: Month | None) -> Iterator[Section]:
    groups = tuple(_codec_group(codec) for codec in refresh.codecs.values())
    yield Section(key="sizes", title="Sizes", paragraphs=(EXPLANATION,), groups=groups)
    section = refresh_month_section(month)
    if section is not None:
        yield section
    if refresh.files:
        yield Section(
            key="files",
            title="What makes the deltas large",
            origin="Estimated.",
            groups=(
                Group(table=_kinds_table(refresh), open_table=True),
                Group(table=_files_table(refresh), open_table=True),
            ),
            entries=tuple(
                Entry(mark="help", tone="info", title=remedy(each), text="")
                for each in totals(refresh.files)
                if remedy(each)
            ),
        )


def _codec_group(codec: CodecRefresh) -> Group:
    full = "measured" if codec.full_measured else "estimated"
    rows = [("full download", f"{bytes_text(codec.full_bytes)}, {full}")]
    for name, delta in codec.deltas.items():
        size = delta.size_bytes
        rows.append((TITLES[name], f"{bytes_text(size)}, {origin_of(size)}"))
    table = Table(
        caption=f"What a refresh downloads with {codec.codec}",
        heads=("", "size"),
        rows=tuple(rows),
    )
    chosen = (_sentence(choice_text(each, codec)) for each in codec.choices)
    return Group(
        heading=f"{codec.codec}{what_if_text(codec)}",
        table=table,
        open_table=True,
        paragraphs=(*chosen, *map(printable, rebuild_texts(codec))),
    )


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."


def _kinds_table(refresh: Refresh) -> Table:
    return Table(
        caption="What happened to the files, and what that adds to the deltas",
        heads=("what happened", *size_heads(refresh.codecs)),
        rows=tuple(
            (kind_text(each), *size_cells(each)) for each in totals(refresh.files)
        ),
        words=frozenset({0}),
    )


def _files_table(refresh: Refresh) -> Table:
    heads = size_heads(refresh.codecs)
    return Table(
        caption="Files that add most to the deltas",
        heads=("file", *heads, "what happened"),
        rows=tuple(
            (printable(each.path), *size_cells(each), printable(change_text(each)))
            for each in refresh.files[:LISTED_FILES]
        ),
        names=frozenset({0}),
        words=frozenset({len(heads) + 1}),
    )

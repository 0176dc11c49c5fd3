"""What a refresh downloads, as text and as Markdown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..core.printable import printable
from ..lint.figures import bytes_text
from ..refresh.changes import totals
from ..refresh.delta import DELTA_FORMATS
from .lines import COLUMNS, TextStyle, wrapped
from .markdown_report import code_span, plain
from .month import refresh_month_section
from .refresh_words import (
    CONDITIONS,
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
from .text import saved_only, table_section

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ..advice.month import Month
    from ..refresh.refresh import CodecRefresh, Refresh
    from .page.model import Section

LISTED_FILES = 12
"""Files that a report for people lists; the JSON has more."""
_NO_DELTA = "snapd makes none"
_LABEL = 20
_CELL = 12


def render_refresh_text(refresh: Refresh, month: Month | None = None) -> str:
    """Return a refresh for people, in 80 columns."""
    old, new = (printable(str(each.path)) for each in (refresh.old, refresh.new))
    lines = [printable(refresh.new.snap.name), f"  old: {old}", f"  new: {new}"]
    for note in refresh.notes:
        lines += ["", *wrapped(f"Note: {printable(note)}.", rest="  ")]
    for codec in refresh.codecs.values():
        lines += ["", f"{codec.codec}{what_if_text(codec)}"]
        for label, text in _rows(codec):
            lines += wrapped(text, first=f"  {label:<{_LABEL - 2}}", rest=" " * _LABEL)
        for said in rebuild_texts(codec):
            lines += wrapped(printable(said), first="  ", rest="  ")
    lines += ["", *wrapped(EXPLANATION)]
    section = refresh_month_section(month)
    if section is not None:
        lines += ["", *table_section(saved_only(section), TextStyle(columns=COLUMNS))]
    lines += _changes(refresh)
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _changes(refresh: Refresh) -> Iterator[str]:
    """Yield what makes the deltas large: by what happened, then by file."""
    if not refresh.files:
        return
    heads = "".join(f"{head:>{_CELL}}" for head in size_heads(refresh.codecs))
    indent = " " * (len(heads) + 2)
    yield from ("", "What makes the deltas large (estimated)", heads)
    for total in totals(refresh.files):
        cells = "".join(f"{cell:>{_CELL}}" for cell in size_cells(total))
        yield from wrapped(kind_text(total), first=f"{cells}  ", rest=indent)
        if remedy(total):
            yield from wrapped(remedy(total), first=indent, rest=indent)
    yield from ("", "Files that make them large", heads)
    for change in refresh.files[:LISTED_FILES]:
        cells = "".join(f"{cell:>{_CELL}}" for cell in size_cells(change))
        yield f"{cells}  {printable(change.path)}"
        text = printable(change_text(change))
        yield from wrapped(text, first=indent, rest=indent)


def render_refresh_markdown(refresh: Refresh, month: Month | None = None) -> str:
    """Return a refresh as Markdown, for a pull request."""
    old, new = (code_span(str(each.path)) for each in (refresh.old, refresh.new))
    heads = [
        "",
        "full download",
        *(TITLES[each] for each in DELTA_FORMATS),
        *(f"what a device downloads, {each}" for each in CONDITIONS.values()),
    ]
    lines = [f"### Refresh of {plain(refresh.new.snap.name)}", "", f"{old} to {new}"]
    lines += [line for note in refresh.notes for line in ("", plain(note + "."))]
    lines += ["", *_table(heads, map(_markdown_row, refresh.codecs.values()))]
    lines += ["", EXPLANATION]
    for codec in refresh.codecs.values():
        lines += [line for said in rebuild_texts(codec) for line in ("", plain(said))]
    section = refresh_month_section(month)
    if section is not None:
        lines += _markdown_month(section)
    if refresh.files:
        sizes = [f"{head}, estimated" for head in size_heads(refresh.codecs)]
        lines += ["", *_table(["what happened", *sizes, "what helps"], _kinds(refresh))]
        lines += ["", *_table(["file", *sizes, "what happened"], _files(refresh))]
    return "\n".join(lines) + "\n"


def _markdown_month(section: Section) -> Iterator[str]:
    yield from ("", f"#### {plain(section.title)}")
    for group in section.groups:
        if group.table is not None:
            rows = ([plain(cell) for cell in row] for row in group.table.rows)
            yield from ("", *_table(group.table.heads, rows))
    for text in (section.origin, *section.paragraphs):
        yield from ("", plain(text))


def _table(heads: Iterable[str], rows: Iterable[Iterable[str]]) -> list[str]:
    """Return a table; cells are Markdown already."""
    heads = list(heads)
    lines = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    return [*lines, *(f"| {' | '.join(cells)} |" for cells in rows)]


def _markdown_row(codec: CodecRefresh) -> list[str]:
    cells = [f"{codec.codec}{what_if_text(codec)}", *_merged(_rows(codec))]
    return [plain(cell) for cell in cells]


def _kinds(refresh: Refresh) -> Iterator[list[str]]:
    for total in totals(refresh.files):
        yield [plain(kind_text(total)), *size_cells(total), plain(remedy(total))]


def _files(refresh: Refresh) -> Iterator[list[str]]:
    for change in refresh.files[:LISTED_FILES]:
        text = plain(printable(change_text(change)))
        yield [code_span(change.path), *size_cells(change), text]


def _merged(rows: Iterable[tuple[str, str]]) -> list[str]:
    """Return a text for each row with a label, those without added to the last."""
    texts: list[str] = []
    for label, text in rows:
        if label:
            texts.append(text)
        else:
            texts[-1] += f"; {text}"
    return texts


def _rows(codec: CodecRefresh) -> Iterator[tuple[str, str]]:
    full = codec.full_bytes
    origin = "measured" if codec.full_measured else "estimated"
    yield "full download", f"{bytes_text(full)}, {origin}"
    for name in DELTA_FORMATS:
        delta = codec.deltas.get(name)
        if delta is None:
            yield TITLES[name], f"{_NO_DELTA}: {codec.refusal}"
            continue
        size = delta.size_bytes
        share = size.mid / full.mid if full.mid else 0.0
        text = f"{bytes_text(size)}, {origin_of(size)}, {share:.0%} of the image"
        yield TITLES[name], text
    for choice in codec.choices:
        yield CONDITIONS[choice.condition], choice_text(choice, codec)

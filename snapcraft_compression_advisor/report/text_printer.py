"""Pages as text for terminals and logs: short, or all of it with ``-v``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..core.terminal import printable
from .lines import FILE_STYLE, TextStyle, wrapped

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from .model import Cell, Entry, Page, Section, Step, Table

_INDENT = "  "
_NOTE_COLUMN = 44
"""Where a headline's note stands, if there is room."""
_LABEL_COLUMNS = 12
_LEAST_TEXT_COLUMNS = 30
"""What texts need beside figures."""


def print_text(page: Page, style: TextStyle = FILE_STYLE) -> str:
    """Return a page as text; with a verbose style, all of its sections."""
    blocks = [[printable(each) for each in page.alerts], [*_headline(page, style)]]
    sections = [each for each in page.sections if each.has_text]
    shown = [each for each in sections if each.short or style.verbose]
    blocks += [[*section_lines(each, style)] for each in shown]
    if style.verbose:
        blocks.append([each for fact in page.facts for each in _wrapped(fact, style)])
    elif page.more or len(shown) < len(sections):
        more = f"{'Details:':{_LABEL_COLUMNS}}-v{' ' * 9}{page.more}".rstrip()
        if shown and any(map(_is_brief, shown[-1].steps)):
            blocks[-1].append(more)
        else:
            blocks.append([more])
    lines = "\n\n".join("\n".join(block) for block in blocks if block)
    text = "\n".join(line.rstrip() for line in lines.split("\n")) + "\n"
    return text if style.unicode else text.replace("\N{EN DASH}", "-")


def _headline(page: Page, style: TextStyle) -> Iterator[str]:
    text, note = printable(page.headline), printable(page.note)
    line = style.bold(text, page.tone)
    if not note:
        is_long = len(text) > (style.columns or len(text))
        yield from wrapped(text, style.columns, rest=_INDENT) if is_long else [line]
    elif len(text) + 2 + len(note) <= style.wrap_columns:
        yield f"{line}{' ' * max(2, _NOTE_COLUMN - len(text))}{note}"
    else:
        yield line
    yield from (f"{_INDENT}{printable(command)}" for command in page.commands)


def section_lines(section: Section, style: TextStyle) -> Iterator[str]:
    """Yield a section: title, sentences, tables, points, what to type."""
    if section.title:
        origin = f" ({section.origin.rstrip('.').lower()})" if section.origin else ""
        title = printable(f"{section.title}{origin}")
        yield from map(style.bold, wrapped(title, style.columns))
    for text in section.sentences:
        yield from _wrapped(text, style)
    for number, table in enumerate(section.tables):
        if number or section.sentences:
            yield ""
        if table.caption and len(section.tables) > 1:
            yield from _wrapped(f"{table.caption}:", style)
        yield from _table(table, style)
    for entry in section.entries:
        yield from _entry(entry, style)
    for step in section.steps:
        yield from _step(step, style)


def _wrapped(text: str, style: TextStyle, indent: str = _INDENT) -> list[str]:
    return wrapped(
        printable(text), style.columns, first=indent, rest=f"{indent}{_INDENT}"
    )


def _entry(entry: Entry, style: TextStyle) -> Iterator[str]:
    text = f"{entry.mark} {entry.title}{': ' if entry.text else ''}{entry.text}"
    first, *others = _wrapped(text.strip(), style)
    if entry.mark:
        mark = printable(entry.mark)
        first = first.replace(mark, style.bold(mark, entry.tone), 1)
    yield from (first, *others)
    for each in entry.details:
        yield from _wrapped(each, style, indent=3 * _INDENT)


def _is_brief(step: Step) -> bool:
    """Return whether a step is a label and a command: one line."""
    return len(step.lines) == 1 and len(step.title) < _LABEL_COLUMNS


def _step(step: Step, style: TextStyle) -> Iterator[str]:
    if _is_brief(step):
        yield f"{step.title + ':':{_LABEL_COLUMNS}}{printable(step.lines[0])}"
        return
    yield from _wrapped(f"{step.title}{':' if step.lines else '.'}", style)
    yield from (f"{2 * _INDENT}{printable(line)}" for line in step.lines)


def _table(table: Table, style: TextStyle) -> Iterator[str]:
    """Yield a table's lines, in the first of three ways that fits in.

    Columns as they are; figures, after a short label, then texts, each below the
    other; several tables, each with the texts and some of the figures.
    """
    if table.widths:
        yield from _fixed(table)
        return
    rows = [[_shown(cell) for cell in row] for row in (table.heads, *table.rows)]
    count = len(table.heads)
    widths = [max((len(row[n]) for row in rows), default=0) for n in range(count)]
    texts = [n for n in range(count) if not n or n in table.words | table.names]
    figures = [n for n in range(count) if n not in texts]
    room = style.wrap_columns - len(_INDENT)
    taken = sum(widths[n] + 2 for n in figures)
    if sum(widths) + 2 * (count - 1) <= room:
        yield from _columns(rows, [*range(count)], widths, texts)
    elif taken + _LEAST_TEXT_COLUMNS <= room and (figures or count > 1):
        if len(texts) > 1 and widths[0] + 2 + taken + _LEAST_TEXT_COLUMNS <= room:
            figures.insert(0, texts.pop(0))
        yield from _figures_first(rows, (figures, texts), widths, style)
    else:
        for number, chosen in enumerate(_fitting(figures, widths, room - sum(
            widths[n] + 2 for n in texts
        ))):  # fmt: skip
            if number:
                yield ""
            yield from _columns(rows, sorted((*texts, *chosen)), widths, texts)


def _columns(
    rows: list[list[str]],
    chosen: Sequence[int],
    widths: Sequence[int],
    left: Sequence[int],
) -> Iterator[str]:
    for row in rows:
        if any(row):
            cells = (f"{row[n]:{'<' if n in left else '>'}{widths[n]}}" for n in chosen)
            yield f"{_INDENT}{'  '.join(cells)}"


def _figures_first(
    rows: list[list[str]],
    columns: tuple[Sequence[int], Sequence[int]],
    widths: Sequence[int],
    style: TextStyle,
) -> Iterator[str]:
    figures, texts = columns
    for row in rows:
        if not any(row):
            continue
        cells = (f"{row[n]:{'>' if n else '<'}{widths[n]}}  " for n in figures)
        first = _INDENT + "".join(cells)
        for n in texts:
            lines = wrapped(
                row[n], style.wrap_columns, first=first, rest=" " * (len(first) + 2)
            )
            yield from lines or [first] * (n == texts[0])
            first = " " * (len(first) + 2 * (n == texts[0]))


def _fitting(
    figures: Sequence[int], widths: Sequence[int], room: int
) -> Iterator[list[int]]:
    """Yield the columns of figures of each table: as many as fit."""
    chosen: list[int] = []
    for n in figures:
        if chosen and sum(widths[each] + 2 for each in (*chosen, n)) > room:
            yield chosen
            chosen = []
        chosen.append(n)
    yield chosen


def _fixed(table: Table) -> Iterator[str]:
    """Yield a table with columns of given widths."""
    heads = [*table.heads]
    if table.above:
        yield _padded([*heads[:2], table.above], table.widths)
        heads[:2] = ["", ""]
    if any(heads):
        yield _padded(heads, table.widths)
    for row in table.rows:
        yield _padded([_shown(cell) for cell in row], table.widths)


def _padded(cells: Iterable[str], widths: Iterable[int]) -> str:
    pairs = zip(cells, widths, strict=False)
    return _INDENT + "".join(f"{cell:{width}}" for cell, width in pairs)


def _shown(cell: Cell) -> str:
    return printable(str(cell))

"""The page as Markdown: the same words and figures in text and tables.

GitHub's Markdown: tables, and HTML only to fold what is looked up. What stands in the
file is escaped as in the Markdown of ``lint``.
"""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING

from ..core.printable import printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from .page.model import Entry, Group, Page, Section, Step, Table

_MOST_CHARACTERS = 65_000
"""GitHub takes 65,536 characters as a comment ("Body is too long"), GitLab 1,000,000
(doc/administration/instance_limits.md); a recipe may put a line before it."""
_ENDING_CHARACTERS = 500

_MARKUP = re.compile(r"[\\`*_\[\]<>|~&$#^!]|(?<=:)/(?=/)|(?<=[wW]{3})\.")
"""What starts a span, an entity, a link or a formula."""


def plain(text: str) -> str:
    r"""Return text that Markdown shows as it is, in one line.

    >>> plain("lib/*.so_1")
    'lib/\\*.so\\_1'

    An at sign is followed by an empty comment, as a name after it would be told of
    the finding: renderers look for those after they have taken backslashes away.
    """
    escaped = _MARKUP.sub(r"\\\g<0>", printable(text))
    return escaped.replace("@", "@<!-- -->")


def code_span(name: str) -> str:
    """Return a name in a code span, whatever backticks it has (CommonMark 6.1).

    >>> code_span("a`b")
    '``a`b``'
    """
    text = printable(name)
    runs = {len(run) for run in re.findall("`+", text)}
    fence = "`" * next(n for n in range(1, len(runs) + 2) if n not in runs)
    # A renderer strips one space from both sides; a name's own have to stay.
    padded = text.startswith(("`", " ")) or text.endswith(("`", " "))
    return (
        f"{fence} {text} {fence}" if padded and text.strip() else fence + text + fence
    )


def comment_text(lines: Sequence[str], *, others: str) -> str:
    """Return lines of Markdown as text that is short enough for a comment.

    :param others: how to see the lines that are left out, a sentence.
    """
    text = "\n".join(lines) + "\n"
    if len(text) <= _MOST_CHARACTERS:
        return text
    kept: list[str] = []
    characters, folds = _ENDING_CHARACTERS, 0
    for line in lines:
        characters += len(line) + 1
        if characters > _MOST_CHARACTERS:
            break
        kept.append(line)
        folds += line.startswith("<details>") - (line == "</details>")
    left = f"{len(lines) - len(kept):,} more lines don't fit into a comment. {others}"
    return "\n".join([*kept, *["", "</details>"] * folds, "", left]) + "\n"


def render_markdown(page: Page) -> str:
    """Return the page as Markdown."""
    blocks = [*_head(page)]
    for section in page.sections:
        blocks += _section(section)
    blocks.append(f"Made by snapcraft-compression-advisor {plain(page.version)}.")
    return "\n\n".join(blocks) + "\n"


def _head(page: Page) -> Iterator[str]:
    yield f"# {plain(page.title)}"
    yield f"**{plain(page.verdict)}**"
    if page.reasons:
        yield _listed(page.reasons)
    if page.facts:
        yield "\n".join(f"{plain(fact)}." for fact in page.facts)
    if page.tiles:
        yield _listed(
            [f"{tile.label}: {tile.figure} ({tile.note})" for tile in page.tiles]
        )


def _section(section: Section) -> Iterator[str]:
    yield f"## {plain(section.title)}"
    if section.origin:
        yield f"*{plain(section.origin)}*"
    yield from map(plain, section.paragraphs)
    for group in section.groups:
        yield from _group(group)
    if section.steps:
        yield "\n".join(line for step in section.steps for line in _step(step))
    if section.entries:
        yield "\n".join(line for entry in section.entries for line in _entry(entry))
    for term, texts in section.terms:
        yield f"**{plain(term)}**"
        yield _listed(texts)


def _group(group: Group) -> Iterator[str]:
    if group.heading:
        yield f"### {plain(group.heading)}"
    yield from map(plain, group.paragraphs)
    for chart in group.charts:
        if chart.table is not None:
            yield _folded(chart.table)
    if group.table is not None:
        if group.open_table or group.drawn:
            yield f"{plain(group.table.caption)}:"
            yield _table(group.table)
        else:
            yield _folded(group.table)
    if group.table_note:
        yield plain(group.table_note)
    yield from map(plain, group.notes)


def _step(step: Step) -> Iterator[str]:
    ends = ":" if step.text else "."
    yield f"- {plain(step.title)}{ends} {plain(step.text)}".rstrip()
    for line in step.lines:
        yield f"  - {code_span(line)}"


def _entry(entry: Entry) -> Iterator[str]:
    yield f"- **{plain(entry.mark)}** {plain(entry.title)}: {plain(entry.text)}"
    for text in entry.details:
        yield f"  - {plain(text)}"


def _listed(texts: tuple[str, ...] | list[str]) -> str:
    return "\n".join(f"- {plain(text)}" for text in texts)


def _table(table: Table) -> str:
    """Return a table; a bar in a cell is escaped, so it ends none."""
    left = {0, *table.words}
    rule = [":--" if place in left else "--:" for place in range(len(table.heads))]
    rows = [[plain(cell) for cell in row] for row in (table.heads, *table.rows)]
    for row, link in zip(rows[1:], table.links, strict=False):
        row[0] = f"[{row[0]}](<{link}>)" if link else row[0]
    lines = [f"| {' | '.join(cells)} |" for cells in (rows[0], rule, *rows[1:])]
    return "\n".join(lines)


def _folded(table: Table) -> str:
    summary = html.escape(printable(table.caption))  # HTML: no Markdown is read there
    rows = _table(table)
    return f"<details><summary>{summary}</summary>\n\n{rows}\n\n</details>"

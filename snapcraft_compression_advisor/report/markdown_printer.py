"""Pages as GitHub's Markdown, short enough for a comment: the rest is folded."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ..core.terminal import printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from .model import Entry, Page, Section, Step, Table

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

    An at sign is followed by an empty comment, as a person of that name would be
    notified: renderers look for those after they have taken backslashes away.
    """
    escaped = _MARKUP.sub(r"\\\g<0>", printable(text))
    return escaped.replace("@", "@<!-- -->")


def code_span(name: str) -> str:
    """Return a name in a code span, with any backticks that it has (CommonMark 6.1).

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


def print_markdown(page: Page) -> str:
    """Return a page as Markdown: the answer, then all details in one fold."""
    note = f" {plain(page.note)}" if page.note else ""
    blocks = [f"### {plain(page.headline)}{note}"]
    blocks += [f"**{plain(alert)}**" for alert in page.alerts]
    if page.commands:
        blocks.append("\n".join(f"- {code_span(each)}" for each in page.commands))
    for section in page.sections:
        blocks += _section(section) if section.short else ()
    folded = [each for each in page.sections if each.has_text and not each.short]
    if folded or page.facts:
        blocks.append("<details><summary>Details</summary>")
        blocks += [f"{plain(fact)}." for fact in page.facts]
        for section in folded:
            blocks += _section(section)
        blocks.append("</details>")
    lines = "\n\n".join(blocks).split("\n")
    return comment_text(lines, others="`-v` shows all.")


def _section(section: Section) -> Iterator[str]:
    if section.title:
        yield f"#### {plain(section.title)}"
    if section.origin:
        yield f"*{plain(section.origin)}*"
    if section.sentences:
        yield "\n".join(f"- {plain(text)}" for text in section.sentences)
    for table in section.tables:
        if table.caption and len(section.tables) > 1:
            yield f"{plain(table.caption)}:"
        yield _table(table)
    if section.entries:
        yield "\n".join(line for entry in section.entries for line in _entry(entry))
    if section.steps:
        yield "\n".join(line for step in section.steps for line in _step(step))


def _step(step: Step) -> Iterator[str]:
    if len(step.lines) == 1:
        yield f"- {plain(step.title)}: {code_span(step.lines[0])}"
        return
    yield f"- {plain(step.title)}{':' if step.lines else '.'}"
    yield from (f"  - {code_span(line)}" for line in step.lines)


def _entry(entry: Entry) -> Iterator[str]:
    mark = f"**{plain(entry.mark)}** " if entry.mark else ""
    text = f": {plain(entry.text)}" if entry.text else ""
    yield f"- {mark}{plain(entry.title)}{text}"
    yield from (f"  - {plain(each)}" for each in entry.details)


def _table(table: Table) -> str:
    """Return a table; a bar in a cell is escaped, so it ends none."""
    left = {0, *table.words}
    rule = [":--" if n in left else "--:" for n in range(len(table.heads))]
    heads = [*table.heads]
    if table.above:
        heads[2:] = [f"{table.above} {head}" for head in heads[2:]]
    rows = [
        [
            code_span(str(cell)).replace("|", r"\|")
            if n in table.names
            else plain(str(cell))
            for n, cell in enumerate(row)
        ]
        for row in table.rows
    ]
    for cells, link in zip(rows, table.links, strict=False):
        cells[0] = f"[{cells[0]}](<{link}>)" if link else cells[0]
    lines = [[plain(head) for head in heads], rule, *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)

"""Add filters to parts of a snapcraft.yaml: whole lines, and nothing else changes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NoReturn

from ..core.errors import BadDataError
from .document import Node, ProjectDocument, read_document

_STEP = "prime"
_INDENT = 2
"""Spaces of what is added below a key, as snapcraft's documentation has it."""


def add_filters(
    content: bytes, filters: Mapping[str, Sequence[str]], *, where: str
) -> bytes:
    """Return a project file with more filters for what its parts prime.

    A filter that a part has already is left as it is. The result is parsed and
    compared before it is returned: it says the same but for these filters.

    :param filters: by part: paths and patterns, without the leading hyphen.
    :param where: the file, for errors.
    :returns: the same object if nothing has to change.
    :raises BadDataError: if the YAML is broken, there is no such part, or its
        filters can't be written as lines of their own.
    """
    for part, patterns in filters.items():
        content = _add_to_part(content, part, patterns, where=where)
    return content


def _add_to_part(
    content: bytes, part: str, patterns: Sequence[str], *, where: str
) -> bytes:
    document = read_document(content, where=where)
    holder = document.root.child("parts", part)
    if holder is None or not holder.entries:
        message = f"{where}: there is no part {part!r}"
        raise BadDataError(message, resolution="Specify the project of this payload.")
    if holder.is_flow or holder.is_alias or holder.anchor is not None:
        _refuse(where, holder, f"part {part!r} is a flow mapping, or has an anchor")
    present = holder.child(_STEP)
    known = {item.scalar for item in present.items} if present else set()
    added = [f"-{each}" for each in patterns if f"-{each}" not in known]
    if not added:
        return content
    text = document.text
    if present is None:
        text = _with_key(document, holder, added)
    else:
        text = _with_items(document, present, added)
    after = read_document(document.encoded(text), where=where)
    if not _says_the_same(document.root, after.root, part, added):
        _refuse(where, holder, f"the filters of part {part!r} can't be added")
    return document.encoded(text)


def _with_key(document: ProjectDocument, holder: Node, added: Sequence[str]) -> str:
    """Return the text with a new ``prime`` at the end of a part."""
    first, _ = holder.entries[0]
    indent = document.before(first)
    if indent.strip(" "):
        _refuse(document.where, first, "a key isn't on a line of its own")
    _, last = holder.entries[-1]
    lines = [
        f"{indent}{_STEP}:",
        *(f"{indent}{' ' * _INDENT}{_item(each)}" for each in added),
    ]
    return _inserted(document, last, lines)


def _with_items(document: ProjectDocument, present: Node, added: Sequence[str]) -> str:
    """Return the text with more items at the end of a list."""
    if present.is_flow or present.is_alias or not present.items:
        _refuse(document.where, present, f"{_STEP} isn't a list with an item a line")
    if present.anchor is not None or present.tag is not None:
        _refuse(document.where, present, f"{_STEP} has an anchor or a tag")
    last = present.items[-1]
    line = document.starts[document.line_of(present.items[0].start)]
    indent = document.text[line : document.text.find("-", line)]
    if indent.strip(" "):
        _refuse(document.where, last, "an item isn't on a line of its own")
    lines = [f"{indent}{_item(each)}" for each in added]
    return _inserted(document, last, lines)


def _item(text: str) -> str:
    """Return a list's item; single quotes keep everything but themselves."""
    quoted = text.replace("'", "''")
    return f"- '{quoted}'"


def _inserted(document: ProjectDocument, node: Node, lines: Sequence[str]) -> str:
    """Return the text with lines after those of a node, above blank ones below it."""
    text, starts = document.text, document.starts
    end = node.start + len(text[node.start : node.end].rstrip()) or node.end
    following = document.line_of(max(node.start, end - 1)) + 1
    index = starts[following] if following < len(starts) else len(text)
    line_break, before = document.line_break_near(index), text[:index]
    if before and not before.endswith(("\n", "\r")):
        before += line_break
    return before + "".join(f"{line}{line_break}" for line in lines) + text[index:]


def _refuse(where: str, node: Node, problem: str) -> NoReturn:
    message = f"{where}, line {node.line}: {problem}"
    raise BadDataError(
        message, resolution="Add the filters by hand: 'trim --format yaml' prints them."
    )


def _says_the_same(before: Node, after: Node, part: str, added: Sequence[str]) -> bool:
    """Whether two roots say the same, but for filters at the end of a part's."""
    path = ("parts", part, _STEP)
    old, new = before.child(*path), after.child(*path)
    kept = [item.scalar for item in old.items] if old else []
    found = [item.scalar for item in new.items] if new else []
    return before.says_the_same(after, besides=path) and found == [*kept, *added]

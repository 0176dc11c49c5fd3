"""Change lines of a snapcraft.yaml: a compression, filters of a part.

The result is parsed and compared before it is returned: it says the same but for what
is changed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import takewhile
from typing import NoReturn

from ..codecs import SHIPPABLE
from ..core.errors import BadDataError, UsageError
from .document import (
    COMPRESSION,
    LINE_BREAK,
    Node,
    ProjectDocument,
    not_a_scalar,
    read_document,
)

_AFTER_IN_ROOT = frozenset(
    {"type", "base", "build-base", "version", "grade", "confinement"}
)
"""A new key goes after the last of these that precede :data:`_BEFORE`."""
_BEFORE = frozenset({"apps", "parts"})
"""Else it goes before the first of these, and the comment above it; else at the end."""
_AFTER_IN_COMPONENT = frozenset({"type"})


def set_compression(
    content: bytes,
    compression: str,
    *,
    component: str | None = None,
    where: str = "snapcraft.yaml",
) -> bytes:
    """Return a project file's bytes with a ``compression`` set.

    An existing value is replaced where it stands, in its own quotes. A new line is
    always a whole one: if the file has no line break at its end, it goes before the
    last key. No other line differs.

    :param component: its name under ``components``; ``None`` for the snap's own key.
    :param where: the file, for errors.
    :returns: the same object if nothing has to change.
    :raises UsageError: for a compression or component that there isn't.
    :raises BadDataError: if the YAML is broken, or can't be edited in one line.
    """
    if compression not in SHIPPABLE:
        message = f"snapcraft doesn't accept compression {compression!r}"
        raise UsageError(message, resolution=f"Use {' or '.join(SHIPPABLE)}.")
    document = read_document(content, where=where)
    above = () if component is None else ("components", component)
    holder = document.root.child(*above)
    if holder is None:
        message = f"{where}: there is no component {component!r}"
        raise UsageError(message, resolution="Specify one of the file's components.")
    present = holder.child(COMPRESSION)
    if present is not None and present.scalar == compression:
        return content
    by_hand = f"Write the line by hand: {COMPRESSION}: {compression}"
    if holder.is_alias or holder.anchor is not None:
        problem = f"{component or 'the root'} has an anchor or an alias"
        _refuse(document, problem, by_hand, holder)
    if present is not None:
        text = _with_value(document, present, compression, by_hand)
    else:
        text = _with_compression(document, holder, component, compression, by_hand)
    path = (*above, COMPRESSION)
    if not (
        _changes_one_line(document.text, text)
        and _says_the_same(document.root, text, path, compression)
    ):
        problem = "can't be edited without changing more than one line"
        _refuse(document, problem, by_hand)
    return document.encoded(text)


def _refuse(
    document: ProjectDocument, problem: str, resolution: str, node: Node | None = None
) -> NoReturn:
    """Refuse a change; the error says how to make it by hand."""
    line = f", line {node.line}" if node else ""
    message = f"{document.where}{line}: {problem}"
    raise BadDataError(message, resolution=resolution)


def _with_value(
    document: ProjectDocument, present: Node, value: str, by_hand: str
) -> str:
    """Return the text with another value, if it is on one line and its own."""
    text = document.text
    if present.scalar is None:
        raise not_a_scalar(present, COMPRESSION, where=document.where)
    written = text[present.start : present.end]
    if present.is_alias or present.anchor is not None or present.tag is not None:
        problem = f"{COMPRESSION} has an anchor, an alias or a tag"
        _refuse(document, problem, by_hand, present)
    if present.style in ("|", ">") or LINE_BREAK.search(written):
        problem = f"the value of {COMPRESSION} spans several lines"
        _refuse(document, problem, by_hand, present)
    # The empty value of `compression:` stands right after the colon.
    space = "" if written else " "
    new = f"{space}{present.style}{value}{present.style}"
    return text[: present.start] + new + text[present.end :]


def _with_compression(
    document: ProjectDocument,
    holder: Node,
    component: str | None,
    value: str,
    by_hand: str,
) -> str:
    """Return the text with a new line, if the mapping has one entry a line."""
    entries, text = holder.entries, document.text
    name = "the root" if component is None else f"{component!r}"
    if holder.is_flow:
        problem = f"{name} is a flow mapping and has no {COMPRESSION}"
        _refuse(document, problem, by_hand)
    if not entries:
        _refuse(document, f"{name} has no keys", by_hand, holder)
    first, _ = entries[0]
    indent = document.before(first)
    if indent.strip(" "):
        problem = f"{name} begins with {indent.strip()!r}"
        _refuse(document, problem, by_hand, first)
    index = _insertion_index(document, entries, in_root=component is None)
    line = f"{indent}{COMPRESSION}: {value}{document.line_break_near(index)}"
    return text[:index] + line + text[index:]


def _insertion_index(
    document: ProjectDocument, entries: Sequence[tuple[Node, Node]], *, in_root: bool
) -> int:
    """Return the start of the line before which the new one goes."""
    before = _BEFORE if in_root else frozenset()
    after = _AFTER_IN_ROOT if in_root else _AFTER_IN_COMPONENT
    head = list(takewhile(lambda each: each[0].scalar not in before, entries))
    neighbours = [value for key, value in head if key.scalar in after]
    if not neighbours and len(head) < len(entries):
        return _index_before(document, entries, len(head))
    last = neighbours[-1] if neighbours else entries[-1][1]
    following = document.line_of(last.end - 1) + 1
    if following < len(document.starts):
        return document.starts[following]
    return _index_before(document, entries, len(entries) - 1)


def _index_before(
    document: ProjectDocument, entries: Sequence[tuple[Node, Node]], position: int
) -> int:
    """Return the start of an entry's line, or of the comment right above it."""
    floor = entries[position - 1][1].end if position else 0
    starts, line = document.starts, document.line_of(entries[position][0].start)
    while line and starts[line - 1] >= floor:
        above = document.text[starts[line - 1] : starts[line]]
        if not above.lstrip(" \t").startswith("#"):
            break
        line -= 1
    return starts[line]


def _changes_one_line(before: str, after: str) -> bool:
    """Whether one line was changed or inserted, and all bytes around it are equal."""
    # Only bytes are split at line breaks alone, and not at form feeds and the like.
    old = before.encode().splitlines(keepends=True)
    new = after.encode().splitlines(keepends=True)
    pairs = zip(old, new, strict=False)
    same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
    added = len(new) - len(old)
    return added in (0, 1) and old[same + 1 - added :] == new[same + 1 :]


def _says_the_same(before: Node, text: str, path: Sequence[str], value: str) -> bool:
    """Whether a text says what a root says, but for a key that has the value."""
    try:
        after = read_document(text.encode(), where="the edited text").root
    except BadDataError:
        return False
    found = after.child(*path)
    has_value = found is not None and found.scalar == value
    return has_value and before.says_the_same(after, besides=path)


_STEP = "prime"
_INDENT = 2
"""Spaces of what is added below a key, as snapcraft's documentation has it."""
_FILTERS_BY_HAND = "Add the filters by hand: 'trim --format yaml' prints them."


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
        problem = f"part {part!r} is a flow mapping, or has an anchor"
        _refuse(document, problem, _FILTERS_BY_HAND, holder)
    present = holder.child(_STEP)
    known = {item.scalar for item in present.items} if present else set()
    added = [f"-{each}" for each in patterns if f"-{each}" not in known]
    if not added:
        return content
    # Single quotes keep everything but themselves.
    items = ["- '{}'".format(each.replace("'", "''")) for each in added]
    if present is None:
        text = _with_key(document, holder, items)
    else:
        text = _with_items(document, present, items)
    after = read_document(document.encoded(text), where=where)
    if not _adds_only(document.root, after.root, part, added):
        problem = f"the filters of part {part!r} can't be added"
        _refuse(document, problem, _FILTERS_BY_HAND, holder)
    return document.encoded(text)


def _with_key(document: ProjectDocument, holder: Node, items: Sequence[str]) -> str:
    """Return the text with a new ``prime`` at the end of a part."""
    first, _ = holder.entries[0]
    indent = document.before(first)
    if indent.strip(" "):
        problem = "a key isn't on a line of its own"
        _refuse(document, problem, _FILTERS_BY_HAND, first)
    _, last = holder.entries[-1]
    lines = (f"{indent}{' ' * _INDENT}{each}" for each in items)
    return _inserted(document, last, [f"{indent}{_STEP}:", *lines])


def _with_items(document: ProjectDocument, present: Node, items: Sequence[str]) -> str:
    """Return the text with more items at the end of a list."""
    if present.is_flow or present.is_alias or not present.items:
        problem = f"{_STEP} isn't a list with an item a line"
        _refuse(document, problem, _FILTERS_BY_HAND, present)
    if present.anchor is not None or present.tag is not None:
        problem = f"{_STEP} has an anchor or a tag"
        _refuse(document, problem, _FILTERS_BY_HAND, present)
    last = present.items[-1]
    line = document.starts[document.line_of(present.items[0].start)]
    indent = document.text[line : document.text.find("-", line)]
    if indent.strip(" "):
        problem = "an item isn't on a line of its own"
        _refuse(document, problem, _FILTERS_BY_HAND, last)
    return _inserted(document, last, [f"{indent}{each}" for each in items])


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


def _adds_only(before: Node, after: Node, part: str, added: Sequence[str]) -> bool:
    """Whether two projects differ only by filters at the end of a part's list."""
    path = ("parts", part, _STEP)
    old, new = before.child(*path), after.child(*path)
    kept = [item.scalar for item in old.items] if old else []
    found = [item.scalar for item in new.items] if new else []
    return before.says_the_same(after, besides=path) and found == [*kept, *added]

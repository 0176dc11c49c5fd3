"""Change lines of a snapcraft.yaml: a key with a scalar, filters of a part."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """The place of a key that a mapping doesn't have.

    :param after: it goes after the last of these keys that precede those of ``before``.
    :param before: else it goes before the first of these, and the comment above it;
        else at the end of the mapping.
    """

    after: frozenset[str]
    before: frozenset[str] = frozenset()


_IN_ROOT = Place(
    after=frozenset({"type", "base", "build-base", "version", "grade", "confinement"}),
    before=frozenset({"apps", "parts"}),
)
_IN_COMPONENT = Place(after=frozenset({"type"}))


def set_compression(
    content: bytes,
    compression: str,
    *,
    component: str | None = None,
    where: str = "snapcraft.yaml",
) -> bytes:
    """Return the project file with a ``compression`` set, as :func:`set_scalar` does.

    :param component: its name under ``components``; ``None`` for the snap's own key.
    :param where: the file, for errors.
    :raises UsageError: for a compression or component that there isn't.
    :raises BadDataError: if the YAML is broken, or can't be edited in one line.
    """
    if compression not in SHIPPABLE:
        message = f"snapcraft doesn't accept compression {compression!r}"
        raise UsageError(message, resolution=f"Use {' or '.join(SHIPPABLE)}.")
    document = read_document(content, where=where)
    if component is None:
        return set_scalar(document, (COMPRESSION,), compression, place=_IN_ROOT)
    if document.root.child("components", component) is None:
        message = f"{where}: there is no component {component!r}"
        raise UsageError(message, resolution="Specify one of the file's components.")
    path = ("components", component, COMPRESSION)
    return set_scalar(document, path, compression, place=_IN_COMPONENT)


def set_scalar(
    document: ProjectDocument, path: Sequence[str], value: str, *, place: Place
) -> bytes:
    """Return a project file's bytes with a plain scalar set.

    An existing value is replaced where it stands, in its own quotes. A new line is
    always a whole one: if the file has no line break at its end, it goes before the
    last key. The result is parsed and compared before it is returned: one line
    differs, and the document says the same but for this key.

    :param path: of the key from the root; all but the last have to be there.
    :param value: plain: it needs no quotes.
    :returns: the same object if nothing has to change.
    :raises BadDataError: if the key can't be set in one line.
    """
    holder = document.root.child(*path[:-1]) or document.root
    change = _Change(document=document, holder=holder, path=path, value=value)
    present = holder.child(path[-1])
    if present is not None and present.scalar == value:
        return document.content
    if holder.is_alias or holder.anchor is not None:
        change.refuse(f"{path[-2]} has an anchor or an alias", holder)
    text = document.text
    after = change.inserted(place) if present is None else change.replaced(present)
    if not (
        _changes_one_line(text, after)
        and _says_the_same(document.root, after, path, value)
    ):
        change.refuse("can't be edited without changing more than one line")
    return document.encoded(after)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Change:
    """What is to be set in which mapping."""

    document: ProjectDocument
    holder: Node
    path: Sequence[str]
    value: str

    def refuse(self, problem: str, node: Node | None = None) -> NoReturn:
        """Refuse the change; the error says how to make it by hand."""
        place = self.document.where + (f", line {node.line}" if node else "")
        line = f"{self.path[-1]}: {self.value}"
        message = f"{place}: {problem}"
        raise BadDataError(message, resolution=f"Write the line by hand: {line}")

    def replaced(self, present: Node) -> str:
        """Return the text with another value, if it is on one line and its own."""
        key, text = self.path[-1], self.document.text
        if present.scalar is None:
            raise not_a_scalar(present, key, where=self.document.where)
        written = text[present.start : present.end]
        if present.is_alias or present.anchor is not None or present.tag is not None:
            self.refuse(f"{key} has an anchor, an alias or a tag", present)
        if present.style in ("|", ">") or LINE_BREAK.search(written):
            self.refuse(f"the value of {key} spans several lines", present)
        # The empty value of `compression:` stands right after the colon.
        space = "" if written else " "
        new = f"{space}{present.style}{self.value}{present.style}"
        return text[: present.start] + new + text[present.end :]

    def inserted(self, place: Place) -> str:
        """Return the text with a new line, if the mapping has one entry a line."""
        document, key, entries = self.document, self.path[-1], self.holder.entries
        name = f"{self.path[-2]!r}" if len(self.path) > 1 else "the root"
        if self.holder.is_flow:
            self.refuse(f"{name} is a flow mapping and has no {key}")
        if not entries:
            self.refuse(f"{name} has no keys", self.holder)
        first, _ = entries[0]
        indent = document.before(first)
        if indent.strip(" "):
            self.refuse(f"{name} begins with {indent.strip()!r}", first)
        index, text = _insertion_index(document, entries, place), document.text
        line = f"{indent}{key}: {self.value}{document.line_break_near(index)}"
        return text[:index] + line + text[index:]


def _insertion_index(
    document: ProjectDocument, entries: Sequence[tuple[Node, Node]], place: Place
) -> int:
    """Return the start of the line before which the new one goes."""
    head = list(takewhile(lambda each: each[0].scalar not in place.before, entries))
    neighbours = [value for key, value in head if key.scalar in place.after]
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
    # Single quotes keep everything but themselves.
    items = ["- '{}'".format(each.replace("'", "''")) for each in added]
    if present is None:
        text = _with_key(document, holder, items)
    else:
        text = _with_items(document, present, items)
    after = read_document(document.encoded(text), where=where)
    if not _adds_only(document.root, after.root, part, added):
        _refuse(where, holder, f"the filters of part {part!r} can't be added")
    return document.encoded(text)


def _with_key(document: ProjectDocument, holder: Node, items: Sequence[str]) -> str:
    """Return the text with a new ``prime`` at the end of a part."""
    first, _ = holder.entries[0]
    indent = document.before(first)
    if indent.strip(" "):
        _refuse(document.where, first, "a key isn't on a line of its own")
    _, last = holder.entries[-1]
    lines = (f"{indent}{' ' * _INDENT}{each}" for each in items)
    return _inserted(document, last, [f"{indent}{_STEP}:", *lines])


def _with_items(document: ProjectDocument, present: Node, items: Sequence[str]) -> str:
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


def _refuse(where: str, node: Node, problem: str) -> NoReturn:
    message = f"{where}, line {node.line}: {problem}"
    raise BadDataError(
        message, resolution="Add the filters by hand: 'trim --format yaml' prints them."
    )


def _adds_only(before: Node, after: Node, part: str, added: Sequence[str]) -> bool:
    """Whether two projects differ only by filters at the end of a part's list."""
    path = ("parts", part, _STEP)
    old, new = before.child(*path), after.child(*path)
    kept = [item.scalar for item in old.items] if old else []
    found = [item.scalar for item in new.items] if new else []
    return before.says_the_same(after, besides=path) and found == [*kept, *added]

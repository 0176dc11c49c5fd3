"""Change lines of a snapcraft.yaml: a compression, filters of a part.

The result is parsed and compared before it is returned: it says the same but for what
is changed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NoReturn

from ruamel.yaml.nodes import CollectionNode, Node, ScalarNode

from ..codecs import SHIPPABLE
from ..core.errors import BadDataError, UsageError
from .document import (
    COMPRESSION,
    ProjectDocument,
    child,
    entries,
    entry,
    items,
    line_of,
    not_a_scalar,
    read_document,
    scalar,
    statements,
)

_AFTER = frozenset(
    {"name", "type", "base", "build-base", "version", "grade", "confinement"}
)
"""A new key goes after the last of these, else before all."""
_PRIME = "prime"
_INDENT = " " * 2
"""Of what is added below a key, as snapcraft's documentation has it."""
_LINE_BREAK = re.compile("\r\n|\n|\r")


def set_compression(
    content: bytes,
    compression: str,
    *,
    component: str | None = None,
    where: str = "snapcraft.yaml",
) -> bytes:
    """Return a project file's bytes with a ``compression`` set.

    An existing value is replaced where it stands, in its own quotes; else a whole line
    is inserted. All other bytes stay, and a last line gets the line break it lacks.

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
    holder = child(document.root, *above)
    if holder is None:
        message = f"{where}: there is no component {component!r}"
        raise UsageError(message, resolution="Specify one of the file's components.")
    present = entry(holder, COMPRESSION)
    if present is not None and scalar(present[1]) == compression:
        return content
    line = f"{COMPRESSION}: {compression}"
    path = (*above, COMPRESSION)
    edit = _Edit(document, path, f"Write the line by hand: {line}")
    if present is not None:
        text = edit.with_value(*present, compression)
    else:
        if not entries(holder):
            edit.refuse(f"{component or 'the root'} has no keys", holder)
        heads = [each for each in entries(holder) if scalar(each[0]) in _AFTER]
        after = _end(*heads[-1]) if heads else None
        text = edit.with_lines([line], holder, after=after)
    return edit.checked(text, compression)


def add_filters(
    content: bytes, filters: Mapping[str, Sequence[str]], *, where: str
) -> bytes:
    """Return a project file with more filters for what its parts prime.

    A filter that a part has already is left as it is.

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
    holder = child(document.root, "parts", part)
    if holder is None or not entries(holder):
        message = f"{where}: there is no part {part!r}"
        raise BadDataError(message, resolution="Specify the project of this payload.")
    own = entry(holder, _PRIME)
    present = own[1] if own else None
    known = [scalar(item) for item in items(present)]
    added = [f"-{each}" for each in patterns if f"-{each}" not in known]
    if not added:
        return content
    by_hand = "Add the filters by hand: 'trim --format yaml' prints them."
    edit = _Edit(document, ("parts", part, _PRIME), by_hand)
    # Single quotes keep everything but themselves.
    lines = ["- '{}'".format(each.replace("'", "''")) for each in added]
    if present is None:
        lines = [f"{_PRIME}:", *(f"{_INDENT}{line}" for line in lines)]
    elif not items(present):
        edit.refuse(f"{_PRIME} isn't a list with an item a line", present)
    after = _end(*(own or entries(holder)[-1]))
    text = edit.with_lines(lines, present or holder, after=after)
    return edit.checked(text, [*known, *added])


class _Edit:
    """A change of a value in a document's text.

    :param path: of the value. Nothing on it may have an anchor: another key could say
        the same by an alias.
    :param by_hand: how to make it by hand, for what is refused.
    """

    def __init__(
        self, document: ProjectDocument, path: Sequence[str], by_hand: str
    ) -> None:
        self._document = document
        self._path = path
        self._by_hand = by_hand
        for depth in range(len(path) + 1):
            node = child(document.root, *path[:depth])
            if node is not None and node.anchor is not None:
                name = path[depth - 1] if depth else "the root"
                self.refuse(f"{name} has an anchor or an alias", node)

    def refuse(self, problem: str, node: Node | None = None) -> NoReturn:
        """Refuse the change; the error says how to make it by hand."""
        line = f", line {line_of(node)}" if node else ""
        message = f"{self._document.where}{line}: {problem}"
        raise BadDataError(message, resolution=self._by_hand)

    def with_value(self, key: Node, present: Node, value: str) -> str:
        """Return the text with another value, if it is on one line and its own."""
        text = self._document.text
        start, end = present.start_mark.index, present.end_mark.index
        if not isinstance(present, ScalarNode):
            raise not_a_scalar(present, where=self._document.where)
        if start == end:
            self.refuse(f"{COMPRESSION} has no value", key)
        if text[start] == "!":
            self.refuse(f"{COMPRESSION} has a tag", present)
        if _LINE_BREAK.search(text[start:end]):
            self.refuse(f"the value of {COMPRESSION} spans several lines", present)
        quote = present.style or ""
        return text[:start] + quote + value + quote + text[end:]

    def with_lines(
        self, lines: Sequence[str], collection: Node, *, after: int | None
    ) -> str:
        """Return the text with more lines, indented as those of a collection are.

        :param after: index on the line that they go after; None for before all.
        """
        text, mark = self._document.text, collection.start_mark
        index = mark.index - mark.column
        indent = text[index : mark.index]
        is_flow = isinstance(collection, CollectionNode) and collection.flow_style
        if is_flow or indent.strip(" "):
            self.refuse("not each key or item has a line of its own", collection)
        # Above blank lines, which a block scalar has behind it.
        least = index if after is None else len(text[:after].rstrip())
        found = _LINE_BREAK.search(text, least)
        line_break = (found or _LINE_BREAK.search(text) or ["\n"])[0]
        if after is not None:
            text = text if found else text + line_break
            index = found.end() if found else len(text)
        inserted = "".join(f"{indent}{line}{line_break}" for line in lines)
        return text[:index] + inserted + text[index:]

    def checked(self, text: str, expected: str | Sequence[str | None]) -> bytes:
        """Return the file's bytes with a text, if it says the same but for the value.

        :param expected: that value: a scalar or a list of them.
        """
        try:
            after = read_document(text.encode(), where="the edited text").root
        except BadDataError:
            self.refuse("can't be edited without changing more")
        value = child(after, *self._path)
        is_set = expected in (scalar(value), [scalar(each) for each in items(value)])
        before = statements(self._document.root, besides=self._path)
        if not is_set or before != statements(after, besides=self._path):
            self.refuse("can't be edited without changing more")
        return self._document.encoded(text)


def _end(before: Node, node: Node) -> int:
    """Return the index after a node, without the comments behind it.

    :param before: what it stands behind. After that is the index if the node has no
        place: an empty value, or an alias, which is the node that it refers to.
    """
    least: int = before.end_mark.index
    while least <= node.start_mark.index < node.end_mark.index:
        if not isinstance(node, CollectionNode) or node.flow_style:
            return int(node.end_mark.index)
        least = node.start_mark.index + 1
        if items(node):
            node = items(node)[-1]
        else:
            key, node = entries(node)[-1]
            least = max(least, key.end_mark.index)
    return least

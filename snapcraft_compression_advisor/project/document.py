"""Read a snapcraft.yaml into nodes that know their places in the text.

Nothing is constructed or dumped. The parser's events carry their positions, and an
edit needs only those; an alias is never expanded, so aliases of aliases cost nothing.
The text is read as YAML 1.1, because snapcraft reads it with PyYAML.
"""

from __future__ import annotations

import codecs
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.events import (
    AliasEvent,
    CollectionEndEvent,
    CollectionStartEvent,
    DocumentStartEvent,
    Event,
    MappingStartEvent,
    NodeEvent,
    ScalarEvent,
)

from ..core.errors import BadDataError

MAX_PROJECT_FILE_BYTES = 128 * 1024
"""The largest in snapcraft's own tests has 22 KiB. The parser is pure Python and takes
up to 50 µs per byte, twice for an edit, so this bounds the time as well."""
COMPRESSION = "compression"
MAX_DEPTH = 64
"""Deepest nesting that is read; snapcraft's own keys nest about seven deep."""

_ODD_LINE_BREAK = re.compile("[\x85\u2028\u2029]")
"""Line breaks in YAML 1.1 (section 4.1.4), but neither in 1.2 nor in most editors."""

LINE_BREAK = re.compile("\r\n|\n|\r")
_COLON = re.compile("[ \t]*:")
_MERGE_TAG = "tag:yaml.org,2002:merge"
_NULLS = frozenset({"", "~", "null", "Null", "NULL"})
"""What YAML 1.1 reads as null."""

_CHECK_FILE = "Check that this is a snapcraft.yaml."

Meaning = tuple[object, ...]
"""What an event means at any position."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Node:
    """A node of the document, with its place in the text.

    :param start: index of its first character, that of its anchor or tag if any.
    :param end: index after its last character; for a block scalar, after the line
        break and the blank lines that follow it.
    :param line: line of ``start``, from 1.
    :param meaning: what its event says.
    :param scalar: its text as YAML reads it; ``None`` for a mapping or sequence. An
        alias has that of its anchor, and the items and entries.
    :param style: ``'``, ``"``, ``|`` or ``>`` of a scalar; empty if it is plain.
    :param tag: if one is written (``!!str``).
    :param is_flow: whether it is written with braces or brackets.
    """

    start: int
    end: int
    line: int
    meaning: Meaning
    scalar: str | None = None
    style: str = ""
    is_alias: bool = False
    anchor: str | None = None
    tag: str | None = None
    is_flow: bool = False
    items: tuple[Node, ...] = ()
    entries: tuple[tuple[Node, Node], ...] = ()

    @property
    def is_null(self) -> bool:
        """Whether it is an empty or null plain scalar."""
        return not self.style and not self.tag and self.scalar in _NULLS

    @property
    def names(self) -> Iterator[tuple[str, Node, Node]]:
        """The entries whose keys are scalars: the name, its node, the value."""
        for key, value in self.entries:
            if key.scalar is not None:
                yield key.scalar, key, value

    def entry(self, name: str) -> tuple[Node, Node] | None:
        """Return the first entry of that name."""
        found = (each[1:] for each in self.names if each[0] == name)
        return next(found, None)

    def child(self, *path: str) -> Node | None:
        """Return the value below some keys."""
        node: Node | None = self
        for name in path:
            found = None if node is None else node.entry(name)
            node = None if found is None else found[1]
        return node

    def says_the_same(self, other: Node, *, besides: Sequence[str]) -> bool:
        """Return whether two nodes say the same, but for the value at a path."""
        own, others = (each.meanings(besides=besides) for each in (self, other))
        return list(own) == list(others)

    def meanings(self, *, besides: Sequence[str] = ()) -> Iterator[Meaning | None]:
        """Yield what a node says, but for the value at a path."""
        yield self.meaning
        if self.is_alias:
            return
        for item in self.items:
            yield from item.meanings()
        for key, value in self.entries:
            below = besides[1:] if besides and key.scalar == besides[0] else None
            if below is None or below:
                yield from key.meanings()
                yield from value.meanings(besides=below or ())
        yield None  # its end


@dataclass(frozen=True, kw_only=True)
class ProjectDocument:
    """A snapcraft.yaml; its text is without byte order mark.

    :param where: the file, for errors.
    """

    content: bytes
    text: str
    root: Node
    where: str

    @cached_property
    def starts(self) -> list[int]:
        """Where its lines begin."""
        return [0, *(each.end() for each in LINE_BREAK.finditer(self.text))]

    def line_of(self, index: int) -> int:
        """Return the number of the line, from 0, that a character is in."""
        return bisect_right(self.starts, index) - 1

    def before(self, node: Node) -> str:
        """Return the text before a node on its line: its indent, more if not alone."""
        return self.text[self.starts[self.line_of(node.start)] : node.start]

    def line_break_near(self, index: int) -> str:
        r"""Return the line break next to an index: \n, \r\n or \r."""
        near = self.text[max(0, index - 2) : index] or self.text
        found = LINE_BREAK.findall(near)
        return found[-1 if index else 0] if found else "\n"

    def encoded(self, text: str) -> bytes:
        """Return the bytes of the file with another text."""
        bom = codecs.BOM_UTF8 if self.content.startswith(codecs.BOM_UTF8) else b""
        return bom + text.encode()


def read_document(content: bytes, *, where: str) -> ProjectDocument:
    """Read a project file.

    :param where: the file, for errors.
    :raises BadDataError: if it isn't UTF-8, too large, too deep or not one document of
        YAML; if a mapping has a key twice; or if the root isn't a mapping, has a tag or
        a merge key, or a key that isn't a plain or quoted name.
    """
    text = _decode(content, where=where)
    events = _events(text, where=where)
    first = next((each for each in events if isinstance(each, NodeEvent)), None)
    if not isinstance(first, MappingStartEvent) or first.tag is not None:
        message = f"{where}: the document is not a mapping of keys to values"
        raise BadDataError(message, resolution=_CHECK_FILE)
    root = _Composer(text, events, where).node(first)
    for event in events:  # to the end of the stream
        if isinstance(event, DocumentStartEvent):
            line = event.start_mark.line + 1
            message = f"{where}, line {line}: a second YAML document begins"
            raise BadDataError(
                message,
                details="snapcraft reads one document per file.",
                resolution="Remove the line or the document.",
            )
    _check_keys(root, where=where)
    return ProjectDocument(content=content, text=text, root=root, where=where)


def _decode(content: bytes, *, where: str) -> str:
    r"""Return a file's text without byte order mark; \n, \r\n or \r end its lines."""
    if len(content) > MAX_PROJECT_FILE_BYTES:
        message = f"{where}: larger than 128 KiB, so it is not read"
        raise BadDataError(message, resolution=_CHECK_FILE)
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        message = f"{where}: byte {error.start} is not UTF-8"
        raise BadDataError(message, resolution="Save the file as UTF-8.") from error
    if odd := _ODD_LINE_BREAK.search(text):
        message = f"{where}: character {odd.start()} is U+{ord(odd[0]):04X}"
        raise BadDataError(
            message,
            details="YAML libraries disagree on whether it ends a line.",
            resolution="Replace it with an ordinary line break.",
        )
    return text.removeprefix(codecs.BOM_UTF8.decode())


def _events(text: str, *, where: str) -> Iterator[Event]:
    """Yield the parser's events."""
    yaml = YAML(typ="safe", pure=True)
    yaml.version = (1, 1)
    depth = 0
    try:
        for event in yaml.parse(text):
            depth += isinstance(event, CollectionStartEvent)
            depth -= isinstance(event, CollectionEndEvent)
            if depth > MAX_DEPTH:
                message = f"{where}: nested deeper than {MAX_DEPTH} levels"
                raise BadDataError(message, resolution=_CHECK_FILE)
            yield event
    # ValueError, OverflowError: an escape beyond Unicode (`"\UFFFFFFFF"`) in chr().
    except (YAMLError, ValueError, OverflowError) as error:
        place = where
        if isinstance(error, MarkedYAMLError) and error.problem_mark is not None:
            place = f"{where}, line {error.problem_mark.line + 1}"
        message = f"{place}: invalid YAML"
        raise BadDataError(
            message, details=str(error), resolution="Correct the YAML."
        ) from error


class _Composer:
    """Makes nodes of events; an alias has the contents of what it refers to."""

    def __init__(self, text: str, events: Iterator[Event], where: str) -> None:
        self._text = text
        self._events = events
        self._where = where
        self._anchored: dict[str, Node] = {}

    def node(self, first: NodeEvent) -> Node:
        """Take the events of one node off the iterator."""
        start = _bare_node(first)
        if isinstance(first, AliasEvent):
            target = self._anchored.get(first.anchor)
            if target is None:
                place = f"{self._where}, line {start.line}"
                message = f"{place}: no anchor &{first.anchor} before its use"
                raise BadDataError(message, resolution="Correct the YAML.")
            return replace(
                start,
                scalar=target.scalar,
                is_alias=True,
                items=target.items,
                entries=target.entries,
            )
        if first.anchor is not None:
            self._anchored[first.anchor] = start  # what refers to itself is empty
        node = start
        if isinstance(first, CollectionStartEvent):
            is_mapping = isinstance(first, MappingStartEvent)
            node = self._with_children(start, is_mapping=is_mapping)
        if first.anchor is not None:
            self._anchored[first.anchor] = node
        return node

    def _with_children(self, node: Node, *, is_mapping: bool) -> Node:
        children: list[Node] = []
        end = node.end
        for event in self._events:
            if not isinstance(event, NodeEvent):  # the end
                # A block collection ends with an empty token where the next key begins,
                # after comments that are not part of it.
                if event.start_mark != event.end_mark:
                    end = event.end_mark.index
                break
            child = self.node(event)
            if is_mapping and len(children) % 2 and child.start == child.end:
                # An empty value is where it would be written: after the colon.
                key = children[-1]
                colon = _COLON.match(self._text, key.end)
                place = colon.end() if colon else key.end
                child = replace(child, start=place, end=place, line=key.line)
            children.append(child)
            end = max(end, child.end)
        if not is_mapping:
            return replace(node, end=end, items=tuple(children))
        entries = tuple(zip(children[::2], children[1::2], strict=True))
        _check_once(entries, where=self._where)
        return replace(node, end=end, entries=entries)


def _bare_node(event: NodeEvent) -> Node:
    names = ("anchor", "tag", "implicit", "value", "style", "flow_style")
    values = (getattr(event, name, None) for name in names)
    return Node(
        start=event.start_mark.index,
        end=event.end_mark.index,
        line=event.start_mark.line + 1,
        meaning=(type(event).__name__, *values),
        scalar=str(event.value) if isinstance(event, ScalarEvent) else None,
        style=getattr(event, "style", None) or "",
        anchor=event.anchor,
        tag=getattr(event, "tag", None),
        is_flow=bool(getattr(event, "flow_style", None)),
    )


def _check_once(entries: Iterable[tuple[Node, Node]], *, where: str) -> None:
    """Refuse a mapping with a key twice, as snapcraft does at any depth."""
    seen: dict[str, int] = {}
    for key, _ in entries:
        if key.scalar in seen:
            place, first = f"{where}, line {key.line}", seen[key.scalar]
            message = f"{place}: {key.scalar!r} is already on line {first}"
            raise BadDataError(message, resolution="Remove one of the two.")
        if key.scalar is not None:
            seen[key.scalar] = key.line


def _check_keys(root: Node, *, where: str) -> None:
    for key, _ in root.entries:
        place = f"{where}, line {key.line}"
        if key.scalar is None or key.is_alias:
            message = f"{place}: a key of the root must be a plain or quoted name"
            raise BadDataError(message, resolution="Write the name of the key.")
        if key.tag == _MERGE_TAG or (key.scalar == "<<" and not key.style):
            message = f"{place}: the root has a merge key, which may hold any key"
            raise BadDataError(message, resolution="Write the merged keys out.")


def not_a_scalar(value: Node, key: str, *, where: str) -> BadDataError:
    """Return the error of a key that has a mapping or a list for a scalar."""
    return BadDataError(
        f"{where}, line {value.line}: {key} is a mapping or a list",
        details="snapcraft accepts xz or lzo here, but no advanced grammar.",
        resolution=f"Give it one value, as in '{key}: xz'.",
    )

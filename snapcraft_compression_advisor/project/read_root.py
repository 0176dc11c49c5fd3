"""Read the root mapping of a snapcraft.yaml from its text.

Nothing is constructed or dumped. The parser's events carry their positions, and an
edit needs only those; an alias is never expanded, so aliases of aliases cost nothing.
The text is read as YAML 1.1, because snapcraft reads it with PyYAML.
"""

from __future__ import annotations

import codecs
import hashlib
import re
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.events import (
    AliasEvent,
    CollectionEndEvent,
    CollectionStartEvent,
    DocumentStartEvent,
    Event,
    MappingEndEvent,
    MappingStartEvent,
    NodeEvent,
    ScalarEvent,
)

from snapcraft_compression_advisor.core.errors import BadDataError
from snapcraft_compression_advisor.project.root_mapping import (
    RootEntry,
    RootMapping,
    RootNode,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_PROJECT_FILE_BYTES = 128 * 1024
"""Largest snapcraft.yaml that is read.

The largest in snapcraft's own tests has 22 KiB. The parser is pure Python and takes
up to 50 µs per byte, twice for an edit, so this bounds the time as well.
"""

MAX_DEPTH = 64
"""Deepest nesting that is read; snapcraft's own keys nest about seven deep."""

BOM = codecs.BOM_UTF8.decode()

_FOREIGN_BOMS = (
    codecs.BOM_UTF32_LE,
    codecs.BOM_UTF32_BE,
    codecs.BOM_UTF16_LE,
    codecs.BOM_UTF16_BE,
)
_ODD_LINE_BREAK = re.compile("[\x85\u2028\u2029]")
"""Line breaks in YAML 1.1 (section 4.1.4), but neither in 1.2 nor in most editors."""

_COLON = re.compile("[ \t]*:")
_MERGE_TAG = "tag:yaml.org,2002:merge"


def decode(content: bytes, *, where: str) -> str:
    r"""Return the text of a project file, its byte order mark included.

    :param content: the file's bytes.
    :param where: the file, for errors.
    :raises BadDataError: where it is larger than ``MAX_PROJECT_FILE_BYTES`` or isn't
        UTF-8, or has a line break other than ``\n``, ``\r\n`` and ``\r``.
    """
    if len(content) > MAX_PROJECT_FILE_BYTES:
        limit_kib = MAX_PROJECT_FILE_BYTES // 1024
        message = f"{where}: larger than {limit_kib} KiB, so it is not read"
        raise BadDataError(message, resolution="Check that this is a snapcraft.yaml.")
    if content.startswith(_FOREIGN_BOMS):
        message = f"{where}: this is UTF-16 or UTF-32; snapcraft reads UTF-8"
        raise BadDataError(message, resolution="Save the file as UTF-8.")
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
            resolution="Put an ordinary line break in its place.",
        )
    return text


def read_root(text: str, *, where: str) -> RootMapping:
    """Return the root mapping of the only document in a text.

    :param text: YAML; indexes count its characters.
    :param where: the file, for errors.
    :raises BadDataError: where the YAML is broken or nested deeper than
        ``MAX_DEPTH``; where there is no document, or more than one; where the root
        is no mapping, has a tag or a merge key, or a key that isn't a plain or quoted
        name or that is there twice.
    """
    scalars: dict[str, str | None] = {}
    events = _events(text, scalars, where=where)
    root = next((each for each in events if isinstance(each, NodeEvent)), None)
    if not isinstance(root, MappingStartEvent) or root.tag is not None:
        message = f"{where}: the document is not a mapping of keys to values"
        raise BadDataError(message, resolution="Check that this is a snapcraft.yaml.")
    entries = []
    for event in events:
        if isinstance(event, MappingEndEvent):
            break
        key = _node(event, events, scalars)
        value = _node(next(events), events, scalars)
        if value.start == value.end:
            value = _after_colon(value, key, text)
        entries.append(RootEntry(key=key, value=value))
    _check_single_document(events, where=where)
    _check_keys(entries, where=where)
    return RootMapping(entries=tuple(entries), is_flow=bool(root.flow_style))


def _events(
    text: str, scalars: dict[str, str | None], *, where: str
) -> Iterator[Event]:
    """Yield the parser's events.

    :param scalars: receives the scalar, if it is one, that each anchor names.
    """
    yaml = YAML(typ="safe", pure=True)
    yaml.version = (1, 1)
    depth = 0
    try:
        for event in yaml.parse(text):
            depth += isinstance(event, CollectionStartEvent)
            depth -= isinstance(event, CollectionEndEvent)
            if depth > MAX_DEPTH:
                message = f"{where}: nested deeper than {MAX_DEPTH} levels"
                raise BadDataError(
                    message, resolution="Check that this is a snapcraft.yaml."
                )
            _note_anchor(event, scalars, where=where)
            yield event
    # An escape beyond Unicode (`"\UFFFFFFFF"`) reaches chr(), hence ValueError and
    # OverflowError.
    except (YAMLError, ValueError, OverflowError) as error:
        raise _broken(error, where=where) from error


def _note_anchor(event: Event, scalars: dict[str, str | None], *, where: str) -> None:
    if isinstance(event, AliasEvent):
        if event.anchor not in scalars:
            line = event.start_mark.line + 1
            message = f"{where}, line {line}: no anchor &{event.anchor} before its use"
            raise BadDataError(message, resolution="Correct the YAML.")
    elif isinstance(event, NodeEvent) and event.anchor is not None:
        scalars[event.anchor] = event.value if isinstance(event, ScalarEvent) else None


def _broken(error: Exception, *, where: str) -> BadDataError:
    place = where
    if isinstance(error, MarkedYAMLError) and error.problem_mark is not None:
        place = f"{where}, line {error.problem_mark.line + 1}"
    return BadDataError(
        f"{place}: the YAML is broken",
        details=str(error),
        resolution="Correct the YAML.",
    )


def _node(
    first: Event, events: Iterator[Event], scalars: dict[str, str | None]
) -> RootNode:
    """Take the events of one node off the iterator."""
    digest = hashlib.sha256()
    depth = end = 0
    for event in chain([first], events):
        depth += isinstance(event, CollectionStartEvent)
        depth -= isinstance(event, CollectionEndEvent)
        digest.update(_meaning(event))
        # A block collection ends with an empty token where the next key begins,
        # after comments that are not part of it.
        if isinstance(event, NodeEvent) or event.start_mark != event.end_mark:
            end = max(end, event.end_mark.index)
        if depth == 0:
            break
    return RootNode(
        start=first.start_mark.index,
        end=end,
        line=first.start_mark.line + 1,
        scalar=_scalar(first, scalars),
        style=getattr(first, "style", None) or "",
        is_alias=isinstance(first, AliasEvent),
        anchor=getattr(first, "anchor", None),
        tag=getattr(first, "tag", None),
        digest=digest.digest(),
    )


def _after_colon(empty: RootNode, key: RootNode, text: str) -> RootNode:
    """Return an empty value where it would be written, not where the next key is."""
    colon = _COLON.match(text, key.end)
    place = colon.end() if colon else key.end
    return replace(empty, start=place, end=place, line=key.line)


def _scalar(event: Event, scalars: dict[str, str | None]) -> str | None:
    if isinstance(event, AliasEvent):
        return scalars[event.anchor]
    return str(event.value) if isinstance(event, ScalarEvent) else None


def _meaning(event: Event) -> bytes:
    """Return what an event says, whatever its position."""
    names = ("anchor", "tag", "implicit", "value", "style", "flow_style")
    said = tuple(getattr(event, name, None) for name in names)
    return repr((type(event).__name__, said)).encode()


def _check_single_document(events: Iterator[Event], *, where: str) -> None:
    """Read on to the end of the stream."""
    for event in events:
        if isinstance(event, DocumentStartEvent):
            line = event.start_mark.line + 1
            message = f"{where}, line {line}: a second YAML document begins"
            raise BadDataError(
                message,
                details="snapcraft reads one document per file.",
                resolution="Remove the line or the document.",
            )


def _check_keys(entries: list[RootEntry], *, where: str) -> None:
    seen: dict[str, int] = {}
    for key in (each.key for each in entries):
        place = f"{where}, line {key.line}"
        if key.scalar is None or key.is_alias:
            message = f"{place}: a key of the root has to be a plain or quoted name"
            raise BadDataError(message, resolution="Write the name of the key.")
        if key.tag == _MERGE_TAG or (key.scalar == "<<" and not key.style):
            message = f"{place}: the root has a merge key, which may hold any key"
            raise BadDataError(message, resolution="Write the merged keys out.")
        if key.scalar in seen:
            message = f"{place}: {key.scalar!r} is on line {seen[key.scalar]} already"
            raise BadDataError(message, resolution="Remove one of the two.")
        seen[key.scalar] = key.line

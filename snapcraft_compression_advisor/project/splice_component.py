"""Change or insert a component's ``compression`` in the text of a snapcraft.yaml."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ruamel.yaml import YAML
from ruamel.yaml.events import ScalarEvent
from ruamel.yaml.nodes import MappingNode, ScalarNode

from snapcraft_compression_advisor.codecs import SHIPPABLE
from snapcraft_compression_advisor.core.errors import BadDataError, UsageError
from snapcraft_compression_advisor.project.project_nodes import (
    child,
    entry,
    line_of,
    root_node,
)
from snapcraft_compression_advisor.project.read_root import BOM

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ruamel.yaml.events import Event
    from ruamel.yaml.nodes import Node

_KEY = "compression"
_LINE_BREAK = re.compile("\r\n|\n|\r")
_LINE_END = re.compile(r"[ \t]*(?:#[^\r\n]*)?(\r\n|\n|\r)")

_Meaning = tuple[object, ...]


def set_component_compression(
    content: bytes, component: str, compression: str, *, where: str = "snapcraft.yaml"
) -> bytes:
    """Return the project file with a component's ``compression`` set.

    An existing value is replaced where it stands, in its own quotes. A new line goes
    after the component's ``type`` if that is on one line, else before its first key.

    The result is parsed and compared before it is returned: it says the same but for
    this one key.

    :param content: the file's bytes, UTF-8 with or without a byte order mark.
    :param component: its name under ``components``.
    :param compression: ``xz`` or ``lzo``.
    :param where: the file, for errors.
    :returns: the new bytes; the same object where nothing has to change.
    :raises UsageError: for another compression, or an unknown component.
    :raises BadDataError: where the YAML is broken, or can't be edited in one line.
    """
    if compression not in SHIPPABLE:
        message = f"snapcraft accepts no compression {compression!r}"
        raise UsageError(message, resolution=f"Give {' or '.join(SHIPPABLE)}.")
    text, root = root_node(content, where=where)
    found = entry(child(root, "components"), component)
    if found is None:
        message = f"{where}: there is no component {component!r}"
        raise UsageError(message, resolution="Name one of the file's components.")
    name, body = found
    place = f"{where}, line {line_of(name)}"
    present = child(body, _KEY)
    if isinstance(present, ScalarNode) and present.value == compression:
        return content
    splice = _insertion if present is None else _replacement
    after = None if _shared(name, body) else splice(text, body, compression)
    if after is None or not _differs_in_one_key(text, after, compression):
        message = f"{place}: component {component!r} can't be edited in one line"
        raise BadDataError(
            message, resolution=f"Write the line by hand: {_KEY}: {compression}"
        )
    bom = BOM if content.startswith(BOM.encode()) else ""
    return (bom + after).encode()


def _shared(name: ScalarNode, body: Node) -> bool:
    """Whether a component's mapping is an alias, or may be one's anchor."""
    return body.anchor is not None or body.start_mark.index < name.start_mark.index


def _replacement(text: str, body: Node, compression: str) -> str | None:
    """Return the text with the value replaced; ``None`` where it isn't a plain one."""
    value = child(body, _KEY)
    if not isinstance(value, ScalarNode) or value.anchor or value.style in ("|", ">"):
        return None
    start, end = value.start_mark.index, value.end_mark.index
    written = text[start:end]
    style = value.style or ""
    if _LINE_BREAK.search(written) or written != f"{style}{value.value}{style}":
        return None  # several lines, escapes, a tag, an alias, or nothing at all
    if not written:
        return None
    return f"{text[:start]}{style}{compression}{style}{text[end:]}"


def _insertion(text: str, body: Node, compression: str) -> str | None:
    """Return the text with a new line; ``None`` where the mapping has no lines."""
    if not isinstance(body, MappingNode) or body.flow_style or not body.value:
        return None
    first = body.value[0][0]
    start = _line_start(text, first.start_mark.index)
    indent = text[start : first.start_mark.index]
    if indent.strip(" ") or not indent:
        return None
    index, line_break = start, _break_after(text, first.start_mark.index)
    kind = entry(body, "type")
    if kind is not None and isinstance(kind[1], ScalarNode) and not kind[1].anchor:
        end = _LINE_END.match(text, kind[1].end_mark.index)
        if end and kind[1].start_mark.line == kind[1].end_mark.line:
            index, line_break = end.end(), end[1]
    return f"{text[:index]}{indent}{_KEY}: {compression}{line_break}{text[index:]}"


def _line_start(text: str, index: int) -> int:
    return max(text.rfind("\n", 0, index), text.rfind("\r", 0, index)) + 1


def _break_after(text: str, index: int) -> str:
    found = _LINE_BREAK.search(text, index)
    return found[0] if found else "\n"


def _differs_in_one_key(before: str, after: str, compression: str) -> bool:
    """Whether two texts say the same but for one ``compression`` key."""
    old, new = list(_meanings(before)), list(_meanings(after))
    pairs = enumerate(zip(old, new, strict=False))
    same = next(
        (place for place, (one, other) in pairs if one != other),
        min(len(old), len(new)),
    )
    added = len(new) - len(old)
    if added == 0:
        return old[same + 1 :] == new[same + 1 :] and new[same][1] == compression
    if added != 2:  # noqa: PLR2004 # a key and its value
        return False
    return [each[1] for each in new[same : same + 2]] == [_KEY, compression] and (
        old[same:] == new[same + 2 :]
    )


def _meanings(text: str) -> Iterator[_Meaning]:
    yaml = YAML(typ="safe", pure=True)
    yaml.version = (1, 1)
    for event in yaml.parse(text):
        yield _meaning(event)


def _meaning(event: Event) -> _Meaning:
    value = event.value if isinstance(event, ScalarEvent) else None
    names = ("anchor", "tag", "implicit", "style", "flow_style")
    return (
        type(event).__name__,
        value,
        *(getattr(event, name, None) for name in names),
    )

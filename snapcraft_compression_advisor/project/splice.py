"""Change or insert the one line ``compression:`` in the text of a snapcraft.yaml."""

from __future__ import annotations

import re
from bisect import bisect_right
from itertools import takewhile
from typing import TYPE_CHECKING

from snapcraft_compression_advisor.codecs import SHIPPABLE
from snapcraft_compression_advisor.core.errors import BadDataError, UsageError
from snapcraft_compression_advisor.project.read_root import BOM, decode, read_root

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from snapcraft_compression_advisor.project.root_mapping import (
        RootEntry,
        RootMapping,
        RootNode,
    )

_KEY = "compression"

_NEIGHBOURS = frozenset(
    {"type", "base", "build-base", "version", "grade", "confinement"}
)
"""Keys that say what the snap is; ``compression`` goes after the last of them."""

_BODY = frozenset({"apps", "parts"})
"""Keys that ``compression`` goes before, where none of the others is there."""

_LINE_BREAK = re.compile("\r\n|\n|\r")


def root_compression(content: bytes, *, where: str = "snapcraft.yaml") -> str | None:
    """Return what a project file has under its root key ``compression``.

    :param content: the file's bytes.
    :param where: the file, for errors.
    :returns: the scalar as it is written, whether or not snapcraft accepts it;
        ``None`` where the key isn't there or its value is null.
    :raises BadDataError: where the YAML is broken or the value isn't a scalar.
    """
    root = read_root(decode(content, where=where).removeprefix(BOM), where=where)
    entry = root.entry(_KEY)
    if entry is None or entry.value.is_null:
        return None
    if entry.value.scalar is None:
        raise _not_a_scalar(entry.value, where=where)
    return entry.value.scalar


def set_root_compression(
    content: bytes, compression: str, *, where: str = "snapcraft.yaml"
) -> bytes:
    """Return the project file with its root key ``compression`` set.

    An existing value is replaced where it stands, in its own quotes. A new line goes
    after the last of type, base, build-base, version, grade and confinement that
    precede apps and parts; else before apps or parts and the comment above it; else
    at the end of the mapping. It is always a whole line: where the file has no line
    break at its end, it goes before the last key rather than after it.

    The result is parsed and compared before it is returned: one line differs, and the
    document says the same but for this key.

    :param content: the file's bytes, UTF-8 with or without a byte order mark.
    :param compression: ``xz`` or ``lzo``.
    :param where: the file, for errors.
    :returns: the new bytes; the same object where nothing has to change.
    :raises UsageError: for another compression.
    :raises BadDataError: where the YAML is broken, or can't be edited in one line.
    """
    if compression not in SHIPPABLE:
        message = f"snapcraft accepts no compression {compression!r}"
        raise UsageError(message, resolution=f"Give {' or '.join(SHIPPABLE)}.")
    text = decode(content, where=where)
    bom = BOM if text.startswith(BOM) else ""
    text = text.removeprefix(BOM)
    root = read_root(text, where=where)
    entry = root.entry(_KEY)
    if entry is None:
        after = _insert(text, root, compression, where=where)
    elif entry.value.scalar == compression:
        return content
    else:
        after = _replace(text, entry.value, compression, where=where)
    if not (
        _changes_one_line(text, after) and _says_the_same(root, after, compression)
    ):
        message = f"{where}: can't be edited without changing more than one line"
        raise BadDataError(message, resolution=_by_hand(compression))
    return (bom + after).encode()


def _replace(text: str, value: RootNode, compression: str, *, where: str) -> str:
    if value.scalar is None:
        raise _not_a_scalar(value, where=where)
    written = text[value.start : value.end]
    place = f"{where}, line {value.line}"
    if value.is_alias or value.anchor is not None or value.tag is not None:
        message = f"{place}: {_KEY} has an anchor, an alias or a tag"
        raise BadDataError(message, resolution=_by_hand(compression))
    if value.style in ("|", ">") or _LINE_BREAK.search(written):
        message = f"{place}: the value of {_KEY} goes over several lines"
        raise BadDataError(message, resolution=_by_hand(compression))
    # The empty value of `compression:` stands right after the colon.
    space = "" if written else " "
    new = f"{space}{value.style}{compression}{value.style}"
    return text[: value.start] + new + text[value.end :]


def _insert(text: str, root: RootMapping, compression: str, *, where: str) -> str:
    if root.is_flow:
        message = f"{where}: the root is written with braces and has no {_KEY}"
        raise BadDataError(message, resolution=_by_hand(compression))
    starts = [0, *(each.end() for each in _LINE_BREAK.finditer(text))]
    key = root.entries[0].key
    indent = text[starts[bisect_right(starts, key.start) - 1] : key.start]
    if indent.strip(" "):
        message = f"{where}, line {key.line}: the root begins with {indent.strip()!r}"
        raise BadDataError(message, resolution=_by_hand(compression))
    index = _insertion_index(text, root.entries, starts)
    line = f"{indent}{_KEY}: {compression}{_line_break(text, index)}"
    return text[:index] + line + text[index:]


def _insertion_index(
    text: str, entries: Sequence[RootEntry], starts: Sequence[int]
) -> int:
    """Return the start of the line before which the new one goes."""
    head = list(takewhile(lambda each: each.key.scalar not in _BODY, entries))
    neighbours = [each for each in head if each.key.scalar in _NEIGHBOURS]
    if not neighbours and len(head) < len(entries):
        return _index_before(text, entries, len(head), starts)
    last = neighbours[-1] if neighbours else entries[-1]
    following = bisect_right(starts, last.value.end - 1)
    if following < len(starts):
        return starts[following]
    return _index_before(text, entries, len(entries) - 1, starts)


def _index_before(
    text: str, entries: Sequence[RootEntry], position: int, starts: Sequence[int]
) -> int:
    """Return the start of an entry's line, or of the comment right above it."""
    floor = entries[position - 1].value.end if position else 0
    line = bisect_right(starts, entries[position].key.start) - 1
    while line and starts[line - 1] >= floor:
        if not text[starts[line - 1] : starts[line]].lstrip(" \t").startswith("#"):
            break
        line -= 1
    return starts[line]


def _line_break(text: str, index: int) -> str:
    r"""Return the line break next to an index: \n, \r\n or \r."""
    near = text[max(0, index - 2) : index] or text
    found = _LINE_BREAK.findall(near)
    return found[-1 if index else 0] if found else "\n"


def _changes_one_line(before: str, after: str) -> bool:
    """Whether one line was changed or inserted, and all bytes around it are equal."""
    # Only bytes are split at line breaks alone, and not at form feeds and the like.
    old = before.encode().splitlines(keepends=True)
    new = after.encode().splitlines(keepends=True)
    same = sum(1 for _ in _equal_pairs(old, new))
    added = len(new) - len(old)
    return added in (0, 1) and old[same + 1 - added :] == new[same + 1 :]


def _equal_pairs(
    old: Sequence[bytes], new: Sequence[bytes]
) -> Iterator[tuple[bytes, bytes]]:
    return takewhile(lambda pair: pair[0] == pair[1], zip(old, new, strict=False))


def _says_the_same(before: RootMapping, text: str, compression: str) -> bool:
    try:
        after = read_root(text, where="the edited text")
    except BadDataError:
        return False
    entry = after.entry(_KEY)
    return (
        entry is not None
        and entry.value.scalar == compression
        and before.digests_without(_KEY) == after.digests_without(_KEY)
    )


def _not_a_scalar(value: RootNode, *, where: str) -> BadDataError:
    return BadDataError(
        f"{where}, line {value.line}: {_KEY} is a mapping or a list",
        details="snapcraft takes xz or lzo here, and no advanced grammar.",
        resolution=f"Give it one value, as in '{_KEY}: xz'.",
    )


def _by_hand(compression: str) -> str:
    return f"Write the line by hand: {_KEY}: {compression}"

"""Electron's archives: a header in JSON, and behind it the members side by side.

Their format: https://github.com/electron/asar#format.
"""

from __future__ import annotations

import json
import posixpath
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ....codecs.codec import DATA_BLOCK_BYTES
from ....payload.inventory import block_count
from .archive import MAX_MEMBERS_BYTES, MEMBER_MAX_BYTES
from .node import MAX_NAME_CHARACTERS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from ....payload.inventory import Entry
    from ....payload.source import Payload

HEADER_MAX_BYTES = 8 * 1024 * 1024
"""How long a header is looked at; a member takes some 300 bytes of it."""

MAX_LINKS = 40
"""Links followed to one member, as the kernel does in one path (``namei.c``)."""

_MAX_DIGITS = 19
_SIZES = struct.Struct("<4I")
"""Chromium's pickles of a number and of a string: of the number; of the second pickle;
of that without this number; and of the JSON, without padding."""

Node = dict[str, object]


def open_archive(
    payload: Payload, entry: Entry, find: Callable[[str], Entry | None]
) -> Archive | None:
    """Return an archive, ``None`` if it is broken or its header too long.

    :param find: gives the file that a path of the payload leads to.
    """
    head = payload.read(entry.path, offset=0, length=_SIZES.size)
    if len(head) < _SIZES.size:
        return None
    _, header_bytes, _, text_bytes = _SIZES.unpack(head)
    start = _SIZES.size // 2 + header_bytes
    end = _SIZES.size + text_bytes
    if text_bytes > HEADER_MAX_BYTES or not end <= start <= entry.size_bytes:
        return None
    text = payload.read(entry.path, offset=_SIZES.size, length=text_bytes)
    try:
        root = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(root, dict):
        return None
    return Archive(payload, entry, find, root=root, start=start)


@dataclass(frozen=True, slots=True)
class Member:
    """A file of an archive.

    :param start: where it starts in the archive, and ``end`` where it ends.
    :param unpacked: the file beside the archive that holds it instead.
    """

    start: int = 0
    end: int = 0
    unpacked: Entry | None = None


class Archive:
    """The files of an archive, looked for by their paths in it.

    :param start: where the members start.
    :ivar exhausted: whether more was asked for than is read of one archive.
    """

    def __init__(
        self,
        payload: Payload,
        entry: Entry,
        find: Callable[[str], Entry | None],
        *,
        root: Node,
        start: int,
    ) -> None:
        self._payload = payload
        self._entry = entry
        self._find = find
        self._root = root
        self._start = start
        self._left_bytes = MAX_MEMBERS_BYTES
        self.exhausted = False

    def find(self, path: str) -> str | None:
        """Return the path of the file that a path leads to, links followed."""
        found = self._locate(path)
        if found is None or self._member(*found) is None:
            return None
        return found[0]

    def has_folder(self, path: str) -> bool:
        """Return whether there is a directory of this path."""
        found = self._locate(path)
        return found is not None and "files" in found[1]

    def read(self, path: str) -> bytes:
        """Return the start of a file; nothing once too much of the archive was read."""
        member = self.member(path)
        if member is None:
            return b""
        file = member.unpacked or self._entry
        size = file.size_bytes if member.unpacked else member.end - member.start
        length = min(size, MEMBER_MAX_BYTES)
        if length > self._left_bytes:
            self.exhausted = True
            return b""
        self._left_bytes -= length
        return self._payload.read(file.path, offset=member.start, length=length)

    def member(self, path: str) -> Member | None:
        """Return where a file is, ``None`` if there is none."""
        found = self._locate(path)
        return self._member(*found) if found is not None else None

    def blocks(self, paths: Iterable[str]) -> frozenset[int]:
        """Return the data blocks of the archive that hold files, or its header."""
        ranges = [(0, self._start)]
        for path in paths:
            member = self.member(path)
            if member is not None and member.end > member.start:
                ranges.append((member.start, member.end))
        return frozenset(_blocks(sorted(ranges)))

    def _locate(self, path: str) -> tuple[str, Node] | None:
        """Return what is at a path, and its path without links."""
        for _ in range(MAX_LINKS):
            if len(path) > MAX_NAME_CHARACTERS:
                return None
            path = posixpath.normpath(path)
            node, link = self._walk([part for part in path.split("/") if part != "."])
            if node is None:
                return None
            if link is None:
                return path, node
            path = link
        return None

    def _walk(self, parts: list[str]) -> tuple[Node | None, str | None]:
        """Return what is at a path, or where the first link on it leads."""
        node = self._root
        for number, part in enumerate(parts, 1):
            files = node.get("files")
            child = files.get(part) if isinstance(files, dict) else None
            if not isinstance(child, dict):
                return None, None
            node = child
            link = node.get("link")
            if isinstance(link, str):
                return node, posixpath.join(link, *parts[number:])
        return node, None

    def _member(self, path: str, node: Node) -> Member | None:
        size, offset = node.get("size"), node.get("offset")
        if node.get("unpacked"):
            beside = self._find(f"{self._entry.path}.unpacked/{path}")
            return Member(unpacked=beside) if beside is not None else None
        if not isinstance(size, int) or not isinstance(offset, str):
            return None
        if not (offset.isdecimal() and len(offset) <= _MAX_DIGITS and size >= 0):
            return None
        start = self._start + int(offset)
        if start + size > self._entry.size_bytes:
            return None
        return Member(start=start, end=start + size)


def _blocks(ranges: Iterable[tuple[int, int]]) -> Iterator[int]:
    """Yield the blocks of ranges in ascending order of their starts, each once."""
    behind = 0
    for start, end in ranges:
        first = max(behind, start // DATA_BLOCK_BYTES)
        behind = max(behind, block_count(end))
        yield from range(first, behind)

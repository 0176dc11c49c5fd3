"""The data blocks of a payload that a trace has seen read or mapped."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import groupby
from typing import TYPE_CHECKING

from snapcraft_compression_advisor.codecs.codec import DATA_BLOCK_BYTES
from snapcraft_compression_advisor.launch.guess.candidates import Candidate
from snapcraft_compression_advisor.launch.guess.guess import keys_of
from snapcraft_compression_advisor.launch.guess.priors import built_in_priors
from snapcraft_compression_advisor.launch.profile import ProfileFile
from snapcraft_compression_advisor.launch.script import parse_shebang
from snapcraft_compression_advisor.payload.elf import BrokenElfError, elf_of
from snapcraft_compression_advisor.payload.inventory import block_count
from snapcraft_compression_advisor.payload.paths import MAX_LINKS, PathResolver
from snapcraft_compression_advisor.squashfs.entry import EntryKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from snapcraft_compression_advisor.capture.trace import Trace
    from snapcraft_compression_advisor.launch.guess.priors import Priors
    from snapcraft_compression_advisor.payload.inventory import Entry
    from snapcraft_compression_advisor.payload.source import Payload

_HEAD_BYTES = 4096
"""What the kernel looks at of a script (``BINPRM_BUF_SIZE`` is less)."""

_WAY = "traced"
_DIGITS = 2
_LEAST_SHARE = 0.01
"""A block that is only mapped is neither surely read nor surely not."""


def traced_files(
    trace: Trace,
    payload: Payload,
    *,
    prefixes: Iterable[str],
    priors: Priors | None = None,
) -> tuple[ProfileFile, ...]:
    """Return the blocks of a payload that a trace has seen read or mapped.

    Ranges reach as far as the file does. Programs are mapped whole, and so are the
    loader or interpreter that the kernel adds; scripts are read. A block that was only
    mapped has the share in which recorded launches read such a block.

    :param prefixes: directories where the payload was.
    :param priors: those of the package by default.
    :returns: sorted by path; hard links to one file count once, under the first.
    """
    places = _Places(payload, tuple(prefixes))
    seen: dict[str, _Seen] = {}

    def file_of(entry: Entry) -> _Seen:
        return seen.setdefault(entry.path, _Seen(entry))

    for path, ranges in trace.ranges.items():
        if (entry := places.find(path)) is not None:
            file_of(entry).read.update(_blocks(entry, ranges))
    for path, ranges in trace.mapped.items():
        if (entry := places.find(path)) is not None:
            file_of(entry).mapped.update(_blocks(entry, ranges))
    for path in trace.programs:
        for entry in _with_interpreters(payload, places, path):
            file_of(entry).read.add(0)  # the kernel looks at its header
            file_of(entry).mapped.update(_blocks(entry, [(0, entry.size_bytes)]))
    known = priors or built_in_priors()
    return tuple(
        _profile_file(file, payload, known)
        for _, file in sorted(seen.items())
        if file.read or file.mapped
    )


@dataclass(frozen=True, slots=True)
class _Seen:
    """What a trace shows of a file, in numbers of data blocks."""

    entry: Entry
    read: set[int] = field(default_factory=set)
    mapped: set[int] = field(default_factory=set)


def _blocks(entry: Entry, ranges: Iterable[tuple[int, int]]) -> Iterator[int]:
    for start, end in ranges:
        last_block = block_count(min(end, entry.size_bytes))
        yield from range(start // DATA_BLOCK_BYTES, last_block)


def _profile_file(file: _Seen, payload: Payload, priors: Priors) -> ProfileFile:
    shares = dict.fromkeys(file.read, 1.0)
    if file.mapped - file.read:
        keys = keys_of(
            payload, Candidate(entry=file.entry, way=_WAY, role="plugin", direct=False)
        )
        for number in file.mapped - file.read:
            share = round(priors.block_share(keys[number]), _DIGITS)
            shares[number] = min(max(share, _LEAST_SHARE), 1 - _LEAST_SHARE)
    ranges = tuple(_ranges(shares))
    return ProfileFile(
        path=file.entry.path,
        size=file.entry.size_bytes,
        blocks=tuple((first, last) for first, last, _ in ranges),
        shares=tuple(share for _, _, share in ranges),
    )


class _Places:
    """Finds the payload's files by the paths that they had on some machine."""

    def __init__(self, payload: Payload, prefixes: tuple[str, ...]) -> None:
        self._prefixes = tuple(f"{prefix.rstrip('/')}/" for prefix in prefixes)
        self._snap = re.compile(rf"/snap/{re.escape(payload.snap.name)}/[^/]+/")
        self._resolver = PathResolver(payload.inventory, snap_name=payload.snap.name)
        self._first: dict[int, Entry] = {}
        for path in sorted(payload.inventory.entries):
            entry = payload.inventory.entries[path]
            if entry.kind is EntryKind.FILE and _is_utf8(path):
                self._first.setdefault(entry.identity, entry)

    def find(self, path: str) -> Entry | None:
        """Return the file of that path, under its first name.

        ``None`` for what isn't the payload's, an empty file, or no regular one.
        """
        for _ in range(MAX_LINKS):
            inside = self._inside(path)
            if inside is None:
                return None
            location = self._resolver.locate(inside)
            if location.outside is None:
                entry = location.entry
                if entry is None or entry.kind is not EntryKind.FILE:
                    return None
                return self._first.get(entry.identity) if entry.size_bytes else None
            # An absolute link of a system tree stays in it.
            path = location.outside
        return None

    def _inside(self, path: str) -> str | None:
        for prefix in self._prefixes:
            if path.startswith(prefix):
                return path.removeprefix(prefix).lstrip("/")
        match = self._snap.match(path)
        return path[match.end() :].lstrip("/") if match else None


def _with_interpreters(payload: Payload, places: _Places, path: str) -> Iterator[Entry]:
    """Yield a program and what the kernel loads along with it."""
    for _ in range(MAX_LINKS):
        entry = places.find(path)
        if entry is None:
            return
        yield entry
        following = _interpreter(payload, entry)
        if following is None:
            return
        path = following


def _interpreter(payload: Payload, entry: Entry) -> str | None:
    head = payload.read(entry.path, offset=0, length=_HEAD_BYTES)
    shebang = parse_shebang(head)
    if shebang is not None:
        return shebang.interpreter
    try:
        elf = elf_of(payload, entry)
        return elf.linkage().interpreter if elf else None
    except BrokenElfError:
        return None


def _ranges(shares: Mapping[int, float]) -> Iterator[tuple[int, int, float]]:
    """Yield runs of blocks of one share, first and last."""
    places = enumerate(sorted(shares))
    for (_, share), run in groupby(
        places, lambda item: (item[1] - item[0], shares[item[1]])
    ):
        numbers = [number for _, number in run]
        yield numbers[0], numbers[-1], share


def _is_utf8(path: str) -> bool:
    """Tell whether a profile can hold a name."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True

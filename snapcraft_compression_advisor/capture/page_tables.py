"""Which pages of a payload's files the processes of a launch have touched.

A page that a process touches in a mapping comes into its page table, from the cache or
from storage. ``/proc/PID/pagemap`` shows that to whoever runs the process, as root or
not. What the kernel only read ahead isn't in any page table.
"""

from __future__ import annotations

import contextlib
import mmap
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..payload.inventory import Inventory
from .page_cache import named_files
from .processes import PROC

AROUND_PAGES = max(1, 64 * 1024 // mmap.PAGESIZE)
"""With a page, the kernel maps its cached neighbours in 64 KiB of address space
(``fault_around_bytes`` of Linux's ``mm/memory.c``)."""

_ENOUGH_LOOKS = 10
"""At a process that ended: what it did after the last one is a small part then."""

_ENTRY_BYTES = 8
_PRESENT_OR_SWAPPED = 62
"""Bits 63 and 62 of an entry (``Documentation/admin-guide/mm/pagemap.rst``)."""

_MAPPING = re.compile(
    rb"(?P<start>[0-9a-f]+)-(?P<end>[0-9a-f]+) (?P<access>[-rwxps]{4}) "
    rb"(?P<offset>[0-9a-f]+) (?P<major>[0-9a-f]+):(?P<minor>[0-9a-f]+) "
    rb"(?P<inode>[1-9][0-9]*) *(?P<path>.*)"
)


@dataclass(frozen=True, slots=True)
class Touch:
    """Pages of a file that came into a page table together, by one fault or some.

    :param first: page of the file.
    :param last: page of the file, at most 15 pages later.
    :param code_end: for a mapping of code, the page behind it; else ``None``.
    """

    first: int
    last: int
    code_end: int | None = None

    @property
    def middle(self) -> int:
        """The page that is nearest to all that the fault may have been at."""
        return (self.first + self.last) // 2


@dataclass(frozen=True, slots=True)
class _Mapping:
    """A mapping of one of the payload's files; addresses and offset in pages."""

    path: str
    start: int
    end: int
    offset: int
    is_code: bool


class PageTables:
    """Looks at the page tables of processes, again and again.

    :param root: the payload's directory, as processes see it or by its files' inodes.

    ``touches`` has, for each file that was mapped, what was touched, in the order in
    which it was seen; within one look by its place in the file.
    """

    def __init__(self, root: Path, inventory: Inventory) -> None:
        self.touches: dict[str, list[Touch]] = {}
        self._prefixes = {os.fsencode(path) for path in (root, root.resolve())}
        self._paths: dict[bytes, str] = {}
        self._inodes: dict[tuple[int, int, int], str] = {}
        self._seen: dict[tuple[int, str, int], NDArray[np.bool_]] = {}
        self._users: dict[str, set[int]] = {}
        self._looks: Counter[int] = Counter()
        self._last: set[int] = set()
        for entry in named_files(inventory):
            status = (root / entry.path).lstat()
            device = status.st_dev
            identity = os.major(device), os.minor(device), status.st_ino
            self._inodes[identity] = entry.path
            self._paths[os.fsencode(entry.path)] = entry.path

    def look(self, pids: Iterable[int]) -> None:
        """Take note of what processes have touched since the last look.

        Processes that are gone, or that hide from their user, are left out.
        """
        found: dict[str, list[Touch]] = {}
        self._last = set(pids)
        for pid in sorted(self._last):
            # Gone, or hidden.
            with contextlib.suppress(OSError):
                self._look_at(pid, found)
        for path, touches in found.items():
            touches.sort(key=lambda touch: touch.first)
            self.touches.setdefault(path, []).extend(touches)

    def brief(self) -> set[str]:
        """Return the files of which a good part may have been touched unseen.

        All processes that had them mapped ended after a few looks.
        """
        return {
            path
            for path, pids in self._users.items()
            if not pids & self._last
            and max(self._looks[pid] for pid in pids) < _ENOUGH_LOOKS
        }

    def _look_at(self, pid: int, found: dict[str, list[Touch]]) -> None:
        mappings = [*self._mappings((PROC / str(pid) / "maps").read_bytes())]
        if not mappings:
            return
        self._looks[pid] += 1
        for mapping in mappings:
            self._users.setdefault(mapping.path, set()).add(pid)
        with (PROC / str(pid) / "pagemap").open("rb", buffering=0) as table:
            for mapping in mappings:
                count = mapping.end - mapping.start
                raw = os.pread(
                    table.fileno(), count * _ENTRY_BYTES, mapping.start * _ENTRY_BYTES
                )
                entries = np.frombuffer(raw, dtype=np.uint64) >> np.uint64(
                    _PRESENT_OR_SWAPPED
                )
                new = self._new_pages(pid, mapping, entries != 0)
                found.setdefault(mapping.path, []).extend(_touches(mapping, new))

    def _mappings(self, table: bytes) -> Iterator[_Mapping]:
        for line in table.splitlines():
            match = _MAPPING.fullmatch(line)
            if match is None or b"r" not in match["access"]:
                continue
            path = self._path_of(match)
            if path is not None:
                yield _Mapping(
                    path=path,
                    start=int(match["start"], 16) // mmap.PAGESIZE,
                    end=int(match["end"], 16) // mmap.PAGESIZE,
                    offset=int(match["offset"], 16) // mmap.PAGESIZE,
                    is_code=b"x" in match["access"],
                )

    def _path_of(self, match: re.Match[bytes]) -> str | None:
        """Return the file of a mapping.

        The inode tells it in any mount namespace, the path on file systems that show
        mappings under another device (overlayfs).
        """
        major, minor = int(match["major"], 16), int(match["minor"], 16)
        path = self._inodes.get((major, minor, int(match["inode"])))
        if path is not None:
            return path
        for prefix in self._prefixes:
            if match["path"].startswith(prefix + b"/"):
                return self._paths.get(match["path"][len(prefix) + 1 :])
        return None

    def _new_pages(
        self, pid: int, mapping: _Mapping, present: NDArray[np.bool_]
    ) -> NDArray[np.intp]:
        """Return the pages of a mapping that weren't there at the last look."""
        key = pid, mapping.path, mapping.start
        seen = self._seen.get(key)
        if seen is None or len(seen) != len(present):
            seen = np.zeros(len(present), dtype=np.bool_)
        self._seen[key] = present | seen
        return np.flatnonzero(present & ~seen)


def _touches(mapping: _Mapping, pages: NDArray[np.intp]) -> Iterator[Touch]:
    """Yield pages of a mapping by the stretches of addresses that faults map."""
    if not len(pages):
        return
    stretches = (pages + mapping.start) // AROUND_PAGES
    code_end = mapping.offset + mapping.end - mapping.start
    for group in np.split(pages, np.flatnonzero(np.diff(stretches)) + 1):
        yield Touch(
            first=int(group[0]) + mapping.offset,
            last=int(group[-1]) + mapping.offset,
            code_end=code_end if mapping.is_code else None,
        )

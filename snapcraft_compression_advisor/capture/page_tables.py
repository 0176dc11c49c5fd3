"""Which pages of a payload's files a launch touches or reads, and what a mount reads.

A page that a process touches in a mapping comes into its page table, from the cache or
from storage. ``/proc/PID/pagemap`` shows that to whoever runs the process, as root or
not. What the kernel only read ahead isn't in any page table. What processes read by
system calls isn't either: if the kernel reports these calls, they say it.

A directory's file system reads other stretches around a page than squashfs does, up to
megabytes on some disks. So the reads of a mount are worked out from what was touched:
how the kernel reads around a page fault (``do_sync_mmap_readahead`` in Linux's
``mm/filemap.c``), ahead (``page_cache_async_ra`` in ``mm/readahead.c``), and in whole
blocks (``squashfs_readahead`` in ``fs/squashfs/file.c``).
docs/study/directory-recordings.md compares the result with recordings from mounts.
"""

from __future__ import annotations

import contextlib
import mmap
import os
import re
import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..payload.inventory import Inventory
from .call_notices import HeldCall
from .mount import UBUNTU_READ_AHEAD_KB, kernel_release
from .page_cache import BLOCK_PAGES, named_files

_PROC = Path("/proc")

_READS_CODE_FORWARD = (6, 17)
"""The release from which faults in code read from their page on, no further than the
mapping reaches. Earlier ones read to both sides, as everywhere else."""

AROUND_PAGES = max(1, 64 * 1024 // mmap.PAGESIZE)
"""With a page, the kernel maps its cached neighbours in 64 KiB of address space
(``fault_around_bytes`` of Linux's ``mm/memory.c``)."""

_WINDOW_PAGES = max(1, UBUNTU_READ_AHEAD_KB * 1024 // mmap.PAGESIZE)
"""That one fault reads."""

_DESCRIPTOR_BITS = 0xFFFFFFFF
"""Of an argument; the kernel ignores the others."""

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

    :param last: at most 15 pages later than the first, but for a read.
    :param code_end: for a mapping of code, the page behind it; else ``None``.
    :param is_read: whether a system call read them instead.
    :param is_tail: whether it is where a writable mapping ends. The loader fills the
        rest of that page with zeros, before it does anything else with the mapping.
    """

    first: int
    last: int
    code_end: int | None = None
    is_read: bool = False
    is_tail: bool = False

    @property
    def middle(self) -> int:
        """The page in the middle of those that may have faulted."""
        return (self.first + self.last) // 2


@dataclass(frozen=True, slots=True)
class _Mapping:
    """A mapping of one of the payload's files; addresses and offset in pages."""

    path: str
    start: int
    end: int
    offset: int
    is_code: bool
    is_writable: bool


class PageTables:
    """Looks at the page tables of processes, again and again.

    :param root: the payload's directory, as processes see it or by its files' inodes.

    ``touches`` has, for each file that was mapped or seen to be read, what was touched
    or read, in the order in which it was seen; within one look by its place in the
    file.
    """

    def __init__(self, root: Path, inventory: Inventory) -> None:
        self.touches: dict[str, list[Touch]] = {}
        self._prefixes = {os.fsencode(path) for path in (root, root.resolve())}
        self._paths: dict[bytes, str] = {}
        self._inodes: dict[tuple[int, int, int], str] = {}
        self._seen: dict[tuple[int, str, int], NDArray[np.bool_]] = {}
        self._raw: dict[tuple[int, _Mapping], bytes] = {}
        self._parsed: dict[bytes, _Mapping | None] = {}
        self._lock = threading.Lock()
        self._has_ended = False
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
        with self._lock:
            self._look_at_all(pids)

    def notice(self, call: HeldCall) -> None:
        """Take note of what a system call reads, or of all before a process ends.

        :raises OSError: if the process is gone, or hides from its user.
        """
        with self._lock:
            if self._has_ended:
                return
            if call.name in ("read", "pread64"):
                self._read(call)
            else:
                status = (_PROC / f"{call.thread}/status").read_text(errors="replace")
                process = status.partition("\nTgid:")[2].split(maxsplit=1)[0]
                self._look_at_all([int(process)])

    def end(self) -> None:
        """Take no further notice: the launch has ended, and its processes will."""
        with self._lock:
            self._has_ended = True

    def _look_at_all(self, pids: Iterable[int]) -> None:
        found: dict[str, list[Touch]] = {}
        for pid in sorted(pids):
            # Gone, or hidden.
            with contextlib.suppress(OSError):
                self._look_at(pid, found)
        for path, touches in found.items():
            touches.sort(key=lambda touch: (not touch.is_tail, touch.first))
            self.touches.setdefault(path, []).extend(touches)

    def _read(self, call: HeldCall) -> None:
        number, _, length, offset, *_ = call.arguments
        descriptor = number & _DESCRIPTOR_BITS
        status = (_PROC / f"{call.thread}/fd/{descriptor}").stat()
        device = status.st_dev
        path = self._inodes.get((os.major(device), os.minor(device), status.st_ino))
        if path is None:
            return
        if call.name == "read":
            state = (_PROC / f"{call.thread}/fdinfo/{descriptor}").read_bytes()
            offset = int(state.split(maxsplit=2)[1])
        end = min(offset + length, status.st_size)
        if offset < end:
            read = Touch(
                first=offset // mmap.PAGESIZE,
                last=(end - 1) // mmap.PAGESIZE,
                is_read=True,
            )
            touches = self.touches.setdefault(path, [])
            if touches[-1:] != [read]:
                touches.append(read)

    def _look_at(self, pid: int, found: dict[str, list[Touch]]) -> None:
        mappings = [*self._mappings((_PROC / str(pid) / "maps").read_bytes())]
        if not mappings:
            return
        with (_PROC / str(pid) / "pagemap").open("rb", buffering=0) as table:
            for mapping in mappings:
                count = mapping.end - mapping.start
                raw = os.pread(
                    table.fileno(), count * _ENTRY_BYTES, mapping.start * _ENTRY_BYTES
                )
                found.setdefault(mapping.path, [])
                if raw == self._raw.get((pid, mapping)):
                    continue
                self._raw[pid, mapping] = raw
                entries = np.frombuffer(raw, dtype=np.uint64) >> np.uint64(
                    _PRESENT_OR_SWAPPED
                )
                new = self._new_pages(pid, mapping, entries != 0)
                found[mapping.path].extend(_touches(mapping, new))

    def _mappings(self, table: bytes) -> Iterator[_Mapping]:
        for line in table.splitlines():
            if line not in self._parsed:
                self._parsed[line] = self._mapping(line)
            mapping = self._parsed[line]
            if mapping is not None:
                yield mapping

    def _mapping(self, line: bytes) -> _Mapping | None:
        match = _MAPPING.fullmatch(line)
        if match is None or b"r" not in match["access"]:
            return None
        path = self._path_of(match)
        if path is None:
            return None
        return _Mapping(
            path=path,
            start=int(match["start"], 16) // mmap.PAGESIZE,
            end=int(match["end"], 16) // mmap.PAGESIZE,
            offset=int(match["offset"], 16) // mmap.PAGESIZE,
            is_code=b"x" in match["access"],
            is_writable=b"w" in match["access"],
        )

    def _path_of(self, match: re.Match[bytes]) -> str | None:
        """Return the file of a mapping, by its inode in any mount namespace.

        On file systems that show mappings under another device (overlayfs), the path
        has it.
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
    last = mapping.end - mapping.start - 1
    if mapping.is_writable and len(pages) and pages[-1] == last:
        page = last + mapping.offset
        yield Touch(first=page, last=page, is_tail=True)
        pages = pages[:-1]
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


def reads_code_forward() -> bool:
    """Return the way this kernel reads around faults in code."""
    return kernel_release() >= _READS_CODE_FORWARD


def mount_blocks(
    touches: Iterable[Touch], *, size_bytes: int, code_forward: bool
) -> set[int]:
    """Return the blocks of a file that a mount with Ubuntu's read-ahead reads.

    The first block of a mapped file counts in any case: who maps one has looked at its
    head.

    :param touches: in their order.
    :param code_forward: see :func:`reads_code_forward`.
    """
    touches = [*touches]
    is_mapped = not touches or not all(touch.is_read for touch in touches)
    file = _File(
        blocks={0} if is_mapped else set(),
        last_page=(size_bytes - 1) // mmap.PAGESIZE,
        code_forward=code_forward,
    )
    for touch in touches:
        if touch.first <= file.last_page:
            file.touch(touch)
    return file.blocks


def _hits(touch: Touch, mark: int) -> bool:
    """Return whether a page with a mark was used itself.

    The kernel leaves such pages out when it maps those around a fault
    (``next_uptodate_folio`` in ``mm/filemap.c``). So if several pages came together,
    it most likely wasn't, but for a file's second page: the loader's tables are there.
    """
    is_seen = touch.is_read or touch.first == touch.last or mark == 1
    return is_seen and touch.first <= mark <= touch.last


@dataclass(slots=True, kw_only=True)
class _File:
    """A file of a mount, with what of it was read by now.

    :param marks: pages that make the kernel read ahead when they are touched. The
        loader's read of a file's head leaves one on the second page.
    """

    last_page: int
    code_forward: bool
    blocks: set[int]
    marks: set[int] = field(default_factory=lambda: {1})
    read_up_to: int = 0

    def touch(self, touch: Touch) -> None:
        """Read what the kernel reads at a fault in these pages, or a read of them."""
        if touch.is_read:
            self._read_missing(touch.first, min(touch.last, self.last_page))
        else:
            page = min(touch.middle, self.last_page)
            if page // BLOCK_PAGES not in self.blocks:
                self._read_around(page, touch.code_end)
        while hit := [mark for mark in self.marks if _hits(touch, mark)]:
            self.marks -= {*hit}
            for mark in hit:
                self._read_ahead(mark // BLOCK_PAGES + 1)

    def _read_missing(self, first: int, last: int) -> None:
        """Read from the first page on that isn't there yet.

        A read that goes on from the one before, or begins the file, leaves a mark
        behind it. Where what comes before is cached, the kernel reads a whole window.
        """
        page = first
        while page <= last and page // BLOCK_PAGES in self.blocks:
            page = (page // BLOCK_PAGES + 1) * BLOCK_PAGES
        if page <= last:
            goes_on = first in (self.read_up_to, self.read_up_to + 1)
            before = page // BLOCK_PAGES - 1 in self.blocks
            end = last + 1
            if before and page % BLOCK_PAGES == 0:
                end = max(end, page + _WINDOW_PAGES)
            self._read(page, end)
            if goes_on or before:
                self.marks.add(end)
        self.read_up_to = last

    def _read_around(self, page: int, code_end: int | None) -> None:
        if code_end is not None and self.code_forward:
            self._read(page, min(page + _WINDOW_PAGES, code_end))
        else:
            start = max(0, page - _WINDOW_PAGES // 2)
            self._read(start, start + _WINDOW_PAGES)

    def _read_ahead(self, block: int) -> None:
        """Read from the first block that isn't there yet, if it is this or the next."""
        block += block in self.blocks
        start = block * BLOCK_PAGES
        if block not in self.blocks and start <= self.last_page:
            self._read(start, start + _WINDOW_PAGES)
            self.marks.add(start)

    def _read(self, start: int, end: int) -> None:
        """Read whole blocks; for a last block that is whole, one more, as squashfs."""
        first = start // BLOCK_PAGES
        pages = min(end, self.last_page + 1) - first * BLOCK_PAGES
        last = min(first + pages // BLOCK_PAGES, self.last_page // BLOCK_PAGES)
        self.blocks.update(range(first, last + 1))

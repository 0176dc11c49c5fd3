"""Which data blocks a mount reads for pages that a launch touches in mappings.

A directory's file system reads other stretches around a page than squashfs does, up to
megabytes on some disks. So the reads of a mount are worked out from what was touched:
how the kernel reads around a page fault (``do_sync_mmap_readahead`` in Linux's
``mm/filemap.c``), ahead (``page_cache_async_ra`` in ``mm/readahead.c``), and in whole
blocks (``squashfs_readahead`` in ``fs/squashfs/file.c``).
docs/study/directory-recordings.md compares the result with recordings from mounts.
"""

from __future__ import annotations

import mmap
import platform
import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from ..codecs.codec import DATA_BLOCK_BYTES
from .page_tables import Touch

BLOCK_PAGES = max(1, DATA_BLOCK_BYTES // mmap.PAGESIZE)

_READS_CODE_FORWARD = (6, 17)
"""The release from which faults in code read from their page on, no further than the
mapping reaches. Earlier ones read to both sides, as everywhere else."""


def reads_code_forward(release: str | None = None) -> bool:
    """Return how this kernel, or another release, reads around faults in code."""
    numbers = re.match(r"(\d+)\.(\d+)", release or platform.release())
    return numbers is not None and (int(numbers[1]), int(numbers[2])) >= (
        _READS_CODE_FORWARD
    )


def mount_blocks(
    touches: Iterable[Touch],
    *,
    size_bytes: int,
    read_ahead_kb: int,
    code_forward: bool,
) -> set[int]:
    """Return the blocks of a file that a mount with some read-ahead reads.

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
        window=max(1, read_ahead_kb * 1024 // mmap.PAGESIZE),
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

    :param window: pages that one fault reads.
    :param marks: pages that make the kernel read ahead when they are touched. The
        loader's read of a file's head leaves one on the second page.
    """

    last_page: int
    window: int
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
        if self.window == 1:
            return
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
                end = max(end, page + self.window)
            self._read(page, end)
            if goes_on or before:
                self.marks.add(end)
        self.read_up_to = last

    def _read_around(self, page: int, code_end: int | None) -> None:
        if code_end is not None and self.code_forward:
            self._read(page, min(page + self.window, code_end))
        else:
            start = max(0, page - self.window // 2)
            self._read(start, start + self.window)

    def _read_ahead(self, block: int) -> None:
        """Read from the first block that isn't there yet, if it is this or the next."""
        block += block in self.blocks
        start = block * BLOCK_PAGES
        if block not in self.blocks and start <= self.last_page:
            self._read(start, start + self.window)
            self.marks.add(start)

    def _read(self, start: int, end: int) -> None:
        """Read whole blocks; for a last block that is whole, one more, as squashfs."""
        first = start // BLOCK_PAGES
        pages = min(end, self.last_page + 1) - first * BLOCK_PAGES
        last = min(first + pages // BLOCK_PAGES, self.last_page // BLOCK_PAGES)
        self.blocks.update(range(first, last + 1))

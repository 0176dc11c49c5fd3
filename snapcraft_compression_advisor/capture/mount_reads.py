"""Which data blocks a mount reads for pages that a launch touches in mappings.

A directory's file system reads other stretches around a page than squashfs does, up to
megabytes on some disks. So the reads of a mount are worked out from what was touched:
how the kernel reads around a page fault (``do_sync_mmap_readahead`` in Linux's
``mm/filemap.c``), ahead (``page_cache_async_ra`` in ``mm/readahead.c``), and in whole
blocks (``squashfs_readahead`` in ``fs/squashfs/file.c``). ``study/directory.py``
compares the result with recordings from mounts.
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
    """Tell how this kernel, or one of a given release, reads around faults in code."""
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
    """Return the blocks of a file that a mount reads.

    The first block counts in any case: who maps a file has looked at its head.

    :param touches: in their order.
    :param read_ahead_kb: of the mount.
    :param code_forward: see :func:`reads_code_forward`.
    """
    file = _File(
        last_page=(size_bytes - 1) // mmap.PAGESIZE,
        window=max(1, read_ahead_kb * 1024 // mmap.PAGESIZE),
        code_forward=code_forward,
    )
    for touch in touches:
        if touch.first <= file.last_page:
            file.touch(touch)
    return file.blocks


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
    blocks: set[int] = field(default_factory=lambda: {0})
    marks: set[int] = field(default_factory=lambda: {1})

    def touch(self, touch: Touch) -> None:
        """Read what the kernel reads at a fault in these pages."""
        page = min(touch.middle, self.last_page)
        if page // BLOCK_PAGES not in self.blocks:
            self._read_around(page, touch.code_end)
        if self.window == 1:
            return
        while hit := [mark for mark in self.marks if touch.first <= mark <= touch.last]:
            self.marks -= {*hit}
            for mark in hit:
                self._read_ahead(mark // BLOCK_PAGES + 1)

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

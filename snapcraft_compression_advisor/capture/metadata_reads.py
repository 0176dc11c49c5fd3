"""How many metadata blocks a launch reads from mounts of uncompressed images.

A look-up takes the block of the directory table that the name is in, or would be in,
and the block of the inode table of what it finds. squashfs keeps eight such blocks of a
mount (``SQUASHFS_CACHED_BLKS``) and reads a block again when it is gone from there
(Linux's ``fs/squashfs/{cache,namei,inode}.c``). So neither the number of files nor the
residency of anything tells how many are read. The kernel's trace does: each read of a
metadata block is a request for its first two bytes, and another for all of it
(``squashfs_read_data``), of which only that one has the middle of the block.

Tables have the same blocks of 8 KiB whatever the codec is, so the number is the same
for images with other codecs.
"""

from __future__ import annotations

import os
import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from ..squashfs.image import Image
from .kernel_trace import KernelTrace, kernel_trace

_EVENT = "block/block_bio_queue"
_REQUEST = re.compile(
    r": block_bio_queue: (?P<device>\d+,\d+) R\w* (?P<sector>\d+) \+ (?P<count>\d+) "
)
_SECTOR_BYTES = 512
_MINOR_BITS = 20
"""``MINORBITS`` of Linux's ``include/linux/kdev_t.h``, which trace filters go by."""
_BUFFER_KB = 16_384
"""Two hundred thousand requests; launches were seen to make some thousands."""


class MetadataReads:
    """What was read from some mounts since they were watched."""

    def __init__(self, trace: KernelTrace) -> None:
        self._trace = trace

    def count(self, root: Path, image: Path) -> int | None:
        """Return how many metadata blocks were read from a mount.

        :param image: that is mounted there, uncompressed.
        :returns: ``None`` if the kernel doesn't tell.
        """
        text = self._trace.whole_text()
        if text is None:
            return None
        device = root.stat().st_dev
        name = f"{os.major(device)},{os.minor(device)}"
        with Image.open(image) as opened:
            return count_blocks(text, name, opened.metadata_spans)


@contextmanager
def metadata_reads(roots: Sequence[Path]) -> Iterator[MetadataReads]:
    """Watch mounts of uncompressed images.

    :param roots: where they are mounted, by the kernel.
    """
    devices = [root.stat().st_dev for root in roots]
    chosen = " || ".join(
        f"dev == {os.major(device) << _MINOR_BITS | os.minor(device)}"
        for device in devices
    )
    with kernel_trace({_EVENT: chosen}, buffer_kb=_BUFFER_KB) as trace:
        yield MetadataReads(trace)


def count_blocks(text: str, device: str, spans: Sequence[tuple[int, int]]) -> int:
    """Count the reads of metadata blocks in a trace.

    :param device: numbers of the device that is mounted, as in the trace.
    :param spans: where each metadata block begins in the image, and where it ends.
    """
    middles = sorted((start + end) // 2 for start, end in spans)
    count = 0
    for request in _REQUEST.finditer(text):
        if request["device"] == device:
            start = int(request["sector"]) * _SECTOR_BYTES
            end = start + int(request["count"]) * _SECTOR_BYTES
            count += bisect_left(middles, end) - bisect_left(middles, start)
    return count

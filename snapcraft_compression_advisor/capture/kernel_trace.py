"""The kernel's trace events, in a buffer of our own, and what they say of mounts.

Buffers are ``instances`` of tracefs (Linux's ``Documentation/trace/ftrace.rst``). An
event costs a microsecond.

How many metadata blocks a launch reads, neither the number of files nor the residency
of anything tells. A look-up takes the block of the directory table that the name is in,
or would be in, and the block of the inode table of what it finds. squashfs keeps eight
such blocks of a mount (``SQUASHFS_CACHED_BLKS``) and reads a block again when it is
gone from there (Linux's ``fs/squashfs/{cache,namei,inode}.c``). In the trace, each read
of a metadata block is a request for its first two bytes, and another for all of it
(``squashfs_read_data``), of which only that one has the middle of the block. Tables
have the same blocks of 8 KiB whatever the codec is, so the number that is read from an
uncompressed image is that of images with other codecs.
"""

from __future__ import annotations

import os
import re
import tempfile
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from ..core.deferred_signals import deferred_signals
from ..core.errors import StorageError
from ..core.scratch import PREFIX, unmount
from ..squashfs.image import Image
from .mount import mount_point, virtual_mount

PLACES = (Path("/sys/kernel/tracing"), Path("/sys/kernel/debug/tracing"))
"""Where tracefs may be mounted."""

_LOST = re.compile(r"^# entries-in-buffer/entries-written: (\d+)/(\d+)", re.MULTILINE)
_BLOCK_EVENT = "block/block_bio_queue"
_REQUEST = re.compile(
    r": block_bio_queue: (?P<device>\d+,\d+) R\w* (?P<sector>\d+) \+ (?P<count>\d+) "
)
_SECTOR_BYTES = 512
_MINOR_BITS = 20
"""``MINORBITS`` of Linux's ``include/linux/kdev_t.h``, which trace filters go by."""
_BUFFER_KB = 16_384
"""Two hundred thousand requests; launches were seen to make some thousands."""


class KernelTrace:
    """What the kernel wrote of its events since the trace began.

    :param instance: the directory of its buffer; None if the kernel doesn't trace for
        us.
    """

    def __init__(self, instance: Path | None) -> None:
        self._instance = instance

    def text(self) -> str | None:
        """Return all lines, in order; None without a trace."""
        if self._instance is None:
            return None
        return (self._instance / "trace").read_text(errors="replace")

    def whole_text(self) -> str | None:
        """Return the same, but None too if the buffer was too small."""
        text = self.text()
        counts = _LOST.search(text) if text is not None else None
        return text if counts and counts[1] == counts[2] else None


@contextmanager
def kernel_trace(
    events: Mapping[str, str],
    *,
    places: tuple[Path, ...] = PLACES,
    buffer_kb: int | None = None,
) -> Iterator[KernelTrace]:
    """Trace events of all of the system, as root and if the kernel does that.

    :param events: with their groups (``sched/sched_process_exit``), and a filter of
        each, which may be empty.
    :param places: where tracefs may be mounted; else it is, for the time.
    :param buffer_kb: room for events of each processor, else the kernel's own choice.
    """
    with ExitStack() as stack:
        signals = stack.enter_context(deferred_signals())
        instance = None
        with suppress(OSError, StorageError):
            instance = _started(stack, events, places, buffer_kb)
        with signals.delivered():
            yield KernelTrace(instance)


def _started(
    stack: ExitStack,
    events: Mapping[str, str],
    places: tuple[Path, ...],
    buffer_kb: int | None,
) -> Path:
    """Begin a trace that ends with a stack."""
    root = next((each for each in places if (each / "instances").is_dir()), None)
    if root is None:
        root = stack.enter_context(mount_point())
        virtual_mount("tracefs", root)
        stack.callback(unmount, str(root))
    instance = Path(tempfile.mkdtemp(prefix=PREFIX, dir=root / "instances"))
    stack.callback(_remove, instance)
    (instance / "trace_clock").write_text("mono")
    if buffer_kb is not None:
        (instance / "buffer_size_kb").write_text(str(buffer_kb))
    for event, chosen in events.items():
        if chosen:
            (instance / f"events/{event}/filter").write_text(chosen)
        (instance / f"events/{event}/enable").write_text("1")
    return instance


def _remove(instance: Path) -> None:
    """End a trace; the kernel switches its events off."""
    with suppress(OSError):
        instance.rmdir()


class MetadataReads:
    """What was read from some mounts since they were watched."""

    def __init__(self, trace: KernelTrace) -> None:
        self._trace = trace

    def count(self, root: Path, image: Path) -> int | None:
        """Return how many metadata blocks were read from a mount.

        :param image: that is mounted there, uncompressed.
        :returns: None if the kernel doesn't tell.
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
    with kernel_trace({_BLOCK_EVENT: chosen}, buffer_kb=_BUFFER_KB) as trace:
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

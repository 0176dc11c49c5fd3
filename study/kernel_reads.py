"""Cold reads of squashfs mounts, timed on the running kernel.

Every mount is a new one, so nothing of it is in the page cache; its image is in memory.
"""

from __future__ import annotations

import ctypes
import json
import mmap
import os
import random
import time
from collections import defaultdict
from collections.abc import Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

from snapcraft_compression_advisor.capture.loop_device import (
    device_read_ahead,
    loop_device,
)
from snapcraft_compression_advisor.squashfs.image import Image

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

PAGE_BYTES = 4096
PARTS = ("page", "next", "read", "fault")
_USUAL_KB = 128
_LIBC = ctypes.CDLL(None, use_errno=True)
_READ_ONLY = 1
_TOUCHED_SHARE = 0.25
"""Of a file's pages, what a launch touches of a library: roughly."""
_SECTOR_BYTES = 512
_WARM_TOUCHES = 3
_US_PER_S = 1e6

Line = dict[str, object]
Touches = Sequence[tuple[str, Sequence[int]]]
"""Paths, and the pages of each that are touched."""


def mount(
    source: str, at: str, kind: str, *, flags: int = 0, options: str = ""
) -> None:
    """Attach a file system, as the system call of this name does.

    :raises OSError: if the kernel refuses.
    """
    if _LIBC.mount(
        source.encode(),
        at.encode(),
        kind.encode() or None,
        ctypes.c_ulong(flags),
        options.encode() or None,
    ):
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code), at)


@contextmanager
def mounted(
    image: Path, threads: str, *, read_ahead_kb: int = _USUAL_KB
) -> Iterator[tuple[Path, str]]:
    """Mount an image, with nothing of it in the page cache.

    :return: its root, and the name of its device.
    """
    root = image.parent / f"root-{time.monotonic_ns()}"
    root.mkdir()
    options = f"threads={threads}" if threads else ""
    with image.open("rb") as file, loop_device(file.fileno()) as device:
        mount(str(device), str(root), "squashfs", flags=_READ_ONLY, options=options)
    try:
        with device_read_ahead(root, read_ahead_kb):
            yield root, device.name
    finally:
        _LIBC.umount2(str(root).encode(), 0)
        root.rmdir()


def times(images: Mapping[str, Path], threads: str, rounds: int) -> Iterator[Line]:
    """Time cold reads of single blocks: each codec and way in turn, block by block.

    The least of the rounds counts: a host that is shared only ever adds to it.
    """
    sizes = dict(_block_sizes(images))
    names = sorted({name for _, name in sizes})
    seconds: dict[tuple[str, str, str], list[float]] = defaultdict(list)
    for number in range(rounds):
        order = list(names)
        random.Random(number).shuffle(order)  # noqa: S311 # an order, not a secret
        with ExitStack() as stack:
            roots = {
                (codec, way): stack.enter_context(mounted(image, threads))[0]
                for codec, image in images.items()
                for way in WAYS
            }
            for root, name in product(roots.values(), names):
                (root / name).stat()
            for name, ((codec, way), root) in product(order, roots.items()):
                for part, took_s in WAYS[way](root / name):
                    seconds[codec, name, part].append(took_s)
    for (codec, name), (raw_bytes, stored_bytes) in sorted(sizes.items()):
        yield {
            "kind": "time",
            "codec": codec,
            "block": name,
            "raw_bytes": raw_bytes,
            "stored_bytes": stored_bytes,
            **{
                f"{part}_us": min(seconds[codec, name, part]) * _US_PER_S
                for part in PARTS
            },
        }


def _block_sizes(
    images: Mapping[str, Path],
) -> Iterator[tuple[tuple[str, str], tuple[int, int]]]:
    """Yield raw and stored bytes of the files, each of which is one block."""
    for codec, image in images.items():
        with Image.open(image) as opened:
            for entry in opened.walk():
                if entry.blocks is not None:
                    (block,) = entry.blocks
                    yield (codec, entry.path), (block.raw_bytes, block.stored_bytes)


def _time_pages(path: Path) -> Iterator[tuple[str, float]]:
    """Read a page without read-ahead, then the next one of the same block."""
    descriptor = os.open(path, os.O_RDONLY)
    buffer = bytearray(PAGE_BYTES)
    os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_RANDOM)
    for part, offset in (("page", 0), ("next", PAGE_BYTES)):
        start = time.perf_counter()
        os.preadv(descriptor, [buffer], offset)
        yield part, time.perf_counter() - start
    os.close(descriptor)


def _time_read(path: Path) -> Iterator[tuple[str, float]]:
    """Read a page with the usual read-ahead."""
    descriptor = os.open(path, os.O_RDONLY)
    buffer = bytearray(PAGE_BYTES)
    start = time.perf_counter()
    os.preadv(descriptor, [buffer], 0)
    yield "read", time.perf_counter() - start
    os.close(descriptor)


def _time_fault(path: Path) -> Iterator[tuple[str, float]]:
    """Touch a page of a mapped file, and take off the least of what it takes again."""
    cold_s, *warm_s = (_fault_s(path) for _ in range(1 + _WARM_TOUCHES))
    yield "fault", cold_s - min(warm_s)


def _fault_s(path: Path) -> float:
    with path.open("rb") as file:
        mapping = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
        middle = len(mapping) // 2
        start = time.perf_counter()
        mapping[middle]
        took_s = time.perf_counter() - start
        mapping.close()
    return took_s


WAYS: dict[str, Callable[[Path], Iterator[tuple[str, float]]]] = {
    "page": _time_pages,
    "read": _time_read,
    "fault": _time_fault,
}


def launches(
    plan: Path, images: Mapping[str, Path], threads: str, rounds: Mapping[str, int]
) -> Iterator[Line]:
    """Time the blocks of a recorded launch: cold, and the least from the page cache.

    :param plan: the JSON of :data:`Touches`, named after the application.
    :param rounds: by codec.
    """
    touches = json.loads(plan.read_text(encoding="utf-8"))
    most = range(max(rounds.values()))
    for number, (codec, image) in product(most, images.items()):
        if number >= rounds[codec]:
            continue
        with mounted(image, threads) as (root, device):
            before = _read_bytes_of(device)
            cold_s = _seconds(root, touches)
            read_bytes = _read_bytes_of(device) - before
            warm_s = min(_seconds(root, touches) for _ in range(_WARM_TOUCHES))
        yield {
            "kind": "launch",
            "application": plan.stem,
            "codec": codec,
            "round": number,
            "cold_s": cold_s,
            "warm_s": warm_s,
            "read_bytes": read_bytes,
        }


def _seconds(root: Path, touches: Touches) -> float:
    start = time.perf_counter()
    _read_pages(root, touches)
    return time.perf_counter() - start


def _read_pages(root: Path, touches: Touches) -> None:
    """Read a byte of pages, without read-ahead.

    In user-mode Linux, mapping files and faulting in pages that are in the page cache
    takes longer than decompressing their blocks with lzo.
    """
    for path, pages in touches:
        descriptor = os.open(root / path, os.O_RDONLY)
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_RANDOM)
        for page in pages:
            os.pread(descriptor, 1, page * PAGE_BYTES)
        os.close(descriptor)


def touch(root: Path, touches: Touches) -> None:
    """Touch pages of mapped files."""
    for path, pages in touches:
        with (root / path).open("rb") as file:
            mapping = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
            for page in pages:
                mapping[page * PAGE_BYTES]
            mapping.close()


def pairs(images: Mapping[str, Path], threads: str, rounds: int) -> Iterator[Line]:
    """Time two processes that read a file each: from one mount, and from one each.

    A mount that is configured so has one decompressor. So two mounts show what a mount
    with two would do, if there are two processors.
    """
    for codec, image in images.items():
        with Image.open(image) as opened:
            files = [entry.path for entry in opened.walk() if entry.blocks is not None]
        files = sorted(files)
        for number, mounts in product(range(rounds), (1, 2)):
            first, second = files[2 * number % len(files) :][:2]
            with ExitStack() as stack:
                roots = [
                    stack.enter_context(mounted(image, threads))[0]
                    for _ in range(mounts)
                ]
                paths = [roots[0] / first, roots[-1] / second]
                for path in paths:
                    path.stat()
                took_s = run_all([partial(_fault_pages, path) for path in paths])
            yield {
                "kind": "pair",
                "codec": codec,
                "mounts": mounts,
                "round": number,
                "seconds": took_s,
            }


def run_all(works: Sequence[Callable[[], None]]) -> float:
    """Run a process for each work, all from one moment on; return seconds."""
    ready, go = os.pipe()
    children = []
    for work in works:
        child = os.fork()
        if not child:
            os.close(go)
            os.read(ready, 1)
            work()
            os._exit(0)
        children.append(child)
    os.close(ready)
    start = time.perf_counter()
    os.close(go)
    for child in children:
        os.waitpid(child, 0)
    return time.perf_counter() - start


def _read_bytes_of(device: str) -> int:
    """Return what was read of a device since it is there."""
    fields = Path(f"/sys/block/{device}/stat").read_text(encoding="ascii").split()
    return int(fields[2]) * _SECTOR_BYTES


def _fault_pages(path: Path) -> None:
    """Touch some pages of a mapped file, in each of its blocks, in a random order."""
    pages = range(path.stat().st_size // PAGE_BYTES)
    chance = random.Random(path.name)  # noqa: S311 # an order, not a secret
    chosen = chance.sample(pages, int(len(pages) * _TOUCHED_SHARE))
    touch(path.parent, [(path.name, chosen)])

"""The page cache: what of a mounted payload is in it, emptying it, reading into it.

Neither opening a file nor mapping it reads its data, so looking changes nothing; it
brings inodes and directories into the caches only.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ..codecs.codec import DATA_BLOCK_BYTES
from ..core.errors import BadDataError, StorageError, ToolError
from ..core.units import first_of
from ..launch.fit import FittedProfile, fit_profile
from ..launch.launch_set import LaunchFile, filled_blocks
from ..launch.profile import LaunchProfile, ProfileFile, is_utf8
from ..payload.inventory import Entry, Inventory
from ..payload.scan import file_beneath
from ..payload.source import Payload
from ..squashfs.entry import EntryKind
from .mount import CAP_FOWNER, has_capability

Storage = Literal["memory", "disk"]

_LIBC = ctypes.CDLL(None, use_errno=True)
_MOSTLY = 0.5

BLOCK_PAGES = max(1, DATA_BLOCK_BYTES // mmap.PAGESIZE)
_FIRST_READ_BYTES = DATA_BLOCK_BYTES - mmap.PAGESIZE
"""All of a block but its last page. It brings in the whole block.

For a read of a whole block ``squashfs_readahead`` (Linux's ``fs/squashfs/file.c``)
rounds up to two, and the next block would be read as well.
"""

_OVERFLOW_USER = 65534
"""Owner of files whose user a namespace doesn't have (``overflowuid``)."""
_USER_MAP = Path("/proc/self/uid_map")
_ALL_USERS = str(2**32 - 1)
_DROP_CACHES = Path("/proc/sys/vm/drop_caches")


def can_drop_caches() -> bool:
    """Return whether this process may drop the caches of the whole system."""
    return os.access(_DROP_CACHES, os.W_OK, effective_ids=True)


def drop_caches(control: Path = _DROP_CACHES) -> None:
    """Drop all clean pages, directory entries and inodes from the caches.

    :raises ToolError: if this process may not.
    """
    os.sync()
    try:
        control.write_text("3\n", encoding="ascii")
    except OSError as error:
        message = f"Cannot drop the system's caches: {error.strerror}"
        raise ToolError(message, resolution="Run the command as root.") from error


def drop_file_cache(path: Path) -> None:
    """Drop one file's pages from the cache; its owner may always do that.

    :raises StorageError: if the file can't be written back to its disk.
    """
    try:
        with path.open("rb") as file:
            os.fsync(file.fileno())  # a page that isn't written back stays
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    except OSError as error:
        message = f"Cannot flush {str(path)!r} to its disk: {error.strerror}"
        raise StorageError(message, resolution="Check the disk.") from error


def evict(root: Path, inventory: Inventory) -> None:
    """Drop a payload's files from the cache; their owner may always do that.

    :param root: the payload's directory.
    :raises ToolError: if pages stay there: others map them, or they are on a file
        system in memory.
    :raises StorageError: if a file can't be read or written back.
    """
    left = []
    os.sync()  # dirty pages stay cached
    try:
        for entry in named_files(inventory):
            with file_beneath(root, entry.path) as descriptor:
                os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
                if resident_pages(descriptor).any():
                    left.append(entry.path)
    except OSError as error:
        message = f"Cannot evict {str(root)!r} from the page cache: {error.strerror}"
        raise StorageError(message, resolution="Check the disk.") from error
    if left:
        named = first_of([repr(path) for path in left])
        message = f"Files of the payload can't be evicted from the page cache: {named}"
        raise ToolError(
            message,
            resolution="Close the programs that use them. If the payload is in memory "
            "(tmpfs), copy it to a disk.",
        )


def check_visible(root: Path, inventory: Inventory) -> None:
    """Refuse a payload with files of which this user may not see the residency.

    :raises ToolError: if there is one.
    """
    for entry in named_files(inventory):
        path = root / entry.path
        if not _may_see(path.lstat(), str(path)):
            message = (
                f"{entry.path!r} belongs to another user, so the kernel doesn't tell "
                "which parts of it are in memory"
            )
            raise ToolError(
                message, resolution="Run as the owner of the payload, or as root."
            )


def resident_blocks(root: Path, inventory: Inventory) -> tuple[ProfileFile, ...]:
    """Return the data blocks of a mount of which any page is in the page cache.

    A file of several names counts once, under the first. Names that aren't UTF-8
    are left out, as no profile can hold them.

    :param root: where the payload is mounted.
    :return: sorted by path; files without resident blocks are left out.
    :raises ToolError: if this user may not see the residency of the files.
    :raises StorageError: if the mount lacks files of the inventory.
    """
    return tuple(
        ProfileFile(path=entry.path, size=entry.size_bytes, blocks=blocks)
        for entry in named_files(inventory)
        if (blocks := _resident_ranges(root, entry.path))
    )


def without_holes(
    payload: Payload, files: Iterable[ProfileFile]
) -> Iterator[ProfileFile]:
    """Yield files without their holes: reading these fills the cache from nowhere."""
    for file in files:
        ranges = ((first, last, 1.0) for first, last in file.blocks)
        if kept := filled_blocks(ranges, payload.data_ranges(file.path)):
            blocks = tuple((first, last) for first, last, _ in kept)
            yield file.model_copy(update={"blocks": blocks})


def without_blocks(
    files: Iterable[ProfileFile], left_out: Iterable[ProfileFile]
) -> Iterator[ProfileFile]:
    """Yield files without some of their blocks, and none that has no others."""
    out = {file.path: _numbers(file) for file in left_out}
    for file in files:
        if file.path not in out:
            yield file
            continue
        blocks = np.setdiff1d(_numbers(file), out[file.path])
        if len(blocks):
            yield file.model_copy(update={"blocks": block_runs(blocks)})


def _numbers(file: ProfileFile) -> NDArray[np.intp]:
    return np.concatenate([np.arange(first, last + 1) for first, last in file.blocks])


def storage_of(image: Path) -> Storage:
    """Return where a file is that was just dropped from the caches, by looking."""
    try:
        with image.open("rb") as file:
            share = resident_pages(file.fileno()).mean()
    except OSError as error:
        message = f"Cannot read the cache state of {str(image)!r}: {error.strerror}"
        raise StorageError(message, resolution="Check the disk.") from error
    return "memory" if share > _MOSTLY else "disk"


def resident_pages(descriptor: int) -> NDArray[np.bool_]:
    """Return for every page of a file whether it is in the page cache.

    :param descriptor: of a regular file.
    :raises OSError: if it can't be mapped.
    """
    size_bytes = os.fstat(descriptor).st_size
    if not size_bytes:
        return np.zeros(0, dtype=np.bool_)
    pages = np.zeros(-(-size_bytes // mmap.PAGESIZE), dtype=np.uint8)
    with mmap.mmap(descriptor, size_bytes, prot=mmap.PROT_READ) as mapping:
        # The array only lends its address, and is gone before the mapping.
        address = np.frombuffer(mapping, dtype=np.uint8).ctypes.data
        failed = _LIBC.mincore(
            ctypes.c_void_p(address),
            ctypes.c_size_t(size_bytes),
            ctypes.c_void_p(pages.ctypes.data),
        )
        code = ctypes.get_errno()
    if failed:
        raise OSError(code, os.strerror(code))
    resident: NDArray[np.bool_] = (pages & 1) != 0  # the other bits are reserved
    return resident


def named_files(inventory: Inventory) -> Iterator[Entry]:
    """Yield each file that has contents once, under the first name, sorted."""
    seen: set[int] = set()
    for path in sorted(inventory.entries):
        entry = inventory.entries[path]
        if entry.kind is not EntryKind.FILE or not entry.size_bytes:
            continue
        if entry.identity not in seen and is_utf8(path):
            seen.add(entry.identity)
            yield entry


def _resident_ranges(root: Path, path: str) -> tuple[tuple[int, int], ...]:
    place = f"{root}/{path}"
    try:
        with file_beneath(root, path) as descriptor:
            if not _may_see(os.fstat(descriptor), place):  # all would seem resident
                message = "Only root can see which parts of a file are in memory"
                raise ToolError(message, resolution="Run the command as root.")
            pages = np.flatnonzero(resident_pages(descriptor))
            return block_runs(pages // BLOCK_PAGES)
    except OSError as error:
        message = f"Cannot read the cache state of {place!r}: {error.strerror}"
        raise StorageError(
            message, resolution="Make sure that the mounted image holds this payload."
        ) from error


def _may_see(status: os.stat_result, path: str) -> bool:
    """Return whether this user may see which pages of a file are in the cache.

    That takes owning it, being allowed to write it, or CAP_FOWNER over its owner
    (``can_do_mincore`` in Linux's ``mm/mincore.c``).
    """
    if status.st_uid == os.geteuid() or os.access(path, os.W_OK, effective_ids=True):
        return True
    users = _USER_MAP.read_text(encoding="ascii").split()
    # A user namespace of a few users hides the owner of files of others.
    has_owner = status.st_uid != _OVERFLOW_USER or users == ["0", "0", _ALL_USERS]
    return has_capability(CAP_FOWNER) and has_owner


def block_runs(blocks: NDArray[np.intp]) -> tuple[tuple[int, int], ...]:
    """Return numbers in any order as ranges, first and last, ascending."""
    blocks = np.unique(blocks)
    if not len(blocks):
        return ()
    runs = np.split(blocks, np.flatnonzero(np.diff(blocks) != 1) + 1)
    return tuple((int(run[0]), int(run[-1])) for run in runs)


def fit_for_replay(profile: LaunchProfile, inventory: Inventory) -> FittedProfile:
    """Return the part of a profile that a payload holds.

    :raises BadDataError: if that is nothing.
    """
    fitted = fit_profile(profile, inventory)
    if not fitted.launch_set.files:
        message = "The payload contains none of the files in the launch profile"
        raise BadDataError(
            message, resolution="Use a profile of this snap, or record one."
        )
    return fitted


def replay(root: Path, files: Iterable[LaunchFile]) -> float:
    """Read the data blocks of a launch in its order, and nothing else.

    Blocks that the launch only may read are read too.

    :param root: where the payload is mounted.
    :param files: of :func:`fit_for_replay`; blocks beyond a file's end are left out.
    :return: seconds.
    :raises StorageError: if reading fails.
    """
    buffer = memoryview(bytearray(_FIRST_READ_BYTES))
    start = time.perf_counter()
    try:
        for file in files:
            with file_beneath(root, file.path) as descriptor:
                _read_blocks(descriptor, file, buffer)
    except OSError as error:
        message = f"Cannot read from the mount {str(root)!r}: {error.strerror}"
        raise StorageError(
            message, resolution="Check the kernel log (dmesg)."
        ) from error
    return time.perf_counter() - start


def _read_blocks(descriptor: int, file: LaunchFile, buffer: memoryview) -> None:
    # A read then brings in what it asks for, without reading on.
    os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_RANDOM)
    for first, last in file.blocks:
        for block in range(first, last + 1):
            offset = block * DATA_BLOCK_BYTES
            if not os.preadv(descriptor, [buffer], offset):
                return
            os.preadv(descriptor, [buffer[: mmap.PAGESIZE]], offset + len(buffer))

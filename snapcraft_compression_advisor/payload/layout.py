"""Data blocks as mksquashfs would lay them out."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..codecs.codec import DATA_BLOCK_BYTES
from .inventory import Entry, block_count
from .source import DirectoryPayload, Payload, SnapPayload

HEAD_BYTES = 4096
"""How much of files of equal length is compared before all of it is."""

_READ_BYTES = 1024 * 1024
_new_digest = partial(hashlib.blake2b, digest_size=16)


class DataBlock(NamedTuple):
    """One data block of a file.

    :param offset: bytes from the file's start.
    :param raw_bytes: its length, 1 to 131,072.
    """

    path: str
    offset: int
    raw_bytes: int


@dataclass(frozen=True, kw_only=True)
class Layout:
    """The data blocks that an image of a payload holds, each content once.

    A file is a run of blocks of 128 KiB and a shorter tail; files of equal content
    share their blocks, hard links too; empty files have none. So does mksquashfs
    with ``-no-fragments``.

    :param paths: files of different contents, in the inventory's order.
    :param first_block: number of the first block of each, one more at the end.
    :param holes: for every block, whether it lies in a hole: zeros, known unread.
    :param same_as: for every other name with the same contents, the path in
        ``paths``.
    """

    paths: tuple[str, ...]
    sizes: NDArray[np.int64]
    first_block: NDArray[np.int64]
    holes: NDArray[np.bool_]
    same_as: Mapping[str, str]

    @cached_property
    def block_count(self) -> int:
        """Data blocks of all files."""
        return int(self.first_block[-1])

    def files_of_blocks(self) -> NDArray[np.int64]:
        """Return for every block the number of its file."""
        return np.repeat(np.arange(len(self.paths)), np.diff(self.first_block))

    def raw_bytes(self) -> NDArray[np.int64]:
        """Return the length of every block."""
        files = self.files_of_blocks()
        numbers = np.arange(self.block_count) - self.first_block[files]
        left: NDArray[np.int64] = self.sizes[files] - numbers * DATA_BLOCK_BYTES
        return np.minimum(left, DATA_BLOCK_BYTES)

    def blocks_of(self, path: str) -> range:
        """Return the numbers of a file's blocks; none for a file without contents."""
        file = self.file_numbers.get(self.same_as.get(path, path))
        if file is None:
            return range(0)
        return range(int(self.first_block[file]), int(self.first_block[file + 1]))

    @cached_property
    def file_numbers(self) -> Mapping[str, int]:
        """The number of each path."""
        return {path: number for number, path in enumerate(self.paths)}

    def block(self, number: int) -> DataBlock:
        """Return one block."""
        file = int(np.searchsorted(self.first_block, number, side="right")) - 1
        offset = (number - int(self.first_block[file])) * DATA_BLOCK_BYTES
        left = int(self.sizes[file]) - offset
        return DataBlock(self.paths[file], offset, min(left, DATA_BLOCK_BYTES))


def lay_out(payload: Payload) -> Layout:
    """Lay out a payload's files, equal contents found by reading.

    Files of unequal length differ; of the others the first 4 KiB are read, and where
    these are equal, everything.
    """
    names: dict[int, str] = {}
    same_as: dict[str, str] = {}
    for entry in payload.inventory.entries.values():
        if entry.size_bytes:
            first = names.setdefault(entry.identity, entry.path)
            if first != entry.path:
                same_as[entry.path] = first
    files = [entry for entry in payload.inventory.files() if entry.size_bytes]
    copies = (
        _copies_in_snap(payload, files)
        if isinstance(payload, SnapPayload)
        else _find_copies(payload, files)
    )
    same_as = {path: copies.get(first, first) for path, first in same_as.items()}
    distinct = [entry for entry in files if entry.path not in copies]
    return make_layout(
        [(entry.path, entry.size_bytes) for entry in distinct],
        same_as={**same_as, **copies},
        data_ranges={
            entry.path: payload.data_ranges(entry.path)
            for entry in distinct
            if entry.sparse
        },
    )


def make_layout(
    files: Sequence[tuple[str, int]],
    *,
    same_as: Mapping[str, str] | None = None,
    data_ranges: Mapping[str, Sequence[tuple[int, int]]] | None = None,
) -> Layout:
    """Lay out files of different contents.

    :param files: path and length in bytes of each.
    :param same_as: other names of these contents.
    :param data_ranges: of files with holes, by path, the parts that aren't.
    """
    counts = [block_count(size) for _, size in files]
    first_block = np.concatenate(([0], np.cumsum(counts, dtype=np.int64)))
    holes = np.zeros(int(first_block[-1]), dtype=np.bool_)
    for number, (path, _) in enumerate(files):
        if data_ranges and path in data_ranges:
            start, end = first_block[number], first_block[number + 1]
            holes[start:end] = True
            for first_byte, end_byte in data_ranges[path]:
                first = start + first_byte // DATA_BLOCK_BYTES
                holes[first : start + block_count(end_byte)] = False
    return Layout(
        paths=tuple(path for path, _ in files),
        sizes=np.array([size for _, size in files], dtype=np.int64),
        first_block=first_block,
        holes=holes,
        same_as=same_as or {},
    )


def _copies_in_snap(payload: SnapPayload, files: Iterable[Entry]) -> dict[str, str]:
    """Return the files that share their blocks in a snap, without reading them."""
    firsts: dict[tuple[int, int, int], str] = {}
    copies: dict[str, str] = {}
    for entry in files:
        blocks = payload.stored_blocks(entry.path)
        if blocks is None or not blocks.stored_bytes or blocks.fragment:
            continue
        key = (blocks.start, entry.size_bytes, blocks.stored_bytes)
        first = firsts.setdefault(key, entry.path)
        if first != entry.path:
            copies[entry.path] = first
    return copies


def _find_copies(payload: Payload, files: Sequence[Entry]) -> dict[str, str]:
    """Return for each file whose content came before the path where it did."""
    lengths = Counter(entry.size_bytes for entry in files)
    alike = [entry for entry in files if lengths[entry.size_bytes] > 1]
    keyed = (
        (entry, (entry.size_bytes, _new_digest(head).digest()))
        for entry, head in zip(alike, _heads(payload, alike), strict=True)
    )
    copies: dict[str, str] = {}
    for same_head in _groups(keyed):
        whole = [same_head]
        if same_head[0].size_bytes > HEAD_BYTES:
            whole = _groups((entry, _digest(payload, entry)) for entry in same_head)
        for first, *others in whole:
            copies.update((other.path, first.path) for other in others)
    return copies


def _heads(payload: Payload, files: Iterable[Entry]) -> Iterator[bytes]:
    paths = (entry.path for entry in files)
    if isinstance(payload, DirectoryPayload):
        return payload.heads(paths, HEAD_BYTES)
    return (payload.read(path, offset=0, length=HEAD_BYTES) for path in paths)


def _groups(keyed: Iterable[tuple[Entry, Hashable]]) -> list[list[Entry]]:
    """Return the entries of each key that has several, in their order."""
    groups: dict[Hashable, list[Entry]] = defaultdict(list)
    for entry, key in keyed:
        groups[key].append(entry)
    return [group for group in groups.values() if len(group) > 1]


def _digest(payload: Payload, entry: Entry) -> bytes:
    """Return a digest of a file."""
    digest = _new_digest()
    for offset in range(0, entry.size_bytes, _READ_BYTES):
        digest.update(payload.read(entry.path, offset=offset, length=_READ_BYTES))
    return digest.digest()

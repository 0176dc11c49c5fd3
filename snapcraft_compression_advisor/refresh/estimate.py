"""Both deltas between two builds, for any codec.

xdelta3 makes the snap-aware delta of both builds' contents, and the plain one if both
are images with the codec. With another codec there are no images to make it of: then
blocks that the old build doesn't have are counted, and some of them compressed, each
with the blocks in its place in the old build, for xdelta3 to make a delta of them.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from operator import eq
from pathlib import Path
from typing import NamedTuple

from ..codecs import CODECS
from ..codecs.codec import DATA_BLOCK_BYTES
from ..core.errors import BadDataError
from ..core.files import first_difference
from ..core.scratch import scratch_directory
from ..core.units import MIB, Interval
from ..payload.inventory import block_count
from ..payload.source import Payload, SnapPayload, check_packed_size
from ..trial.look import map_in_order
from .changes import file_lengths, pair_files
from .delta import PLAIN, SNAP_AWARE, DeltaFormat, DeltaSize
from .xdelta3 import (
    Place,
    Stream,
    make_plain_delta,
    make_snap_aware_delta,
    shares_of_files,
)

LARGEST_BYTES = 64 * 1024 * MIB
"""What deltas are made of, holes included: xdelta3 takes ten minutes for so much."""
DRAWN_BYTES = 6 * MIB
"""Changed contents that are compressed, for xdelta3 to make a delta of."""
SPREAD = 1.4
"""By how much an estimate may be off: docs/study/deltas.md."""
RENUMBERED_BYTES = 20.0
LITERAL_BYTES, ENCODED_BYTES = 6.0, 15.0
"""What a delta has of an image's tables, for an entry whose inode has another number,
and for any other, with a codec that keeps literals, or with one that encodes them: most
blocks have another place (docs/study/deltas.md)."""
MOST_TABLE_BYTES = 29.0
"""All of them for an entry, with lzo; 20 with xz (the same page)."""

_MAGIC = b"hsqs"
"""What an image begins with. xdelta3 would unpack what begins as an archive does."""
_NOTHING = DeltaSize(size_bytes=Interval.exactly(0.0))


Builds = tuple[Payload, Payload]
"""The old build and the new one."""


class _Block(NamedTuple):
    path: str
    number: int
    length: int


class DeltaMaker:
    """Makes or estimates the deltas between two builds; each is made once.

    :raises BadDataError: if the builds are of different snaps.
    :raises AdvisorError: making one, if a build is broken or xdelta3 isn't installed.
    """

    def __init__(self, old: Payload, new: Payload) -> None:
        check_names(old, new)
        self._old, self._new = old, new

    def deltas(
        self, codec: str, images: Builds | None = None
    ) -> dict[DeltaFormat, DeltaSize]:
        """Return the deltas between both builds, packed with a codec.

        snapd makes no snap-aware delta of an image with compressor options, which it
        can't tell mksquashfs about (``newDeltaHeaderFromSnap``).

        :param images: both, if they were packed with it for this.
        """
        _, new = images or (self._old, self._new)
        options = CODECS[codec].default_options if codec in CODECS else None
        if isinstance(new, SnapPayload) and new.packed_with == codec:
            options = new.image.compressor_options
        found = {PLAIN: self.plain(codec, images)}
        if options is None:
            found[SNAP_AWARE] = self.snap_aware
        return found

    @cached_property
    def nothing_to_download(self) -> bool:
        """Whether both builds are one image, byte for byte, or one directory.

        A device doesn't refresh to what it has, so xdelta3 isn't run.
        """
        old, new = self._old, self._new
        if not (isinstance(old, SnapPayload) and isinstance(new, SnapPayload)):
            # A directory may have changed since it was listed first.
            same_place = old.path.resolve() == new.path.resolve()
            return same_place and old.inventory == new.inventory
        if old.image.image_bytes != new.image.image_bytes:
            return False
        return first_difference(old.path, new.path) is None

    @cached_property
    def snap_aware(self) -> DeltaSize:
        """The snap-aware delta, which is the same for every codec."""
        if self.nothing_to_download:
            return _NOTHING
        self._check_sizes()
        old, new = Stream(self._old), Stream(self._new)
        with scratch_directory() as scratch:
            delta = scratch / "delta"
            return _delta(delta, make_snap_aware_delta(old, new, delta), new.places)

    def plain(self, codec: str, images: Builds | None = None) -> DeltaSize:
        """Return the plain delta between both builds, packed with a codec.

        :param images: as in :meth:`deltas`.
        """
        if self.nothing_to_download:
            return _NOTHING
        old, new = images or (self._old, self._new)
        if isinstance(new, SnapPayload) and old.packed_with == new.packed_with == codec:
            with scratch_directory() as scratch:
                delta = scratch / "delta"
                size = make_plain_delta(old.path, new.path, delta)
                return _delta(delta, size, _places(new))
        return self._estimated(codec)

    def _check_sizes(self) -> None:
        """Refuse builds whose files are too large to make a delta of."""
        for build in (self._old, self._new):
            check_packed_size(build)
            total_bytes = build.inventory.raw_bytes
            if total_bytes > LARGEST_BYTES:
                path = str(build.path)
                message = f"The files of {path!r} add up to {total_bytes:,} bytes"
                raise BadDataError(
                    message,
                    details=f"Deltas are made of up to {LARGEST_BYTES:,} bytes",
                    resolution="Look for a sparse file larger than intended.",
                )

    @cached_property
    def _changed(self) -> Sequence[_Block]:
        """The blocks of the new build that the old one doesn't have, each once."""
        self._check_sizes()
        known = {digest for _, digest in _blocks(self._old)}
        found = []
        for block, digest in _blocks(self._new):
            if digest not in known:
                known.add(digest)
                found.append(block)
        return found

    def _estimated(self, codec: str) -> DeltaSize:
        changed, old, new = self._changed, self._old, self._new
        tables = self._tables(codec)
        if not changed and old.inventory.entries.keys() == new.inventory.entries.keys():
            # The tables may have other times.
            return DeltaSize(size_bytes=Interval(low=0.0, mid=0.0, high=tables.high))
        total = sum(block.length for block in changed)
        rate = self._rate(changed, codec) if changed else 0.0
        contents = Interval.around(1.0 / SPREAD, 1.0, SPREAD) * (rate * total)
        files: dict[str, float] = defaultdict(float)
        for block in changed:
            files[block.path] += rate * block.length
        return DeltaSize(size_bytes=contents + tables, files=files)

    def _tables(self, codec: str) -> Interval:
        """Return the bytes of a delta that change the tables.

        Inodes are numbered in the order of the entries: one that is added or removed
        gives all behind it another number.
        """
        old, new = self._old.inventory.entries, self._new.inventory.entries
        same = sum(map(eq, old, new))
        each = LITERAL_BYTES if CODECS[codec].keeps_literals else ENCODED_BYTES
        mid = each * same + RENUMBERED_BYTES * (len(new) - same)
        return Interval(low=0.0, mid=mid, high=MOST_TABLE_BYTES * len(new))

    def _rate(self, changed: Sequence[_Block], codec: str) -> float:
        """Return the bytes of a delta per byte of the blocks that changed.

        Some of them are compressed, and what the old build has about their places.
        """
        step = max(1.0, sum(block.length for block in changed) / DRAWN_BYTES)
        drawn = [changed[int(at * step)] for at in range(int(len(changed) / step) or 1)]
        pairs = pair_files(file_lengths(self._old), file_lengths(self._new))
        places = dict.fromkeys(
            (pairs[block.path], number)
            for block in drawn
            if block.path in pairs
            for number in range(max(0, block.number - 1), block.number + 2)
        )
        before = (_contents(self._old, *place) for place in places)
        now = (_contents(self._new, each.path, each.number) for each in drawn)
        with scratch_directory() as scratch:
            old, new = scratch / "old", scratch / "new"
            _write_packed(old, codec, (each for each in before if each))
            _write_packed(new, codec, now)
            delta_bytes = make_plain_delta(old, new, scratch / "delta")
        return delta_bytes / sum(each.length for each in drawn)


def _write_packed(target: Path, codec: str, contents: Iterable[bytes]) -> None:
    with target.open("wb") as file:
        file.write(_MAGIC)
        file.writelines(map_in_order(CODECS[codec].compress, contents))


def _delta(delta: Path, size_bytes: int, places: Sequence[Place]) -> DeltaSize:
    return DeltaSize(
        size_bytes=Interval.exactly(size_bytes),
        files=shares_of_files(delta, size_bytes, [(0, ""), *places]),
    )


def _places(image: SnapPayload) -> list[Place]:
    """Return where files' blocks are in an image, and the tables behind them."""
    starts = {
        entry.blocks.start: entry.path
        for entry in reversed(image.entries)
        if entry.blocks is not None and entry.blocks.stored_bytes
    }
    return [*sorted(starts.items()), (image.image.superblock.inode_table_start, "")]


def _blocks(payload: Payload) -> Iterator[tuple[_Block, bytes]]:
    """Yield the blocks of a build that aren't holes, with digests of their contents."""
    for path in file_lengths(payload):
        after = 0
        for start, end in payload.data_ranges(path):
            last = block_count(end)
            for number in range(max(after, start // DATA_BLOCK_BYTES), last):
                contents = _contents(payload, path, number)
                digest = hashlib.blake2b(contents, digest_size=16).digest()
                yield _Block(path, number, len(contents)), digest
            after = max(after, last)


def _contents(payload: Payload, path: str, number: int) -> bytes:
    offset = number * DATA_BLOCK_BYTES
    return payload.read(path, offset=offset, length=DATA_BLOCK_BYTES)


def check_names(old: Payload, new: Payload) -> None:
    """Refuse two builds of different snaps.

    :raises BadDataError: if their names differ.
    """
    if old.snap.name != new.snap.name:
        message = (
            f"The builds are of different snaps: {str(old.path)!r} is "
            f"{old.snap.name!r}, {str(new.path)!r} is {new.snap.name!r}"
        )
        raise BadDataError(message, resolution="Specify two builds of the same snap.")

"""Both deltas between two builds, for any codec.

xdelta3 makes the snap-aware delta of both builds' contents, and the plain one if both
are images with the codec. With another codec there are no images to make it of: then
blocks that the old build doesn't have are counted, and some of them compressed, each
with the blocks in its place in the old build, for xdelta3 to make a delta of them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from ..codecs import CODECS, SHIPPABLE
from ..codecs.codec import DATA_BLOCK_BYTES
from ..core.scratch import scratch_directory
from ..core.units import MIB, Interval
from ..payload.inventory import Entry, block_count
from ..payload.source import Payload, SnapPayload, open_payload
from ..squashfs.entry import SIZE_MASK
from ..trial.look import map_in_order
from .builds import check_names, check_size
from .changes import pair_files
from .delta import PLAIN, SNAP_AWARE, DeltaFormat, DeltaSize
from .stream import Stream
from .xdelta3 import Place, make_plain_delta, make_snap_aware_delta, shares_of_files

DRAWN_BYTES = 6 * MIB
"""Changed contents that are compressed, for xdelta3 to make a delta of."""
SPREAD = 1.4
"""By how much an estimate may be off: docs/study/deltas.md."""
TABLE_BYTES_PER_ENTRY = 24
"""What an image's tables take: 20 with xz, 29 with lzo (five trees of 190 to 2,905
entries). Once one block has another length, so have the tables."""


_MAGIC = b"hsqs"
"""What an image begins with. xdelta3 would unpack what begins as an archive does."""


class _Block(NamedTuple):
    path: str
    number: int
    length: int


class DeltaMaker:
    """Makes or estimates the deltas between two builds; each is made once.

    :raises ToolError: if xdelta3 isn't installed.
    """

    def __init__(self, old: Payload, new: Payload) -> None:
        self._old, self._new = old, new

    def deltas(self, codec: str) -> dict[DeltaFormat, DeltaSize]:
        """Return the deltas between both builds, packed with a codec.

        A format that snapd would refuse for it is left out: see :func:`refusal`.

        :raises AdvisorError: if a build is broken or changes meanwhile.
        """
        found = {PLAIN: self.plain(codec)}
        if refusal(self._new, codec) is None:
            found[SNAP_AWARE] = self.snap_aware
        return found

    @cached_property
    def snap_aware(self) -> DeltaSize:
        """The snap-aware delta, which is the same for every codec."""
        for payload in (self._old, self._new):
            check_size(payload)
        old, new = Stream(self._old), Stream(self._new)
        with _scratch() as scratch:
            delta = scratch / "delta"
            size = make_snap_aware_delta(old, new, delta)
            return _delta(delta, size, new.places)

    def plain(self, codec: str) -> DeltaSize:
        """Return the plain delta between both builds, packed with a codec."""
        old, new = self._old, self._new
        if not isinstance(new, SnapPayload) or {old.packed_with, new.packed_with} != {
            codec
        }:
            return self._estimated(codec)
        with _scratch() as scratch:
            delta = scratch / "delta"
            size = make_plain_delta(old.path, new.path, delta)
            return _delta(delta, size, _places(new))

    @cached_property
    def _changed(self) -> Sequence[_Block]:
        """The blocks of the new build that the old one doesn't have, each once."""
        for payload in (self._old, self._new):
            check_size(payload)
        known = {digest for _, digest in _digests(self._old, self._new)}
        found = []
        for block, digest in _digests(self._new, self._old):
            if digest not in known:
                known.add(digest)
                found.append(block)
        return found

    def _estimated(self, codec: str) -> DeltaSize:
        changed = self._changed
        if not changed:
            return DeltaSize(size_bytes=Interval.exactly(0.0))
        total = sum(block.length for block in changed)
        step = max(1.0, total / DRAWN_BYTES)
        drawn = [changed[int(at * step)] for at in range(int(len(changed) / step) or 1)]
        with _scratch() as scratch:
            self._pack_old(drawn, codec, scratch / "old")
            delta_bytes = self._packed_delta(drawn, codec, scratch)
        rate = delta_bytes / sum(block.length for block in drawn)
        tables = TABLE_BYTES_PER_ENTRY * len(self._new.inventory.entries)
        mid = rate * total + tables
        size = Interval.around(mid / SPREAD, mid, mid * SPREAD)
        files: dict[str, float] = {}
        for block in changed:
            files[block.path] = files.get(block.path, 0.0) + rate * block.length
        return DeltaSize(size_bytes=size, files=files)

    def _pack_old(self, blocks: Sequence[_Block], codec: str, target: Path) -> None:
        """Write what the old build has about where some blocks are, compressed."""
        pairs = pair_files(*(_lengths(each) for each in (self._old, self._new)))
        places = dict.fromkeys(
            (pairs[block.path], number)
            for block in blocks
            if block.path in pairs
            for number in range(max(0, block.number - 1), block.number + 2)
        )
        contents = (_contents(self._old, *place) for place in places)
        _write_packed(target, codec, (each for each in contents if each))

    def _packed_delta(self, blocks: Sequence[_Block], codec: str, scratch: Path) -> int:
        """Return the size of the delta that some blocks make, compressed."""
        new = scratch / "new"
        _write_packed(
            new,
            codec,
            (_contents(self._new, each.path, each.number) for each in blocks),
        )
        return make_plain_delta(scratch / "old", new, scratch / "delta")


def _write_packed(target: Path, codec: str, contents: Iterable[bytes]) -> None:
    compress = CODECS[codec].compress
    with target.open("wb") as file:
        file.write(_MAGIC)
        for packed in map_in_order(compress, contents):
            file.write(packed)


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


def _digests(payload: Payload, other: Payload) -> Iterator[tuple[_Block, bytes]]:
    """Yield the blocks of a build that aren't holes, with digests of their contents.

    Two images with equal codecs are compared as they are stored, without decompression.
    """
    stored = _same_blocks(payload, other)
    for entry in _files(payload):
        if stored and isinstance(payload, SnapPayload):
            contents = _stored(payload, entry.path)
        else:
            contents = (
                (number, _contents(payload, entry.path, number))
                for number in _filled(payload, entry)
            )
        for number, each in contents:
            left = entry.size_bytes - number * DATA_BLOCK_BYTES
            block = _Block(entry.path, number, min(DATA_BLOCK_BYTES, left))
            yield block, hashlib.blake2b(each, digest_size=16).digest()


def _same_blocks(one: Payload, other: Payload) -> bool:
    """Whether equal contents are equal stored blocks in two images."""
    return (
        isinstance(one, SnapPayload)
        and isinstance(other, SnapPayload)
        and one.packed_with == other.packed_with
        and not one.unlike_snap_pack()
        and not other.unlike_snap_pack()
    )


def _stored(payload: SnapPayload, path: str) -> Iterator[tuple[int, bytes]]:
    """Yield a file's blocks as an image has them; a sparse one isn't."""
    blocks = payload.stored_blocks(path)
    if blocks is None:
        return
    place = blocks.start
    for number, word in enumerate(blocks.size_words):
        if length := word & SIZE_MASK:
            yield number, payload.image.stored_data(place, length)
            place += length


def _filled(payload: Payload, entry: Entry) -> Iterator[int]:
    """Yield the numbers of a file's blocks that aren't holes."""
    after = 0
    for start, end in payload.data_ranges(entry.path):
        last = block_count(end)
        yield from range(max(after, start // DATA_BLOCK_BYTES), last)
        after = max(after, last)


def _contents(payload: Payload, path: str, number: int) -> bytes:
    offset = number * DATA_BLOCK_BYTES
    return payload.read(path, offset=offset, length=DATA_BLOCK_BYTES)


def _files(payload: Payload) -> list[Entry]:
    return [entry for entry in payload.inventory.files() if entry.size_bytes]


def _lengths(payload: Payload) -> dict[str, int]:
    return {entry.path: entry.size_bytes for entry in _files(payload)}


@contextmanager
def _scratch() -> Iterator[Path]:
    with scratch_directory(
        resolution="Set TMPDIR to a directory that you can write to."
    ) as scratch:
        yield scratch


def refusal(new: Payload, codec: str) -> str | None:
    """Return why snapd makes no snap-aware delta to a build; None if it makes one.

    It can't tell mksquashfs about compressor options (``newDeltaHeaderFromSnap``).
    """
    if isinstance(new, SnapPayload) and new.packed_with == codec:
        refused = new.image.compressor_options is not None
    else:
        refused = codec in CODECS and CODECS[codec].default_options is not None
    if not refused:
        return None
    return f"images with {codec} and compressor options have no snap-aware delta"


def deltas_from(
    previous: Path, new: Payload, delta_format: DeltaFormat
) -> Mapping[str, Interval]:
    """Return the deltas from a previous build to a new one, by codec.

    :param previous: a .snap or a prime directory.
    :raises BadDataError: if it is of another snap, or broken.
    :raises AdvisorError: if it can't be read, or xdelta3 isn't installed.
    """
    with open_payload(previous) as old:
        check_names(old, new)
        maker = DeltaMaker(old, new)
        if delta_format == SNAP_AWARE:
            return dict.fromkeys(SHIPPABLE, maker.snap_aware.size_bytes)
        return {codec: maker.plain(codec).size_bytes for codec in SHIPPABLE}

"""What a cold launch costs more than a warm one, codec by codec."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from operator import mul
from typing import TYPE_CHECKING

from snapcraft_compression_advisor.launch.in_launch import IN_LAUNCH
from snapcraft_compression_advisor.units import Interval

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from snapcraft_compression_advisor.launch.device import BlockCost, DeviceProfile
    from snapcraft_compression_advisor.launch.launch_set import LaunchFile, LaunchSet
    from snapcraft_compression_advisor.trial.result import CodecTrial, StoredBlock


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockSums:
    """What the blocks of a launch come to in an image; none of zeros among them.

    :param runs: of adjacent blocks of a file.
    :param blocks: that are read.
    :param raw_bytes: their contents.
    :param stored_bytes: what storage delivers.
    :param compressed_blocks: those that have to be decompressed.
    :param compressed_raw_bytes: their contents.
    :param compressed_stored_bytes: what the decompressor reads of them.
    """

    runs: int = 0
    blocks: int = 0
    raw_bytes: int = 0
    stored_bytes: int = 0
    compressed_blocks: int = 0
    compressed_raw_bytes: int = 0
    compressed_stored_bytes: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchEstimate:
    """Seconds that a cold launch adds over a warm one.

    The parts are those of the launch set's blocks; the shares say how much more or less
    the launch really reads.

    :param seeks: waiting for storage to find blocks.
    :param transfer: storage's transfer of their stored bytes.
    :param fill: asking for blocks and copying them; the same for all codecs.
    :param decompress: decompression.
    :param read_share: bytes read, per byte of the set.
    :param seek_share: seeks made, per run of blocks of the set.
    :param waited_share: of the work on blocks, what the launch waits for: with several
        processors some goes on beside its own.
    """

    seeks: Interval
    transfer: Interval
    fill: Interval
    decompress: Interval
    read_share: Interval
    seek_share: Interval
    waited_share: Interval

    @property
    def io(self) -> Interval:
        """What storage takes."""
        return _times(self.seeks, self.seek_share) + _times(
            self.transfer, self.read_share
        )

    @property
    def added_s(self) -> Interval:
        """All together."""
        return self.io + self.copying + self.decompression

    @property
    def copying(self) -> Interval:
        """What asking for blocks and copying them takes."""
        return _times(_times(self.fill, self.read_share), self.waited_share)

    @property
    def decompression(self) -> Interval:
        """What decompressing takes."""
        return _times(_times(self.decompress, self.read_share), self.waited_share)


def estimate_launch(
    launch_set: LaunchSet, trial: CodecTrial, device: DeviceProfile
) -> LaunchEstimate:
    """Estimate one codec's cost on one device.

    Every run of adjacent blocks of a file costs one seek and its stored bytes'
    transfer; every block costs the filling of its pages, and a compressed one its
    decompression, one block after the other (``SQUASHFS_DECOMP_SINGLE``, what Ubuntu's
    kernels use for snaps).
    """
    return cost_of_blocks(
        sum_blocks(launch_set, trial), launch_set, trial.codec, device
    )


def cost_of_blocks(
    sums: BlockSums, launch_set: LaunchSet, codec: str, device: DeviceProfile
) -> LaunchEstimate:
    """Estimate what blocks cost on a device.

    :param sums: of the blocks of the launch set in the codec's image.
    """
    return LaunchEstimate(
        seeks=device.seek_s.map(lambda cost: cost * sums.runs),
        transfer=device.read_s_per_byte.map(lambda cost: cost * sums.stored_bytes),
        fill=block_cost(device.fill, sums.blocks, sums.raw_bytes, sums.stored_bytes),
        decompress=_times(
            block_cost(
                device.decompress[codec],
                sums.compressed_blocks,
                sums.compressed_raw_bytes,
                sums.compressed_stored_bytes,
            ),
            IN_LAUNCH[codec],
        ),
        read_share=launch_set.read_share,
        seek_share=launch_set.seek_share,
        waited_share=launch_set.waited_share,
    )


def sum_blocks(launch_set: LaunchSet, trial: CodecTrial) -> BlockSums:
    """Sum up the blocks that a launch reads, as one codec stores them."""
    runs = [
        [block for block in run if block.stored_bytes]
        for run in _runs(launch_set, trial)
    ]
    return add_blocks(run for run in runs if run)


def add_blocks(runs: Iterable[Iterable[StoredBlock]]) -> BlockSums:
    """Sum up runs of blocks."""
    listed = [list(run) for run in runs]
    blocks = [block for run in listed for block in run]
    compressed = [block for block in blocks if block.compressed]
    return BlockSums(
        runs=len(listed),
        blocks=len(blocks),
        raw_bytes=sum(block.raw_bytes for block in blocks),
        stored_bytes=sum(block.stored_bytes for block in blocks),
        compressed_blocks=len(compressed),
        compressed_raw_bytes=sum(block.raw_bytes for block in compressed),
        compressed_stored_bytes=sum(block.stored_bytes for block in compressed),
    )


def block_cost(
    cost: BlockCost, blocks: int, raw_bytes: int, stored_bytes: int
) -> Interval:
    """Return what so many blocks and bytes cost, in seconds."""
    return (
        cost.block_s.map(lambda each: each * blocks)
        + cost.raw_s_per_byte.map(lambda each: each * raw_bytes)
        + cost.stored_s_per_byte.map(lambda each: each * stored_bytes)
    )


def seconds_saved(slow: LaunchEstimate, fast: LaunchEstimate) -> Interval:
    """Return what one codec saves against another in a launch on the same device.

    Device and launch are the same for both. So each part's difference is taken on a
    fast, a middling and a slow device, and the parts are combined in the worst and the
    best way, since a fast processor may sit beside a slow disk; all that for the
    smallest and the largest launch, and for as much of the work as it waits for.
    """
    seeks = _difference(slow.seeks, fast.seeks)
    transfer = _difference(slow.transfer, fast.transfer)
    work = _difference(slow.decompress, fast.decompress) + _difference(
        slow.fill, fast.fill
    )
    small, middle, large = (
        seeks.map(partial(mul, seek_share))
        + transfer.map(partial(mul, read_share))
        + work.map(partial(mul, read_share * waited_share))
        for seek_share, read_share, waited_share in zip(
            _ends(slow.seek_share),
            _ends(slow.read_share),
            _ends(slow.waited_share),
            strict=True,
        )
    )
    return Interval(
        low=min(small.low, large.low), mid=middle.mid, high=max(small.high, large.high)
    )


def _ends(interval: Interval) -> tuple[float, float, float]:
    return interval.low, interval.mid, interval.high


def _runs(
    launch_set: LaunchSet, trial: CodecTrial
) -> Iterator[tuple[StoredBlock, ...]]:
    for file in launch_set.files:
        yield from _file_runs(file, trial.blocks.get(file.path, ()))


def _file_runs(
    file: LaunchFile, blocks: tuple[StoredBlock, ...]
) -> Iterator[tuple[StoredBlock, ...]]:
    for first, last in file.blocks:
        yield blocks[first : last + 1]


def _difference(first: Interval, second: Interval) -> Interval:
    return Interval.around(
        first.low - second.low, first.mid - second.mid, first.high - second.high
    )


def _times(seconds: Interval, share: Interval) -> Interval:
    """Multiply two figures that aren't negative."""
    return Interval(
        low=seconds.low * share.low,
        mid=seconds.mid * share.mid,
        high=seconds.high * share.high,
    )

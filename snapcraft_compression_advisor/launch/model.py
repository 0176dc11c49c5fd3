"""What a cold launch costs more than a warm one, codec by codec."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from operator import mul
from typing import TYPE_CHECKING

from snapcraft_compression_advisor.launch.in_launch import IN_LAUNCH
from snapcraft_compression_advisor.units import Interval

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from snapcraft_compression_advisor.launch.device import BlockCost, DeviceProfile
    from snapcraft_compression_advisor.launch.launch_set import LaunchFile, LaunchSet
    from snapcraft_compression_advisor.trial.result import CodecTrial, StoredBlock


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockSums:
    """What the blocks of a launch come to in an image; none of zeros among them.

    All figures are expectations where the launch was guessed.

    :param runs: of adjacent blocks of a file.
    :param blocks: that are read.
    :param raw_bytes: their contents.
    :param stored_bytes: what storage delivers.
    :param compressed_blocks: those that have to be decompressed.
    :param compressed_raw_bytes: their contents.
    :param compressed_stored_bytes: what the decompressor reads of them.
    """

    runs: float = 0
    blocks: float = 0
    raw_bytes: float = 0
    stored_bytes: float = 0
    compressed_blocks: float = 0
    compressed_raw_bytes: float = 0
    compressed_stored_bytes: float = 0


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
    """Sum up the blocks that a launch reads, as one codec stores them.

    Each block counts by the share in which it is expected to be read.
    """
    listed = [
        expected
        for file in launch_set.files
        for expected in _expected_blocks(file, trial.blocks.get(file.path, ()))
    ]
    compressed = [each for each in listed if each.block.compressed]
    return BlockSums(
        runs=expected_runs((each.share, each.share_before) for each in listed),
        blocks=sum(each.share for each in listed),
        raw_bytes=sum(each.share * each.block.raw_bytes for each in listed),
        stored_bytes=sum(each.share * each.block.stored_bytes for each in listed),
        compressed_blocks=sum(each.share for each in compressed),
        compressed_raw_bytes=sum(
            each.share * each.block.raw_bytes for each in compressed
        ),
        compressed_stored_bytes=sum(
            each.share * each.block.stored_bytes for each in compressed
        ),
    )


@dataclass(frozen=True, slots=True)
class _ExpectedBlock:
    """A block with the share in which it is read, and that of the block before it."""

    block: StoredBlock
    share: float
    share_before: float


def _expected_blocks(
    file: LaunchFile, blocks: Sequence[StoredBlock]
) -> Iterator[_ExpectedBlock]:
    """Yield the blocks of a file that aren't all zeros."""
    end, before = 0, 0.0
    for first, last, share in file.ranges():
        if first != end:
            before = 0.0
        end = last + 1
        for block in blocks[first:end]:
            if block.stored_bytes:
                yield _ExpectedBlock(block, share, before)
                before = share


def expected_runs(blocks: Iterable[tuple[float, float]]) -> float:
    """Return how many runs of adjacent blocks are expected.

    Fewest where neighbours are read together whenever they can be, most where each is
    read by its own chance. Recorded launches lie between: about the geometric mean of
    both (``benchmarks/static_fit.py`` prints how far off). Where all shares are 1, it
    is the number of runs.

    :param blocks: of each, the share in which it is read, and that of the block before
        it in the file, 0 where there is none.
    """
    fewest = most = 0.0
    for share, before in blocks:
        fewest += max(0.0, share - before)
        most += share * (1 - before)
    return math.sqrt(fewest * most)


def block_cost(
    cost: BlockCost, blocks: float, raw_bytes: float, stored_bytes: float
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

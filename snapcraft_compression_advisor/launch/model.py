"""The blocks that a launch is expected to read, and what they cost, by codec.

Estimates are put together: of several devices, of several snaps. A launch that reads
several snaps waits for one block before it asks for the next, whichever mount that is
in: each mount decompresses one at a time (``SQUASHFS_DECOMP_SINGLE``), and all share
the storage. So the parts add up. Measured: ``docs/study/stacks.md``.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import TYPE_CHECKING

import numpy as np

from ..codecs import CODECS
from ..core.units import Interval, combined

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from ..devices.device import BlockCost, DeviceProfile
    from ..trial.result import BlockPlaces, CodecTrial, StoredBlocks
    from .launch_set import LaunchFile, LaunchSet


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchEstimate:
    """Seconds that a cold launch adds over a warm one.

    The parts are those of the launch set's blocks; the shares say how much more or less
    the launch really reads.

    :param seeks: waiting for storage to find blocks.
    :param fill: asking for blocks and copying them; the same for all codecs.
    :param read_share: bytes read, per byte of the set.
    :param seek_share: seeks made, per run of blocks of the set.
    :param waited_share: of the work on blocks, what the launch waits for: with several
        processors some goes on beside its own.
    :param calibrated_s: what ``decompress`` would be if the device's own figures were
        known: those of other machines and launches remain; by default, nothing does.
    """

    seeks: Interval
    transfer: Interval
    fill: Interval
    decompress: Interval
    read_share: Interval
    seek_share: Interval
    waited_share: Interval
    calibrated_s: Interval | None = None

    @property
    def calibrated(self) -> Interval:
        """Decompression, if the device's own figures were known."""
        return self.calibrated_s or Interval.exactly(self.decompress.mid)

    @property
    def io(self) -> Interval:
        """What storage takes."""
        return self.seeks * self.seek_share + self.transfer * self.read_share

    @property
    def added_s(self) -> Interval:
        """All together; what is uncertain of device and launch is independent."""
        return combined(total_s, self.figures)

    @property
    def figures(self) -> tuple[Interval, ...]:
        """The figures of :func:`total_s`."""
        return (
            self.seeks,
            self.transfer,
            self.fill + self.decompress,
            self.seek_share,
            self.read_share,
            self.waited_share,
        )

    @property
    def copying(self) -> Interval:
        """What asking for blocks and copying them takes."""
        return self.fill * self.read_share * self.waited_share

    @property
    def decompression(self) -> Interval:
        """What decompressing data blocks takes."""
        return self.decompress * self.read_share * self.waited_share


def estimate_launch(
    launch_set: LaunchSet, trial: CodecTrial, device: DeviceProfile
) -> LaunchEstimate:
    """Estimate one codec's cost on one device.

    Every run of adjacent blocks of a file costs one seek and its stored bytes'
    transfer; every block costs the filling of its pages, and a compressed one its
    decompression, one block after the other (``SQUASHFS_DECOMP_SINGLE``, as in Ubuntu
    18.04 to 24.04). Blocks of inodes and directories aren't counted: what launches
    usually read of them is in :attr:`.Codec.in_launch`.
    """
    return cost_of_blocks(
        sum_blocks(launch_set, trial), launch_set, trial.codec, device
    )


def cost_of_blocks(
    sums: BlockSums, launch_set: LaunchSet, codec: str, device: DeviceProfile
) -> LaunchEstimate:
    """Estimate what a launch set's blocks cost on a device."""
    decompress = block_cost(
        device.decompress[codec],
        sums.compressed_blocks,
        sums.compressed_raw_bytes,
        sums.compressed_stored_bytes,
    )
    in_launch = CODECS[codec].in_launch
    return LaunchEstimate(
        seeks=device.seek_s * sums.runs,
        transfer=device.read_s_per_byte * sums.stored_bytes,
        fill=block_cost(device.fill, sums.blocks, sums.raw_bytes, sums.stored_bytes),
        decompress=decompress * in_launch,
        calibrated_s=in_launch * decompress.mid,
        read_share=launch_set.read_share,
        seek_share=launch_set.seek_share,
        waited_share=launch_set.waited_share,
    )


def sum_blocks(launch_set: LaunchSet, trial: CodecTrial) -> BlockSums:
    """Sum up the blocks that a launch reads, as one codec stores them."""
    return expect_blocks(launch_set, trial.blocks.places).sums(trial.blocks)


def block_cost(
    cost: BlockCost, blocks: float, raw_bytes: float, stored_bytes: float
) -> Interval:
    """Return the seconds that a number of blocks and bytes cost."""
    return (
        cost.block_s * blocks
        + cost.raw_s_per_byte * raw_bytes
        + cost.stored_s_per_byte * stored_bytes
    )


def seconds_saved(slow: LaunchEstimate, fast: LaunchEstimate) -> Interval:
    """Return the seconds that one codec saves against another in a launch on a device.

    Device and launch are the same for both, so each part's difference is taken on a
    fast, a middling and a slow device. A fast processor may sit beside a slow disk, and
    neither says how large the launch is: these errors are independent.
    """
    return combined(total_s, saved_figures(slow, fast))


def saved_figures(slow: LaunchEstimate, fast: LaunchEstimate) -> tuple[Interval, ...]:
    """Return the figures of :func:`total_s` that a saving is made of."""
    return (
        slow.seeks - fast.seeks,
        slow.transfer - fast.transfer,
        (slow.decompress - fast.decompress) + (slow.fill - fast.fill),
        slow.seek_share,
        slow.read_share,
        slow.waited_share,
    )


def calibrated_work(slow: LaunchEstimate, fast: LaunchEstimate) -> Interval:
    """Return the work in :func:`saved_figures` if the device's figures were known."""
    fill_s = slow.fill.mid - fast.fill.mid
    return slow.calibrated - fast.calibrated + Interval.exactly(fill_s)


def total_s(figures: Sequence[float]) -> float:
    """Return seconds from seeks, transfer and work, and the launch's shares of them."""
    seeks, transfer, work, seek_share, read_share, waited_share = figures
    return seeks * seek_share + (transfer + work * waited_share) * read_share


def cost_of_files(
    launch_set: LaunchSet,
    files: tuple[LaunchFile, ...],
    trial: CodecTrial,
    device: DeviceProfile,
) -> Interval:
    """Return the seconds that data blocks of some files of a launch add on a device."""
    return estimate_launch(data_of(launch_set, files), trial, device).added_s


def data_of(launch_set: LaunchSet, files: tuple[LaunchFile, ...]) -> LaunchSet:
    """Return some files of a launch.

    A launch may read more than its set names, but of a file no more than is there.
    """
    read_share, seek_share = (
        share.map(lambda value: min(1.0, value))
        for share in (launch_set.read_share, launch_set.seek_share)
    )
    return replace(
        launch_set,
        files=files,
        read_share=read_share,
        seek_share=seek_share,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockSums:
    """What the blocks of a launch come to in an image; none of zeros among them.

    All figures are expectations if the launch was guessed.

    :param runs: of adjacent blocks of a file.
    :param compressed_blocks: those that have to be decompressed.
    """

    runs: float = 0
    blocks: float = 0
    raw_bytes: float = 0
    stored_bytes: float = 0
    compressed_blocks: float = 0
    compressed_raw_bytes: float = 0
    compressed_stored_bytes: float = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedBlocks:
    """The blocks of a launch's files, in their order; arrays have an element for each.

    :param shares: in which they are expected to be read.
    :param files: which of the launch's files they are of.
    :param stretches: numbers of the stretches without a gap that they are in.
    """

    places: BlockPlaces
    file_count: int
    numbers: NDArray[np.int64]
    shares: NDArray[np.float64]
    files: NDArray[np.int64]
    stretches: NDArray[np.int64]
    # Arrays have no one answer to whether they are equal.
    __eq__ = object.__eq__
    __hash__ = object.__hash__

    def sums(self, blocks: StoredBlocks) -> BlockSums:
        """Sum up the blocks as one codec stores them, each by its share."""
        stored = blocks.stored_bytes[self.numbers]
        filled = stored > 0
        numbers, stored = self.numbers[filled], stored[filled]
        shares, raw = self.shares[filled], blocks.raw_bytes[numbers]
        compressed = blocks.compressed[numbers]
        unpacked = np.where(compressed, shares, 0.0)
        stretches, before = self.stretches[filled], np.zeros(len(shares))
        goes_on = stretches[1:] == stretches[:-1]
        before[1:][goes_on] = shares[:-1][goes_on]  # 0 for the first of a stretch
        return BlockSums(
            runs=expected_runs(shares, before),
            blocks=float(shares.sum()),
            raw_bytes=float((shares * raw).sum()),
            stored_bytes=float((shares * stored).sum()),
            compressed_blocks=float(unpacked.sum()),
            compressed_raw_bytes=float((unpacked * raw).sum()),
            compressed_stored_bytes=float((unpacked * stored).sum()),
        )

    def stored_bytes_by_file(self, blocks: StoredBlocks) -> list[float]:
        """Return the bytes expected to be read of each of the launch's files."""
        stored = self.shares * blocks.stored_bytes[self.numbers]
        by_file: list[float] = np.bincount(
            self.files, weights=stored, minlength=self.file_count
        ).tolist()
        return by_file


def expect_blocks(launch_set: LaunchSet, places: BlockPlaces) -> ExpectedBlocks:
    """Return the blocks that a launch is expected to read."""
    ranges: list[tuple[int, int, float, int, int]] = []
    stretch = 0
    files_read = [(file, places(file.path)) for file in launch_set.files]
    for number, (file, blocks) in enumerate(files_read):
        end = None
        for first, last, share in file.ranges():
            stretch += first != end
            end = last + 1
            part = blocks[first:end]
            ranges.append((part.start, len(part), share, number, stretch))
    table = np.array(ranges, dtype=np.float64).reshape(len(ranges), 5)
    counts = table[:, 1].astype(np.int64)
    starts, shares, files, stretches = (
        np.repeat(table[:, column], counts) for column in (0, 2, 3, 4)
    )
    steps = np.arange(len(starts)) - np.repeat(np.cumsum(counts) - counts, counts)
    return ExpectedBlocks(
        places=places,
        file_count=len(launch_set.files),
        numbers=starts.astype(np.int64) + steps,
        shares=shares,
        files=files.astype(np.int64),
        stretches=stretches.astype(np.int64),
    )


def expected_runs(
    shares: NDArray[np.float64], shares_before: NDArray[np.float64]
) -> float:
    """Return the expected number of runs of adjacent blocks.

    Fewest if neighbours are read together whenever they can be, most if each is read by
    its own chance. Recorded launches lie between: about the geometric mean of both
    (``study/static_fit.py`` prints how far off). If all shares are 1, it is the number
    of runs.

    :param shares_before: of the block before each in the file, 0 if there is none.
    """
    fewest = float(np.maximum(0.0, shares - shares_before).sum())
    most = float((shares * (1 - shares_before)).sum())
    return math.sqrt(fewest * most)


@dataclass(frozen=True, slots=True, kw_only=True)
class Narrowing:
    """What the interval of a saving would be if more were known.

    :param if_recorded: that the launch reads as many blocks as expected.
    :param if_calibrated: that the device is as in the middle.
    """

    if_recorded: Interval
    if_calibrated: Interval


def average_saving(
    users: Sequence[tuple[float, LaunchEstimate, LaunchEstimate]],
) -> tuple[Interval, Narrowing]:
    """Return the saving on the average device, and ways to narrow its interval.

    :param users: the share of each device, and the slow and the fast launch there.
    """
    saved = average_figures(
        [(share, saved_figures(slow, fast)) for share, slow, fast in users]
    )
    calibrated = _sum(
        calibrated_work(slow, fast) * share for share, slow, fast in users
    )
    # Of total_s: 0 and 1 are of the storage, 3 and 4 say how much is read.
    known = [Interval.exactly(each.mid) for each in saved]
    return combined(total_s, saved), Narrowing(
        if_recorded=combined(total_s, (*saved[:3], *known[3:5], saved[5])),
        if_calibrated=combined(total_s, (*known[:2], calibrated, *saved[3:])),
    )


def average_figures(
    devices: Sequence[tuple[float, Sequence[Interval]]],
) -> tuple[Interval, ...]:
    """Return the figures of :func:`total_s` of a launch on the average device.

    The launch is the same on all devices, and so is what isn't known of it. Storage
    differs from device to device, so its errors are independent. What processors take
    comes from the same few publications, or even from the same profile, so all of it is
    taken to be wrong in the same direction.

    :param devices: the share of each, which add up to 1, and its figures.
    """
    if len(devices) == 1:  # it is the average
        return tuple(devices[0][1])
    shares = [share for share, _ in devices]

    def average(values: Sequence[float]) -> float:
        return sum(a * b for a, b in zip(shares, values, strict=True))

    seeks, transfer, work, *launch = zip(
        *(figures for _, figures in devices), strict=True
    )
    low, mid, high = (
        average(ends) for ends in zip(*(e.ends for e in work), strict=True)
    )
    return (
        combined(average, seeks),
        combined(average, transfer),
        Interval(low=low, mid=mid, high=high),
        *(figures[0] for figures in launch),
    )


def together(layers: Sequence[LaunchEstimate]) -> LaunchEstimate:
    """Return the cost of one launch's snaps on one device, as one estimate.

    The device is the same for all, so the ends add up end by end. The shares of the
    launch mostly are the same too; if one snap's are known better, they are averaged by
    what the snaps cost. What another codec for one snap saves is
    :func:`.model.seconds_saved` of that snap alone: the others cost what they did.

    :param layers: at least one.
    """
    work = [each.transfer.mid + each.fill.mid + each.decompress.mid for each in layers]
    return LaunchEstimate(
        seeks=_sum(each.seeks for each in layers),
        transfer=_sum(each.transfer for each in layers),
        fill=_sum(each.fill for each in layers),
        decompress=_sum(each.decompress for each in layers),
        calibrated_s=_sum(each.calibrated for each in layers),
        read_share=_mean([each.read_share for each in layers], work),
        seek_share=_mean(
            [each.seek_share for each in layers], [each.seeks.mid for each in layers]
        ),
        waited_share=_mean([each.waited_share for each in layers], work),
    )


def _sum(parts: Iterable[Interval]) -> Interval:
    return reduce(add, parts)


def _mean(shares: Sequence[Interval], weights: Sequence[float]) -> Interval:
    """Return the mean of shares; the first of them if nothing tells them apart."""
    total = sum(weights)
    if not total or all(share == shares[0] for share in shares):
        return shares[0]
    return _sum(s * (weight / total) for s, weight in zip(shares, weights, strict=True))

"""What a cold launch costs more than a warm one, codec by codec."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from snapcraft_compression_advisor.codecs import CODECS
from snapcraft_compression_advisor.core.units import Interval
from snapcraft_compression_advisor.launch.expected_blocks import (
    BlockSums,
    expect_blocks,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from snapcraft_compression_advisor.devices.device import BlockCost, DeviceProfile
    from snapcraft_compression_advisor.launch.launch_set import LaunchFile, LaunchSet
    from snapcraft_compression_advisor.trial.result import CodecTrial


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
        """All together.

        What is uncertain of the device has nothing to do with what is uncertain of the
        launch, so the interval takes the root of the sum of their squares.
        """
        return _combined(
            _total_s,
            (
                self.seeks,
                self.transfer,
                self.fill + self.decompress,
                self.seek_share,
                self.read_share,
                self.waited_share,
            ),
        )

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
            CODECS[codec].in_launch,
        ),
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
    """Return what so many blocks and bytes cost, in seconds."""
    return (
        cost.block_s.map(lambda each: each * blocks)
        + cost.raw_s_per_byte.map(lambda each: each * raw_bytes)
        + cost.stored_s_per_byte.map(lambda each: each * stored_bytes)
    )


def seconds_saved(slow: LaunchEstimate, fast: LaunchEstimate) -> Interval:
    """Return what one codec saves against another in a launch on the same device.

    Device and launch are the same for both. So each part's difference is taken on a
    fast, a middling and a slow device; a fast processor may sit beside a slow disk, and
    neither says how large the launch is, so these are combined like independent errors.
    """
    return _combined(
        _total_s,
        (
            _difference(slow.seeks, fast.seeks),
            _difference(slow.transfer, fast.transfer),
            _difference(slow.decompress, fast.decompress)
            + _difference(slow.fill, fast.fill),
            slow.seek_share,
            slow.read_share,
            slow.waited_share,
        ),
    )


def _total_s(figures: Sequence[float]) -> float:
    """Return seconds from seeks, transfer and work, and the launch's shares of them."""
    seeks, transfer, work, seek_share, read_share, waited_share = figures
    return seeks * seek_share + (transfer + work * waited_share) * read_share


def _combined(
    total: Callable[[Sequence[float]], float], figures: Sequence[Interval]
) -> Interval:
    """Return a total of independent figures, with the interval that theirs make.

    Each figure goes to either end while the others stay in the middle; the distances
    add up by their squares (ISO/IEC Guide 98-3, 5.1.2), within what is possible.
    """
    middles = [figure.mid for figure in figures]
    mid = total(middles)
    below = above = 0.0
    for place, figure in enumerate(figures):
        ends = [
            total([*middles[:place], end, *middles[place + 1 :]])
            for end in (figure.low, figure.high)
        ]
        below += max(0.0, *(mid - end for end in ends)) ** 2
        above += max(0.0, *(end - mid for end in ends)) ** 2
    lowest = min(mid, total([figure.low for figure in figures]))
    low = mid - math.sqrt(below)
    return Interval(
        low=max(low, lowest) if lowest >= 0 else low,
        mid=mid,
        high=mid + math.sqrt(above),
    )


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


def cost_of_files(
    launch_set: LaunchSet,
    files: tuple[LaunchFile, ...],
    trial: CodecTrial,
    device: DeviceProfile,
) -> Interval:
    """Return the seconds that some files of a launch add on a device.

    A launch may read more than its set names, but of a file no more than is there.
    """
    part = replace(
        launch_set,
        files=files,
        read_share=_at_most_all(launch_set.read_share),
        seek_share=_at_most_all(launch_set.seek_share),
    )
    return estimate_launch(part, trial, device).added_s


def _at_most_all(share: Interval) -> Interval:
    return share.map(lambda value: min(1.0, value))

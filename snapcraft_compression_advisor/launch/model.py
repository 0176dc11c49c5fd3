"""What a cold launch costs more than a warm one, codec by codec."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from operator import mul
from typing import TYPE_CHECKING

from snapcraft_compression_advisor.units import Interval

if TYPE_CHECKING:
    from collections.abc import Iterator

    from snapcraft_compression_advisor.launch.device import DeviceProfile
    from snapcraft_compression_advisor.launch.launch_set import LaunchFile, LaunchSet
    from snapcraft_compression_advisor.trial.result import CodecTrial, StoredBlock


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchEstimate:
    """Seconds that a cold launch adds over a warm one.

    The parts are those of the launch set's blocks; the shares say how much more or less
    the launch really reads.

    :param seeks: waiting for storage to find blocks.
    :param transfer: storage's transfer of their stored bytes.
    :param decompress: decompression.
    :param read_share: bytes read, per byte of the set.
    :param seek_share: seeks made, per run of blocks of the set.
    """

    seeks: Interval
    transfer: Interval
    decompress: Interval
    read_share: Interval
    seek_share: Interval

    @property
    def io(self) -> Interval:
        """What storage takes."""
        return _times(self.seeks, self.seek_share) + _times(
            self.transfer, self.read_share
        )

    @property
    def added_s(self) -> Interval:
        """All together."""
        return self.io + self.decompression

    @property
    def decompression(self) -> Interval:
        """What the processor takes."""
        return _times(self.decompress, self.read_share)


def estimate_launch(
    launch_set: LaunchSet, trial: CodecTrial, device: DeviceProfile
) -> LaunchEstimate:
    """Estimate one codec's cost on one device.

    Every run of adjacent blocks of a file costs one seek and its stored bytes'
    transfer; every compressed block costs decompression by its raw bytes, one block
    after the other (``SQUASHFS_DECOMP_SINGLE``, what Ubuntu's kernels use for snaps).
    Reading metadata and copying into the page cache, the same for all codecs, are
    left out.
    """
    reads = stored_bytes = compressed_raw_bytes = 0
    for run in _runs(launch_set, trial):
        run_bytes = sum(block.stored_bytes for block in run)
        reads += 1 if run_bytes else 0
        stored_bytes += run_bytes
        compressed_raw_bytes += sum(
            block.raw_bytes for block in run if block.compressed
        )
    seeks = device.seek_s.map(lambda cost: cost * reads)
    transfer = device.read_s_per_byte.map(lambda cost: cost * stored_bytes)
    per_byte = device.decompress_s_per_byte[trial.codec]
    return LaunchEstimate(
        seeks=seeks,
        transfer=transfer,
        decompress=per_byte.map(lambda cost: cost * compressed_raw_bytes),
        read_share=launch_set.read_share,
        seek_share=launch_set.seek_share,
    )


def seconds_saved(slow: LaunchEstimate, fast: LaunchEstimate) -> Interval:
    """Return what one codec saves against another in a launch on the same device.

    Device and launch are the same for both. So each part's difference is taken on a
    fast, a middling and a slow device, and the parts are combined in the worst and the
    best way, since a fast processor may sit beside a slow disk; all that for the
    smallest and the largest launch.
    """
    seeks = _difference(slow.seeks, fast.seeks)
    rest = _difference(slow.transfer, fast.transfer) + _difference(
        slow.decompress, fast.decompress
    )
    small, middle, large = (
        seeks.map(partial(mul, seek_share)) + rest.map(partial(mul, read_share))
        for seek_share, read_share in zip(
            _ends(slow.seek_share), _ends(slow.read_share), strict=True
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

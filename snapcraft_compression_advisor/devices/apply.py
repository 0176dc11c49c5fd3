"""What a device takes to apply a delta, as ``snap/squashfs/delta.go`` of snapd does.

A plain delta is decoded by ``xdelta3 -d`` over the old image. For a snap-aware one,
``unsquashfs -pf`` writes the contents of the old image into a pipe, ``xdelta3 -d``
makes the new ones of them, and ``mksquashfs -pf -`` packs these with the codec of the
new image; all three run at once, on all processors. snapd then takes the SHA3-384 of
the result. Nothing of it is limited: neither the processors nor the tools' queues
(commit bee548f).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

from ..codecs import CODECS
from ..core.frozen import frozen
from ..core.units import KIB, MIB, Interval
from .apply_speeds import (
    CODED_S_PER_BYTE,
    DECODE_SPREAD,
    DECODE_START_S,
    MEASURED,
    READ_S_PER_BYTE,
    SIDE_BY_SIDE,
    WAIT_S,
    WRITTEN_S_PER_BYTE,
)

if TYPE_CHECKING:
    from ..codecs.codec import PackSearch
    from ..payload.search_work import SearchWork
    from .device import ApplySpeeds, ByteCost, DeviceProfile

Format = Literal["xdelta3", "snap-1-1-xdelta3"]
DecodeRate = Literal["rebuild_s_per_byte", "patch_s_per_byte"]

DEVICE_MEMORY_BYTES = 4096 * MIB
"""Of the device that memory is given for: profiles don't say how much one has."""

_XDELTA3_SOURCE_BYTES = 64 * MIB
"""Window on the source of ``xdelta3 -d`` by default (``XD3_DEFAULT_SRCWINSZ``)."""

_XDELTA3_BYTES = 16 * MIB
"""Its buffers of 8 MiB for what it reads and writes (``XD3_DEFAULT_WINSIZE``)."""

_WINDOW_BYTES = 8 * MIB
"""What xdelta3 decodes before it writes (``XD3_DEFAULT_WINSIZE``)."""

_UNSQUASHFS_BYTES = 256 * MIB
"""Its cache of data blocks by default (``DATA_BUFFER_DEFAULT`` of squashfs-tools
4.7.4); snaps have no fragments, so the cache of these stays empty."""

_MKSQUASHFS_PART = 16
"""Its queues of blocks read and of blocks to write may each fill a sixteenth of the
device's memory: a quarter (``SQUASHFS_TAKE``) in four parts."""

_ENDS = ("low", "mid", "high")


@frozen
class ApplySizes:
    """What is read and written, in bytes.

    :param old_raw: contents of the old image.
    :param delta: downloaded.
    :param coded: bytes of the delta that LZMA made shorter; ``None`` where that isn't
        known.
    :param search: what packing the new contents takes; ``None`` where that isn't known.
    """

    old_image: float
    new_image: float
    old_raw: float
    new_raw: float
    delta: float
    coded: float | None = None
    search: SearchWork | None = None


@frozen
class ApplyWork:
    """The processor time of each step, in seconds, at one end of the interval.

    :param ahead: the share of the new contents that xdelta3 writes at once, and that
        nothing is packed before.
    """

    unpack: float
    decode: float
    pack: float
    digest: float
    ahead: float = 0.0

    def seconds(self, processors: int) -> float:
        """Return how long the steps take together.

        Until xdelta3 has decoded its first window, nothing is packed. Then the three
        programs keep all processors busy, but xdelta3 has only one thread. The digest
        is taken afterwards.
        """
        if processors == 1 or not self.pack:
            return self.unpack + self.decode + self.pack + self.digest
        later = 1 - self.ahead
        first = self.ahead * (self.unpack / processors + self.decode)
        rest = later * (self.unpack + self.decode) + self.pack
        together = first + max(rest / processors, later * self.decode)
        return together * SIDE_BY_SIDE + WAIT_S + self.digest


def apply_seconds(
    sizes: ApplySizes, delta_format: Format, codec: str, device: DeviceProfile
) -> Interval:
    """Return how long a device takes to apply a delta, in seconds.

    At the low end, the old image is in memory; else storage is read at its sequential
    rate while the programs run. Writing goes on in the background, and isn't counted.

    :param codec: of both images.
    """
    speeds = device.apply
    read = sizes.old_image + sizes.delta
    ends = {}
    for end in _ENDS:
        work = apply_work(speeds, sizes, delta_format, codec, end)
        storage_s = read * getattr(device.read_s_per_byte, end) if end != "low" else 0
        ends[end] = max(work.seconds(device.processors), storage_s + work.digest)
    return Interval.around(*ends.values())


def apply_work(
    speeds: ApplySpeeds, sizes: ApplySizes, delta_format: Format, codec: str, end: str
) -> ApplyWork:
    """Return the processor time of each step, at an end of the interval."""
    digest = sizes.new_image * getattr(speeds.digest_s_per_byte, end)
    if delta_format == "xdelta3":
        decode = _decode_s(speeds, "patch_s_per_byte", sizes, sizes.new_image, end)
        return ApplyWork(unpack=0.0, decode=decode, pack=0.0, digest=digest)
    return ApplyWork(
        unpack=_cost(speeds.unpack, codec, end, sizes.old_raw, sizes.old_image),
        decode=_decode_s(speeds, "rebuild_s_per_byte", sizes, sizes.new_raw, end),
        pack=_pack_s(speeds, sizes, codec, end),
        digest=digest,
        ahead=min(1.0, _WINDOW_BYTES / max(1.0, sizes.new_raw)),
    )


def _decode_s(
    speeds: ApplySpeeds,
    rate: DecodeRate,
    sizes: ApplySizes,
    written: float,
    end: str,
) -> float:
    """Return how long ``xdelta3 -d`` takes.

    Where it is known what LZMA has to decode, that and what is written decide. A device
    decodes it as much faster or slower as it unpacks xz, which is LZMA as well.

    :param rate: per byte written, where that isn't known.
    """
    if sizes.coded is None:
        return written * float(getattr(getattr(speeds, rate), end))
    copying, lzma = decode_ratios(speeds, rate, end)
    copied_s = written * WRITTEN_S_PER_BYTE + sizes.delta * READ_S_PER_BYTE
    coded_s = sizes.coded * CODED_S_PER_BYTE
    seconds = DECODE_START_S + copied_s * copying + coded_s * lzma
    return seconds * float(getattr(DECODE_SPREAD, end))


def decode_ratios(
    speeds: ApplySpeeds, rate: DecodeRate, end: str
) -> tuple[float, float]:
    """Return how long copying, and LZMA, take a device per the machine of the table."""
    device, measured = (
        float(getattr(getattr(each, rate), end)) for each in (speeds, MEASURED)
    )
    lzma, lzma_measured = (
        _cost(each.unpack, "xz", end, raw=3.0, stored=1.0)  # as xz packs most files
        for each in (speeds, MEASURED)
    )
    return device / measured, lzma / lzma_measured


def _pack_s(speeds: ApplySpeeds, sizes: ApplySizes, codec: str, end: str) -> float:
    """Return how long mksquashfs takes.

    Where it is known how much the codec has to search in the contents, that decides,
    and the profile says how fast the device is: both its pack cost and
    :data:`.apply_speeds.MEASURED`'s are for contents of the same spread.
    """
    known = CODECS[codec].pack_search if codec in CODECS else None
    if sizes.search is None or known is None:
        return _cost(speeds.pack, codec, end, sizes.new_raw, sizes.new_image)
    of_table = _cost(MEASURED.pack, codec, end, sizes.new_raw, sizes.new_image)
    of_device = _cost(speeds.pack, codec, end, sizes.new_raw, sizes.new_image)
    spread = Interval.around(known.least, 1.0, known.greatest)
    seconds = search_s(known, sizes.search) * float(getattr(spread, end))
    return seconds * of_device / of_table


def search_s(costs: PackSearch, work: SearchWork) -> float:
    """Return how long packing takes on the machine of the table, in seconds."""
    return (
        work.raw_bytes / KIB * costs.raw_us_per_kib * 1e-6
        + work.steps * costs.step_ns * 1e-9
        + work.near_steps * costs.near_step_ns * 1e-9
        + work.blocks * costs.block_us * 1e-6
        + costs.start_ms * 1e-3
    )


def _cost(
    costs: Mapping[str, ByteCost], codec: str, end: str, raw: float, stored: float
) -> float:
    cost = costs[codec]
    per_raw, per_stored = cost.raw_s_per_byte, cost.stored_s_per_byte
    return float(raw * getattr(per_raw, end) + stored * getattr(per_stored, end))


def apply_disk_bytes(sizes: ApplySizes) -> int:
    """Return what is on disk beside the old image: the delta and the new image.

    The contents go through pipes, so nothing unpacked is written.
    """
    return round(sizes.delta + sizes.new_image)


def apply_memory_bytes(
    sizes: ApplySizes,
    delta_format: Format,
    device_memory_bytes: float = DEVICE_MEMORY_BYTES,
) -> int:
    """Return what the programs hold in memory at once, at most.

    The queues fill up where the next program is slower, as mksquashfs is; they never
    hold more than there is of the image.
    """
    source = sizes.old_image if delta_format == "xdelta3" else sizes.old_raw
    xdelta3 = _XDELTA3_BYTES + min(source, _XDELTA3_SOURCE_BYTES)
    if delta_format == "xdelta3":
        return round(xdelta3)
    queue = device_memory_bytes / _MKSQUASHFS_PART
    mksquashfs = min(sizes.new_raw, queue) + min(sizes.new_image, queue)
    unsquashfs = min(sizes.old_raw, _UNSQUASHFS_BYTES)
    return round(unsquashfs + xdelta3 + mksquashfs)

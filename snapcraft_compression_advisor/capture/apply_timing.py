"""What unpacking, packing and decoding take on this machine, for applying deltas.

Each program runs once on the sample; the figures of
:data:`~snapcraft_compression_advisor.devices.apply_speeds.MEASURED` are scaled to the
processor time that it took.
"""

from __future__ import annotations

import hashlib
import resource
import shutil
import time
from collections.abc import Mapping
from functools import partial
from pathlib import Path

from ..codecs import CODECS
from ..core.child import run_child
from ..core.units import MIB, Interval
from ..devices.apply import search_s
from ..devices.apply_speeds import MEASURED, WRITTEN_S_PER_BYTE
from ..devices.device import ApplySpeeds, ByteCost
from ..payload.search_work import SearchWork
from ..squashfs import mksquashfs

_DIGEST_BYTES = 64 * MIB


def children_s() -> float:
    """Return the processor time of all programs that have been run, in seconds."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def time_apply(
    images: Mapping[str, Path],
    pack_s: Mapping[str, float],
    work: SearchWork,
    scratch: Path,
) -> ApplySpeeds:
    """Measure what applying a delta takes.

    A codec without an image is taken to be as much faster or slower as xz or the first
    codec that has one. So is xdelta3 where it isn't installed.

    :param images: of one payload, by codec.
    :param pack_s: processor time of packing each.
    :param work: what packing the payload takes.
    :param scratch: directory to write to.
    """
    sizes = {codec: image.stat().st_size for codec, image in images.items()}
    raw_bytes = round(work.raw_bytes)
    packing = {
        codec: pack_s[codec] / _packing_s(codec, work, size)
        for codec, size in sizes.items()
    }
    unpacking = {
        codec: seconds / _predicted_s(MEASURED.unpack[codec], raw_bytes, sizes[codec])
        for codec, seconds in _unpack_s(images, scratch).items()
    }
    usual = packing.get("xz", next(iter(packing.values())))
    decoding = _decoding(images["none"], scratch) if "none" in images else None
    decoding = usual if decoding is None else decoding
    return ApplySpeeds(
        unpack=_times(MEASURED.unpack, unpacking, usual),
        pack=_times(MEASURED.pack, packing, usual),
        rebuild_s_per_byte=_scaled(MEASURED.rebuild_s_per_byte, decoding),
        patch_s_per_byte=_scaled(MEASURED.patch_s_per_byte, decoding),
        digest_s_per_byte=Interval.exactly(_digest_s_per_byte()),
    )


def _packing_s(codec: str, work: SearchWork, stored_bytes: int) -> float:
    """Return how long packing takes on the machine of the table."""
    known = CODECS[codec].pack_search
    if known is not None:
        return search_s(known, work)
    return _predicted_s(MEASURED.pack[codec], round(work.raw_bytes), stored_bytes)


def _predicted_s(cost: ByteCost, raw_bytes: int, stored_bytes: int) -> float:
    return (
        raw_bytes * cost.raw_s_per_byte.mid + stored_bytes * cost.stored_s_per_byte.mid
    )


def _unpack_s(images: Mapping[str, Path], scratch: Path) -> dict[str, float]:
    taken = {}
    for codec, image in images.items():
        target, before_s = scratch / f"unpacked-{codec}", children_s()
        mksquashfs.unpack(image, target)
        taken[codec] = children_s() - before_s
        shutil.rmtree(target, ignore_errors=True)
    return taken


def _decoding(image: Path, scratch: Path) -> float | None:
    """Return how long xdelta3 takes to write an image again, per what it took there.

    Such a delta has nothing that LZMA would have to decode.

    :returns: ``None`` where it isn't installed, or fails.
    """
    if shutil.which("xdelta3") is None:
        return None
    delta, target = scratch / "delta", scratch / "decoded"
    encode = ("xdelta3", "-0", "-f", "-e", "-s", *map(str, (image, image, delta)))
    decode = ("xdelta3", "-f", "-d", "-s", *map(str, (image, delta, target)))
    if run_child(encode).returncode:
        return None
    before_s = children_s()
    run_child(decode)
    return (children_s() - before_s) / (image.stat().st_size * WRITTEN_S_PER_BYTE)


def _digest_s_per_byte() -> float:
    data = bytes(_DIGEST_BYTES)
    started = time.process_time()
    hashlib.sha3_384(data).digest()
    return (time.process_time() - started) / _DIGEST_BYTES


def _times(
    costs: Mapping[str, ByteCost], factors: Mapping[str, float], usual: float
) -> dict[str, ByteCost]:
    return {
        codec: cost.map(partial(_scaled, by=factors.get(codec, usual)))
        for codec, cost in costs.items()
    }


def _scaled(part: Interval, by: float) -> Interval:
    """Return a cost times a factor: other contents differ as in the study."""
    return part.map(lambda end: end * by)

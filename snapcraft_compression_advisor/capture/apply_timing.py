"""What unpacking, packing and decoding take on this machine, for applying deltas.

Each program runs on the sample, on one processor: side by side, threads take longer,
which :data:`~snapcraft_compression_advisor.devices.apply_speeds.SIDE_BY_SIDE` counts.
The figures of :data:`~snapcraft_compression_advisor.devices.apply_speeds.MEASURED` are
scaled to the least processor time of some rounds.
"""

from __future__ import annotations

import hashlib
import os
import resource
import shutil
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from itertools import product
from pathlib import Path

from ..codecs import CODECS
from ..core.child import run_child
from ..core.units import MIB, Interval
from ..devices.apply import search_s
from ..devices.apply_speeds import MEASURED, WRITTEN_S_PER_BYTE
from ..devices.device import ApplySpeeds, ByteCost
from ..payload.inventory import exclude_file_text
from ..payload.search_work import SearchWork
from ..payload.source import Payload
from ..squashfs import mksquashfs
from ..trial.result import Progress

_DIGEST_BYTES = 64 * MIB
SNAPD_DIGEST = 1.28
"""What SHA3-384 takes by snapd's library, per what Python's takes: 3.25 and 2.55 ns per
byte (``study/digest`` on an AMD EPYC, and :mod:`hashlib` beside it)."""

_ROUNDS = 3
_Step = tuple[str, str]
"""What is done, and with which codec."""
_Run = Callable[[], object]
_LEAST_S = 1e-3  # a tick of a coarse clock: what takes less can't be told


def time_apply(
    payload: Payload,
    images: Mapping[str, Path],
    work: SearchWork,
    scratch: Path,
    progress: Progress,
) -> ApplySpeeds:
    """Measure what applying a delta takes.

    A codec without an image is taken to be as much faster or slower as xz or the first
    codec that has one. So is xdelta3 where it isn't installed.

    :param payload: a prime directory.
    :param images: of the payload, by codec.
    :param work: what packing the payload takes.
    :param scratch: directory to write to.
    """
    sizes = {codec: image.stat().st_size for codec, image in images.items()}
    raw_bytes = round(work.raw_bytes)
    steps = {
        **{("pack", codec): _packing(payload, codec, scratch) for codec in images},
        **{
            ("unpack", codec): _unpacking(image, scratch)
            for codec, image in images.items()
        },
    }
    if "none" in images and (decode := _decoding(images["none"], scratch)):
        steps["decode", "none"] = decode
    taken = _least_s(steps, progress)
    packing = {
        codec: taken["pack", codec] / _packing_s(codec, work, size)
        for codec, size in sizes.items()
    }
    unpacking = {
        codec: taken["unpack", codec]
        / _predicted_s(MEASURED.unpack[codec], raw_bytes, size)
        for codec, size in sizes.items()
    }
    usual = packing.get("xz", next(iter(packing.values())))
    decoding = usual
    if decode_s := taken.get(("decode", "none")):
        decoding = decode_s / (sizes["none"] * WRITTEN_S_PER_BYTE)
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


@contextmanager
def _one_processor() -> Iterator[None]:
    """Let all programs that are started run on the same processor."""
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(allowed)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, allowed)


def _least_s(steps: Mapping[_Step, _Run], progress: Progress) -> dict[_Step, float]:
    """Return the least processor time of the programs that each step runs.

    What it takes to start one, as :func:`.run_child` does, isn't counted. All steps
    take turns: what slows down the machine for a while meets all of them.
    """
    taken: dict[_Step, list[float]] = defaultdict(list)
    with _one_processor():
        for number, (step, run) in product(range(_ROUNDS), steps.items()):
            progress(f"Timing: {' '.join(step)} (round {number + 1} of {_ROUNDS})")
            taken[step].append(_children_s(run) - _children_s(_run_nothing))
    return {step: max(min(each), _LEAST_S) for step, each in taken.items()}


def _children_s(run: _Run) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _run_nothing() -> None:
    run_child(("true",))


def _packing(payload: Payload, codec: str, scratch: Path) -> _Run:
    exclude_file = scratch / "excludes"
    exclude_file.write_text(exclude_file_text(), encoding="utf-8")
    return partial(
        mksquashfs.pack,
        payload.path,
        scratch / "packed",
        codec=codec,
        snap_type=payload.snap.type,
        exclude_file=exclude_file,
    )


def _unpacking(image: Path, scratch: Path) -> _Run:
    target = scratch / "unpacked"

    def unpack() -> None:
        mksquashfs.unpack(image, target)
        shutil.rmtree(target)

    return unpack


def _decoding(image: Path, scratch: Path) -> _Run | None:
    """Return how xdelta3 writes an image again, with nothing that LZMA has to decode.

    :returns: ``None`` where it isn't installed, or fails.
    """
    if shutil.which("xdelta3") is None:
        return None
    delta, target = scratch / "delta", scratch / "decoded"
    encode = ("xdelta3", "-0", "-f", "-e", "-s", *map(str, (image, image, delta)))
    decode = ("xdelta3", "-f", "-d", "-s", *map(str, (image, delta, target)))
    return None if run_child(encode).returncode else partial(run_child, decode)


def _digest_s_per_byte() -> float:
    data = bytes(_DIGEST_BYTES)
    taken = []
    for _ in range(_ROUNDS):
        started = time.process_time()
        hashlib.sha3_384(data).digest()
        taken.append(time.process_time() - started)
    return min(taken) / _DIGEST_BYTES * SNAPD_DIGEST


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

"""The built-in device profiles: one YAML file each, beside this module.

A file holds published rates, each of a slow and of a fast device of its kind, and their
sources; what it leaves out is as in the profile that it is ``like``.

A codec's published throughput says how long a usual block takes: 128 KiB that are
stored in a third of it. How this divides into block, raw and stored bytes is measured
(``study/data/kernel-blocks.csv``) and scaled to the published figure.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from ruamel.yaml import YAML

from ..codecs import CODECS
from ..core.errors import UsageError
from ..core.units import KIB, Interval
from .builtin_kernels import AT, on_kernel
from .device import (
    NO_COST,
    BlockCost,
    DeviceProfile,
    KernelProfile,
    block_seconds,
    scaled,
)

DEFAULT_NAMES = ("nvme-laptop", "hdd-laptop")
"""What ``advise`` estimates for if nothing else is asked for."""

USUAL_RAW_BYTES = 128 * KIB
USUAL_STORED_BYTES = USUAL_RAW_BYTES / 3
"""xz and gzip take about a third of a desktop's files (commit 87bf54bb43dd)."""

_MB = 1_000_000
_MS_PER_S = 1000
_ENDS = ("low", "mid", "high")
_SUFFIX = ".yaml"
_FILL_SOURCE = (
    "reading a block: estimated; measured on a server (study/data/kernel-blocks.csv), "
    "scaled in proportion to the published throughput of xz"
)


def usual_block_s(cost: BlockCost) -> float:
    """Return the middle of what a usual block costs, in seconds."""
    return block_seconds(
        cost, raw_bytes=USUAL_RAW_BYTES, stored_bytes=USUAL_STORED_BYTES
    )


def _shape(
    block_us: float, raw_us_per_kib: float, stored_us_per_kib: float
) -> BlockCost:
    return BlockCost(
        block_s=Interval.exactly(block_us / 1e6),
        raw_s_per_byte=Interval.exactly(raw_us_per_kib / 1e6 / KIB),
        stored_s_per_byte=Interval.exactly(stored_us_per_kib / 1e6 / KIB),
    )


MEASURED_FILL = _shape(110.67, 0.4102, 0)
"""Fitted as :class:`KernelTime` is, to blocks that are stored."""
MEASURED_SHAPES: Mapping[str, BlockCost] = {
    codec.name: _shape(*codec.kernel_time)
    for codec in CODECS.values()
    if codec.kernel_time
}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rate:
    """A published rate per second, of a slow device of a kind and of a fast one."""

    slow: float
    fast: float

    def cost(self, of: float = 1) -> Interval:
        """Return the seconds of one, the rates being of so many.

        Their geometric mean is the middle: rates of devices differ by factors.
        """
        slow, fast = self.slow * of, self.fast * of
        return Interval.around(1 / slow, 1 / math.sqrt(slow * fast), 1 / fast)


def _seek_s(storage: Mapping[str, Any]) -> Interval:
    """Return the seconds of a seek, published as their number or as their time."""
    if "seeks_per_s" in storage:
        return _Rate(**storage["seeks_per_s"]).cost()
    ends = storage["seek_ms"].items()
    return _Rate(**{end: 1 / (ms / _MS_PER_S) for end, ms in ends}).cost()


def _decompress(mb_per_s: Mapping[str, Any]) -> dict[str, BlockCost]:
    """Return what decompressing a block costs, by codec.

    A codec without a published throughput is scaled as xz is.
    """
    costs = {}
    for codec, shape in MEASURED_SHAPES.items():
        like = codec if codec in mb_per_s else "xz"
        low, mid, high = _scales(like, _Rate(**mb_per_s[like]))
        costs[codec] = scaled(shape, low=low, mid=mid, high=high)
    return {**costs, "none": NO_COST}


def _estimated_source(mb_per_s: Mapping[str, Any]) -> str | None:
    missing = ", ".join(codec for codec in MEASURED_SHAPES if codec not in mb_per_s)
    return missing and (
        f"decompression of {missing}: estimated; measured on a server, scaled in "
        "proportion to the published throughput of xz"
    )


def _fill(xz: _Rate) -> BlockCost:
    """Return the measured cost of reading any block, scaled as xz is.

    Nobody publishes it; it is small, and the same for every codec. Most of it is the
    wait for another thread, which took half as long wherever the virtual processor
    wasn't halted: hence half at the low end.
    """
    low, mid, high = _scales("xz", xz)
    return scaled(MEASURED_FILL, low=low / 2, mid=mid, high=high)


def _scales(codec: str, mb_per_s: _Rate) -> tuple[float, float, float]:
    """Return how the published costs of a usual block compare to the measured one.

    :returns: low, middle, high.
    """
    per_byte = mb_per_s.cost(_MB)
    measured_s = usual_block_s(MEASURED_SHAPES[codec])
    low, mid, high = (
        each * USUAL_RAW_BYTES / measured_s
        for each in (per_byte.low, per_byte.mid, per_byte.high)
    )
    return low, mid, high


def _repeated(cost: BlockCost, times: Mapping[str, Any]) -> BlockCost:
    """Return the cost of a block that a kernel decompresses several times."""
    return cost.map(
        lambda part: Interval(**{end: getattr(part, end) * times[end] for end in _ENDS})
    )


def _profile(name: str) -> DeviceProfile:
    document = _document(name)
    storage, decompress = document["storage"], document["decompress"]
    costs = _decompress(decompress["mb_per_s"])
    times = document.get("decompressions_per_block")
    if times:
        costs = {codec: _repeated(cost, times) for codec, cost in costs.items()}
    xz = _Rate(**decompress["mb_per_s"]["xz"])
    sources = (
        document.get("source"),
        storage["source"],
        decompress["source"],
        _estimated_source(decompress["mb_per_s"]),
        _FILL_SOURCE,
        times and times["source"],
    )
    return DeviceProfile(
        name=name,
        description=document["description"],
        seek_s=_seek_s(storage),
        read_s_per_byte=_Rate(**storage["mb_per_s"]).cost(_MB),
        fill=_fill(xz),
        decompress=costs,
        processors=document["processors"],
        sources=tuple(source for source in sources if source),
        kernel=KernelProfile(**document["kernel"]),
        decompressions_per_block=Interval(**{end: times[end] for end in _ENDS})
        if times
        else Interval.exactly(1.0),
    )


@cache
def find_device(name: str) -> DeviceProfile:
    """Return the built-in profile of a name, ``NAME`` or ``NAME@KERNEL``.

    :raises UsageError: if there is no such profile or kernel.
    """
    plain, at, kernel = name.partition(AT)
    if at:
        return on_kernel(find_device(plain), kernel)
    if name in _names():
        return _profile(name)
    near = difflib.get_close_matches(name, _names(), n=1)
    names = ", ".join(device.name for device in builtin_devices())
    message = f"No device profile {name!r}"
    raise UsageError(
        message,
        resolution=(f"Did you mean {near[0]!r}? " if near else "")
        + f"Choose a built-in profile ({names}), or give the path of a YAML file.",
    )


@cache
def builtin_devices() -> tuple[DeviceProfile, ...]:
    """Return all built-in profiles, in the order in which they are listed."""
    names = sorted(_names(), key=lambda name: _document(name)["place"])
    return tuple(find_device(name) for name in names)


@cache
def default_devices() -> tuple[DeviceProfile, ...]:
    """Return the profiles of :data:`DEFAULT_NAMES`."""
    return tuple(find_device(name) for name in DEFAULT_NAMES)


@cache
def _names() -> tuple[str, ...]:
    names = sorted(path.name for path in files(__package__).iterdir())
    return tuple(name[: -len(_SUFFIX)] for name in names if name.endswith(_SUFFIX))


@cache
def _document(name: str) -> dict[str, Any]:
    """Return a file's document, filled up with that of the profile it is like."""
    text = (files(__package__) / f"{name}{_SUFFIX}").read_text(encoding="utf-8")
    document: dict[str, Any] = YAML(typ="safe", pure=True).load(text)
    like = document.pop("like", None)
    return {**_document(like), **document} if like else document

"""The built-in device profiles: one YAML file each, beside this module.

A file holds published rates, each of a slow and of a fast device of its kind, and their
sources; sections that it leaves out are those of the profile that it is ``like``.

A codec's published throughput says how long a usual block takes: 128 KiB that are
stored in a third of it. How this divides into block, raw and stored bytes is measured
(``study/data/kernel-blocks.csv``) and scaled to the published figure.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from importlib.resources import files
from typing import Any

import pydantic
from ruamel.yaml import YAML
from typing_extensions import Self

from ..codecs import CODECS, CodecName
from ..core.documents import DocumentKind
from ..core.errors import UsageError
from ..core.units import KIB, Interval
from .builtin_kernels import AT, on_kernel
from .device import (
    NO_COST,
    BlockCost,
    DeviceProfile,
    KernelProfile,
    SecondsRange,
    Text,
    block_seconds,
    scaled,
)

DEFAULT_NAMES = ("nvme-laptop", "hdd-laptop")
"""What ``advise`` estimates for if nothing else is asked for."""

USUAL_RAW_BYTES = 128 * KIB
USUAL_STORED_BYTES = USUAL_RAW_BYTES / 3
"""xz and gzip take about a third of a desktop's files (commit 87bf54bb43dd)."""

_MB = 1_000_000
_SUFFIX = ".yaml"
_FILL_SOURCE = (
    "reading a block: estimated; measured on a server (study/data/kernel-blocks.csv), "
    "scaled in proportion to the published throughput of xz"
)
_SCALED_SOURCE = (
    "decompression of {}: estimated; measured on a server, scaled in proportion to the "
    "published throughput of xz"
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
"""What reading any block costs: fitted as :class:`KernelTime` is, to blocks that are
stored, and scaled as xz is, since nobody publishes it. Most of it is the wait for
another thread, which took half as long if the virtual processor wasn't halted."""
MEASURED_SHAPES: Mapping[str, BlockCost] = {
    codec.name: _shape(*codec.kernel_time)
    for codec in CODECS.values()
    if codec.kernel_time
}
_MEASURED_S = {codec: usual_block_s(cost) for codec, cost in MEASURED_SHAPES.items()}


class _Figures(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(extra="forbid", frozen=True, strict=True)


class _Rate(_Figures):
    """A published rate per second, of a slow device of a kind and of a fast one."""

    slow: pydantic.PositiveFloat
    fast: pydantic.PositiveFloat

    @pydantic.model_validator(mode="after")
    def _ascending(self) -> Self:
        if self.slow > self.fast:
            message = "the slow device is faster than the fast one"
            raise ValueError(message)
        return self

    def cost(self, of: float = 1) -> Interval:
        """Return the seconds of one unit; the middle is the ends' geometric mean.

        :param of: units that the rates are of, such as a MB's bytes.
        """
        low, high = 1 / (self.fast * of), 1 / (self.slow * of)
        return Interval(low=low, mid=math.sqrt(low * high), high=high)


class _Storage(_Figures):
    seeks_per_s: _Rate
    mb_per_s: _Rate
    source: Text


class _Decompress(_Figures):
    mb_per_s: dict[CodecName, _Rate]
    source: Text

    @pydantic.model_validator(mode="after")
    def _has_xz(self) -> Self:
        if "xz" not in self.mb_per_s:
            message = "mb_per_s: xz is missing, by which other codecs are scaled"
            raise ValueError(message)
        return self


class _Repeated(SecondsRange):
    source: Text


class _File(_Figures):
    """A built-in profile, filled up; profiles are listed by their place."""

    place: int
    description: Text
    processors: int
    storage: _Storage
    decompress: _Decompress
    kernel: KernelProfile
    decompressions_per_block: _Repeated | None = None
    source: Text | None = None


_KIND = DocumentKind(
    model=_File,
    name="built-in device profile",
    max_bytes=64 * KIB,
    broken="{where!r} is no built-in device profile",
    resolution="Correct it as CONTRIBUTING.md says.",
)


def _profile(name: str) -> DeviceProfile:
    file = _KIND.check(_document(name), where=name)
    times = file.decompressions_per_block
    scales = {  # a usual block's published costs, relative to the measured one
        str(codec): rate.cost(_MB * _MEASURED_S[codec] / USUAL_RAW_BYTES)
        for codec, rate in file.decompress.mb_per_s.items()
    }
    ends = (times.low, times.mid, times.high) if times else (1.0, 1.0, 1.0)
    repeated = Interval.around(*ends)
    like_xz = scales["xz"]
    missing = ", ".join(codec for codec in MEASURED_SHAPES if codec not in scales)
    sources = (
        file.source,
        file.storage.source,
        file.decompress.source,
        missing and _SCALED_SOURCE.format(missing),
        _FILL_SOURCE,
        times and times.source,
    )
    return DeviceProfile(
        name=name,
        description=file.description,
        seek_s=file.storage.seeks_per_s.cost(),
        read_s_per_byte=file.storage.mb_per_s.cost(_MB),
        fill=scaled(MEASURED_FILL, replace(like_xz, low=like_xz.low / 2)),
        decompress={
            codec: scaled(shape, scales.get(codec, like_xz) * repeated)
            for codec, shape in MEASURED_SHAPES.items()
        }
        | {"none": NO_COST},
        processors=file.processors,
        sources=tuple(source for source in sources if source),
        kernel=file.kernel,
        decompressions_per_block=repeated,
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
    """Return a file's document, filled up with sections of the profile it is like."""
    text = (files(__package__) / f"{name}{_SUFFIX}").read_text(encoding="utf-8")
    document: dict[str, Any] = YAML(typ="safe", pure=True).load(text)
    like = document.pop("like", None)
    if like is not None and like not in _names():
        raise _KIND.error(name, f"like: there is no profile {like!r}")
    return {**_document(like), **document} if like else document

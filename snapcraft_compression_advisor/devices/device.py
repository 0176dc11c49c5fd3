"""Device profiles: what reading and decompressing cost on a machine, and their files.

A kernel's way of reading squashfs is chosen when it is built.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Literal

import pydantic
from typing_extensions import Self

from ..codecs import CodecName
from ..core.units import Interval

FileMode = Literal["cache", "direct", "unknown"]
"""Where a block is decompressed: into a buffer of squashfs (``SQUASHFS_FILE_CACHE``),
from which its pages are copied, or into the pages (``SQUASHFS_FILE_DIRECT``)."""

Decompressors = (
    Literal["single", "multi", "percpu", "unknown"]
    | Annotated[int, pydantic.Field(ge=1, le=4096)]
)
"""Of a mount: one, as many as are busy (at most twice the processors), one for each
processor, or a number that was asked for with ``threads=``."""

FIRST_WITH_CHOICE = (6, 2)
"""Linux 6.2 brought ``threads=`` (commit 80f784098ff4)."""


def _printable(text: str) -> str:
    if not text.isprintable():
        message = "contains non-printable characters"
        raise ValueError(message)
    return text


Text = Annotated[
    str,
    pydantic.StringConstraints(min_length=1, max_length=500),
    pydantic.AfterValidator(_printable),
]
Name = Annotated[
    str, pydantic.StringConstraints(pattern=r"^[a-z0-9][a-z0-9.-]*$", max_length=64)
]


class _Model(pydantic.BaseModel):
    # Strict: a figure in quotes or a yes for a number is a mistake.
    # Built where a file is read: most runs read none.
    model_config = pydantic.ConfigDict(
        defer_build=True,
        extra="forbid",
        frozen=True,
        populate_by_name=True,
        strict=True,
    )


class KernelProfile(_Model):
    """How a device's kernel reads squashfs."""

    versions: Annotated[
        str, pydantic.StringConstraints(pattern=r"^(unknown|\d+\.\d+( to \d+\.\d+)?)$")
    ] = pydantic.Field(description="as 6.8, or 4.15 to 6.8; or unknown")
    file_mode: FileMode = pydantic.Field(
        description="where a block is decompressed: into a buffer (cache), or into the "
        "pages of the file (direct)"
    )
    decompressors: Decompressors = pydantic.Field(
        description="of a mount: one (single), as many as are busy (multi), one for "
        "each processor (percpu), or a number"
    )
    source: Text

    @pydantic.model_validator(mode="after")
    def _possible(self) -> Self:
        if isinstance(self.decompressors, int) and self.versions != "unknown":
            newest = self.versions.rpartition(" ")[2]
            if tuple(map(int, newest.split("."))) < FIRST_WITH_CHOICE:
                message = (
                    f"kernel {newest} cannot be asked for a number of decompressors; "
                    "6.2 and later can"
                )
                raise ValueError(message)
        return self


NOT_IN_PROFILE = KernelProfile(
    versions="unknown",
    file_mode="unknown",
    decompressors="unknown",
    source="kernel: unknown; the profile doesn't name it",
)
"""Of a profile that was written before kernels were in them."""

_ONCE = Interval.exactly(1.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockCost:
    """Processor time of one data block.

    It is ``block_s`` + raw bytes x ``raw_s_per_byte`` + stored bytes x
    ``stored_s_per_byte``: what is written and what is decoded count each for itself,
    as the kernel's decompressors show (``study/kernel_blocks.py``).

    The low ends belong together, and so do the high ends: each is one scenario.

    :param block_s: seconds of any block, however small.
    :param raw_s_per_byte: seconds per byte of contents.
    :param stored_s_per_byte: seconds per byte in the image.
    """

    block_s: Interval
    raw_s_per_byte: Interval
    stored_s_per_byte: Interval

    def map(self, change: Callable[[Interval], Interval]) -> BlockCost:
        """Return the cost with each of its parts changed."""
        return BlockCost(
            block_s=change(self.block_s),
            raw_s_per_byte=change(self.raw_s_per_byte),
            stored_s_per_byte=change(self.stored_s_per_byte),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceProfile:
    """A machine that a snap starts on.

    The low ends of all intervals together are a fast device of its kind, the high
    ends a slow one.

    :param name: as ``--device`` takes it.
    :param seek_s: from asking for a block that doesn't follow the last one until
        its first byte, seconds.
    :param read_s_per_byte: storage time per byte of a continuous read.
    :param fill: what reading any block costs, compressed or not: the request, its
        pages, the copy.
    :param decompress: by codec, what decompressing a block adds; :data:`NO_COST` for
        ``none``. A stored block has only ``fill``.
    :param processors: that a launch can use.
    :param sources: where the figures come from: measured, published.
    :param kernel: how it reads squashfs.
    :param decompressions_per_block: how often a launch's blocks are decompressed, as
        far as ``decompress`` has it in it.
    """

    name: str
    description: str
    seek_s: Interval
    read_s_per_byte: Interval
    fill: BlockCost
    decompress: Mapping[str, BlockCost]
    processors: int
    sources: tuple[str, ...]
    kernel: KernelProfile = NOT_IN_PROFILE
    decompressions_per_block: Interval = _ONCE


_NOTHING = Interval.exactly(0.0)
NO_COST = BlockCost(
    block_s=_NOTHING, raw_s_per_byte=_NOTHING, stored_s_per_byte=_NOTHING
)


def block_seconds(cost: BlockCost, *, raw_bytes: float, stored_bytes: float) -> float:
    """Return the middle of a block's cost, in seconds."""
    return (
        cost.block_s.mid
        + raw_bytes * cost.raw_s_per_byte.mid
        + stored_bytes * cost.stored_s_per_byte.mid
    )


def scaled(cost: BlockCost, factor: Interval) -> BlockCost:
    """Return a cost times a factor: its middles alone count."""
    return BlockCost(
        block_s=factor * cost.block_s.mid,
        raw_s_per_byte=factor * cost.raw_s_per_byte.mid,
        stored_s_per_byte=factor * cost.stored_s_per_byte.mid,
    )


SCHEMA = 1


class _Ends(_Model):
    @pydantic.model_validator(mode="after")
    def _ascending(self) -> Self:
        low, mid, high = (getattr(self, end) for end in ("low", "mid", "high"))
        if not low <= mid <= high:
            message = "low, mid and high must be in ascending order"
            raise ValueError(message)
        return self

    def interval(self) -> Interval:
        """Return the ends as the core's type."""
        return Interval(**self.model_dump())


Seconds = Annotated[float, pydantic.Field(ge=0, le=10, allow_inf_nan=False)]
SecondsPerByte = Annotated[float, pydantic.Field(ge=0, le=1e-3, allow_inf_nan=False)]


class SecondsRange(_Ends):
    """Seconds: of a fast device of this kind, a middling and a slow one."""

    low: Seconds
    mid: Seconds
    high: Seconds


class SecondsPerByteRange(_Ends):
    """Seconds per byte: of a fast device of this kind, a middling and a slow one."""

    low: SecondsPerByte
    mid: SecondsPerByte
    high: SecondsPerByte


class StorageFigures(_Model):
    """What storage takes."""

    seek_s: SecondsRange = pydantic.Field(
        description="from requesting a block elsewhere to receiving its first byte"
    )
    read_s_per_byte: SecondsPerByteRange = pydantic.Field(
        description="of a sequential read"
    )


class BlockFigures(_Model):
    """Processor time of one data block: the sum of three parts."""

    block_s: SecondsRange = pydantic.Field(description="per block")
    raw_s_per_byte: SecondsPerByteRange = pydantic.Field(
        description="per byte of its contents"
    )
    stored_s_per_byte: SecondsPerByteRange = pydantic.Field(
        description="per byte of its size in the image"
    )

    def cost(self) -> BlockCost:
        """Return the figures as the core's type."""
        return BlockCost(
            block_s=self.block_s.interval(),
            raw_s_per_byte=self.raw_s_per_byte.interval(),
            stored_s_per_byte=self.stored_s_per_byte.interval(),
        )


class DeviceFile(_Model):
    """A device profile of ``compression-advisor``, version 1."""

    model_config = pydantic.ConfigDict(title="compression-advisor device profile")

    schema_version: Literal[1] = pydantic.Field(alias="schema")
    name: Name
    description: Text
    processors: Annotated[int, pydantic.Field(ge=1, le=4096)] = pydantic.Field(
        description="number of processors that a launch can use"
    )
    storage: StorageFigures
    fill: BlockFigures = pydantic.Field(
        description="cost of reading a block, compressed or not"
    )
    decompress: Annotated[
        dict[CodecName, BlockFigures], pydantic.Field(min_length=1)
    ] = pydantic.Field(
        description="additional cost of decompressing a block; missing codecs are "
        "taken from a built-in profile, in proportion"
    )
    kernel: KernelProfile | None = pydantic.Field(
        default=None, description="unknown if missing"
    )
    sources: Annotated[list[Text], pydantic.Field(min_length=1, max_length=20)] = (
        pydantic.Field(
            description="where the figures come from, and how they were obtained"
        )
    )

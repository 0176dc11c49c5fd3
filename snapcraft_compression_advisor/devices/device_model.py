"""What a device profile's file holds: its model, and its JSON Schema."""

from __future__ import annotations

from typing import Annotated, Literal

import pydantic
from typing_extensions import Self

from ..codecs import CodecName
from ..core.units import Interval
from .device import FIRST_WITH_CHOICE, BlockCost, FileMode, KernelProfile

SCHEMA = 1


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


class KernelFigures(_Model):
    """How the device's kernel reads squashfs."""

    versions: Annotated[
        str, pydantic.StringConstraints(pattern=r"^(unknown|\d+\.\d+( to \d+\.\d+)?)$")
    ] = pydantic.Field(description="as 6.8, or 4.15 to 6.8; or unknown")
    file_mode: FileMode = pydantic.Field(
        description="where a block is decompressed: into a buffer (cache), or into the "
        "pages of the file (direct)"
    )
    decompressors: (
        Literal["single", "multi", "percpu", "unknown"]
        | Annotated[int, pydantic.Field(ge=1, le=4096)]
    ) = pydantic.Field(
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

    def profile(self) -> KernelProfile:
        """Return the figures as the core's type."""
        return KernelProfile(**self.model_dump())


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
    kernel: KernelFigures | None = pydantic.Field(
        default=None, description="unknown if missing"
    )
    sources: Annotated[list[Text], pydantic.Field(min_length=1, max_length=20)] = (
        pydantic.Field(
            description="where the figures come from, and how they were obtained"
        )
    )

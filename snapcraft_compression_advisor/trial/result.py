"""What a trial found out."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, Protocol

from snapcraft_compression_advisor.core.units import Interval
from snapcraft_compression_advisor.trial.stored_blocks import StoredBlocks, no_blocks

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from snapcraft_compression_advisor.trial.stored import StoredSizes


class Progress(Protocol):
    """Is told what long work is doing."""

    def __call__(self, message: str, /) -> None:
        """Show a line that the next one replaces."""


class Wanted(Protocol):
    """Says which files' data blocks are to be reported; may be long in finding out."""

    def __call__(self) -> Collection[str]:
        """Return the files' paths."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CodecTrial:
    """One codec's image.

    :param codec: its name.
    :param shippable: whether snapcraft and the store accept it.
    :param image_bytes: the image's size; ``None`` where the codec isn't available.
    :param blocks: the data blocks of the files that were asked for, at least.
    """

    codec: str
    shippable: bool
    image_bytes: Interval | None
    blocks: StoredBlocks = field(default_factory=no_blocks)

    @property
    def available(self) -> bool:
        """Whether this machine can pack with it."""
        return self.image_bytes is not None


def size_difference(
    first: CodecTrial | None, second: CodecTrial | None
) -> Interval | None:
    """Return how much larger one codec's image is, the ends combined the worst way."""
    if first is None or second is None:
        return None
    one, other = first.image_bytes, second.image_bytes
    if one is None or other is None:
        return None
    return Interval(
        low=one.low - other.high, mid=one.mid - other.mid, high=one.high - other.low
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialResult:
    """Every codec's image.

    :param mode: ``exact`` (packed) or ``sampled``.
    :param tool: what the sizes come from, with its version.
    :param codecs: by name, in the order of the report.
    :param lzo_less_xz_bytes: the difference of the two sizes, whose interval is
        narrower than theirs, since the same blocks went to both; ``None`` where either
        isn't available.
    :param notes: what a reader should know of these sizes.
    :param stored: what every file comes to, where that is known.
    """

    mode: Literal["exact", "sampled"]
    tool: str
    codecs: Mapping[str, CodecTrial]
    lzo_less_xz_bytes: Interval | None
    notes: tuple[str, ...] = ()
    stored: StoredSizes | None = field(default=None, compare=False, repr=False)

    def stored_bytes(self, paths: Collection[str], codec: str) -> Interval | None:
        """Return what files' data blocks take in a codec's image, and no others have.

        :param paths: of the payload; a content that other names keep doesn't count.
        :returns: ``None`` where nothing is known of them.
        """
        return None if self.stored is None else self.stored.freed(paths, codec)

"""How it is known what images take, in the same words in every report."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

_ALL_THE_SAME = "none"
"""Its blocks' sizes need no trial."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SizesMade:
    """How a trial's sizes were made.

    :param packed: whether the payload was packed with every codec.
    :param own: the codec of a built snap, whose size is that of the file.
    :param known_blocks: by codec, data blocks of different contents whose size is
        known; empty where that wasn't kept.
    :param all_blocks: how many there are.
    """

    packed: bool
    own: str | None
    known_blocks: Mapping[str, int]
    all_blocks: int

    def sentence(self, tool: str = "") -> str:
        """Return how the sizes are known.

        :param tool: what they come from, if that is to be told.
        """
        by = f" ({tool})" if tool else ""
        if self.packed:
            return f"Image sizes: measured{f' with {tool}' if tool else ''}."
        blocks, note = self._blocks()
        own = f"measured for {self.own}, the snap's own; others " if self.own else ""
        return f"Image sizes: {own}estimated from {blocks}{note}{by}."

    def _blocks(self) -> tuple[str, str]:
        """Return which blocks were tried, and what the intervals are."""
        tried = {
            codec: count == self.all_blocks
            for codec, count in self.known_blocks.items()
            if codec not in (self.own, _ALL_THE_SAME)
        }
        whole = [codec for codec, all_of_them in tried.items() if all_of_them]
        some = [codec for codec, all_of_them in tried.items() if not all_of_them]
        sampled = ", with the interval that holds the truth for 95% of such samples"
        if not whole:
            return "some of the data blocks", sampled
        note = ", with the interval that the metadata leaves open"
        if not some:
            return "all of the data blocks", note
        some_of_them = f"from some with {_listed(some)}"
        return f"all of the data blocks with {_listed(whole)}, {some_of_them}", sampled


def _listed(names: list[str]) -> str:
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last

"""Several edits of one file as one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from snapcraft_compression_advisor.project.edit import Edit


@dataclass(frozen=True, slots=True, kw_only=True)
class _Change:
    """What an edit does: bytes from ``start`` to ``end`` become ``new``."""

    start: int
    end: int
    new: bytes

    def clashes(self, other: _Change) -> bool:
        """Tell whether they touch the same place."""
        return self.start <= other.end and other.start <= self.end


def merge_edits(edits: Sequence[Edit]) -> tuple[Edit, tuple[bool, ...]]:
    """Return one edit that does what several do.

    Of two that touch the same place but say different things, the first is made.

    :param edits: at least one; all of the same bytes of the same file.
    :returns: the edit, and for each one given whether it is in there.
    """
    taken: list[_Change] = []
    made: list[bool] = []
    for change in map(_change, edits):
        fits = not any(change.clashes(other) for other in taken)
        made.append(fits or change in taken)
        if fits:
            taken.append(change)
    after = edits[0].before
    for change in sorted(taken, key=lambda each: each.start, reverse=True):
        after = after[: change.start] + change.new + after[change.end :]
    return replace(edits[0], after=after), tuple(made)


def _change(edit: Edit) -> _Change:
    before, after = edit.before, edit.after
    most = min(len(before), len(after))
    start = 0
    while start < most and before[start] == after[start]:
        start += 1
    kept = 0
    while kept < most - start and before[-1 - kept] == after[-1 - kept]:
        kept += 1
    return _Change(
        start=start, end=len(before) - kept, new=after[start : len(after) - kept]
    )

"""Changes to a project file, before they are made."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ..core.printable import printable

_NO_FINAL_BREAK = "\n\\ No newline at end of file\n"
"""What ``diff`` says of a last line without a line break."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """A change to a project file that has yet to be made.

    :param path: the file, as it was given.
    :param before: its bytes when they were read.
    :param after: its bytes to be.
    """

    path: Path
    before: bytes
    after: bytes

    @property
    def changes(self) -> bool:
        """Whether there is anything to write."""
        return self.before != self.after

    def diff(self) -> str:
        """Return a unified diff that ``patch -p1`` and ``git apply`` take.

        :returns: empty if nothing changes. Line breaks within it are those of the
            file, so it has to be written without translating them.
        """
        label = printable(self.path.as_posix().lstrip("/"))
        lines = difflib.unified_diff(
            _lines(self.before),
            _lines(self.after),
            fromfile=f"a/{label}",
            tofile=f"b/{label}",
        )
        return "".join(
            line if line.endswith("\n") else line + _NO_FINAL_BREAK for line in lines
        )


def _lines(content: bytes) -> list[str]:
    r"""Return a text's lines as ``diff`` counts them: ended by \n only."""
    return re.findall("[^\n]*\n|[^\n]+", content.decode())


@dataclass(frozen=True, slots=True, kw_only=True)
class _Change:
    """What an edit does: bytes from ``start`` to ``end`` become ``new``."""

    start: int
    end: int
    new: bytes

    def clashes(self, other: _Change) -> bool:
        """Return whether they touch the same place."""
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

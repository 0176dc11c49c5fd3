"""A change to a text file, as SARIF describes it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from snapcraft_compression_advisor.project.edit import Edit


def fix_object(edit: Edit, description: str, uri: str) -> dict[str, object]:
    """Return SARIF's ``fix`` (3.55): one replacement of whole lines.

    Lines end as the file's do; a line break is part of its line.

    :param edit: a change that changes something.
    """
    before, after = (_lines(content) for content in (edit.before, edit.after))
    same = _common(before, after)
    tail = _common(before[same:][::-1], after[same:][::-1])
    inserted = after[same : len(after) - tail]
    return {
        "description": {"text": description},
        "artifactChanges": [
            {
                "artifactLocation": {"uri": uri},
                "replacements": [
                    {
                        "deletedRegion": _region(before, same, len(before) - tail),
                        "insertedContent": {"text": "".join(inserted)},
                    }
                ],
            }
        ],
    }


def _region(lines: Sequence[str], first: int, beyond: int) -> dict[str, int]:
    """Return the region of some lines: an insertion point where there are none.

    :param lines: all of the file.
    :param first: how many lines stand before it.
    :param beyond: with how many lines it ends.
    """
    start_line, start_column = _position(lines, first)
    end_line, end_column = _position(lines, beyond)
    return {
        "startLine": start_line,
        "startColumn": start_column,
        "endLine": end_line,
        "endColumn": end_column,
    }


def _position(lines: Sequence[str], count: int) -> tuple[int, int]:
    """Return the line and column that follow so many lines.

    Behind a last line without a line break there is no other, so it is that line's
    end (3.30.7 and 3.30.8).
    """
    if count and not lines[count - 1].endswith("\n"):
        return count, len(lines[count - 1]) + 1
    return count + 1, 1


def _common(some: Sequence[str], others: Sequence[str]) -> int:
    """Return with how many equal lines both begin."""
    pairs = zip(some, others, strict=False)
    return next(
        (index for index, (one, other) in enumerate(pairs) if one != other),
        min(len(some), len(others)),
    )


def _lines(content: bytes) -> list[str]:
    return re.findall("[^\n]*\n|[^\n]+", content.decode())

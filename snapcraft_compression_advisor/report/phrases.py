"""Phrases that all reports share."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

LISTED_NAMES = 6
"""Names that a list for people shows; it counts the others."""


def counted(count: int, noun: str, *, plural: str = "") -> str:
    """Return a number with its noun.

    >>> counted(2, "error")
    '2 errors'
    """
    nouns = plural or f"{noun}s"
    return f"{count:,} {noun if count == 1 else nouns}"


def listed(names: Sequence[str]) -> str:
    """Return the first of some names, and how many more there are."""
    more = len(names) - LISTED_NAMES
    return ", ".join(names[:LISTED_NAMES]) + (f" and {more:,} more" if more > 0 else "")

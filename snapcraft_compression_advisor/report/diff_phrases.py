"""Phrases that all forms of a difference share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from snapcraft_compression_advisor.core.units import format_bytes, format_seconds
from snapcraft_compression_advisor.report.names import printable

if TYPE_CHECKING:
    from snapcraft_compression_advisor.core.units import Interval
    from snapcraft_compression_advisor.diff.difference import Side
    from snapcraft_compression_advisor.diff.files import FileChange
    from snapcraft_compression_advisor.diff.launches import (
        LaunchCause,
        LaunchChange,
    )

LISTED_FILES = 12
"""Files that a report for people lists; the JSON has all."""
LISTED_CAUSES = 3
LEAST_CAUSE_S = 0.01
"""Files that add less to a launch aren't named as its causes."""
_CENT_BYTES = 50_000
"""Half of the last digit of a size in megabytes."""


def signed_bytes(count: float) -> str:
    """Return a difference of sizes with its sign.

    >>> signed_bytes(-12_000_000)
    '-12.0 MB'
    >>> signed_bytes(0)
    '0 B'
    """
    return _signed(count, format_bytes(abs(count)))


def signed_seconds(seconds: float) -> str:
    """Return a difference of durations with its sign.

    >>> signed_seconds(0.4)
    '+0.40 s'
    """
    return _signed(round(seconds, 2), format_seconds(abs(seconds)))


def bytes_change(change: Interval) -> str:
    """Return a difference of sizes, with its interval where it has one."""
    middle = signed_bytes(change.mid)
    if change.known:
        return middle
    return f"{middle} ({signed_bytes(change.low)} to {signed_bytes(change.high)})"


def seconds_change(change: Interval) -> str:
    """Return a difference of durations with its interval."""
    middle = signed_seconds(change.mid)
    if change.known:
        return middle
    return f"{middle} ({signed_seconds(change.low)} to {signed_seconds(change.high)})"


def percent_change(old: float, new: float) -> str:
    """Return a relative difference.

    >>> percent_change(100, 130)
    '+30.0%'
    """
    return f"{new / old - 1:+.1%}" if old else ""


def launch_verdict(launch: LaunchChange) -> str:
    """Return which way a launch went, in words."""
    return {
        "slower": "slower",
        "faster": "faster",
        "same": "the same",
        "undecided": "undecided: the intervals of both overlap",
    }[launch.verdict]


def weighty_causes(launch: LaunchChange) -> list[LaunchCause]:
    """Return the causes that are worth a line."""
    causes = [each for each in launch.causes if abs(each.seconds) >= LEAST_CAUSE_S]
    return causes[:LISTED_CAUSES]


def because(cause: LaunchCause, *, old: Side, new: Side) -> tuple[str, str]:
    """Return what of a launch has changed: a file's printable name, and how.

    :returns: an empty name where it is no single file.
    """
    if cause.path is None:
        return "", f"the compression changed from {old.codec} to {new.codec}"
    if old.codec != new.codec and None not in (cause.old_bytes, cause.new_bytes):
        return printable(cause.path), f"changed, and is packed with {new.codec}"
    return printable(cause.path), _how(cause)


def _how(cause: LaunchCause) -> str:
    if cause.old_bytes is None:
        return f"is new ({format_bytes(cause.new_bytes or 0)})"
    if cause.new_bytes is None:
        return f"is gone ({format_bytes(cause.old_bytes)})"
    grown = cause.new_bytes - cause.old_bytes
    if abs(grown) > _CENT_BYTES and (grown > 0) == (cause.seconds > 0):
        verb = "grew" if grown > 0 else "shrank"
        return f"{verb} by {format_bytes(abs(grown))}"
    if cause.unchanged:
        return "is read " + ("more" if cause.seconds > 0 else "less")
    return "changed"


def contents_text(change: FileChange) -> str:
    """Return a file's length before and now."""
    if change.old_bytes is None:
        return f"new, {format_bytes(change.new_bytes or 0)}"
    if change.new_bytes is None:
        return f"gone, {format_bytes(change.old_bytes)}"
    return f"{format_bytes(change.old_bytes)} -> {format_bytes(change.new_bytes)}"


def _signed(value: float, text: str) -> str:
    if not value:
        return text
    return f"{'-' if value < 0 else '+'}{text}"

"""Phrases that all forms of a difference share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..core.units import format_bytes, format_seconds
from ..lint.figures import bytes_text, seconds_text
from .names import printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from ..core.units import Interval
    from ..diff.difference import Side
    from ..diff.figures import FigureChange, PayloadFigures, Verdict
    from ..diff.files import FileChange
    from ..diff.launches import LaunchCause, LaunchChange

LISTED_FILES = 12
"""Files that a report for people lists; the JSON has all."""
LISTED_CAUSES = 3
LEAST_CAUSE_S = 0.01
"""Files that add less to a launch aren't named as its causes."""
VERDICTS: Mapping[Verdict, str] = {
    "slower": "slower",
    "faster": "faster",
    "same": "unchanged",
    "undecided": "undecided",
}
"""Which way a launch went, in words."""

Row = tuple[str, str, str, str]
"""A figure: what it is, before, now, the change. Names are as the payload has them."""
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


def figure_rows(
    old: Side | PayloadFigures,
    new: Side | PayloadFigures,
    *,
    image_change: Interval | None,
    launches: Iterable[FigureChange],
) -> Iterator[Row]:
    """Yield what is known of two builds; each figure says how it is known.

    :param image_change: ``None`` where either size isn't known.
    """
    changed = "" if old.codec == new.codec else "changed"
    yield "compression", old.codec, new.codec, changed
    if old.image_bytes and new.image_bytes and image_change:
        percent = percent_change(old.image_bytes.mid, new.image_bytes.mid)
        text = f"{bytes_change(image_change)}, {percent}"
        text = text if image_change.mid else "unchanged"
        yield "image", _size(old), _size(new), text
    for each in launches:
        change = f"{seconds_change(each.change_s)}, {VERDICTS[each.verdict]}"
        yield (
            f"cold launch of {each.app} on {each.device}, estimated",
            seconds_text(each.old_s),
            seconds_text(each.new_s),
            change if each.verdict != "same" else VERDICTS["same"],
        )


def _size(figures: Side | PayloadFigures) -> str:
    if figures.image_bytes is None:
        return "not known"
    origin = "measured" if figures.measured else "estimated"
    return f"{bytes_text(figures.image_bytes)}, {origin}"


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
        return printable(cause.path), f"changed and is now packed with {new.codec}"
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

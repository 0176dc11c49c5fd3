"""Two builds of a snap compared, as text and as Markdown.

Tables hold figures and words of our own; names that a payload chose are escaped.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

from ..core.printable import printable
from ..core.units import format_bytes, format_seconds
from ..diff.files import Change
from ..lint.figures import bytes_text, seconds_text
from .lines import COLUMNS, wrapped
from .markdown_printer import code_span, comment_text, plain

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from ..core.units import Interval
    from ..diff.difference import BuildDifference, Side
    from ..diff.figures import PayloadFigures
    from ..diff.files import FileChange, FilesDifference
    from ..diff.launches import FigureChange, LaunchCause, LaunchChange

LISTED_FILES = 12
"""Files that a report for people lists; the JSON has all."""
LISTED_CAUSES = 3
LEAST_CAUSE_S = 0.01
"""Files that add less to a launch aren't named as its causes."""

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
    return _with_ends(change, signed_bytes)


def _with_ends(change: Interval, signed: Callable[[float], str]) -> str:
    middle = signed(change.mid)
    if change.known:
        return middle
    return f"{middle} ({signed(change.low)} to {signed(change.high)})"


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
        was = old.image_bytes.mid
        percent = f"{new.image_bytes.mid / was - 1:+.1%}" if was else ""
        text = f"{bytes_change(image_change)}, {percent}"
        text = text if image_change.mid else "unchanged"
        yield "image", _size(old), _size(new), text
    for each in launches:
        change = "unchanged"
        if each.verdict != "same":
            change = f"{_with_ends(each.change_s, signed_seconds)}, {each.verdict}"
        yield (
            f"cold launch of {each.app} on {each.device}, estimated",
            seconds_text(each.old_s),
            seconds_text(each.new_s),
            change,
        )


def _size(figures: Side | PayloadFigures) -> str:
    if figures.image_bytes is None:
        return "not known"
    origin = "measured" if figures.measured else "estimated"
    return f"{bytes_text(figures.image_bytes)}, {origin}"


def row_lines(
    rows: Iterable[Row], columns: int | None, *, indent: str = ""
) -> Iterator[str]:
    """Yield figures before and now as text."""
    for label, before, now, change in rows:
        head, text = f"{printable(label)}:", change or printable(now)
        if columns is None or len(f"{indent}{head} {text}") <= columns:
            yield f"{indent}{head} {text}"
        else:
            yield from wrapped(head, columns, first=indent, rest=f"{indent}  ")
            yield from wrapped(text, columns, first=f"{indent}  ", rest=f"{indent}  ")
        if change:
            yield f"{indent}  {printable(before)} -> {printable(now)}"


def table_lines(rows: Iterable[Row]) -> Iterator[str]:
    """Yield figures before and now as a Markdown table; nothing for none."""
    cells = (" | ".join(map(plain, row)).rstrip() for row in rows)
    lines = [f"| {each} |" for each in cells]
    if lines:
        yield "| | before | now | change |"
        yield "|---|---|---|---|"
        yield from lines


def _causes(difference: BuildDifference) -> Iterator[tuple[LaunchChange, LaunchCause]]:
    """Yield the causes that are worth a line."""
    for launch in difference.launches:
        causes = [c for c in launch.causes if abs(c.seconds) >= LEAST_CAUSE_S]
        yield from ((launch, cause) for cause in causes[:LISTED_CAUSES])


def cause_lines(difference: BuildDifference) -> Iterator[str]:
    """Yield why launches changed, as a Markdown list."""
    for launch, cause in _causes(difference):
        name, how = _because(cause, difference)
        named = f"{code_span(name)} " if name else ""
        yield (
            f"- {plain(launch.app)} on {plain(launch.device)} "
            f"**{signed_seconds(cause.seconds)}** because {named}{plain(how)}"
        )


def _because(cause: LaunchCause, difference: BuildDifference) -> tuple[str, str]:
    """Return what of a launch has changed: a file's printable name, and how.

    :returns: an empty name where it is no single file.
    """
    old, new = difference.old.codec, difference.new.codec
    if cause.path is None:
        return "", f"the compression changed from {old} to {new}"
    if old != new and None not in (cause.old_bytes, cause.new_bytes):
        return printable(cause.path), f"changed and is now packed with {new}"
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


def _contents(change: FileChange) -> str:
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


def render_diff_text(difference: BuildDifference) -> str:
    """Return the difference for people, in 80 columns."""
    old, new = (printable(str(each.path)) for each in (difference.old, difference.new))
    lines = [difference.name, f"  old: {old}", f"  new: {new}", ""]
    lines += row_lines(_rows(difference), COLUMNS)
    causes = [
        f"{launch.app} on {launch.device}: {signed_seconds(cause.seconds)} because "
        + " ".join(filter(None, _because(cause, difference)))
        for launch, cause in _causes(difference)
    ]
    lines += [""] * bool(causes)
    for text in causes:
        lines += wrapped(printable(text), rest="  ")
    if difference.launches:
        lines += ["", *_legend_lines(difference)]
    lines += ["", *_file_lines(difference.files)]
    for note in difference.notes:
        lines += ["", *wrapped(printable(note))]
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _rows(difference: BuildDifference) -> Iterator[Row]:
    return figure_rows(
        difference.old,
        difference.new,
        image_change=difference.image_change,
        launches=difference.launches,
    )


def _legend_lines(difference: BuildDifference) -> list[str]:
    guessed = any(launch.source == "static" for launch in difference.launches)
    traced = any(launch.traced for launch in difference.launches)
    reads = "a guess" if guessed else "a trace" if traced else "a recording"
    return wrapped(
        "Seconds are how much longer a cold launch takes than a warm one, estimated "
        f"from the device's figures and {reads} of what the launch reads."
    )


def _file_lines(files: FilesDifference) -> Iterator[str]:
    yield from wrapped(_counts(files), rest="  ")
    if files.repacked_bytes.mid:
        repacked = bytes_change(files.repacked_bytes)
        yield f"  unchanged files, packed differently: {repacked}"
    if not files.changes:
        return
    yield ""
    yield f"{'share':>6}{'of the image':>15}  file"
    for each in files.changes[:LISTED_FILES]:
        share, stored = files.share(each), signed_bytes(each.stored_change.mid)
        yield f"{share:>6.1%}{stored:>15}  {printable(each.path)} ({_contents(each)})"
    if (more := len(files.changes) - LISTED_FILES) > 0:
        yield f"{'':23}and {more:,} more"


def _counts(files: FilesDifference) -> str:
    parts = [
        f"{len(files.of(change)):,} {change} "
        f"({signed_bytes(files.stored_change(change).mid)})"
        for change in get_args(Change)
        if files.of(change)
    ]
    return f"Files: {', '.join([*parts, f'{files.unchanged:,} unchanged'])}"


def render_diff_markdown(difference: BuildDifference) -> str:
    """Return the difference as Markdown."""
    lines = [f"## {plain(difference.name)}: two builds", ""]
    lines += [*table_lines(_rows(difference)), ""]
    causes = [*cause_lines(difference)]
    lines += [*causes, ""] if causes else []
    lines += [*files_lines(difference.files)]
    lines += [line for note in difference.notes for line in ("", plain(note))]
    return comment_text(lines, others="`--format text` shows all.")


def files_lines(files: FilesDifference) -> Iterator[str]:
    """Yield the files that changed most, as folded Markdown."""
    yield f"<details><summary>{_counts(files)}</summary>"
    yield ""
    if files.repacked_bytes.mid:
        repacked = bytes_change(files.repacked_bytes)
        yield f"- unchanged files, packed differently: {repacked}"
    for each in files.changes[:LISTED_FILES]:
        yield (
            f"- {code_span(each.path)} {signed_bytes(each.stored_change.mid)} of the "
            f"image ({files.share(each):.1%} of all changes): {_contents(each)}"
        )
    if (more := len(files.changes) - LISTED_FILES) > 0:
        yield f"- and {more:,} more"
    yield ""
    yield "</details>"

"""Two builds of a snap compared: a page, JSON, and what lint's formats have of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

from ..core.units import (
    Figure,
    Interval,
    counted,
    format_bytes,
    format_seconds,
    joined,
    signed,
    size,
)
from ..core.units import seconds as seconds_of
from ..diff.files import Change
from .document import document_text, part
from .model import Cell, Page, Section, Table

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ..diff.difference import BuildDifference, Side
    from ..diff.figures import PayloadFigures
    from ..diff.files import FileChange, FilesDifference
    from ..diff.launches import FigureChange, LaunchCause

_LISTED_FILES = 12
"""Files that a page lists; the JSON has all."""
_LISTED_CAUSES = 3
_LEAST_CAUSE_S = 0.01
"""Files that add less to a launch aren't named as its causes."""
_CENT_BYTES = 50_000
"""Half of the last digit of a size in megabytes."""

Row = tuple[Cell, ...]


def figure_table(
    old: Side | PayloadFigures,
    new: Side | PayloadFigures,
    *,
    image_change: Interval | None,
    launches: Iterable[FigureChange],
    others: Iterable[Row] = (),
) -> Table:
    """Return two builds' figures side by side, each with its origin.

    :param image_change: None if either size isn't known.
    :param others: rows below these.
    """
    rows: list[Row] = []
    launches = [*launches]
    apps = dict.fromkeys(each.app for each in launches)
    of = {app: f" of {app}" for app in apps} if len(apps) > 1 else {}
    if old.codec != new.codec:
        rows.append(("compression", old.codec, new.codec, "changed"))
    if old.image_bytes and new.image_bytes and image_change:
        was = old.image_bytes.mid
        change = Figure(value=image_change, unit="B", is_change=True)
        share = f", {new.image_bytes.mid / was - 1:+.1%}" if was else ""
        text = f"{change}{share}" if image_change.mid else "unchanged"
        known = ("measured" if each.measured else "estimated" for each in (old, new))
        label = f"image, {' and '.join(dict.fromkeys(known))}"
        both = (size(each.image_bytes.mid) for each in (old, new) if each.image_bytes)
        rows.append((label, *both, text))
    for each in launches:
        change = Figure(value=each.change_s, unit="s", is_change=True)
        rows.append(
            (
                f"start{of.get(each.app, '')} on {each.device}",
                seconds_of(each.old_s.mid),
                seconds_of(each.new_s.mid),
                "unchanged" if each.verdict == "same" else f"{change}, {each.verdict}",
            )
        )
    return Table(
        heads=("", "before", "now", "change (starts are estimated)"),
        rows=(*rows, *others),
        words=frozenset({3}),
    )


def cause_sentences(difference: BuildDifference) -> Iterator[str]:
    """Yield why launches changed, as far as that is worth a line."""
    for launch in difference.launches:
        causes = [c for c in launch.causes if abs(c.seconds) >= _LEAST_CAUSE_S]
        for cause in causes[:_LISTED_CAUSES]:
            yield (
                f"{launch.app} on {launch.device}: "
                f"{signed(cause.seconds, format_seconds)} because "
                f"{_because(cause, difference)}."
            )


def _because(cause: LaunchCause, difference: BuildDifference) -> str:
    old, new = difference.old.codec, difference.new.codec
    if cause.path is None:
        return f"the compression changed from {old} to {new}"
    if old != new and None not in (cause.old_bytes, cause.new_bytes):
        return f"{cause.path} changed and is now packed with {new}"
    return f"{cause.path} {_how(cause)}"


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


def diff_page(difference: BuildDifference) -> Page:
    """Return the page on the changes from one build to the next."""
    table = figure_table(
        difference.old,
        difference.new,
        image_change=difference.image_change,
        launches=difference.launches,
    )
    sentences = (
        *cause_sentences(difference),
        f"{counts_text(difference.files)}.",
        *difference.notes,
    )
    return Page(
        title=f"{difference.name}: two builds",
        headline=f"{difference.name}: {_answer(difference)}",
        facts=(f"From {difference.old.path} to {difference.new.path}",),
        sections=(
            Section(short=True, tables=(table,)),
            Section(short=True, sentences=sentences),
            *files_sections(difference.files),
            *([_legend(difference)] if difference.launches else []),
        ),
    )


def _answer(difference: BuildDifference) -> str:
    """Return the change of the image, and how many launches become slower."""
    change = difference.image_change.mid
    verb = "grows" if change > 0 else "shrinks"
    text = f"the image {verb} by {format_bytes(abs(change))}" if change else (
        "the image keeps its size"
    )  # fmt: skip
    counts = {
        verdict: sum(each.verdict == verdict for each in difference.launches)
        for verdict in ("slower", "faster", "undecided")
    }
    found = [f"{count} {verdict}" for verdict, count in counts.items() if count]
    if difference.lost:
        lost = (name for names in difference.lost.values() for name in names)
        text = f"{joined([*dict.fromkeys(lost)])} is missing; {text}"
    if not difference.launches:
        return text
    launches = counted(len(difference.launches), "cold launch", plural="cold launches")
    return f"{text}; of {launches}, {', '.join(found) or 'none changes'}"


def _legend(difference: BuildDifference) -> Section:
    guessed = any(launch.source == "static" for launch in difference.launches)
    reads = "a guess" if guessed else "a recording"
    text = (
        "Seconds are how much longer a cold launch takes than a warm one, estimated "
        f"from the device's figures and {reads} of what the launch reads."
    )
    rows = tuple(
        (f"{each.app} on {each.device}", seconds_of(each.old_s), seconds_of(each.new_s))
        for each in difference.launches
    )
    return Section(
        title="How the seconds are known",
        sentences=(text,),
        tables=(Table(heads=("cold start", "before", "now"), rows=rows),),
    )


def files_sections(files: FilesDifference) -> Iterator[Section]:
    """Yield the files that changed most, if any did."""
    if not files.changes:
        return
    more = len(files.changes) - _LISTED_FILES
    yield Section(
        title="Files that change the image most",
        sentences=(f"And {more:,} more.",) if more > 0 else (),
        tables=(
            Table(
                heads=("file", "share", "of the image", "length"),
                rows=tuple(
                    (
                        each.path,
                        f"{files.share(each):.1%}",
                        Figure(value=each.stored_change, unit="B", is_change=True),
                        _contents(each),
                    )
                    for each in files.changes[:_LISTED_FILES]
                ),
                names=frozenset({0}),
            ),
        ),
    )


def _contents(change: FileChange) -> str:
    """Return a file's length before and now."""
    if change.old_bytes is None:
        return f"new, {format_bytes(change.new_bytes or 0)}"
    if change.new_bytes is None:
        return f"gone, {format_bytes(change.old_bytes)}"
    return f"{format_bytes(change.old_bytes)} -> {format_bytes(change.new_bytes)}"


def counts_text(files: FilesDifference) -> str:
    """Return the number of changed files, and the bytes that they add to the image."""
    parts = [
        f"{len(files.of(change)):,} {change} "
        f"({signed(files.stored_change(change).mid, format_bytes)})"
        for change in get_args(Change)
        if files.of(change)
    ]
    repacked = signed(files.repacked_bytes.mid, format_bytes)
    packed = f" ({repacked}, packed differently)" if files.repacked_bytes.mid else ""
    return f"Files: {', '.join([*parts, f'{files.unchanged:,} unchanged{packed}'])}"


def diff_json(difference: BuildDifference) -> str:
    """Return the difference as JSON text."""
    files = difference.files
    old, new = (
        part(each, "path image_bytes origin files", compression=each.codec)
        for each in (difference.old, difference.new)
    )
    names = "app device source old_s new_s change_s verdict causes"
    return document_text(
        part(
            difference,
            "name notes",
            old=old,
            new=new,
            image_change_bytes=difference.image_change,
            unchanged_files=files.unchanged,
            repacked_bytes=files.repacked_bytes,
            tables_change_bytes=difference.tables_change,
            launches=[part(each, names) for each in difference.launches],
            files=[
                part(
                    each,
                    "path change old_bytes new_bytes",
                    stored_change_bytes=each.stored_change,
                    share=files.share(each),
                )
                for each in files.changes
            ],
        )
    )

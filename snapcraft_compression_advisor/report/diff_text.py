"""Two builds of a snap compared, in 80 columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..lint.figures import bytes_text, seconds_text
from .diff_phrases import (
    LISTED_FILES,
    VERDICTS,
    because,
    bytes_change,
    contents_text,
    percent_change,
    seconds_change,
    signed_bytes,
    signed_seconds,
    weighty_causes,
)
from .lines import COLUMNS, wrapped
from .names import printable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..diff.difference import BuildDifference
    from ..diff.files import FilesDifference
    from ..diff.launches import LaunchChange

_LABEL_COLUMNS = 13


def render_diff_text(difference: BuildDifference) -> str:
    """Return the difference for people."""
    old, new = (printable(str(each.path)) for each in (difference.old, difference.new))
    lines = [printable(difference.name), f"  old: {old}", f"  new: {new}", ""]
    lines += _image_lines(difference)
    for launch in difference.launches:
        lines += ["", *_launch_lines(launch, difference)]
    if difference.launches:
        lines += ["", *_legend_lines(difference)]
    lines += ["", *_file_lines(difference.files)]
    for note in difference.notes:
        lines += ["", *wrapped(printable(note), COLUMNS)]
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _image_lines(difference: BuildDifference) -> Iterator[str]:
    old, new = difference.old, difference.new
    codecs = old.codec if old.codec == new.codec else f"{old.codec} -> {new.codec}"
    yield _labelled("compression", codecs)
    change = bytes_change(difference.image_change)
    percent = percent_change(old.image_bytes.mid, new.image_bytes.mid)
    yield _labelled("image", f"{change}, {percent}")
    for label, side in (("  old", old), ("  new", new)):
        yield _labelled(label, f"{bytes_text(side.image_bytes)} ({side.origin})")


def _labelled(label: str, text: str) -> str:
    return f"{label:{_LABEL_COLUMNS}}{text}"


def _launch_lines(launch: LaunchChange, difference: BuildDifference) -> Iterator[str]:
    heading = (
        f"Cold launch of {printable(launch.app)} on {printable(launch.device)}: "
        f"{VERDICTS[launch.verdict]}"
    )
    yield from wrapped(heading, COLUMNS, rest="  ")
    yield f"  {seconds_change(launch.change_s)}"
    yield f"  old: {seconds_text(launch.old_s)}; new: {seconds_text(launch.new_s)}"
    for cause in weighty_causes(launch):
        name, how = because(cause, old=difference.old, new=difference.new)
        what = f"{name} {how}" if name else how
        yield f"  {signed_seconds(cause.seconds)} because {what}"


def _legend_lines(difference: BuildDifference) -> list[str]:
    guessed = any(launch.source == "static" for launch in difference.launches)
    traced = any(launch.traced for launch in difference.launches)
    reads = "a guess" if guessed else "a trace" if traced else "a recording"
    return wrapped(
        "Seconds are how much longer a cold launch takes than a warm one, estimated "
        f"from the device's figures and {reads} of what the launch reads.",
        COLUMNS,
    )


def _file_lines(files: FilesDifference) -> Iterator[str]:
    parts = [
        f"{len(files.of(change)):,} {change} "
        f"({signed_bytes(files.stored_change(change).mid)})"
        for change in ("added", "removed", "changed")
        if files.of(change)
    ]
    counts = f"Files: {', '.join([*parts, f'{files.unchanged:,} unchanged'])}"
    yield from wrapped(counts, COLUMNS, rest="  ")
    if files.repacked_bytes.mid:
        repacked = bytes_change(files.repacked_bytes)
        yield f"  unchanged files, packed differently: {repacked}"
    if not files.changes:
        return
    yield ""
    yield f"{'share':>6}{'of the image':>15}  file"
    for each in files.changes[:LISTED_FILES]:
        share, stored = files.share(each), signed_bytes(each.stored_change.mid)
        name = printable(each.path)
        yield f"{share:>6.1%}{stored:>15}  {name} ({contents_text(each)})"
    more = len(files.changes) - LISTED_FILES
    if more > 0:
        yield f"{'':23}and {more:,} more"

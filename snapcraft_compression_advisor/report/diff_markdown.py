"""Two builds of a snap compared, as Markdown.

Tables hold figures and words of our own; names that a payload chose are escaped.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .diff_phrases import (
    LISTED_FILES,
    because,
    bytes_change,
    contents_text,
    figure_rows,
    signed_bytes,
    signed_seconds,
    weighty_causes,
)
from .names import code_span, plain

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ..diff.difference import BuildDifference
    from .diff_phrases import Row


def render_diff_markdown(difference: BuildDifference) -> str:
    """Return the difference as Markdown."""
    lines = [f"## {plain(difference.name)}: two builds", ""]
    rows = figure_rows(
        difference.old,
        difference.new,
        image_change=difference.image_change,
        launches=difference.launches,
    )
    lines += [*table_lines(rows), ""]
    causes = [*cause_lines(difference)]
    lines += [*causes, ""] if causes else []
    lines += [*files_lines(difference)]
    lines += [line for note in difference.notes for line in ("", plain(note))]
    return "\n".join(lines) + "\n"


def table_lines(rows: Iterable[Row]) -> Iterator[str]:
    """Yield a table of figures before and now; nothing where there are none."""
    lines = [
        f"| {' | '.join(map(plain, row))} |".replace("|  |", "| |") for row in rows
    ]
    if lines:
        yield "| | before | now | change |"
        yield "|---|---|---|---|"
        yield from lines


def cause_lines(difference: BuildDifference) -> Iterator[str]:
    """Yield why launches changed, a line for each cause."""
    for launch in difference.launches:
        for cause in weighty_causes(launch):
            name, how = because(cause, old=difference.old, new=difference.new)
            named = f"{code_span(name)} " if name else ""
            yield (
                f"- {plain(launch.app)} on {plain(launch.device)} "
                f"**{signed_seconds(cause.seconds)}** because {named}{plain(how)}"
            )


def files_lines(difference: BuildDifference) -> Iterator[str]:
    """Yield the files that changed most, folded."""
    files = difference.files
    counts = ", ".join(
        f"{len(files.of(change)):,} {change}"
        for change in ("added", "removed", "changed")
    )
    yield f"<details><summary>Files: {counts}, {files.unchanged:,} unchanged</summary>"
    yield ""
    if files.repacked_bytes.mid:
        repacked = bytes_change(files.repacked_bytes)
        yield f"- unchanged files, packed differently: {repacked}"
    for each in files.changes[:LISTED_FILES]:
        yield (
            f"- {code_span(each.path)} {signed_bytes(each.stored_change.mid)} of the "
            f"image ({files.share(each):.1%} of all changes): {contents_text(each)}"
        )
    more = len(files.changes) - LISTED_FILES
    if more > 0:
        yield f"- and {more:,} more"
    yield ""
    yield "</details>"

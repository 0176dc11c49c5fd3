"""A guessed launch set, and why a file is in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..core.printable import printable
from ..core.units import counted, format_bytes, join_ends
from ..payload.inventory import block_bytes, block_count
from .document import document_text, part
from .lines import COLUMNS, wrapped

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ..launch.guess.explain import Explanation
    from ..launch.launch_set import LaunchFile, LaunchSet

LISTED_FILES = 15
"""Largest ones; the JSON names all."""

LISTED_RUNS = 40
"""Runs of blocks of one file."""

_RUN = ("first", "last", "share", "class")


def expected_bytes(file: LaunchFile) -> float:
    """Return what is expected to be read of a file: its blocks' bytes by share."""
    return sum(
        share * block_bytes(file.size_bytes, number)
        for first, last, share in file.ranges()
        for number in range(first, last + 1)
    )


def render_guess_text(launch_set: LaunchSet) -> str:
    """Return what a guess expects, largest files first."""
    sizes = sorted(
        ((expected_bytes(file), file.path) for file in launch_set.files),
        key=lambda item: (-item[0], item[1]),
    )
    total = sum(size for size, _ in sizes)
    share = launch_set.read_share
    low, high = (format_bytes(total * end) for end in (share.low, share.high))
    text = (
        f"App {launch_set.app}, guessed from files: "
        f"{counted(len(sizes), 'file')}, "
        f"{format_bytes(total * share.mid)} expected to be read (estimated; "
        f"{join_ends(low, high)} in nine of ten launches)"
    )
    lines = [*wrapped(text, COLUMNS), "", "expected  file"]
    lines += list(_listed(sizes))
    if launch_set.unresolved:
        lines += ["", "Supplied from elsewhere, or missing:"]
        for item in launch_set.unresolved:
            name, needed_by = printable(item.name), printable(item.needed_by)
            lines.append(f"  {name}: {item.supplier}, needed by {needed_by}")
    return "\n".join(lines) + "\n"


def render_explanation_text(found: Explanation) -> str:
    """Return why a guess expects a file, or why it doesn't."""
    blocks = block_count(found.size_bytes)
    expected = f"{found.expected_blocks:.1f}".removesuffix(".0")
    text = (
        f"{printable(found.path)}: a launch of {printable(found.app)} is expected to "
        f"read {expected} of its {counted(blocks, 'data block')} (estimated)"
        if found.expected_blocks
        else f"{printable(found.path)}: not expected in a launch of "
        f"{printable(found.app)}"
    )
    lines = [*wrapped(text, COLUMNS), ""]
    for sentence in found.sentences:
        lines += wrapped(printable(sentence), COLUMNS)
    if found.blocks:
        lines += ["", "share  data blocks  of class"]
    lines += [
        f"{share:5.2f}  {f'{first}-{last}' if last > first else first:<11}  {kind}"
        for first, last, share, kind in found.blocks[:LISTED_RUNS]
    ]
    if more := len(found.blocks) - LISTED_RUNS:
        lines += [f"and {counted(more, 'run')} more"] if more > 0 else []
    return "\n".join(lines) + "\n"


def explanation_json(found: Explanation) -> str:
    """Return why a guess expects a file as JSON."""
    blocks = [dict(zip(_RUN, each, strict=True)) for each in found.blocks]
    names = "app path size_bytes expected_blocks sentences"
    return document_text(part(found, names, blocks=blocks))


def _listed(files: Iterable[tuple[float, str]]) -> Iterator[str]:
    listed = list(files)
    for size, path in listed[:LISTED_FILES]:
        yield f"{format_bytes(size):>9} {printable(path)}"
    if len(listed) > LISTED_FILES:
        rest = sum(size for size, _ in listed[LISTED_FILES:])
        yield f"{format_bytes(rest):>9} in {len(listed) - LISTED_FILES:,} more"

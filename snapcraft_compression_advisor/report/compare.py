"""A guessed launch set, and how it compares with a recorded one: text and JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..core.printable import printable
from ..core.units import counted, format_bytes, join_ends
from ..launch.comparison import NAMED_FROM, block_bytes
from ..payload.inventory import block_count
from .document import document_text, part
from .lines import COLUMNS, wrapped

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ..launch.comparison import Comparison
    from ..launch.guess.explain import Explanation
    from ..launch.launch_set import LaunchFile, LaunchSet

LISTED_FILES = 15
"""Files of each kind; the JSON names all."""

LISTED_RUNS = 40
"""Runs of blocks of one file."""


def render_comparison_json(comparison: Comparison, *, app: str) -> str:
    """Return a comparison as JSON."""
    names = "recall precision read_bytes named_bytes expected_bytes gone"
    files = [part(each, "path missed_bytes vain_bytes") for each in comparison.files]
    return document_text(part(comparison, names, app=app, files=files))


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


def render_comparison_text(comparison: Comparison) -> str:
    """Return how a guess compares with a recorded launch."""
    ratio = comparison.read_per_expected
    text = (
        f"The recorded launch read {format_bytes(comparison.read_bytes)}. The guess "
        f"names {format_bytes(comparison.named_bytes)}: blocks that it expects in "
        f"{NAMED_FROM:.0%} of launches or more. All figures count whole data blocks."
    )
    lines = [
        *wrapped(text, COLUMNS),
        "",
        f"recall     {comparison.recall:6.1%}  of the bytes read were named",
        f"precision  {comparison.precision:6.1%}  of the bytes named were read",
    ]
    if ratio is not None:
        lines.append(f"read       {ratio:6.2f}  bytes for each byte expected")
    missed = [(file.missed_bytes, file.path) for file in comparison.missed()]
    in_vain = [(file.vain_bytes, file.path) for file in comparison.in_vain()]
    for title, files in (
        ("read, but not named", missed),
        ("named, but not read", in_vain),
    ):
        if files:
            lines += ["", f"{title}: {format_bytes(sum(size for size, _ in files))}"]
            lines += list(_listed(files))
    if comparison.gone:
        names = ", ".join(printable(name) for name in comparison.gone[:LISTED_FILES])
        more = len(comparison.gone) - LISTED_FILES
        text = f"Recorded, but not in this payload: {names}"
        lines += [
            "",
            *wrapped(text + (f" and {more} more" * (more > 0)), COLUMNS),
        ]
    return "\n".join(lines) + "\n"


def _listed(files: Iterable[tuple[float, str]]) -> Iterator[str]:
    listed = list(files)
    for size, path in listed[:LISTED_FILES]:
        yield f"{format_bytes(size):>9} {printable(path)}"
    if len(listed) > LISTED_FILES:
        rest = sum(size for size, _ in listed[LISTED_FILES:])
        yield f"{format_bytes(rest):>9} in {len(listed) - LISTED_FILES:,} more"

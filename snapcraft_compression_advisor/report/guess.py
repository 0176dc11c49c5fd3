"""A guessed launch set, and why a file is in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..core.units import counted, format_bytes, join_ends, sentence
from ..payload.inventory import block_count
from .document import document_text, part
from .model import Page, Section, Table

if TYPE_CHECKING:
    from ..launch.guess.explain import Explanation
    from ..launch.launch_set import LaunchSet

LISTED_FILES = 10
"""Largest ones; the JSON names all."""


def guess_page(launch_set: LaunchSet) -> Page:
    """Return the page of a guess, the largest files first."""
    sizes = sorted(
        ((file.expected_bytes, file.path) for file in launch_set.files),
        key=lambda item: (-item[0], item[1]),
    )
    read, share = launch_set.read_bytes, launch_set.read_share
    ends = join_ends(format_bytes(read.low), format_bytes(read.high))
    times = join_ends(f"{share.low:.2f}", f"{share.high:.2f}")
    known = f"Guessed from files; {ends} in nine of ten launches"
    rows = [(path, format_bytes(size)) for size, path in sizes[:LISTED_FILES]]
    others = sizes[LISTED_FILES:]
    if others:
        rest = format_bytes(sum(size for size, _ in others))
        rows.append((f"{len(others):,} more", rest))
    elsewhere = tuple(
        f"{item.name}: {item.supplier}, needed by {item.needed_by}"
        for item in launch_set.unresolved
    )
    return Page(
        title=f"What a launch of {launch_set.app} reads",
        headline=f"{launch_set.app}: a launch reads an estimated "
        f"{format_bytes(read.mid)} of {counted(len(sizes), 'file')}",
        sections=(
            Section(
                short=True,
                sentences=(sentence(f"{known}, {times} times what these add up to"),),
                tables=(Table(heads=("file", "expected"), rows=tuple(rows)),),
            ),
            Section(title="Supplied from elsewhere, or missing", sentences=elsewhere),
        ),
    )


def explanation_page(found: Explanation) -> Page:
    """Return why a guess expects a file, or why it doesn't."""
    expected = f"{found.expected_blocks:.1f}".removesuffix(".0")
    blocks = counted(block_count(found.size_bytes), "data block")
    text = f"not expected in a launch of {found.app}"
    if found.expected_blocks:
        text = (
            f"a launch of {found.app} is expected to read {expected} of its {blocks} "
            "(estimated)"
        )
    return Page(
        title=f"Why {found.path} is expected, or not",
        headline=f"{found.path}: {text}",
        sections=(Section(short=True, sentences=found.sentences),),
    )


def explanation_json(found: Explanation) -> str:
    """Return why a guess expects a file as JSON."""
    names = "app path size_bytes expected_blocks sentences"
    return document_text(part(found, names))

"""How large a payload's files are, and how they compress."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from ..core.units import KIB, MIB
from ..payload.file_kinds import file_kind
from ..trial.stored import find_incompressible

if TYPE_CHECKING:
    from collections.abc import Container, Mapping

    from numpy.typing import NDArray

    from ..core.units import Interval
    from ..payload.layout import Layout
    from ..trial.stored import StoredSizes

SIZE_CLASSES = (4 * KIB, 16 * KIB, 128 * KIB, MIB, 8 * MIB, 64 * MIB)
"""Upper ends, bytes: from a page over a data block to what dominates a payload."""

RANKS = (1, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000)
LISTED_FILES = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedFile:
    """A file and a size of it."""

    path: str
    size_bytes: float


@dataclass(frozen=True, slots=True, kw_only=True)
class SizeClass:
    """Files of similar size.

    :param up_to_bytes: None for the largest class.
    """

    up_to_bytes: int | None
    files: int
    raw_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Top:
    """What so many of the largest files are of the payload, 0 to 1."""

    files: int
    share: float


@dataclass(frozen=True, slots=True, kw_only=True)
class FileSizes:
    """How long files are; those of equal contents count once, empty ones not at all.

    :param top: the largest, the two largest, and so on.
    """

    files: int
    raw_bytes: int
    classes: tuple[SizeClass, ...]
    top: tuple[Top, ...]
    largest: tuple[ListedFile, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FileKind:
    """Files of a kind, which their names tell.

    :param raw_bytes: without holes and blocks of zeros.
    :param stored_bytes: what their data blocks take in the image, by codec.
    """

    kind: str
    files: int
    raw_bytes: int
    stored_bytes: Mapping[str, Interval]


@dataclass(frozen=True, slots=True, kw_only=True)
class Incompressible:
    """Blocks that keep 95 % of their length or more; those under 4 KiB don't count.

    :param total_bytes: of all data blocks in the image.
    """

    codec: str
    stored_bytes: Interval
    total_bytes: float
    files: int
    largest: tuple[ListedFile, ...]


def file_sizes(layout: Layout) -> FileSizes:
    """Return how long the files of a layout are."""
    order = np.argsort(-layout.sizes, kind="stable")
    sizes = layout.sizes[order]
    total = int(sizes.sum())
    running = np.cumsum(sizes)
    ranks = [rank for rank in RANKS if rank < len(sizes)] + [len(sizes)] * bool(total)
    return FileSizes(
        files=len(sizes),
        raw_bytes=total,
        classes=tuple(_classes(sizes)),
        top=tuple(
            Top(files=rank, share=int(running[rank - 1]) / total) for rank in ranks
        ),
        largest=tuple(
            ListedFile(path=layout.paths[number], size_bytes=int(layout.sizes[number]))
            for number in order[:LISTED_FILES].tolist()
        ),
    )


def _classes(sizes: NDArray[np.int64]) -> list[SizeClass]:
    places = np.searchsorted(np.array(SIZE_CLASSES), sizes, side="left")
    return [
        SizeClass(
            up_to_bytes=end,
            files=int((places == number).sum()),
            raw_bytes=int(sizes[places == number].sum()),
        )
        for number, end in enumerate((*SIZE_CLASSES, None))
    ]


def file_kinds(stored: StoredSizes, executables: Container[str]) -> list[FileKind]:
    """Return what each kind of file takes with every codec, the largest kind first.

    :param executables: paths of the files that somebody may run.
    """
    layout = stored.layout
    kinds = np.array(
        [file_kind(path, executable=path in executables) for path in layout.paths],
        dtype=object,
    )
    owners = layout.files_of_blocks()
    raw_bytes = np.where(layout.holes, 0, layout.raw_bytes())
    found = []
    for kind in sorted(set(kinds.tolist())):
        members = kinds == kind
        blocks = np.flatnonzero(members[owners])
        length = int(raw_bytes[blocks].sum())
        found.append(
            FileKind(
                kind=kind,
                files=int(members.sum()),
                raw_bytes=length,
                stored_bytes={  # a block that would grow is stored
                    codec: sizes.total(blocks).map(partial(min, length))
                    for codec, sizes in stored.codecs.items()
                },
            )
        )
    return sorted(found, key=lambda each: (-each.raw_bytes, each.kind))


def incompressible(stored: StoredSizes, codec: str) -> Incompressible | None:
    """Return what a codec doesn't make smaller; ``None`` where nothing is known."""
    found = find_incompressible(stored, codec, among=stored.layout.file_numbers)
    if found is None:
        return None
    return Incompressible(
        codec=codec,
        stored_bytes=found.stored_bytes,
        total_bytes=found.total_bytes,
        files=len(found.files),
        largest=tuple(
            ListedFile(path=file.path, size_bytes=round(file.stored_bytes))
            for file in found.files[:LISTED_FILES]
        ),
    )

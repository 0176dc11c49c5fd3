"""How a payload's files compress, by kind."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from ..payload.file_kinds import file_kind
from ..trial.stored import find_incompressible

if TYPE_CHECKING:
    from collections.abc import Container, Mapping

    from ..core.units import Interval
    from ..payload.layout import Layout
    from ..trial.stored import StoredSizes

LISTED_FILES = 10
LARGEST = (1, 10)


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedFile:
    """A file and a size of it."""

    path: str
    size_bytes: float


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


def largest_shares(layout: Layout) -> dict[int, float]:
    """Return what the largest files are of the payload, 0 to 1, by how many these are.

    Files of equal contents count once, empty ones not at all.
    """
    running = np.cumsum(-np.sort(-layout.sizes))
    return {
        count: int(running[min(count, len(running)) - 1]) / int(running[-1])
        for count in LARGEST
        if len(running) and running[-1]
    }


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

"""The JSON report's part on files: how large they are, and how they compress."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from pydantic import Field

from ..codecs import CodecName  # pydantic reads it at run time
from ..core.units import KIB, MIB
from ..payload.file_kinds import file_kind
from ..trial.stored import find_incompressible
from .contract import Count, Interval, Part, Text

if TYPE_CHECKING:
    from collections.abc import Container

    from numpy.typing import NDArray

    from ..payload.layout import Layout
    from ..trial.stored import StoredSizes

SIZE_CLASSES = (4 * KIB, 16 * KIB, 128 * KIB, MIB, 8 * MIB, 64 * MIB)
"""Upper ends, bytes: from a page over a data block to what dominates a payload."""

RANKS = (1, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000)
LISTED_FILES = 10


class FileReport(Part):
    """A file and a size of it."""

    path: Text
    size_bytes: float


class SizeClassReport(Part):
    """Files of similar size."""

    up_to_bytes: Count | None = Field(description="null for the largest class")
    files: Count
    raw_bytes: Count


class TopReport(Part):
    """What the largest files are of the payload."""

    files: Count
    share: float = Field(description="of the length of all, 0 to 1")


class FileSizesReport(Part):
    """How long files are; files of equal contents count once, empty ones not at all.

    Measured.
    """

    files: Count
    raw_bytes: Count
    classes: list[SizeClassReport]
    top: list[TopReport] = Field(description="the largest, the two largest, and so on")
    largest: list[FileReport]


class KindReport(Part):
    """Files of a kind, which their names tell."""

    kind: str
    files: Count
    raw_bytes: Count = Field(description="without holes and blocks of zeros")
    stored_bytes: dict[CodecName, Interval] = Field(
        description="what their data blocks take in the image"
    )


class IncompressibleReport(Part):
    """Blocks that keep 95 % of their length or more; those under 4 KiB don't count."""

    codec: CodecName
    stored_bytes: Interval
    total_bytes: float = Field(description="of all data blocks in the image")
    files: Count
    largest: list[FileReport]


def file_sizes_report(layout: Layout) -> FileSizesReport:
    """Return how long the files of a layout are."""
    order = np.argsort(-layout.sizes, kind="stable")
    sizes = layout.sizes[order]
    total = int(sizes.sum())
    running = np.cumsum(sizes)
    ranks = [rank for rank in RANKS if rank < len(sizes)] + [len(sizes)] * bool(total)
    return FileSizesReport(
        files=len(sizes),
        raw_bytes=total,
        classes=_classes(sizes),
        top=[
            TopReport(files=rank, share=int(running[rank - 1]) / total)
            for rank in ranks
        ],
        largest=[
            FileReport(path=layout.paths[number], size_bytes=int(layout.sizes[number]))
            for number in order[:LISTED_FILES].tolist()
        ],
    )


def _classes(sizes: NDArray[np.int64]) -> list[SizeClassReport]:
    places = np.searchsorted(np.array(SIZE_CLASSES), sizes, side="left")
    return [
        SizeClassReport(
            up_to_bytes=end,
            files=int((places == number).sum()),
            raw_bytes=int(sizes[places == number].sum()),
        )
        for number, end in enumerate((*SIZE_CLASSES, None))
    ]


def kind_reports(stored: StoredSizes, executables: Container[str]) -> list[KindReport]:
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
            KindReport(
                kind=kind,
                files=int(members.sum()),
                raw_bytes=length,
                stored_bytes={  # a block that would grow is stored
                    codec: Interval.model_validate(
                        sizes.total(blocks).map(partial(min, length))
                    )
                    for codec, sizes in stored.codecs.items()
                },
            )
        )
    return sorted(found, key=lambda each: (-each.raw_bytes, each.kind))


def incompressible_report(
    stored: StoredSizes, codec: CodecName
) -> IncompressibleReport | None:
    """Return what a codec doesn't make smaller; ``None`` where nothing is known."""
    found = find_incompressible(stored, codec, among=stored.layout.file_numbers)
    if found is None:
        return None
    return IncompressibleReport(
        codec=codec,
        stored_bytes=Interval.model_validate(found.stored_bytes),
        total_bytes=found.total_bytes,
        files=len(found.files),
        largest=[
            FileReport(path=file.path, size_bytes=round(file.stored_bytes))
            for file in found.files[:LISTED_FILES]
        ],
    )

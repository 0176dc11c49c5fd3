"""How a payload's files compress, by kind."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from ..payload.families import file_family

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..core.units import Interval
    from ..payload.layout import Layout
    from ..trial.stored import StoredSizes

LARGEST = (1, 10)


@dataclass(frozen=True, slots=True, kw_only=True)
class FileKind:
    """Files of a kind, by their paths.

    :param raw_bytes: without holes and blocks of zeros.
    :param stored_bytes: what their data blocks take in the image, by codec.
    """

    kind: str
    files: int
    raw_bytes: int
    stored_bytes: Mapping[str, Interval]


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


def file_kinds(stored: StoredSizes) -> list[FileKind]:
    """Return what each kind of file takes with every codec, the largest kind first."""
    layout = stored.layout
    kinds = np.array([file_family(path) for path in layout.paths], dtype=object)
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

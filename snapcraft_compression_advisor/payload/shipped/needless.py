"""Kinds of files that a running snap has no use for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

NeedlessKind = Literal[
    "debug-symbols",
    "static-libraries",
    "development-files",
    "documentation",
    "package-caches",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class NeedlessFile:
    """A file, or parts of one, that needn't ship.

    :param path: of the file.
    :param parts: start and end of each part in bytes, ascending; empty for all of it.
    :param size_bytes: of these parts, uncompressed.
    :param doubt: why the running snap may read it; ``None`` where nothing does.
    """

    path: str
    size_bytes: int
    parts: tuple[tuple[int, int], ...] = ()
    doubt: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Needless:
    """All files of a kind that needn't ship.

    :param files: the largest first.
    """

    kind: NeedlessKind
    files: tuple[NeedlessFile, ...]

    @property
    def size_bytes(self) -> int:
        """Bytes of them all, uncompressed."""
        return sum(file.size_bytes for file in self.files)

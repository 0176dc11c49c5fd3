"""Which files have been read, and the row that each has now.

A file of the data set keeps, by path, what the system or the store said of each, and
the key of its row. So a later run needn't read a file that is as it was, and rows of
what was at its path before aren't shown. Without it, files are read again and found to
be known.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from ..core.files import read_regular
from ..core.printable import printable
from ..core.scratch import replace_text
from ..core.units import MIB
from .columns import Row
from .sources import Snap

NAME = "_files.json"
"""Readers of directories of Parquet files leave out what begins like this."""

_MODE = 0o644
_MAX_BYTES = 1024 * MIB
"""Of four million snaps."""

_Files = dict[str, tuple[int | None, str, str]]
_FILES: TypeAdapter[_Files] = TypeAdapter(_Files)


class SeenFiles:
    """Length, state and key of the row of each file that was read, by its path.

    :param folder: of the data set's rows.
    """

    def __init__(self, folder: Path) -> None:
        self._file = folder / NAME
        self._seen: _Files = {}
        self._keys: frozenset[str] = frozenset()

    def look(self) -> None:
        """Learn what is kept; a file that can't be read keeps nothing."""
        try:
            self._seen = _FILES.validate_json(read_regular(self._file, _MAX_BYTES))
        except (OSError, ValidationError):
            self._seen = {}
        self._keys = frozenset(key for _, _, key in self._seen.values())

    def key(self, snap: Snap) -> str | None:
        """Return the key of a file's row; ``None`` where it has to be read."""
        kept = self._seen.get(printable(snap.path))
        if kept is None or not snap.state:
            return None
        file_bytes, state, key = kept
        return key if (file_bytes, state) == (snap.file_bytes, snap.state) else None

    def has_replaced(self, path: str, key: str) -> bool:
        """Tell whether a row is of what was at its path before, and is nowhere else."""
        kept = self._seen.get(path)
        return kept is not None and kept[2] != key and key not in self._keys

    def add(self, found: Iterable[tuple[Row, str | None]]) -> None:
        """Keep files with the keys of their rows; those of other runs stay.

        :param found: rows, also those that stand for known ones; without a key where a
            file may have another row by the next run.
        :raises OSError: where it can't be written; what was kept remains.
        """
        self.look()
        seen = self._seen
        for row, key in found:
            path = str(row["path"])
            seen.pop(path, None)
            if key is not None:
                file_bytes = row["file_bytes"]
                known_bytes = file_bytes if isinstance(file_bytes, int) else None
                seen[path] = known_bytes, str(row.get("state", "")), key
        replace_text(self._file, json.dumps(seen, indent=0), mode=_MODE)
        self._keys = frozenset(key for _, _, key in seen.values())

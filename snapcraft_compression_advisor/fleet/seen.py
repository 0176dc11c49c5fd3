"""Which files have been read, so that a later run needn't read them.

A file of the data set keeps what the system or the store said of each, and the key of
its row. It only saves reading: without it, the files are read and found to be known.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from ..core.printable import printable
from ..core.scratch import replace_bytes
from .columns import Row
from .sources import Snap

NAME = "_files.json"
"""Readers of directories of Parquet files leave out what begins like this."""

_MODE = 0o644
_Files = dict[str, tuple[int, str, str]]
_FILES: TypeAdapter[_Files] = TypeAdapter(_Files)


class SeenFiles:
    """Length, state and key of the row of each file that was read, by its path.

    :param folder: of the data set's rows.
    """

    def __init__(self, folder: Path) -> None:
        self._file = folder / NAME
        self._seen: _Files = {}

    def look(self) -> None:
        """Learn what is kept; a broken file keeps nothing.

        :raises OSError: where it can't be read.
        """
        try:
            self._seen = _FILES.validate_json(self._file.read_bytes())
        except (FileNotFoundError, ValidationError):
            self._seen = {}

    def key(self, snap: Snap) -> str | None:
        """Return the key of a file's row; ``None`` where it has to be read."""
        kept = self._seen.get(printable(snap.path))
        if kept is None or not snap.state:
            return None
        file_bytes, state, key = kept
        return key if (file_bytes, state) == (snap.file_bytes, snap.state) else None

    def add(self, found: Iterable[tuple[Row, str]]) -> None:
        """Keep files with the keys of their rows; those of other runs stay.

        :raises OSError: where it can't be written; what was kept remains.
        """
        new = {
            str(row["path"]): (row["file_bytes"], row["state"], key)
            for row, key in found
            if row.get("state")
        }
        if new:
            self.look()
            whole = json.dumps({**self._seen, **new}, indent=0).encode()
            replace_bytes(self._file, whole, mode=_MODE)
            self.look()

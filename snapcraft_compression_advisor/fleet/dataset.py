"""The data set: a directory of Parquet files, to which runs add rows.

Several runs may write into one at once. A row is added under a lock, and only if no
other has its key; a file is written whole under a temporary name, then renamed.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import TypeAdapter, ValidationError

from .. import __version__
from ..core.errors import NoInputError, StorageError, UsageError
from ..core.files import FILE_PREFIX, read_regular, replace_bytes, replace_text
from ..core.terminal import printable
from ..core.units import MIB
from .columns import KNOWN, Row, decode, encode
from .sources import Snap

PARTITION = "advisor_version="
"""What directories begin with; readers of Parquet make a column of it."""

SEEN_NAME = "_files.json"
"""Readers of directories of Parquet files leave out what begins like this."""

_SEEN_MAX_BYTES = 1024 * MIB
"""Of four million snaps."""

_MODE = 0o644
_KEY_COLUMNS = ("path", "digest", "error")
_PASSING = (os.EX_NOINPUT, os.EX_IOERR)
"""Statuses of errors that may be over by the next run: what isn't there, a store that
doesn't answer."""


_Files = dict[str, tuple[int | None, str, str]]
_FILES: TypeAdapter[_Files] = TypeAdapter(_Files)


class _Known(NamedTuple):
    """A row that is there: its file, and whether it has an error."""

    file: Path
    failed: bool


class Dataset:
    """The rows of this version of the advisor, to add to.

    :param root: the directory; made if it isn't there.
    :param settings: digest of what rows depend on besides snaps and version.
    :param retries: whether snaps that failed are to be analysed again; their rows stay
        until then.
    :raises UsageError: if it has rows that were made with other settings.
    :raises BadDataError: if it has files of another schema.
    :raises StorageError: if it can't be written.
    """

    def __init__(self, root: Path, *, settings: str, retries: bool = False) -> None:
        self.root, self._settings = root, settings
        self._folder = root / f"{PARTITION}{__version__}"
        self._seen: dict[Path, int] = {}
        self._rows: dict[str, _Known] = {}
        self._files = SeenFiles(self._folder)
        self._retries = retries
        with self._writing(), self._locked():
            for leftover in self._folder.glob(f"{FILE_PREFIX}*"):
                leftover.unlink(missing_ok=True)  # of a run that was killed
            self._look()
            self._files.look()

    def has(self, snap: Snap) -> bool:
        """Return whether a file's row is there, without reading the file."""
        row = self._rows.get(self._files.key(snap) or "")
        return row is not None and not (self._retries and row.failed)

    def digests(self) -> frozenset[str]:
        """Return the digests of the images whose rows are there."""
        failed_too = not self._retries
        return frozenset(
            key for key, row in self._rows.items() if failed_too or not row.failed
        )

    def add(self, rows: Sequence[Row]) -> int:
        """Add rows, but none whose key is there; one replaces that of a failure.

        :param rows: of files; some may turn out to be known.
        :returns: the number of new rows.
        :raises StorageError: if they can't be written; those there stay.
        """
        if not rows:
            return 0
        with self._writing(), self._locked():
            self._look()
            fresh = self._by_file([row for row in rows if KNOWN not in row])
            for file, added in fresh.items():
                self._write(file, added)
            # After their rows: what it keeps of a file is never ahead of them.
            self._files.add(
                (row, None if row.get("error_status") in _PASSING else key_of(row))
                for row in rows
            )
        return sum(map(len, fresh.values()))

    def _by_file(self, rows: Sequence[Row]) -> dict[Path, list[Row]]:
        """Return the rows to write, by file."""
        found: dict[Path, dict[str, Row]] = defaultdict(dict)
        new: dict[str, Row] = {}
        for row in rows:
            key = key_of(row)
            known = self._rows.get(key)
            if known is None:
                new.setdefault(key, row)
            elif known.failed:
                found[known.file][key] = row
        if new:
            name = hashlib.sha256("\n".join(sorted(new)).encode()).hexdigest()[:16]
            found[self._folder / f"part-{name}.parquet"] = new
        return {file: [*added.values()] for file, added in found.items()}

    def _write(self, file: Path, rows: Sequence[Row]) -> None:
        """Write these rows to a file, beside those in it that they don't replace."""
        kept: list[dict[str, Any]] = decode(file)[0] if file.exists() else []
        replaced = set(map(key_of, rows))
        whole = [*(row for row in kept if key_of(row) not in replaced), *rows]
        replace_bytes(file, encode(whole, self._settings), mode=_MODE)
        self._read(file)

    def _look(self) -> None:
        """Read the files that other runs have added meanwhile."""
        for file in sorted(self._folder.glob("*.parquet")):
            if self._seen.get(file) != file.stat().st_ino:
                self._read(file)

    def _read(self, file: Path) -> None:
        rows, settings = decode(file, _KEY_COLUMNS)
        if settings != self._settings:
            message = f"The rows of {str(self.root)!r} were made with other settings"
            raise UsageError(
                message,
                resolution="Name another directory, or use the same policy, devices, "
                "rules, base snaps and launch profiles.",
            )
        self._seen[file] = file.stat().st_ino
        for row in rows:
            self._rows[key_of(row)] = _Known(file, row["error"] is not None)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Hold the data set's lock; the kernel releases it if the process ends."""
        descriptor = os.open(self._folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)

    @contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            yield
        except OSError as error:
            message = f"Cannot write to {str(self.root)!r}: {error.strerror}"
            raise StorageError(
                message,
                resolution="Make room or choose another directory, and run the same "
                "command again: it continues with what is missing.",
            ) from error


class SeenFiles:
    """Length, state and row's key of each file that was read, by its path.

    A later run needn't read a file that is as it was, and rows of what was at its path
    before aren't shown. Without it, files are read again and found to be known.

    :param folder: directory of the data set's rows.
    """

    def __init__(self, folder: Path) -> None:
        self._file = folder / SEEN_NAME
        self._seen: _Files = {}
        self._keys: frozenset[str] = frozenset()

    def look(self) -> None:
        """Read what is kept: nothing if the file can't be read."""
        try:
            self._seen = _FILES.validate_json(read_regular(self._file, _SEEN_MAX_BYTES))
        except (OSError, ValidationError):
            self._seen = {}
        self._keys = frozenset(key for _, _, key in self._seen.values())

    def key(self, snap: Snap) -> str | None:
        """Return the key of a file's row; ``None`` if it has to be read."""
        kept = self._seen.get(printable(snap.path))
        if kept is None or not snap.state:
            return None
        file_bytes, state, key = kept
        return key if (file_bytes, state) == (snap.file_bytes, snap.state) else None

    def has_replaced(self, path: str, key: str) -> bool:
        """Return whether a row is only of what was at its path before."""
        kept = self._seen.get(path)
        return kept is not None and kept[2] != key and key not in self._keys

    def add(self, found: Iterable[tuple[Row, str | None]]) -> None:
        """Keep files with the keys of their rows; those of other runs stay.

        :param found: rows with their keys; ``None`` if a file may have another row by
            the next run.
        :raises OSError: if it can't be written; what was kept remains.
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


def key_of(row: Row) -> str:
    """Return the key of a row, unique within a version of the advisor."""
    return str(row["digest"] or f"path:{row['path']}")


def current_rows(root: Path, columns: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Yield the latest version's rows of the files that are at their paths now.

    :param columns: names; the rows also have those of their key.
    :raises AdvisorError: if it isn't a data set of this schema.
    """
    files = part_files(root)
    seen = SeenFiles(files[0].parent)
    seen.look()
    wanted = [*dict.fromkeys([*columns, "path", "digest"])]
    for file in files:
        for row in decode(file, wanted)[0]:
            if not seen.has_replaced(row["path"], key_of(row)):
                yield row


def part_files(root: Path) -> list[Path]:
    """Return the files of rows by the latest version of the advisor.

    :raises NoInputError: if there are none.
    """
    versions: dict[str, list[Path]] = defaultdict(list)
    for file in sorted(root.glob(f"{PARTITION}*/*.parquet")):
        versions[file.parent.name.removeprefix(PARTITION)].append(file)
    if not versions:
        message = f"{str(root)!r} isn't a fleet's data set"
        raise NoInputError(
            message, resolution="Make one: compression-advisor fleet SOURCE -o DATASET."
        )
    return versions[
        max(
            versions,
            key=lambda version: [
                int(each) if each.isdecimal() else -1 for each in version.split(".")
            ],
        )
    ]

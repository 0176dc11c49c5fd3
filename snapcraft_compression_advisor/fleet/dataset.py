"""The data set: a directory of Parquet files, to which runs add rows.

Several runs may write into one at once. A row is added under a lock, and only where
no other has its key; a file is written whole under a temporary name, then renamed.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .. import __version__
from ..core.errors import NoInputError, StorageError, UsageError
from ..core.scratch import FILE_PREFIX, replace_bytes
from .columns import KNOWN, Row
from .seen import SeenFiles
from .sources import Snap
from .table import decode, encode

PARTITION = "advisor_version="
"""What directories begin with; readers of Parquet make a column of it."""

_MODE = 0o644
_KEY_COLUMNS = ("path", "digest", "error")
_PASSING = (os.EX_NOINPUT, os.EX_IOERR)
"""Statuses of errors that may be over by the next run: what isn't there, a store that
doesn't answer."""


@dataclass(frozen=True, slots=True)
class _Known:
    """A row that is there.

    :param file: that it is in.
    """

    file: Path
    failed: bool


class Dataset:
    """The rows of this version of the advisor, to add to.

    :param root: the directory; made where it isn't there.
    :param settings: digest of what rows depend on besides snaps and version.
    :raises UsageError: where it has rows that were made with other settings.
    :raises BadDataError: where it has files of another schema.
    :raises StorageError: where it can't be written.
    """

    def __init__(self, root: Path, *, settings: str) -> None:
        self.root, self._settings = root, settings
        self._folder = root / f"{PARTITION}{__version__}"
        self._seen: dict[Path, int] = {}
        self._rows: dict[str, _Known] = {}
        self._files = SeenFiles(self._folder)
        self._retries = False
        with self._writing(), self._locked():
            for leftover in self._folder.glob(f"{FILE_PREFIX}*"):
                leftover.unlink(missing_ok=True)  # of a run that was killed
            self._look()
            self._files.look()

    def has(self, snap: Snap) -> bool:
        """Tell whether a file's row is there, without reading the file."""
        row = self._rows.get(self._files.key(snap) or "")
        return row is not None and not (self._retries and row.failed)

    def digests(self) -> frozenset[str]:
        """Return the digests of the images whose rows are there."""
        failed_too = not self._retries
        return frozenset(
            key for key, row in self._rows.items() if failed_too or not row.failed
        )

    def retry(self) -> None:
        """Let snaps that failed be analysed again; their rows stay until then."""
        self._retries = True

    def add(self, rows: Sequence[Row]) -> int:
        """Add rows, but none whose key is there; one replaces that of a failure.

        :param rows: also those of files that turned out to be known.
        :returns: how many are new.
        :raises StorageError: where they can't be written; none is lost of those there.
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
        """Return rows to write by the file that they belong in."""
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
        """Write a file: these rows, and those in it that they don't replace."""
        kept: list[dict[str, Any]] = decode(file)[0] if file.exists() else []
        replaced = set(map(key_of, rows))
        whole = [*(row for row in kept if key_of(row) not in replaced), *rows]
        replace_bytes(file, encode(whole, self._settings), mode=_MODE)
        self._read(file)

    def _look(self) -> None:
        """Learn what other runs have added meanwhile."""
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
        """Hold the data set's lock, which the kernel takes away with the process."""
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


def key_of(row: Row) -> str:
    """Return what a data set has only one row of, in each version of the advisor."""
    return str(row["digest"] or f"path:{row['path']}")


def current_rows(root: Path, columns: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Yield rows of the latest version, but of each path only what is there now.

    :param columns: those wanted; the rows also have those of their key.
    :raises AdvisorError: where it isn't a data set of this schema.
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
    """Return the files of the rows that the latest version of the advisor made.

    :raises NoInputError: where there are none.
    """
    versions: dict[str, list[Path]] = defaultdict(list)
    for file in sorted(root.glob(f"{PARTITION}*/*.parquet")):
        versions[file.parent.name.removeprefix(PARTITION)].append(file)
    if not versions:
        message = f"{str(root)!r} isn't a fleet's data set"
        raise NoInputError(
            message, resolution="Make one: compression-advisor fleet SOURCE -o DATASET."
        )
    return versions[max(versions, key=_ordered)]


def _ordered(version: str) -> tuple[int, ...]:
    return tuple(int(each) if each.isdecimal() else -1 for each in version.split("."))

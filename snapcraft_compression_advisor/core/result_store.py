"""A bounded file of results, in the user's cache directory, for later runs.

Nothing depends on it: whatever is wrong with it (damaged, full, locked, somebody
else's), the run goes on without it and finds its results out again.
"""

from __future__ import annotations

import os
import stat
import threading
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from .units import MIB

if TYPE_CHECKING:
    import sqlite3

VARIABLE = "COMPRESSION_ADVISOR_CACHE"
"""Names the directory to keep results in, or is :data:`OFF`."""
OFF = "off"
FILE_NAME = "results-1.sqlite"
"""The number is that of the format: other versions of the program leave it alone."""

MOST_BYTES = 32 * MIB
"""Of the file: results of some 30 payloads of 600 MB."""
_LEFT_BYTES = MOST_BYTES * 3 // 4
_ROW_BYTES = 16
"""What a row takes beside its key and value, at most; pages are full after VACUUM."""
_SAVED_AT_ONCE = 20_000
"""New results that are written at the latest, where a run takes long."""
_BUSY_TIMEOUT_S = 1.0
_CHECK_BYTES = 4
_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH

_TABLE = (
    "results (key BLOB PRIMARY KEY, value BLOB NOT NULL, used INTEGER NOT NULL) "
    "WITHOUT ROWID"
)
_UNUSED_FOR_LONGEST = (
    "SELECT key FROM (SELECT key, sum(length(key) + length(value) + ?) "
    "OVER (ORDER BY used DESC, key DESC) AS newer_bytes FROM results) "
    "WHERE newer_bytes > ?"
)
_OF_LAST_RUN = (
    "SELECT key, value FROM results WHERE used = (SELECT max(used) FROM results) "
    "AND typeof(key) = 'blob' AND typeof(value) = 'blob'"  # text may not be decodable
)


def cache_directory(environment: Mapping[str, str]) -> Path | None:
    """Return where results are kept; ``None`` where they aren't.

    By default it is the place of the XDG Base Directory Specification. One that
    belongs to somebody else isn't taken, as after ``sudo``, which may leave ``HOME`` as
    it was; nor one that others may write to. A directory that is named is taken as it
    is: continuous integration restores some with all permissions.

    :param environment: of the process.
    """
    given = environment.get(VARIABLE)
    if given:
        return None if given == OFF else Path(given).absolute()
    for variable, below in (("XDG_CACHE_HOME", ""), ("HOME", ".cache")):
        root = Path(environment.get(variable, ""))
        if root.is_absolute():  # the specification has others ignored
            directory = root / below / "compression-advisor"
            return directory if _is_own(directory) else None
    return None


def _is_own(path: Path) -> bool:
    """Tell whether a directory, or the nearest that exists above it, is the user's.

    Only the user may write to the directory itself.
    """
    for place in (path, *path.parents):
        try:
            status = place.stat()
        except FileNotFoundError:
            continue
        except OSError:
            return False
        shared = place == path and status.st_mode & _OTHERS_WRITE
        return status.st_uid == os.geteuid() and not shared
    return False


class ResultStore:
    """Results by key, kept from run to run; threads may share it.

    Nothing is opened before it is asked for a result. Then those that the last run used
    are read at once. New ones are written at the end of the run; those that weren't
    used for longest go where there are too many.
    """

    def __init__(self, directory: Path) -> None:
        self._path = directory / FILE_NAME
        self._connection: sqlite3.Connection | None = None
        self._works = True
        self._latest: dict[object, object] = {}
        self._new: dict[bytes, bytes] = {}
        self._used: set[bytes] = set()
        self._lock = threading.Lock()
        self._before_close: list[Callable[[], None]] = []

    def get(self, key: bytes) -> bytes | None:
        """Return a result; ``None`` where there is none, or it is damaged."""
        with self._lock:
            value = self._new.get(key)
            if value is None and self._opened():
                value = self._read(key)
        return value

    def put(self, key: bytes, value: bytes) -> None:
        """Keep a result."""
        with self._lock:
            if self._opened():
                self._new[key] = value
                if len(self._new) >= _SAVED_AT_ONCE:
                    self._save()

    def before_close(self, call: Callable[[], None]) -> None:
        """Have something called before the store is closed: it may still keep results.

        What collects many parts of one result does so.
        """
        self._before_close.append(call)

    def close(self) -> None:
        """Write what is new; the store isn't used any more."""
        for call in self._before_close:
            call()
        with self._lock:
            if self._new:
                self._save()
            self._give_up()

    def _read(self, key: bytes) -> bytes | None:
        value = self._latest.get(key)
        if value is None:
            rows = self._do("SELECT value FROM results WHERE key = ?", key)
            value = rows[0][0] if rows else None
        if not isinstance(value, bytes) or len(value) <= _CHECK_BYTES:
            return None
        if value[-_CHECK_BYTES:] != _check(key, value[:-_CHECK_BYTES]):
            return None
        self._used.add(key)
        return value[:-_CHECK_BYTES]

    def _do(self, statement: str, *values: object) -> list[tuple[object, ...]]:
        """Return the rows of a statement; none where that fails, for good."""
        import sqlite3  # noqa: PLC0415 # most commands need none

        if self._connection is None:
            return []
        try:
            return self._connection.execute(statement, values).fetchall()
        except sqlite3.Error as error:
            self._fail(error)
            return []

    def _fail(self, error: sqlite3.Error) -> None:
        """Do without from now on; remove a file that no run could ever read."""
        import sqlite3  # noqa: PLC0415 # as above

        self._give_up()
        # Its subclasses say that the disk is full, or somebody else writes.
        if type(error) is sqlite3.DatabaseError:
            self._remove()

    def _give_up(self) -> None:
        import sqlite3  # noqa: PLC0415 # as above

        self._works = False
        self._new.clear()
        self._latest.clear()
        if self._connection is not None:
            with suppress(sqlite3.Error):
                self._connection.close()
            self._connection = None

    def _remove(self) -> None:
        for name in (self._path.name, f"{self._path.name}-journal"):
            with suppress(OSError):
                self._path.with_name(name).unlink()

    def _opened(self) -> bool:
        """Tell whether results can be kept; open the file at the first time."""
        if self._works and self._connection is None:
            self._open()
        return self._works

    def _open(self) -> None:
        import sqlite3  # noqa: PLC0415 # as above

        self._works = False
        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._connection = sqlite3.connect(
                self._path,
                timeout=_BUSY_TIMEOUT_S,
                isolation_level=None,
                check_same_thread=False,  # the lock sees to it
            )
            self._works = self._prepare(self._connection)
        except OSError:
            return
        except sqlite3.Error as error:
            self._fail(error)
        if not self._works and self._connection is not None:
            self._give_up()

    def _prepare(self, connection: sqlite3.Connection) -> bool:
        """Tell whether it is a file of this format; an empty one becomes one."""
        connection.execute("PRAGMA trusted_schema = OFF")
        connection.execute("PRAGMA cell_size_check = ON")
        schema = connection.execute("SELECT sql FROM sqlite_master").fetchall()
        if not schema:
            connection.execute(f"CREATE TABLE IF NOT EXISTS {_TABLE}")
        elif schema != [(f"CREATE TABLE {_TABLE}",)]:
            self._remove()
            return False
        # One by one, thousands take a tenth of a second.
        self._latest = dict(connection.execute(_OF_LAST_RUN))
        return True

    def _save(self) -> None:
        """Write what is new in one transaction, or nothing of it."""
        import sqlite3  # noqa: PLC0415 # as above

        connection = self._connection
        if connection is None:
            return
        try:
            connection.execute("BEGIN IMMEDIATE")
            self._write(connection)
            connection.execute("COMMIT")
            if _file_bytes(connection) > MOST_BYTES:
                _shrink(connection)
        except sqlite3.Error as error:
            self._fail(error)
        self._new.clear()
        self._used.clear()

    def _write(self, connection: sqlite3.Connection) -> None:
        """Write the results, as used by a run after all others.

        Runs are counted rather than timed: clocks are set back.
        """
        (latest,) = connection.execute("SELECT max(used) FROM results").fetchone()
        run = (latest or 0) + 1
        connection.executemany(
            "UPDATE results SET used = ? WHERE key = ?",
            [(run, key) for key in sorted(self._used)],
        )
        connection.executemany(
            "INSERT OR REPLACE INTO results VALUES (?, ?, ?)",
            [
                (key, value + _check(key, value), run)
                for key, value in sorted(self._new.items())
            ],
        )


def _file_bytes(connection: sqlite3.Connection) -> int:
    (pages,) = connection.execute("PRAGMA page_count").fetchone()
    (page_bytes,) = connection.execute("PRAGMA page_size").fetchone()
    return int(pages * page_bytes)


def _shrink(connection: sqlite3.Connection) -> None:
    """Remove the results that weren't used for longest, and give their space back."""
    statement = f"DELETE FROM results WHERE key IN ({_UNUSED_FOR_LONGEST})"  # noqa: S608 # constant
    connection.execute(statement, (_ROW_BYTES, _LEFT_BYTES))
    connection.execute("VACUUM")


class _Process:
    """What the process uses, so that whoever has results to keep finds it.

    :ivar store: ``None`` where nothing is kept: unless a program says so.
    """

    store: ResultStore | None = None


def kept_results() -> ResultStore | None:
    """Return the store of this process; ``None`` where nothing is kept."""
    return _Process.store


@contextmanager
def keeping_results() -> Iterator[None]:
    """Keep results as the environment says, and use those of earlier runs.

    What is new is written where nothing was raised.
    """
    directory = cache_directory(os.environ)
    if directory is None or _Process.store is not None:
        yield
        return
    _Process.store = store = ResultStore(directory)
    try:
        yield
        store.close()
    finally:
        _Process.store = None


def _check(key: bytes, value: bytes) -> bytes:
    """Return what tells a damaged value: SQLite has no checksums of its own."""
    return zlib.crc32(key + value).to_bytes(_CHECK_BYTES, "little")

"""Snaps in object stores and on web servers, read in parts, by fsspec."""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from typing import Any

from ..core.errors import AdvisorError, NoInputError, StorageError
from ..core.units import KIB, MIB
from ..squashfs.image import Image
from ..squashfs.image_file import ImageFile, damaged
from ..squashfs.superblock import SUPERBLOCK_BYTES
from .extra import imported

_PAGE_BYTES = 16 * KIB
"""What short reads are rounded to: a table's blocks are read one after the other."""

_KEPT_BYTES = 48 * MIB
"""Of what was read: the trial and the survey read many of the same blocks."""

_TRIES = 3
_TABLES_MAX_BYTES = 64 * MIB
"""As much as the reader takes of one table. Those of a browser have 1 MB."""

_CHANGING = ("ETag", "etag", "LastModified", "Last-Modified", "mtime", "updated")
"""What stores say of a file that changes with it, by their own names for it."""


def is_remote(source: str) -> bool:
    """Tell whether a source is an address, such as ``s3://bucket/a.snap``."""
    return "://" in source


def list_remote(source: str) -> Iterator[tuple[str, int | None, str]]:
    """Yield address, length and stamp of what is there, or below or matches it.

    :raises AdvisorError: where the store doesn't answer.
    """
    if source.endswith((".snap", ".comp")) and not _has_pattern(source):
        yield source, *_told_of(source)
        return
    with _Failures(source):
        system, path = imported("fsspec").core.url_to_fs(source)
        listed = system.glob if _has_pattern(source) else system.find
        found = listed(path, detail=True)
    for name, told in sorted(found.items()):
        yield system.unstrip_protocol(name), told.get("size"), stamp_of(told)


def _has_pattern(source: str) -> bool:
    return any(each in source for each in "*[")  # a question mark begins a query


def _told_of(url: str) -> tuple[int | None, str]:
    """Return length and stamp of a file; its row says it where it can't be read."""
    try:
        with _Failures(url):
            system, path = imported("fsspec").core.url_to_fs(url)
            told = system.info(path)
    except (NoInputError, StorageError):
        return None, ""
    return told.get("size"), stamp_of(told)


def stamp_of(told: Mapping[str, Any]) -> str:
    """Return what changes when a file does; empty where the store doesn't say."""
    return next((str(told[key]).strip('"') for key in _CHANGING if told.get(key)), "")


class RemoteFile(ImageFile):
    """An image's file in a store; a read is a request of no more than its range.

    :param url: its address.
    :ivar read_bytes: what has come over the network.
    :raises NoInputError: where it isn't there.
    :raises StorageError: where the store doesn't answer, or doesn't say its length.
    """

    def __init__(self, url: str) -> None:
        self.where, self.read_bytes = url, 0
        self._kept: OrderedDict[tuple[int, int], bytes] = OrderedDict()
        self._kept_bytes, self._lock = 0, threading.Lock()
        self._held, self._held_from = b"", 0
        with _Failures(url):
            self._system, self._path = imported("fsspec").core.url_to_fs(url)
            size_bytes = self._system.info(self._path).get("size")
        if size_bytes is None:
            message = f"{url}: the store doesn't say how long it is"
            raise StorageError(message, resolution="Download the snap.")
        self.size_bytes = int(size_bytes)

    def read(self, position: int, length: int) -> bytes:
        """Return exactly ``length`` bytes from ``position``."""
        start = position - self._held_from
        if 0 <= start <= start + length <= len(self._held):
            return self._held[start : start + length]
        inside = position >= 0 and 0 <= length <= self.size_bytes - position
        if length >= _PAGE_BYTES or not inside:
            return self._range(position, length)
        first = position // _PAGE_BYTES
        content = self._page(first)
        if position + length > (first + 1) * _PAGE_BYTES:
            content += self._page(first + 1)
        start = position - first * _PAGE_BYTES
        return content[start : start + length]

    def hold(self, position: int, length: int) -> bytes:
        """Read a range and keep it, for all reads within."""
        self._held, self._held_from = self._range(position, length), position
        return self._held

    def _page(self, number: int) -> bytes:
        start = number * _PAGE_BYTES
        return self._range(start, min(_PAGE_BYTES, self.size_bytes - start))

    def _range(self, position: int, length: int) -> bytes:
        """Return a range, which is read once as long as there is room to keep it."""
        key = position, length
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
        content = super().read(position, length)
        with self._lock:
            self._kept_bytes += length - len(self._kept.pop(key, b""))
            self._kept[key] = content
            while self._kept_bytes > _KEPT_BYTES:
                _, dropped = self._kept.popitem(last=False)
                self._kept_bytes -= len(dropped)
        return content

    def _read_some(self, position: int, length: int) -> bytes:
        """Return bytes from a position, fewer where the store returns fewer."""
        for number in range(_TRIES):
            try:
                with _Failures(self.where):
                    raw: bytes = self._system.cat_file(
                        self._path, start=position, end=position + length
                    )
                break
            except StorageError:
                if number == _TRIES - 1:
                    raise
        self.read_bytes += len(raw)
        if len(raw) > length:
            message = f"{self.where}: the store returns the whole file, not a range"
            raise StorageError(
                message, resolution="Use a server with range requests, or download it."
            )
        return raw

    def close(self) -> None:
        """Nothing stays open."""


class _Failures:
    """Turns whatever a store's library raises into an error of ours."""

    def __init__(self, where: str) -> None:
        self._where = where

    def __enter__(self) -> None:
        pass

    def __exit__(self, _kind: object, error: object, _trace: object) -> None:
        if error is None or isinstance(error, (AdvisorError, MemoryError)):
            return
        if not isinstance(error, Exception):
            return  # an interruption
        details = f"{type(error).__name__}: {error}"
        if isinstance(error, FileNotFoundError):
            message = f"{self._where}: no such file in the store"
            raise NoInputError(
                message, details=details, resolution="Check the address."
            ) from error
        if isinstance(error, ImportError):
            message = f"{self._where}: the package for such addresses isn't installed"
            resolution = f"Install it: {error}."
        else:
            message = f"{self._where}: the store fails"
            resolution = "Run the same command again; check address and credentials."
        raise StorageError(message, details=details, resolution=resolution) from error


def tables_digest(image: Image, file: RemoteFile) -> str:
    """Return the SHA-256 of an image's superblock and of all that follows its data.

    These have the time of packing, and each file's name, time and stored length of its
    blocks. Stores' own digests are none (an ETag may be length and time alone).

    :raises BadDataError: where the image has more tables than any honest one.
    """
    start, end = image.superblock.inode_table_start, image.superblock.used_bytes
    if not 0 <= end - start <= _TABLES_MAX_BYTES:
        raise damaged(image.where, f"its tables take {end - start} bytes")
    digest = hashlib.sha256(image.stored_data(0, SUPERBLOCK_BYTES))
    digest.update(file.hold(start, end - start))  # the walk reads them, too
    return f"tables:{digest.hexdigest()}"

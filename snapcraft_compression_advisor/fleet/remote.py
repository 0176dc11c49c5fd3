"""Snaps in object stores and on web servers, read in parts, by fsspec."""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..core.errors import AdvisorError, NoInputError, StorageError
from ..core.units import KIB, MIB
from ..squashfs.image import Image
from ..squashfs.image_file import ImageFile, damaged
from ..squashfs.superblock import SUPERBLOCK_BYTES
from .extra import imported

_PAGE_BYTES = KIB
"""What reads are rounded to: neighbouring files' blocks share pages."""

_MOST_PAGES = 48 * MIB // _PAGE_BYTES
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
    """An image's file in a store, of which only the pages that are wanted are read.

    :param url: its address.
    :ivar read_bytes: what has come over the network.
    :raises NoInputError: where it isn't there.
    :raises StorageError: where the store doesn't answer, or doesn't say its length.
    """

    is_far = True

    def __init__(self, url: str) -> None:
        self.where, self.read_bytes = url, 0
        self._kept: OrderedDict[int, bytes] = OrderedDict()
        self._lock = threading.Lock()
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
        if position < 0 or not 0 <= length <= self.size_bytes - position:
            return super().read(position, length)  # says what is wrong
        first, end = position // _PAGE_BYTES, -(-(position + length) // _PAGE_BYTES)
        # One request at a time: two threads that want the same page don't get it twice.
        with self._lock:
            content = b"".join(self._pages(first, end))
        start = position - first * _PAGE_BYTES
        return content[start : start + length]

    def hold(self, position: int, length: int) -> bytes:
        """Read a range and keep it, for all reads within."""
        self._held, self._held_from = super().read(position, length), position
        return self._held

    def _pages(self, first: int, end: int) -> list[bytes]:
        """Return pages, of which those that aren't kept are read."""
        found = {n: page for n in range(first, end) if (page := self._kept.get(n))}
        missing = [n for n in range(first, end) if n not in found]
        for start, stop in _runs(missing):
            position = start * _PAGE_BYTES
            length = min(stop * _PAGE_BYTES, self.size_bytes) - position
            content = super().read(position, length)
            for n in range(start, stop):
                offset = (n - start) * _PAGE_BYTES
                found[n] = content[offset : offset + _PAGE_BYTES]
        for n, page in found.items():
            self._kept[n] = page
            self._kept.move_to_end(n)
        while len(self._kept) > _MOST_PAGES:
            self._kept.popitem(last=False)
        return [found[n] for n in range(first, end)]

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


def _runs(numbers: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield first and end of each run of consecutive numbers."""
    start = 0
    for place, number in enumerate(numbers):
        if place + 1 == len(numbers) or numbers[place + 1] != number + 1:
            yield numbers[start], number + 1
            start = place + 1


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

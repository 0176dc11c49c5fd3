"""Snaps in object stores and on web servers, read in parts, by fsspec."""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from ..core.errors import AdvisorError, NoInputError, StorageError
from ..core.units import KIB, MIB
from ..squashfs.entry import SUPERBLOCK_BYTES
from ..squashfs.image import Image
from ..squashfs.image_file import ImageFile, damaged
from . import imported

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
    """Return whether a source is an address, such as ``s3://bucket/a.snap``."""
    return "://" in source


def list_remote(source: str) -> Iterator[tuple[str, int | None, str]]:
    """Yield address, length and stamp of a file, or of all below or matching it.

    :raises AdvisorError: if the store doesn't answer.
    """
    pattern = any(each in source for each in "*[")  # a question mark begins a query
    if source.endswith((".snap", ".comp")) and not pattern:
        try:
            with _store_errors(source):
                system, path = imported("fsspec").core.url_to_fs(source)
                facts = system.info(path)
        except (NoInputError, StorageError):
            facts = {}  # its row says why it can't be read
        yield source, facts.get("size"), _stamp(facts)
        return
    with _store_errors(source):
        system, path = imported("fsspec").core.url_to_fs(source)
        found = (system.glob if pattern else system.find)(path, detail=True)
    for name, facts in sorted(found.items()):
        yield system.unstrip_protocol(name), facts.get("size"), _stamp(facts)


def _stamp(facts: Mapping[str, Any]) -> str:
    """Return a text that changes with a file; empty if the store has none."""
    return next((str(facts[key]).strip('"') for key in _CHANGING if facts.get(key)), "")


class RemoteFile(ImageFile):
    """An image's file in a store, of which only the pages that are wanted are read.

    :ivar read_bytes: bytes that have come over the network.
    :raises NoInputError: if it isn't there.
    :raises StorageError: if the store doesn't answer, or doesn't say its length.
    """

    is_remote = True

    def __init__(self, url: str) -> None:
        self.where, self.read_bytes = url, 0
        self._kept: OrderedDict[int, bytes] = OrderedDict()
        self._lock = threading.Lock()
        with _store_errors(url):
            self._system, self._path = imported("fsspec").core.url_to_fs(url)
            size_bytes = self._system.info(self._path).get("size")
        if size_bytes is None:
            message = f"{url}: the store doesn't say how long it is"
            raise StorageError(message, resolution="Download the snap.")
        self.size_bytes = int(size_bytes)

    def read(self, position: int, length: int) -> bytes:
        """Return exactly ``length`` bytes from ``position``."""
        if position < 0 or not 0 <= length <= self.size_bytes - position:
            return super().read(position, length)  # says what is wrong
        first, end = position // _PAGE_BYTES, -(-(position + length) // _PAGE_BYTES)
        # One request at a time: two threads that want the same page don't get it twice.
        with self._lock:
            content = b"".join(self._pages(first, end))
        start = position - first * _PAGE_BYTES
        return content[start : start + length]

    def _pages(self, first: int, end: int) -> list[bytes]:
        """Return pages; those that aren't kept are read."""
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
        """Return bytes from a position, fewer if the store returns fewer."""
        for number in range(_TRIES):
            try:
                with _store_errors(self.where):
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


@contextmanager
def _store_errors(where: str) -> Iterator[None]:
    """Turn all that a store's library raises into errors of ours."""
    try:
        yield
    except (AdvisorError, MemoryError):
        raise
    except Exception as error:
        details = f"{type(error).__name__}: {error}"
        if isinstance(error, FileNotFoundError):
            message = f"{where}: no such file in the store"
            raise NoInputError(
                message, details=details, resolution="Check the address."
            ) from error
        if isinstance(error, ImportError):
            message = f"{where}: the package for such addresses isn't installed"
            resolution = f"Install it: {error}."
        else:
            message = f"{where}: the store fails"
            resolution = "Run the same command again; check address and credentials."
        raise StorageError(message, details=details, resolution=resolution) from error


def tables_digest(image: Image) -> str:
    """Return the SHA-256 of an image's superblock and of all that follows its data.

    These have the time of packing, and each file's name, time and stored length of its
    blocks. Stores' own digests are none (an ETag may be length and time alone).

    :raises BadDataError: if the image has more tables than any honest one.
    """
    start, end = image.superblock.inode_table_start, image.superblock.used_bytes
    if not 0 <= end - start <= _TABLES_MAX_BYTES:
        raise damaged(image.where, f"its tables take {end - start} bytes")
    digest = hashlib.sha256(image.stored_data(0, SUPERBLOCK_BYTES))
    digest.update(image.stored_data(start, end - start))
    return f"tables:{digest.hexdigest()}"

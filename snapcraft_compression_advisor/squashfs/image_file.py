"""The file behind an image, read at given positions."""

from __future__ import annotations

import os
from pathlib import Path
from typing import ClassVar

from ..core.errors import BadDataError, NoInputError, StorageError
from ..core.files import NotRegularError, open_regular

_CHECK_DISK = "Check the disk, or copy the file to another one."


class ImageFile:
    """An image's file, open for reading at positions of the caller's choice.

    Threads may share it: a read moves no file offset.

    :param path: a regular file, or a symbolic link to one.
    :raises NoInputError: if the file is missing or may not be read.
    :raises BadDataError: if it isn't a regular file.
    :raises StorageError: if the system fails to open it.
    :cvar is_remote: whether bytes are dear, as in a store: no more are read than
        needed, and samples have fewer blocks.
    """

    is_remote: ClassVar[bool] = False

    def __init__(self, path: Path) -> None:
        self.where = os.fsencode(path).decode("utf-8", "backslashreplace")
        try:
            self._file = open_regular(path)
        except (IsADirectoryError, NotRegularError) as error:
            raise not_an_image(self.where, "not a regular file") from error
        except (FileNotFoundError, NotADirectoryError) as error:
            message = f"{self.where}: no such file"
            raise NoInputError(message, resolution="Check the path.") from error
        except PermissionError as error:
            message = f"{self.where}: permission denied"
            raise NoInputError(message, resolution="Make the file readable.") from error
        except OSError as error:
            message, details = f"{self.where}: cannot be opened", str(error)
            raise StorageError(
                message, details=details, resolution=_CHECK_DISK
            ) from error
        self.size_bytes = os.fstat(self._file.fileno()).st_size

    def read(self, position: int, length: int) -> bytes:
        """Return exactly ``length`` bytes from ``position`` (bytes from the start).

        :raises BadDataError: if the range isn't inside of the file.
        :raises StorageError: if reading fails.
        """
        if position < 0 or length < 0 or position + length > self.size_bytes:
            reason = f"{length} bytes at {position} are outside the file"
            raise damaged(self.where, reason)
        raw = self._read_some(position, length)
        while len(raw) < length:
            # A disk's error ends a read early; only the next one tells it from the end.
            more = self._read_some(position + len(raw), length - len(raw))
            if not more:
                raise damaged(self.where, f"the file ends at {position + len(raw)}")
            raw += more
        return raw

    def _read_some(self, position: int, length: int) -> bytes:
        try:
            return os.pread(self._file.fileno(), length, position)
        except OSError as error:
            message = f"{self.where}: reading {length} bytes at {position} failed"
            raise StorageError(
                message, details=str(error), resolution=_CHECK_DISK
            ) from error

    def close(self) -> None:
        """Close the file; closing it again does nothing."""
        self._file.close()


def damaged(where: str, finding: str, *, details: str | None = None) -> BadDataError:
    """Return the error of a damaged or forged image, to be raised.

    :param finding: contradiction of the format, in the kernel's words.
    """
    return BadDataError(
        f"{where}: damaged squashfs image: {finding}",
        details=details,
        resolution="Download or pack it again; 'unsquashfs -stat' shows what "
        "squashfs-tools reads.",
    )


def not_an_image(where: str, finding: str) -> BadDataError:
    """Return the error of a file that the reader isn't made for, to be raised."""
    return BadDataError(
        f"{where}: {finding}",
        resolution="Specify a built .snap or another squashfs 4.0 image.",
    )

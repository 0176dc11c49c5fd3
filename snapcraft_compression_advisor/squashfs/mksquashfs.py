"""mksquashfs and unsquashfs, called as ``snap pack`` calls them."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..codecs import CODECS
from ..core.child import run_child
from ..core.errors import BadDataError, StorageError, ToolError
from .entry import MINIMUM_IMAGE_BYTES

SYSTEM_SNAP_TYPES = frozenset({"os", "core", "base", "snapd"})
"""Types whose extended attributes and owners ``snap pack`` keeps."""

TIME_LIMIT_S = 2 * 3600
"""After which a tool is ended: xz packs a MB a second on one slow core, so 7 GB."""

_UNSUPPORTED = re.compile(r"compressor .* is not supported", re.IGNORECASE)
_LOST_FILE = re.compile(r"creating empty file|, ignoring")
_REFUSAL = re.compile(r"[^\n]*(?:queue size is too large|physical memory)[^\n]*")
"""unsquashfs before 4.6 with much memory, and from 4.7 with less than 683 MB."""
_NO_SPACE = "No space left on device"
_BAD_DISK = "Input/output error"
_LAST_LINES = 8


def pack_options(codec: str) -> tuple[str, ...]:
    """Return the options of ``snap pack`` with a codec, up to its exclude file."""
    chosen = CODECS[codec].pack_options if codec in CODECS else ("-comp", codec)
    return ("-noappend", *chosen, "-no-fragments", "-no-progress")


def owner_options(snap_type: str) -> tuple[str, ...]:
    """Return the options on owners and extended attributes for a snap's type."""
    if snap_type in SYSTEM_SNAP_TYPES:
        return ("-xattrs",)
    return ("-all-root", "-no-xattrs")


def mksquashfs_version() -> str:
    """Return the version, as ``4.5.1``.

    :raises ToolError: if mksquashfs is missing.
    """
    # Some versions report failure along with their version.
    _, output = _execute(("mksquashfs", "-version"))
    match = re.search(r"version (\S+)", output)
    return match[1] if match else "unknown version"


def pack(
    source: Path, image: Path, *, codec: str, snap_type: str, exclude_file: Path
) -> bool:
    """Pack a directory precisely as ``snap pack`` does.

    :param image: path to write; an image that is there is replaced.
    :returns: whether this mksquashfs has the codec; it notices before it reads.
    :raises ToolError: if mksquashfs is missing or fails.
    :raises StorageError: if files vanish meanwhile, or the disk is full or fails.
    """
    command = (
        "mksquashfs",
        ".",
        str(image.absolute()),
        *pack_options(codec),
        "-wildcards",
        "-ef",
        str(exclude_file.absolute()),
        *owner_options(snap_type),
    )
    status, output = _execute(command, directory=source)
    if status and _UNSUPPORTED.search(output):
        return False
    _check(status, output, command)
    if _LOST_FILE.search(output):
        _check_disk(output, f"Files of {str(source)!r} can't be read")
        message = f"Files of {str(source)!r} changed or vanished while it was packed"
        raise StorageError(
            message,
            details=_tail(output),
            resolution="Wait until the build ends and try again.",
        )
    if image.stat().st_size < MINIMUM_IMAGE_BYTES:
        os.truncate(image, MINIMUM_IMAGE_BYTES)
    return True


def unpack(image: Path, directory: Path) -> None:
    """Unpack an image into a directory that isn't there yet.

    :raises ToolError: if unsquashfs is missing.
    :raises StorageError: if the disk is full or fails, or unsquashfs refuses to work
        with so much or so little memory.
    :raises BadDataError: if the image is broken.
    """
    where = ("-d", str(directory), str(image.absolute()))
    command = ("unsquashfs", "-no-progress", *where)
    # Else a user other than root gets no modes that the umask takes away.
    status, output = _execute(command, umask=0)
    # 2: all contents are there, but not every owner, device or attribute, which a
    # user other than root can't set (unsquashfs 4.5 on).
    if status in (0, 2):
        return
    if _NO_SPACE in output:
        _check(status, output, command)
    _check_disk(output, f"unsquashfs cannot read {str(image)!r}")
    message = f"unsquashfs cannot unpack {str(image)!r}"
    if refusal := _REFUSAL.search(output):
        message += f" on this machine: {refusal[0].strip()}"
        raise StorageError(
            message,
            resolution="Use another version of squashfs-tools, or a machine with "
            "another amount of memory.",
        )
    raise BadDataError(
        message,
        details=_tail(output),
        resolution="Check that the file is complete.",
    )


def run_tool(command: Sequence[str]) -> None:
    """Run a tool as the store's review does; one that is interrupted is ended first.

    :raises ToolError: if the tool is missing or fails.
    :raises StorageError: if the disk is full or fails.
    """
    # mksquashfs refuses a time on the command line if the variable is set.
    environment = {**os.environ}
    environment.pop("SOURCE_DATE_EPOCH", None)
    status, output = _execute(command, environment=environment, umask=0)
    _check(status, output, command)


def _execute(command: Sequence[str], **options: Any) -> tuple[int, str]:  # noqa: ANN401 # those of run_child
    """Return a program's exit status and all that it printed."""
    if shutil.which(command[0]) is None:
        message = f"{command[0]} is not installed"
        raise ToolError(
            message,
            resolution="Install squashfs-tools, for instance with 'sudo apt install "
            "squashfs-tools'.",
        )
    try:
        result = run_child(command, limit_s=TIME_LIMIT_S, **options)
    except subprocess.TimeoutExpired as error:
        message = f"{command[0]} was ended after {TIME_LIMIT_S / 60:.0f} minutes"
        raise ToolError(
            message, resolution="Check that the snap is what it should be."
        ) from error
    except OSError as error:
        message = f"Cannot run {command[0]}: {error.strerror}"
        raise ToolError(
            message, resolution="Check the installation of squashfs-tools."
        ) from error
    return result.returncode, result.stdout + result.stderr


def _check(status: int, output: str, command: Sequence[str]) -> None:
    if status == 0:
        return
    if _NO_SPACE in output:
        message = f"The disk is full: {command[0]} could not write its output"
        raise StorageError(
            message,
            details=_tail(output),
            resolution="Free some space, or set TMPDIR to a directory on a larger "
            "disk.",
        )
    _check_disk(output, f"{command[0]} could not read or write")
    how = f"was ended by signal {-status}"
    if status > 0:
        how = f"failed with exit status {status}"
    message = f"{command[0]} {how}"
    raise ToolError(
        message,
        details=_tail(output),
        resolution=f"The command was: {' '.join(command)}",
    )


def _check_disk(output: str, what: str) -> None:
    """Refuse output that says that a disk failed."""
    if _BAD_DISK in output:
        message = f"{what}: {_BAD_DISK}"
        raise StorageError(
            message, details=_tail(output), resolution="Check the disk and try again."
        )


def _tail(output: str) -> str:
    return "\n".join(output.splitlines()[-_LAST_LINES:])

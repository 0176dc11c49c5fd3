"""squashfuse: images mounted without root, through FUSE."""

from __future__ import annotations

import os
import select
import shutil
import signal
import subprocess
import tempfile
import time
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING

from snapcraft_compression_advisor.core.child import ending_with_us
from snapcraft_compression_advisor.core.errors import ToolError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

_PROGRAMS = ("squashfuse_ll", "squashfuse")
"""The first keeps pages in the kernel's cache from one opening to the next (its
``sqfs_ll_op_open`` sets ``keep_cache``), as the kernel's own file system does."""

_UNMOUNTERS = ("fusermount3", "fusermount")
_INSTALL = "Install squashfuse and fuse3, or run the command as root"
_SAID_MAX_BYTES = 4096
_TIMEOUT_S = 30.0
"""Mounting takes some milliseconds; a file system that hangs is given up."""


def find_squashfuse() -> str:
    """Return squashfuse's path.

    :raises ToolError: where it or what it needs isn't installed.
    """
    program = _first_installed(_PROGRAMS)
    if program is None:
        message = "This user may not mount images, and squashfuse is not installed"
        raise ToolError(message, resolution=f"{_INSTALL}.")
    if os.geteuid() != 0 and _first_installed(_UNMOUNTERS) is None:
        message = "squashfuse needs fusermount3, which is not installed"
        raise ToolError(message, resolution=f"{_INSTALL}.")
    return program


@contextmanager
def fuse_mount(image: Path, root: Path) -> Iterator[None]:
    """Mount an image through squashfuse, and unmount it at the end.

    :param root: an empty directory.
    :raises ToolError: where squashfuse or FUSE is missing, or refuses the image.
    """
    program = find_squashfuse()
    options = ("-f", "-o", "ro,nodev,nosuid")
    command = (program, *options, str(image.absolute()), str(root.absolute()))
    with (
        tempfile.TemporaryFile() as said,
        open("/proc/self/mountinfo", "rb") as mount_table,  # noqa: PTH123 # for poll()
        # A session of its own: Ctrl-C is for us, who then unmount.
        subprocess.Popen(
            # At SIGTERM it unmounts before it ends.
            ending_with_us(command, signal.SIGTERM),
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=said,
            start_new_session=True,
        ) as process,
    ):
        try:
            _await_mount(process, root, mount_table)
            _check(process, image, said)
            yield
        finally:
            _unmount(root)
            # It ends by itself, but not while something is still in use there.
            process.kill()


def _await_mount(
    process: subprocess.Popen[bytes], root: Path, mount_table: IO[bytes]
) -> None:
    """Wait until something is mounted, or the process has ended."""
    end_s = time.monotonic() + _TIMEOUT_S
    descriptor = os.pidfd_open(process.pid)
    try:
        changes = select.poll()
        changes.register(mount_table, select.POLLPRI)  # the table has changed
        changes.register(descriptor, select.POLLIN)  # the process has ended
        while process.poll() is None and not os.path.ismount(root):
            left_s = end_s - time.monotonic()
            if left_s <= 0:
                process.kill()
                process.wait()
            else:
                changes.poll(left_s * 1000)
    finally:
        os.close(descriptor)


def _check(process: subprocess.Popen[bytes], image: Path, said: IO[bytes]) -> None:
    if process.returncode is None:
        return
    said.seek(0)
    details = said.read(_SAID_MAX_BYTES).decode(errors="replace").strip()
    message = f"squashfuse cannot mount {str(image)!r} (status {process.returncode})"
    raise ToolError(
        message,
        details=details or None,
        resolution="Check that /dev/fuse is there for this user, and that this "
        "squashfuse knows the image's codec.",
    )


def _unmount(root: Path) -> None:
    """Unmount, or detach while something is in use there; nothing where it isn't."""
    unmounter = _first_installed(_UNMOUNTERS)
    command = (unmounter, "-u") if unmounter else ("umount",)
    for lazily in ((), ("-z",) if unmounter else ("-l",)):
        result = subprocess.run(
            (*command, *lazily, str(root.absolute())),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            check=False,
        )
        if result.returncode == 0:
            return


def _first_installed(programs: Sequence[str]) -> str | None:
    return next(filter(None, map(shutil.which, programs)), None)

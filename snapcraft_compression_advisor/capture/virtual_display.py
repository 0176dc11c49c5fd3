"""An X display without a screen, brought for launches where there is none."""

from __future__ import annotations

import os
import secrets
import select
import shutil
import signal
import socket
import struct
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from ..core.child import beginning, end_child, ending_with_us
from ..core.deferred_signals import deferred_signals
from ..core.errors import StorageError, ToolError
from ..core.scratch import ScratchDirectory

PROGRAM = "Xvfb"
"""Of Debian's and Ubuntu's package ``xvfb``."""

_SCREEN = "1280x1024x24"
_START_TIMEOUT_S = 20.0
"""Some tenths of a second are usual."""

_FAMILY_LOCAL = 256
"""Clients of this machine (``FamilyLocal`` of libXau's ``Xauth.h``)."""

_COOKIE = b"MIT-MAGIC-COOKIE-1"
_COOKIE_BYTES = 16


def can_bring_display() -> bool:
    """Tell whether Xvfb is installed."""
    return shutil.which(PROGRAM) is not None


@contextmanager
def virtual_display() -> Iterator[None]:
    """Start Xvfb on a free display and name it in the environment.

    ``DISPLAY`` and ``XAUTHORITY`` of this process are set meanwhile: launches inherit
    them, and only this user's clients get in. The server ends with the block, on
    signals too, and with this process if that is killed.

    :raises StorageError: where the key can't be written.
    :raises ToolError: where the server doesn't start.
    """
    with deferred_signals() as signals:
        try:
            scratch = ScratchDirectory(ignores_errors=True)
        except OSError as error:
            message = f"Cannot write the key of the virtual display: {error}"
            raise StorageError(
                message, resolution="Set TMPDIR to a directory that you can write to."
            ) from error
        with scratch as directory, tempfile.TemporaryFile() as said:
            authority = Path(directory) / "Xauthority"
            authority.touch(mode=0o600)
            authority.write_bytes(_authority(secrets.token_bytes(_COOKIE_BYTES)))
            numbers, number_end = os.pipe()
            try:
                server = _start(authority, number_end, said)
            finally:
                os.close(number_end)
            with os.fdopen(numbers, "rb") as numbers_file:
                try:
                    with signals.delivered():
                        number = _number(numbers_file, said)
                        with _named(f":{number}", authority):
                            yield
                finally:
                    end_child(server)  # at SIGTERM it removes its socket and lock


def _start(
    authority: Path, number_end: int, said: IO[bytes]
) -> subprocess.Popen[bytes]:
    command = (
        PROGRAM, "-displayfd", str(number_end), "-screen", "0", _SCREEN,
        "-nolisten", "tcp", "-noreset", "-auth", str(authority),
    )  # fmt: skip
    return subprocess.Popen(
        ending_with_us(command, signal.SIGTERM),
        stdin=subprocess.DEVNULL,
        stdout=said,
        stderr=said,
        pass_fds=(number_end,),
        start_new_session=True,  # Ctrl-C is for us, who then end it
    )


def _number(numbers: IO[bytes], said: IO[bytes]) -> int:
    """Return the display that the server has taken, once it is ready."""
    readable, _, _ = select.select([numbers], [], [], _START_TIMEOUT_S)
    line = numbers.readline().strip() if readable else b""
    if not line.isdigit():
        message = f"{PROGRAM} did not start"
        raise ToolError(
            message,
            details=beginning(said),
            resolution="Choose a display with --display, or set DISPLAY.",
        )
    return int(line)


@contextmanager
def _named(display: str, authority: Path) -> Iterator[None]:
    """Set the environment's display, and what it was afterwards."""
    added = {"DISPLAY": display, "XAUTHORITY": str(authority)}
    before = {name: os.environ.get(name) for name in added}
    os.environ.update(added)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def _authority(cookie: bytes) -> bytes:
    """Return a file of libXau's form with a key for local clients of any display."""
    fields = (socket.gethostname().encode(), b"", _COOKIE, cookie)
    return struct.pack(">H", _FAMILY_LOCAL) + b"".join(
        struct.pack(">H", len(field)) + field for field in fields
    )

"""An X display without a screen, brought for launches if there is none."""

from __future__ import annotations

import os
import secrets
import shutil
import socket
import struct
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from .private_server import private_server

PROGRAM = "Xvfb"
"""Of Debian's and Ubuntu's package ``xvfb``."""

_SCREEN = "1280x1024x24"
_AUTHORITY = "Xauthority"

_FAMILY_LOCAL = 256
"""Clients of this machine (``FamilyLocal`` of libXau's ``Xauth.h``)."""

_COOKIE = b"MIT-MAGIC-COOKIE-1"
_COOKIE_BYTES = 16


def can_bring_display() -> bool:
    """Return whether Xvfb is installed."""
    return shutil.which(PROGRAM) is not None


@contextmanager
def virtual_display() -> Iterator[None]:
    """Start Xvfb on a free display and name it in the environment.

    ``DISPLAY`` and ``XAUTHORITY`` of this process are set meanwhile: launches inherit
    them, and only this user's clients get in. The server ends with the block, on
    signals too, and with this process if that is killed.

    :raises StorageError: if the key can't be written.
    :raises ToolError: if the server doesn't start.
    """
    advice = "Choose a display with --display, or set DISPLAY."
    with (
        private_server(PROGRAM, _words, resolution=advice) as (number, directory),
        _named(f":{number}", directory / _AUTHORITY),
    ):
        yield


def _words(directory: Path, number_end: int) -> Sequence[str]:
    authority = directory / _AUTHORITY
    authority.touch(mode=0o600)
    authority.write_bytes(_authority(secrets.token_bytes(_COOKIE_BYTES)))
    return (
        "-displayfd", str(number_end), "-screen", "0", _SCREEN,
        "-nolisten", "tcp", "-noreset", "-auth", str(authority),
        # A client could name any shared memory of this machine.
        "-extension", "MIT-SHM",
    )  # fmt: skip


@contextmanager
def own_display() -> Iterator[None]:
    """Bring a display for launches alone; without Xvfb they have none.

    On the user's, a program could read what is typed.

    :raises AdvisorError: if Xvfb doesn't start.
    """
    with virtual_display() if can_bring_display() else _named("", Path(os.devnull)):
        yield


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

"""Servers for launches alone: an X display without a screen, and a D-Bus session bus.

Each ends with this process.
"""

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
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO
from urllib.parse import quote
from xml.sax.saxutils import escape

from ..core.child import deferred_signals, end_child, ending_with_us
from ..core.errors import StorageError, ToolError
from ..core.scratch import NO_ROOM, held_directory

XVFB = "Xvfb"
"""Of Debian's and Ubuntu's package ``xvfb``."""
_SCREEN = "1280x1024x24"
_AUTHORITY = "Xauthority"
_FAMILY_LOCAL = 256
"""Clients of this machine (``FamilyLocal`` of libXau's ``Xauth.h``)."""
_COOKIE = b"MIT-MAGIC-COOKIE-1"
_COOKIE_BYTES = 16

DBUS_DAEMON = "dbus-daemon"
"""Of the package of that name, or of ``dbus`` in releases before 2022."""
_SOCKET = "bus"
_SOCKETS = Path("/tmp")  # noqa: S108 # of a random name in it
"""Where X servers have theirs, too: a socket's path has up to 107 bytes (unix(7)), and
that of TMPDIR may be longer."""
_BUS_CONFIGURATION = """\
<busconfig>
  <type>session</type>
  <listen>unix:path={path}</listen>
  <auth>EXTERNAL</auth>
  <policy context="default">
    <allow user="*"/>
    <allow send_destination="*" eavesdrop="true"/>
    <allow eavesdrop="true"/>
    <allow own="*"/>
  </policy>
</busconfig>
"""
"""The bus starts no service: those of this machine aren't the snap's. Root's launches
are another user's."""

_START_TIMEOUT_S = 20.0
_DETAILS_MAX_BYTES = 4096
"""Some tenths of a second are usual."""


def can_bring_display() -> bool:
    """Return whether Xvfb is installed."""
    return shutil.which(XVFB) is not None


@contextmanager
def virtual_display() -> Iterator[None]:
    """Start Xvfb on a free display and name it in the environment.

    ``DISPLAY`` and ``XAUTHORITY`` of this process are set meanwhile: launches inherit
    them, and only this user's clients get in.

    :raises StorageError: if the key can't be written.
    :raises ToolError: if the server doesn't start.
    """
    advice = "Choose a display with --display, or set DISPLAY."
    with (
        private_server(XVFB, _display_words, resolution=advice) as (number, directory),
        _named(f":{number}", directory / _AUTHORITY),
    ):
        yield


def _display_words(directory: Path, number_end: int) -> Sequence[str]:
    """Return Xvfb's arguments, having written the key for local clients."""
    fields = (
        socket.gethostname().encode(),
        b"",  # any display
        _COOKIE,
        secrets.token_bytes(_COOKIE_BYTES),
    )
    authority = directory / _AUTHORITY
    authority.touch(mode=0o600)
    authority.write_bytes(
        struct.pack(">H", _FAMILY_LOCAL)
        + b"".join(struct.pack(">H", len(field)) + field for field in fields)
    )
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


@contextmanager
def session_bus() -> Iterator[Path | None]:
    """Start a bus for isolated launches, which don't see the user's own.

    :returns: where it listens; None if no dbus-daemon is installed.
    :raises StorageError: if its configuration can't be written.
    :raises ToolError: if it doesn't start.
    """
    if shutil.which(DBUS_DAEMON) is None:
        yield None
        return
    advice = "Remove dbus-daemon: launches then have no bus."
    with private_server(DBUS_DAEMON, _bus_words, resolution=advice, place=_SOCKETS) as (
        _,
        directory,
    ):
        yield directory / _SOCKET


def _bus_words(directory: Path, address_end: int) -> Sequence[str]:
    configuration = directory / "bus.conf"
    path = escape(quote(str(directory / _SOCKET), safe="/-_.*"))
    configuration.write_text(_BUS_CONFIGURATION.format(path=path), encoding="utf-8")
    return (
        f"--config-file={configuration}", "--nofork", "--nopidfile", "--nosyslog",
        f"--print-address={address_end}",
    )  # fmt: skip


@contextmanager
def private_server(
    program: str,
    words_for: Callable[[Path, int], Sequence[str]],
    *,
    resolution: str,
    place: Path | None = None,
) -> Iterator[tuple[str, Path]]:
    """Start a server, and end it with the block, on signals too.

    :param words_for: returns the arguments for a directory of the server's own and a
        descriptor, to which the server writes a line when it is ready.
    :param resolution: what to do if the server doesn't start.
    :param place: where to make the directory; by default, where temporary files go.
    :returns: that line, and the directory.
    :raises StorageError: if the directory can't be made or written to.
    :raises ToolError: if the server doesn't start.
    """
    with deferred_signals() as signals, ExitStack() as until:
        scratch = held_directory(place, ignores_errors=True)
        try:
            directory = until.enter_context(scratch)
        except OSError as error:
            raise _unwritable(program, error) from error
        with tempfile.TemporaryFile() as output:
            lines, line_end = os.pipe()
            try:
                server = subprocess.Popen(
                    ending_with_us(
                        (program, *words_for(directory, line_end)), signal.SIGTERM
                    ),
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=output,
                    pass_fds=(line_end,),
                    start_new_session=True,  # Ctrl-C is for us, who then end it
                )
            except OSError as error:
                os.close(lines)
                raise _unwritable(program, error) from error
            finally:
                os.close(line_end)
            with os.fdopen(lines, "rb") as lines_file:
                try:
                    with signals.delivered():
                        yield _line(program, lines_file, output, resolution), directory
                finally:
                    end_child(server)  # at SIGTERM it removes its sockets and locks


def _unwritable(program: str, error: OSError) -> StorageError:
    message = f"Cannot write what {program} needs: {error}"
    return StorageError(message, resolution=NO_ROOM)


def _line(program: str, lines: IO[bytes], output: IO[bytes], resolution: str) -> str:
    """Return the line that the server writes once it is ready."""
    readable, _, _ = select.select([lines], [], [], _START_TIMEOUT_S)
    line = lines.readline().strip() if readable else b""
    if not line:
        message = f"{program} did not start"
        output.seek(0)
        details = output.read(_DETAILS_MAX_BYTES).decode(errors="replace").strip()
        raise ToolError(message, details=details or None, resolution=resolution)
    return line.decode(errors="replace")

"""A D-Bus session bus for an isolated launch, which doesn't see the user's own."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote
from xml.sax.saxutils import escape

from .private_server import private_server

PROGRAM = "dbus-daemon"
"""Of the package of that name, or of ``dbus`` in releases before 2022."""

_SOCKET = "bus"
_PATH_MAX_BYTES = 107
"""Of a socket's path (unix(7), ``sun_path``)."""
_NAMES_BYTES = 60
"""For the names of the directory and the socket in it."""
_CONFIGURATION = """\
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


@contextmanager
def session_bus() -> Iterator[Path | None]:
    """Start a bus, and end it with the block, on signals too.

    :returns: where it listens; ``None`` if no dbus-daemon is installed.
    :raises StorageError: if its configuration can't be written.
    :raises ToolError: if it doesn't start.
    """
    if shutil.which(PROGRAM) is None:
        yield None
        return
    too_long = len(tempfile.gettempdir()) > _PATH_MAX_BYTES - _NAMES_BYTES
    with private_server(
        PROGRAM,
        _words,
        resolution="Remove dbus-daemon: launches then have no bus.",
        place=Path("/tmp") if too_long else None,  # noqa: S108 # of a random name
    ) as (_, directory):
        yield directory / _SOCKET


def _words(directory: Path, address_end: int) -> Sequence[str]:
    configuration = directory / "bus.conf"
    path = escape(quote(str(directory / _SOCKET), safe="/-_.*"))
    configuration.write_text(_CONFIGURATION.format(path=path), encoding="utf-8")
    return (
        f"--config-file={configuration}", "--nofork", "--nopidfile", "--nosyslog",
        f"--print-address={address_end}",
    )  # fmt: skip

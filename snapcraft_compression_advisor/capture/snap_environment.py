"""The environment that snapd gives to an app."""

from __future__ import annotations

import os
import platform
import re
import shutil
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

from ..core.deferred_signals import deferred_signals
from ..core.errors import StorageError
from ..core.scratch import ScratchDirectory

SNAP_LIBRARY_PATH = "/var/lib/snapd/lib/gl:/var/lib/snapd/lib/gl32:/var/lib/snapd/void"
"""The host's graphics drivers (snapd ``snap/snapenv/snapenv.go``)."""

PATH = (
    "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/usr/games:"
    "/usr/local/games"
)
"""What an app starts with (snapd ``cmd/snap-confine/snap-confine.c``)."""

REVISION = "x1"
"""As snapd numbers the first revision installed from a file."""

INSIDE = "/run/compression-advisor"
"""Where a launch in a root of its own sees its home."""

_ARCHITECTURES = {
    "aarch64": "arm64",
    "armv7l": "armhf",
    "armv8l": "armhf",
    "i686": "i386",
    "ppc64le": "ppc64el",
    "x86_64": "amd64",
}
# Of the advisor's own run: its interpreter's, and its snap's where it runs as one.
# And where the user keeps caches and settings: a launch has a home of its own.
_WITHHELD = re.compile(
    r"PYTHON|VIRTUAL_ENV|LD_|SNAP|GCONV_PATH|WAYLAND_|BASH_FUNC_|"
    r"XDG_(?:CACHE|CONFIG|DATA|STATE)_HOME"
)
# os.Expand of Go, which snapd calls: ${NAME} up to the first brace, $NAME, or $ and
# one special character. There is no ${NAME:+…}: such a name has no value.
_REFERENCE = re.compile(
    r"\$(?:\{(?P<braced>[^}]*)\}|(?P<plain>[A-Za-z_]\w*)|(?P<special>[*#$@!?\-0-9]))",
    re.ASCII,
)


@contextmanager
def launch_home(directory: Path | None = None) -> Iterator[Path]:
    """Make the directories that launches may write to; they last from launch to launch.

    :param directory: that holds them and stays; by default one that doesn't.
    :raises StorageError: where they can't be made.
    """
    with ExitStack() as stack:
        signals = stack.enter_context(deferred_signals())
        try:
            if directory is None:
                temporary = ScratchDirectory(ignores_errors=True)
                directory = Path(stack.enter_context(temporary))
            for name in ("user", "user-common", "data", "common", "runtime"):
                (directory / name).mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            message = f"Cannot create a home directory for the launch: {error}"
            raise StorageError(
                message, resolution="Set TMPDIR to a directory that you can write to."
            ) from error
        with signals.delivered():
            yield directory.absolute()


def launch_environment(
    *,
    name: str,
    snap: str,
    home: Path,
    seen_as: str,
    added: Mapping[str, str],
) -> dict[str, str]:
    """Return the environment of an app.

    :param snap: where the payload is, as the app sees it.
    :param home: what it may write to.
    :param seen_as: the home's directory, as the app sees it.
    :param added: of snap.yaml: values may refer to variables before them.
    """
    environment = kept_environment()
    environment |= {
        "PATH": PATH,
        "HOME": f"{seen_as}/user",
        "SNAP": snap or "/",
        "SNAP_NAME": name,
        "SNAP_INSTANCE_NAME": name,
        "SNAP_REVISION": REVISION,
        "SNAP_ARCH": snap_architecture(),
        "SNAP_LIBRARY_PATH": SNAP_LIBRARY_PATH,
        "SNAP_USER_DATA": f"{seen_as}/user",
        "SNAP_USER_COMMON": f"{seen_as}/user-common",
        "SNAP_DATA": f"{seen_as}/data",
        "SNAP_COMMON": f"{seen_as}/common",
        "XDG_RUNTIME_DIR": f"{seen_as}/runtime",
    }
    # Where the X client library looks without XAUTHORITY lies in another home now.
    if _copy_authority(home):
        environment["XAUTHORITY"] = f"{seen_as}/runtime/Xauthority"
    references = {**environment, "SNAP": snap}
    for key, value in added.items():
        references[key] = environment[key] = expand(value, references)
    return environment


def kept_environment() -> dict[str, str]:
    """Return the environment of this run without what is the advisor's own."""
    return {key: value for key, value in os.environ.items() if not _WITHHELD.match(key)}


def expand(text: str, variables: Mapping[str, str]) -> str:
    """Replace references to variables as snapd does (Go's ``os.Expand``).

    >>> expand("$A/${B}${A:+:$A}", {"A": "1"})
    '1/'
    """
    return _REFERENCE.sub(
        lambda match: variables.get(
            match["braced"] or match["plain"] or match["special"] or "", ""
        ),
        text,
    )


def snap_architecture() -> str:
    """Return this machine's architecture as Debian and snapd call it."""
    machine = platform.machine()
    return _ARCHITECTURES.get(machine, machine)


def _copy_authority(home: Path) -> bool:
    """Copy the key to the X display, if there is one."""
    source = Path(os.environ.get("XAUTHORITY") or Path.home() / ".Xauthority")
    target = home / "runtime/Xauthority"
    try:
        shutil.copyfile(source, target)
        target.chmod(0o600)
    except (OSError, shutil.SameFileError):
        return False
    return True

"""What snapd gives to an app: variables, and directories that it may write to."""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from ..core.child import deferred_signals
from ..core.errors import StorageError
from ..core.scratch import NO_ROOM, held_directory, unmount
from .mount import run_mount

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

HOME_DIRECTORIES = (
    "user", "user-common", "data", "common", "runtime", "real-home", "save", "layouts",
)  # fmt: skip
"""A launch sees each of them; it can't put a link in the place of one."""

HOME_BYTES = 1024 * 1024 * 1024
HOME_FILES = 200_000
"""What launches may write to a home; a browser's first run writes some hundred MB."""

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC

_ARCHITECTURES = {
    "aarch64": "arm64",
    "armv7l": "armhf",
    "armv8l": "armhf",
    "i686": "i386",
    "ppc64le": "ppc64el",
    "x86_64": "amd64",
}
# Of the advisor's own run: its interpreter's, and its snap's if it runs as one.
# And where the user keeps caches and settings: a launch has a home of its own.
_WITHHELD = re.compile(
    r"PYTHON|VIRTUAL_ENV|LD_|SNAP|GCONV_PATH|WAYLAND_|BASH_FUNC_|"
    r"XDG_(?:CACHE|CONFIG|DATA|STATE)_HOME"
)
_SEEN = re.compile(r"LANG|LANGUAGE|LC_\w+|TERM|TZ")
# os.Expand of Go, which snapd calls: ${NAME} up to the first brace, $NAME, or $ and
# one special character. There is no ${NAME:+…}: such a name has no value.
_REFERENCE = re.compile(
    r"\$(?:\{(?P<braced>[^}]*)\}|(?P<plain>[A-Za-z_]\w*)|(?P<special>[*#$@!?\-0-9]))",
    re.ASCII,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapApp:
    """What of snap.yaml an app's variables say.

    :param app: its name; the snap's for a command that is no app.
    :param common_id: of the app, if it has one.
    """

    snap: str = "snap"
    version: str = ""
    app: str = ""
    common_id: str = ""
    has_desktop_file: bool = False


def launch_environment(  # noqa: PLR0913 # each says another variable
    app: SnapApp,
    *,
    snap: str,
    seen_as: str,
    user: int,
    inherited: Mapping[str, str],
    added: Mapping[str, str],
) -> dict[str, str]:
    """Return the environment of an app: all that snapd sets, and no more.

    Launchers that run with ``set -u`` need each of them.

    :param snap: where the payload is, as the app sees it.
    :param seen_as: the home's directory, as the app sees it.
    :param inherited: what the app may see of this run's environment.
    :param added: of snap.yaml: values may refer to variables before them.
    """
    name = app.snap
    desktop_file = f"/var/lib/snapd/desktop/applications/{name}_{app.app}.desktop"
    environment = {
        **inherited,
        "PATH": PATH,
        "HOME": f"{seen_as}/user",
        "TMPDIR": "/tmp",  # noqa: S108 # as snap-confine sets it
        "SNAP": snap or "/",
        "SNAP_NAME": name,
        "SNAP_INSTANCE_NAME": name,
        "SNAP_INSTANCE_KEY": "",
        "SNAP_VERSION": app.version,
        "SNAP_REVISION": REVISION,
        "SNAP_ARCH": _ARCHITECTURES.get(platform.machine(), platform.machine()),
        "SNAP_LIBRARY_PATH": SNAP_LIBRARY_PATH,
        "SNAP_APP_NAME": app.app or name,
        "SNAP_APP_COMMON_ID": app.common_id,
        "SNAP_APP_DESKTOP_FILE": desktop_file if app.has_desktop_file else "",
        "SNAP_COMPONENTS": f"/snap/{name}/components/{REVISION}",
        "SNAP_CONTEXT": "",
        "SNAP_COOKIE": "",
        "SNAP_REEXEC": "",
        "SNAP_UID": str(user),
        "SNAP_EUID": str(user),
        "SNAP_REAL_HOME": f"{seen_as}/real-home",
        "SNAP_USER_DATA": f"{seen_as}/user",
        "SNAP_USER_COMMON": f"{seen_as}/user-common",
        "SNAP_DATA": f"{seen_as}/data",
        "SNAP_COMMON": f"{seen_as}/common",
        "SNAP_SAVE_DATA": f"{seen_as}/save",
        "XDG_RUNTIME_DIR": f"{seen_as}/runtime",
    }
    references = {**environment, "SNAP": snap}
    for key, value in added.items():
        references[key] = environment[key] = expand(value, references)
    return environment


def display_authority() -> Path | None:
    """Return the file with the key to the X display, if there is one.

    The X client library's usual one is in the home, which a launch doesn't see.
    """
    try:
        path = Path(os.environ.get("XAUTHORITY") or Path.home() / ".Xauthority")
    except RuntimeError:  # a user without a home
        return None
    return path if os.access(path, os.R_OK) and path.is_file() else None


def seen_environment() -> dict[str, str]:
    """Return the part of this run's environment that an isolated launch sees.

    Buses, agents and secrets of whoever records stay outside.
    """
    return {key: value for key, value in os.environ.items() if _SEEN.fullmatch(key)}


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


@contextmanager
def launch_home(directory: Path | None = None) -> Iterator[Path]:
    """Make the directories that launches may write to; they last from launch to launch.

    What an earlier launch left there is hostile: nothing in it is followed.

    :param directory: that holds them and stays; by default one that doesn't.
    :raises StorageError: if they can't be made.
    """
    with ExitStack() as stack:
        signals = stack.enter_context(deferred_signals())
        try:
            if directory is None:
                temporary = held_directory(ignores_errors=True)
                directory = stack.enter_context(temporary)
                stack.enter_context(_bounded(directory))
                directory /= "home"
            directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            for name in HOME_DIRECTORIES:
                place = directory / name
                place.mkdir(mode=0o700, exist_ok=True)
                if place.is_symlink():
                    message = f"{str(place)!r} is a link, not a directory"
                    raise StorageError(message, resolution="Remove it.")
        except OSError as error:
            message = f"Cannot create a home directory for the launch: {error}"
            raise StorageError(message, resolution=NO_ROOM) from error
        with signals.delivered():
            yield directory.absolute()


@contextmanager
def _bounded(scratch: Path) -> Iterator[None]:
    """Have a home in memory that takes so much and no more, if one can be mounted."""
    place = scratch / "home"
    place.mkdir(mode=0o700)
    bounds = f"size={HOME_BYTES},nr_inodes={HOME_FILES},mode=700"
    is_bounded = False
    with suppress(OSError):
        is_bounded = not run_mount("tmpfs", bounds, "none", place).returncode
    try:
        yield
    finally:
        if is_bounded:
            unmount(str(place))


class HomeQuota:
    """Notices that a home's file system lost more than launches may write.

    Without root, a home is on a disk, where the kernel bounds no more than each file.
    """

    def __init__(self, home: Path) -> None:
        self._home = home
        self._bytes, self._files = self._free()

    def is_exceeded(self) -> bool:
        """Whether so much was written since the beginning, by whomever."""
        free_bytes, free_files = self._free()
        return (
            self._bytes - free_bytes > HOME_BYTES
            or self._files - free_files > HOME_FILES
        )

    def _free(self) -> tuple[int, int]:
        status = os.statvfs(self._home)
        return status.f_bfree * status.f_frsize, status.f_ffree


def make_places(home: Path, places: Iterable[str], *, user: int) -> None:
    """Give a home to a user, with directories that layouts lead to.

    :param places: relative to the home. One in whose way an earlier launch has put
        something else isn't made.
    """
    for place in (*HOME_DIRECTORIES, *places):
        with suppress(OSError), ExitStack() as stack:
            here = os.open(home.resolve(), _DIRECTORY)
            stack.callback(os.close, here)
            for name in Path(place).parts:
                with suppress(FileExistsError):
                    os.mkdir(name, mode=0o700, dir_fd=here)
                here = os.open(name, _DIRECTORY, dir_fd=here)
                stack.callback(os.close, here)
                if os.fstat(here).st_uid != user:
                    os.fchown(here, user, user)

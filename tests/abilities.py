"""What this machine lets a test do, tried once; a test that needs more is skipped.

The user's number doesn't say it: a container's root mounts nothing, and in a chroot no
program gets a namespace. A test names what it needs by a marker, ``bubblewrap`` or
``mounts``; ``skips.py`` skips it with the reason.
"""

import os
import re
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

OTHER_USER = 65534
REFUSED = "this machine refuses"
"""Begins the reason of a skip if nothing is missing."""

_PATH = re.compile(r"/\S+")
_TIMEOUT_S = 60.0


def _run(*command: str | Path) -> None:
    """Run a program that has to end well.

    :raises OSError: if it can't be started.
    :raises CalledProcessError: if it fails.
    """
    subprocess.run(
        command,
        check=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        timeout=_TIMEOUT_S,
    )


def _be_another_user() -> None:
    with tempfile.TemporaryDirectory() as directory:
        os.chown(directory, OTHER_USER, OTHER_USER)
        os.chown(directory, os.geteuid(), os.getegid())
    ids = {"user": OTHER_USER, "group": OTHER_USER, "extra_groups": ()}
    subprocess.run(["true"], check=True, **ids)  # type: ignore[call-overload]


@contextmanager
def _image() -> Iterator[tuple[Path, Path]]:
    """Make an image, and a place to mount it at."""
    with tempfile.TemporaryDirectory() as directory:
        image, place = Path(directory, "image"), Path(directory, "place")
        place.mkdir()
        _run("mksquashfs", place, image, "-quiet", "-no-progress")
        yield image, place


def _mount() -> None:
    """Mount an image through a loop device, and a file system in memory."""
    with _image() as (image, place):
        for options in (("-o", "loop,ro", image), ("-t", "tmpfs", "tmpfs")):
            _run("mount", *options, place)
            _run("umount", place)


def _make_namespaces() -> None:
    mount = ("mount", "-t", "tmpfs", "tmpfs", "/mnt")
    _run("unshare", "--mount", "--propagation=private", "--pid", "--fork", *mount)


def _make_user_namespace() -> None:
    _run("unshare", "--user", "--map-root-user", "true")


def _run_bubblewrap() -> None:
    if os.geteuid() == 0:
        _make_namespaces()  # root's launches are another user's, in a namespace of its
    options = ("--unshare-all", "--unshare-user", "--die-with-parent")
    root = ("--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev")
    _run("bwrap", *options, *root, "--tmpfs", "/tmp", "true")  # noqa: S108 # its own


def _trace() -> None:
    _run("strace", "-f", "-o", "/dev/null", "true")


ABILITIES: dict[str, Callable[[], None]] = {
    "root": _be_another_user,
    "mounts": _mount,
    "namespaces": _make_namespaces,
    "user_namespaces": _make_user_namespace,
    "bubblewrap": _run_bubblewrap,
    "strace": _trace,
}
"""By the marker of a test that needs it: what raises an error if it is refused."""


@cache
def why_not(name: str) -> str | None:
    """Return why a test can't use something here, or None if it can.

    :param name: one of :data:`ABILITIES`.
    """
    try:
        ABILITIES[name]()
    except FileNotFoundError as error:
        return f"needs {error.filename}"
    except (OSError, subprocess.SubprocessError) as error:
        said = getattr(error, "stderr", None) or getattr(error, "strerror", None)
        line = (said or str(error)).strip().splitlines()[-1]
        reason = line.rpartition(": ")[2].partition(", ")[0]
        return f"{REFUSED} {name}: {_PATH.sub('a file', reason)}"
    return None


def other_user_can_run(*command: str) -> bool:
    """Return whether an ordinary user can run a command."""
    try:
        result = subprocess.run(
            command, user=OTHER_USER, cwd="/", check=False, capture_output=True
        )
    except PermissionError:
        return False
    return result.returncode == 0

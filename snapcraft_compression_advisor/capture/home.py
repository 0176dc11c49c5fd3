"""The directories that launches may write to.

What an earlier launch left there is hostile: nothing in it is followed.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from ..core.deferred_signals import deferred_signals
from ..core.errors import StorageError
from ..core.scratch import held_directory, unmount
from .mount import memory_mount

HOME_DIRECTORIES = (
    "user", "user-common", "data", "common", "runtime", "real-home", "save", "layouts",
)  # fmt: skip
"""A launch sees each of them; it can't put a link in the place of one."""

HOME_BYTES = 1024 * 1024 * 1024
HOME_FILES = 200_000
"""What launches may write to a home; a browser's first run writes some hundred MB."""

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


@contextmanager
def launch_home(directory: Path | None = None) -> Iterator[Path]:
    """Make the directories that launches may write to; they last from launch to launch.

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
            raise StorageError(
                message, resolution="Set TMPDIR to a directory that you can write to."
            ) from error
        with signals.delivered():
            yield directory.absolute()


@contextmanager
def _bounded(scratch: Path) -> Iterator[None]:
    """Have a home in memory that takes so much and no more, if one can be mounted."""
    place = scratch / "home"
    place.mkdir(mode=0o700)
    try:
        memory_mount(place, size_bytes=HOME_BYTES, files=HOME_FILES)
    except OSError:
        yield
        return
    try:
        yield
    finally:
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

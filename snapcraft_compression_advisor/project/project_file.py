"""Find snapcraft.yaml, read it, and replace it in one step."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from ..core.deferred_signals import deferred_signals
from ..core.errors import BadDataError, NoInputError, StorageError, UsageError
from ..core.files import NotRegularError, read_regular
from ..core.scratch import replace_file
from .document import MAX_PROJECT_FILE_BYTES
from .edit import Edit
from .set_scalar import set_compression

PROJECT_FILES = (
    "snapcraft.yaml",
    "snap/snapcraft.yaml",
    "build-aux/snap/snapcraft.yaml",
    ".snapcraft.yaml",
)
"""Where snapcraft looks, the first one found wins (``parts/yaml_utils.py`` there)."""

_YAML_SUFFIXES = frozenset({".yaml", ".yml"})
_NOTHING_THERE = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ELOOP})
"""Errors for which snapcraft, too, takes a path for missing (``Path.exists``)."""
_WRITE_BITS = stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH

_OTHER_PACKERS = {
    **dict.fromkeys(
        ("electron-builder.yml", "electron-builder.yaml"), "'snap: {compression: lzo}'"
    ),
    "package.json": '"build": {"snap": {"compression": "lzo"}}',
}
"""Files of projects without a snapcraft.yaml, and the key in them (electron-builder's
``SnapOptions``)."""


def find_project_file(project_dir: Path) -> Path:
    """Return the project file that snapcraft would read.

    :param project_dir: a project's directory, or a YAML file itself.
    :raises NoInputError: if there is neither.
    :raises BadDataError: if there is only a link that leads nowhere.
    :raises UsageError: if it is a file of another kind.
    """
    if _mode_of(project_dir) is None:
        message = f"{project_dir} doesn't exist"
        raise NoInputError(message, resolution="Specify the project's directory.")
    if not project_dir.is_dir():
        if project_dir.suffix not in _YAML_SUFFIXES:
            message = f"{project_dir} is neither a directory nor a YAML file"
            raise UsageError(message, resolution="Specify the project's directory.")
        return project_dir
    for name in PROJECT_FILES:
        if _mode_of(project_dir / name) is not None:
            return project_dir / name
    for name in PROJECT_FILES:
        if (project_dir / name).is_symlink():
            message = f"{project_dir / name} is a link that leads nowhere"
            raise BadDataError(message, resolution="Correct the link.")
    message = f"No project file in {project_dir}"
    for name, key in _OTHER_PACKERS.items():
        if _mode_of(project_dir / name) is not None:
            raise NoInputError(
                message,
                details=f"If electron-builder packs the snap, {name} has its settings.",
                resolution=f"Write {key} to {name}, or name the project's directory.",
            )
    raise NoInputError(
        message,
        details=f"Looked for {', '.join(PROJECT_FILES)}.",
        resolution="Specify the directory that has one of them, or the file itself.",
    )


def plan_edit(
    path: Path,
    compression: str,
    *,
    component: str | None = None,
    where: str | None = None,
) -> Edit:
    """Return the edit that sets a ``compression`` in a project file; write nothing.

    :param path: the project file.
    :param compression: ``xz`` or ``lzo``.
    :param component: whose key; ``None`` for the snap's own.
    :param where: what errors call the file; its path by default.
    :raises UsageError: for another compression, or an unknown component.
    :raises NoInputError: if the file can't be read.
    :raises BadDataError: if it isn't a regular file, its YAML is broken, or it
        can't be edited in one line.
    """
    before = read_project_file(path)
    after = set_compression(
        before, compression, component=component, where=where or str(path)
    )
    return Edit(path=path, before=before, after=after)


def apply_edit(edit: Edit) -> None:
    """Write an edit: the whole of it or, on any failure, nothing.

    The new text goes to a file in the same directory, which then takes the place of
    the old one with its mode, extended attributes and, where permitted, its owner.
    A symbolic link stays one: the file that it leads to is written, wherever that is,
    as an editor does. A file with several hard links is refused, since replacing one
    name would leave the others with the old text.

    Another program that writes the file in the instant between the last comparison
    and the replacement loses its change.

    :raises BadDataError: if the file no longer has the bytes that were read.
    :raises NoInputError: if it can no longer be read.
    :raises StorageError: if the file or its directory is read-only, the file has
        several hard links, or writing fails.
    """
    if not edit.changes:
        return
    _check_unchanged(edit)
    try:
        target = Path(os.path.realpath(edit.path, strict=True))
        _check_writable(target, target.stat())
        # A moment; else an interruption could leave the temporary file.
        with deferred_signals():
            check = partial(_check_unchanged, edit)
            _replace_file(target, edit.after, last_check=check)
        _sync_directory(target.parent)
    except OSError as error:
        message = f"{edit.path} can't be written: {error.strerror or error}"
        raise StorageError(
            message,
            resolution="The file is unchanged. Check the disk and the file's mode.",
        ) from error


def _mode_of(path: Path) -> int | None:
    """Return the mode of what a path leads to; ``None`` if there is nothing."""
    try:
        return path.stat().st_mode
    except (OSError, ValueError) as error:
        if getattr(error, "errno", 0) in _NOTHING_THERE:
            return None
        message = f"{path} can't be looked up: {getattr(error, 'strerror', error)}"
        raise NoInputError(
            message, resolution="Check the path and its permissions."
        ) from error


def read_project_file(path: Path) -> bytes:
    """Return a regular file's bytes, at most one more than the limit.

    :raises NoInputError: if it isn't there or can't be opened.
    :raises BadDataError: if it isn't a regular file.
    :raises StorageError: if reading fails.
    """
    try:
        return read_regular(path, MAX_PROJECT_FILE_BYTES)
    except (NotRegularError, IsADirectoryError) as error:
        message = f"{path} is not a regular file"
        raise BadDataError(message, resolution="Specify a snapcraft.yaml.") from error
    except (OSError, ValueError) as error:
        message = f"{path} can't be read: {getattr(error, 'strerror', error)}"
        kind = StorageError if getattr(error, "errno", 0) == errno.EIO else NoInputError
        raise kind(
            message, resolution="Check the path, its permissions and the disk."
        ) from error


def _check_unchanged(edit: Edit) -> None:
    if read_project_file(edit.path) != edit.before:
        message = f"{edit.path} has changed since it was read"
        raise BadDataError(message, resolution="Run the command again.")


def _check_writable(target: Path, status: os.stat_result) -> None:
    """Refuse what a replacement would silently override."""
    # The replacement needs no permission on the file, and root none at all; a mode
    # without any write bit still means that nobody is to write it.
    if not status.st_mode & _WRITE_BITS or not os.access(target, os.W_OK):
        message = f"{target} is read-only"
        raise StorageError(message, resolution="Check its mode, owner and mount.")
    if status.st_nlink > 1:
        message = f"{target} has {status.st_nlink} hard links"
        raise StorageError(
            message, resolution="Replace it with a separate copy, or edit it by hand."
        )


def _sync_directory(directory: Path) -> None:
    """Make the new name last through a power cut, where the file system can."""
    with contextlib.suppress(OSError):
        descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _replace_file(
    target: Path, content: bytes, *, last_check: Callable[[], None]
) -> None:
    """Replace a file by one with other bytes, whole or not at all.

    The new one gets the mode, the extended attributes and, where permitted, the owner
    of the old one, and is on the disk before it takes its place. It has a name
    (open(2), ``O_TMPFILE``) only once it is complete, so that a run that is killed
    meanwhile leaves nothing beside the old one.

    :param last_check: called right before the replacement; stops it by raising.
    :raises OSError: if the file can't be written.
    """

    def fill(descriptor: int) -> None:
        with open(descriptor, "wb", closefd=False) as stream:
            stream.write(content)
        _copy_attributes(descriptor, target)
        os.fsync(descriptor)
        last_check()

    try:
        _replace_nameless(target, fill)
    except OSError:  # this file system, or a confinement, doesn't let us
        replace_file(target, fill)


def _replace_nameless(target: Path, fill: Callable[[int], None]) -> None:
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(8)}")
    flags = os.O_TMPFILE | os.O_WRONLY
    with (
        _opened(target.parent, os.O_RDONLY | os.O_DIRECTORY) as directory,
        _opened(target.parent, flags) as descriptor,
    ):
        fill(descriptor)
        # With a directory's descriptor, Python calls linkat(2): link(2) would make
        # a second name of what is in /proc.
        place = f"/proc/self/fd/{descriptor}"
        os.link(place, temporary.name, dst_dir_fd=directory)
        try:
            temporary.replace(target)
        finally:
            temporary.unlink(missing_ok=True)


@contextlib.contextmanager
def _opened(path: Path, flags: int) -> Iterator[int]:
    descriptor = os.open(path, flags | os.O_CLOEXEC, 0o600)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _copy_attributes(descriptor: int, target: Path) -> None:
    status = target.stat()
    # Only root may give a file away, and not every file system has owners.
    for owner, group in ((-1, status.st_gid), (status.st_uid, -1)):
        with contextlib.suppress(OSError):
            os.fchown(descriptor, owner, group)
    # After the owner, since changing that clears the set-id bits.
    os.fchmod(descriptor, stat.S_IMODE(status.st_mode))
    for name in _attribute_names(target):
        with contextlib.suppress(OSError):
            os.setxattr(descriptor, name, os.getxattr(target, name))


def _attribute_names(target: Path) -> list[str]:
    try:
        return os.listxattr(target)
    except OSError:  # this file system has none
        return []

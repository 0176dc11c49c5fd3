"""Find snapcraft.yaml, and read it."""

from __future__ import annotations

import errno
from pathlib import Path

from ..core.errors import BadDataError, NoInputError, StorageError, UsageError
from ..core.files import NotRegularError, read_regular
from .document import MAX_PROJECT_FILE_BYTES

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
    :raises AdvisorError: if it is neither, or has no such file.
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

    :raises AdvisorError: if it isn't a regular file, or can't be read.
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

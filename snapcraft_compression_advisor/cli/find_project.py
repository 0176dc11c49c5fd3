"""The project of a payload."""

from __future__ import annotations

from typing import TYPE_CHECKING

from snapcraft_compression_advisor.advice.project_file import (
    find_project_file,
    read_project_file,
)
from snapcraft_compression_advisor.errors import NoInputError
from snapcraft_compression_advisor.rules.project import read_project

if TYPE_CHECKING:
    from pathlib import Path

    from snapcraft_compression_advisor.payload.source import Payload
    from snapcraft_compression_advisor.rules.project import ProjectFile


def find_project(payload: Payload, project_dir: Path | None) -> ProjectFile | None:
    """Return the project named, else that beside the payload if it is the snap's.

    :param project_dir: a project's directory or file, as it was given.
    :returns: ``None`` where none is named, and the one beside the payload, if any,
        has another snap's name.
    :raises AdvisorError: where it can't be read, or its YAML is broken.
    """
    if project_dir is not None:
        return _read(find_project_file(project_dir))
    # As it was given, so that findings name the file as the user would.
    folder = payload.path.parent
    if payload.path.name in ("", ".."):
        folder = payload.path.resolve().parent
    try:
        path = find_project_file(folder)
    except NoInputError:
        return None
    project = _read(path)
    return project if project.name == payload.snap.name else None


def _read(path: Path) -> ProjectFile:
    return read_project(path, read_project_file(path))

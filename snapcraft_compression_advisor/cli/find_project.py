"""The project of a payload, and the policy that counts for it."""

from __future__ import annotations

from fnmatch import fnmatch
from functools import cache
from pathlib import Path, PurePath

from ..core.errors import AdvisorError, NoInputError
from ..lint.project import ProjectFile, project_of_component, read_project
from ..payload.snap_yaml import split_component_name
from ..payload.source import Payload, open_payload
from ..project.project_file import PROJECT_FILES, find_project_file, read_project_file
from ..settings.policy_file import (
    POLICY_PLACES,
    find_policy_file,
    ignored_policy_files,
)
from .write import warn

_COMPONENT_PRIME = ("partitions", "component", "*", "prime")
"""Where snapcraft primes components, seen from the project (core24 on)."""


def find_project(payload: Payload, project_dir: Path | None) -> ProjectFile | None:
    """Return the project named, else that beside the payload if it is the snap's.

    :param project_dir: a project's directory or file, as it was given.
    :returns: ``None`` if none is named, and the one beside the payload, if any, has
        another snap's name; for a component, what the project says of it.
    :raises AdvisorError: if it can't be read, or its YAML is broken.
    """
    snap, component = split_component_name(payload.snap.name)
    if project_dir is not None:
        project = _read(project_dir)
    else:
        try:
            file = find_project_file(_folder(payload.path))
        except NoInputError:
            return None
        project = read_project(file, read_project_file(file))
        if project.name != snap:
            return None
    return project if component is None else project_of_component(project, component)


def project_to_set(payload: Payload, project_dir: Path | None) -> Path:
    """Return the project named, else that of the payload; of its name if it is here.

    :param project_dir: the project named.
    :raises AdvisorError: if there is none, or its snapcraft.yaml can't be read.
    """
    folder = find_project_folder(payload.path, project_dir)
    if project_dir is not None or folder is not None:
        return project_dir or folder or Path()
    snap, _ = split_component_name(payload.snap.name)
    hint = "Name the project: --project PROJECT_DIR."
    try:
        if _read(Path()).name == snap:
            return Path()
    except NoInputError as error:
        hint = error.resolution or hint  # where another packer has the key
    message = f"No snapcraft.yaml of {snap!r} beside {payload.path} or here"
    raise NoInputError(message, resolution=hint)


def find_project_folder(path: Path, project_dir: Path | None) -> Path | None:
    """Return the folder of the project named, else of that beside the payload.

    A prime directory is its project's, whatever that is named; a built snap may lie
    anywhere, so there the name has to be the snap's.

    :param path: of the payload.
    :param project_dir: a project's directory or file, as it was given.
    :returns: ``None`` if none is named, and none is beside the payload.
    :raises AdvisorError: if there is no project where one is named.
    """
    if project_dir is not None:
        file = find_project_file(project_dir)
        if file != project_dir:
            return project_dir
        # The folder may be above that of the file.
        places = (PurePath(name).parts for name in PROJECT_FILES)
        own = file.absolute()
        depths = (len(place) for place in places if own.parts[-len(place) :] == place)
        depth = max(depths, default=1)
        return own.parents[depth - 1] if depth > 1 else file.parent
    folder = _folder(path)
    try:
        find_project_file(folder)
        if not path.is_dir():
            with open_payload(path) as payload:
                snap, _ = split_component_name(payload.snap.name)
            if _read(folder).name != snap:
                return None
    except (AdvisorError, OSError):  # who reads it for more will say so
        return None
    return folder


def find_policy(path: Path, project_dir: Path | None) -> Path | None:
    """Return the policy file that counts for a payload: its project's, else that here.

    The same for every command, and wherever it is run.

    :param path: of the payload.
    :param project_dir: of the payload, if it is named.
    :returns: ``None`` if there is neither.
    :raises AdvisorError: if there is no project where one is named, or several files.
    """
    folder, beside = None, _folder(path)
    # Whose the folder is takes opening a built snap.
    if project_dir is not None or (
        beside.is_dir()
        and not beside.samefile(Path())
        and (find_policy_file(beside) or ignored_policy_files(beside))
    ):
        folder = find_project_folder(path, project_dir)
    for each in (folder, Path()):
        if each is not None:
            for file in ignored_policy_files(each):
                _warn_of_ignored(file)
            found = find_policy_file(each)
            if found is not None:
                return found
    return None


@cache
def _warn_of_ignored(file: Path) -> None:
    """Say so once, however many payloads the project has."""
    warn(f"{file} isn't read: {POLICY_PLACES}")


def _folder(path: Path) -> Path:
    """Return where a payload's project would be, named as the user would."""
    if path.name in ("", ".."):
        path = path.resolve()
    parts = path.parts[-len(_COMPONENT_PRIME) :]
    if len(parts) == len(_COMPONENT_PRIME) and all(
        map(fnmatch, parts, _COMPONENT_PRIME)
    ):
        return path.parents[len(_COMPONENT_PRIME) - 1]
    return path.parent


def _read(project_dir: Path) -> ProjectFile:
    path = find_project_file(project_dir)
    return read_project(path, read_project_file(path))

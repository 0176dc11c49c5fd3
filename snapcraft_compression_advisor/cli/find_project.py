"""The project of a payload, and the policy that counts for it."""

from __future__ import annotations

from contextlib import suppress
from fnmatch import fnmatch
from functools import cache
from pathlib import Path, PurePath

from ..core.errors import AdvisorError, NoInputError
from ..core.terminal import emit
from ..lint.project import ProjectFile, project_of_component, read_project
from ..payload.snap_yaml import split_component_name
from ..payload.source import Payload, open_payload
from ..project.project_file import PROJECT_FILES, find_project_file, read_project_file
from ..settings.policy_file import (
    POLICY_PLACES,
    find_policy_file,
    ignored_policy_files,
)

_COMPONENT_PRIME = ("partitions", "component", "*", "prime")
"""Where snapcraft primes components, seen from the project (core24 on)."""


def find_project(payload: Payload, project_dir: Path | None) -> ProjectFile | None:
    """Return the project named, else that beside the payload if it is the snap's.

    :param project_dir: a project's directory or file, as it was given.
    :returns: ``None`` where none is named, and the one beside the payload, if any,
        has another snap's name; for a component, what the project says of it.
    :raises AdvisorError: where it can't be read, or its YAML is broken.
    """
    snap, component = split_component_name(payload.snap.name)
    if project_dir is not None:
        project = _read(find_project_file(project_dir))
    else:
        try:
            project = _read(find_project_file(_folder(payload.path)))
        except NoInputError:
            return None
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
    with suppress(NoInputError):
        if _read(find_project_file(Path())).name == snap:
            return Path()
    message = f"No snapcraft.yaml of {snap!r} beside {payload.path} or here"
    raise NoInputError(message, resolution="Name the project: --project PROJECT_DIR.")


def find_project_folder(path: Path, project_dir: Path | None) -> Path | None:
    """Return the folder of the project named, else of that beside the payload.

    A prime directory is its project's, whatever that is named; a built snap may lie
    anywhere, so there the name has to be the snap's.

    :param path: of the payload.
    :param project_dir: a project's directory or file, as it was given.
    :returns: ``None`` where none is named, and none is beside the payload.
    :raises AdvisorError: where there is no project where one is named.
    """
    if project_dir is not None:
        file = find_project_file(project_dir)
        return _folder_of(file) if file == project_dir else project_dir
    folder = _folder(path)
    try:
        file = find_project_file(folder)
        is_its = path.is_dir() or _read(file).name == _snap_name(path)
    except (AdvisorError, OSError):  # who reads it for more will say so
        return None
    return folder if is_its else None


def find_policy(path: Path, project_dir: Path | None) -> Path | None:
    """Return the policy file that counts for a payload: its project's, else that here.

    The same for every command, and wherever it is run.

    :param path: of the payload.
    :param project_dir: of the payload, where it is named.
    :returns: ``None`` where there is neither.
    :raises AdvisorError: if there is no project where one is named, or several files.
    """
    folder = None
    if project_dir is not None or _has_other_policy(_folder(path)):
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
    emit.progress(f"Warning: {file} isn't read: {POLICY_PLACES}", permanent=True)


def _has_other_policy(folder: Path) -> bool:
    """Tell whether there is a policy that isn't the one here.

    Only then it matters whose the folder is, which takes opening a built snap.
    """
    if not folder.is_dir() or folder.samefile(Path()):
        return False
    return bool(find_policy_file(folder) or ignored_policy_files(folder))


def _snap_name(path: Path) -> str:
    with open_payload(path) as payload:
        name, _ = split_component_name(payload.snap.name)
    return name


def _folder_of(file: Path) -> Path:
    """Return the project's folder, which may be above that of its file."""
    for name in PROJECT_FILES:
        depth = len(PurePath(name).parts)
        if depth > 1 and file.absolute().parts[-depth:] == PurePath(name).parts:
            return file.absolute().parents[depth - 1]
    return file.parent


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


def _read(path: Path) -> ProjectFile:
    return read_project(path, read_project_file(path))

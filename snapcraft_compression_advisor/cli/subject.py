"""What is analysed: a payload, its project and settings, snaps around it."""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from ..analysis import Request, analysis_request, check_apps
from ..core.errors import AdvisorError, NoInputError, UsageError
from ..launches import Surroundings
from ..payload.snap_yaml import split_component_name
from ..payload.source import (
    Payload,
    find_payload,
    is_prime_directory,
    open_payload,
)
from ..payload.stack import BASE_TYPES, check_consumer, check_stack, provides
from ..project.project_file import (
    PROJECT_FILES,
    ProjectFile,
    find_project_file,
    project_of_component,
    read_project,
    read_project_file,
)
from ..settings.load import (
    POLICY_PLACES,
    LoadedSettings,
    find_policy_file,
    ignored_policy_files,
)
from ..settings.settings import Settings
from .commands import Arguments, check_edit_options, stack_arguments
from .settings_options import given_settings, read_settings, with_recordings
from .write import note, warn

_COMPONENT_PRIME = "partitions/component/*/prime"
"""Where snapcraft primes components, seen from the project (core24 on)."""


def find_project(payload: Payload, project_dir: Path | None) -> ProjectFile | None:
    """Return the project named, else that beside the payload if it is the snap's.

    For a component, what the project says of it.

    :param project_dir: a project's directory or file, as it was given.
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

    A prime directory is its project's, under any name; a built snap may lie
    anywhere, so there the name has to be the snap's.

    :raises AdvisorError: if there is no project where one is named.
    """
    if project_dir is not None:
        file = find_project_file(project_dir)
        if file != project_dir:
            return project_dir
        # The folder may be above that of the file.
        own = file.absolute()
        name = next((each for each in PROJECT_FILES[::-1] if own.match(each)), "")
        return own.parents[name.count("/")] if "/" in name else file.parent
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

    :raises AdvisorError: if there is no project where one is named, or several files.
    """
    for each in (find_project_folder(path, project_dir), Path()):
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
    return path.parents[3] if path.match(_COMPONENT_PRIME) else path.parent


def _read(project_dir: Path) -> ProjectFile:
    path = find_project_file(project_dir)
    return read_project(path, read_project_file(path))


SNAP_MOUNTS = Path("/snap")
SNAP_BLOBS = Path("/var/lib/snapd/snaps")

_SNAP_NAME = re.compile(r"[a-z0-9](?:-?[a-z0-9])*")

STACK_ARGUMENTS = stack_arguments("the policy's, else the installed one, if any")
SURROUNDINGS: Arguments = {
    **STACK_ARGUMENTS,
    "--consumer SNAP…": "a snap that runs with this one, a base or a content snap: its "
    "launches decide, on average; may be repeated (default: none)",
}
"""What :func:`open_subject` reads, beside a path, the settings and the project."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """A payload to be analysed, and what counts for it.

    :param project_dir: the project that is named, or that is to be changed.
    """

    payload: Payload
    loaded: LoadedSettings
    surroundings: Surroundings
    project: ProjectFile | None
    project_dir: Path | None

    def request(self) -> Request:
        """Return the request of its analysis."""
        return analysis_request(
            self.payload,
            self.loaded,
            self.surroundings,
            declared=self.project.effective if self.project else None,
        )


@contextmanager
def open_subject(
    parsed_args: argparse.Namespace, *, records: bool = False
) -> Iterator[Subject]:
    """Open a payload, its project, and the snaps that it runs with.

    :param records: whether launches are recorded that options or the file ask for.
    :raises AdvisorError: if arguments don't fit together, or one can't be read.
    """
    check_edit_options(parsed_args)
    project_dir: Path | None = parsed_args.project
    if project_dir is not None:
        find_project_file(project_dir)  # before anything that takes time
    with ExitStack() as until:
        path = parsed_args.path or find_payload(Path.cwd())
        payload = until.enter_context(open_payload(path))
        if parsed_args.fix or parsed_args.diff:
            project_dir = project_to_set(payload, project_dir)
        file = parsed_args.policy or find_policy(payload.path, project_dir)
        loaded = read_settings(file, given_settings(parsed_args), narrow=True)
        check_apps(payload, loaded)
        if records:
            loaded = with_recordings(payload, loaded, parsed_args)
        project = None
        try:
            project = find_project(payload, project_dir)
        except AdvisorError as error:
            warn(str(error))
        around = _surroundings(payload, loaded.settings, parsed_args, until)
        yield Subject(
            payload=payload,
            loaded=loaded,
            surroundings=around,
            project=project,
            project_dir=project_dir,
        )


def _surroundings(
    payload: Payload,
    settings: Settings,
    parsed_args: argparse.Namespace,
    until: ExitStack,
) -> Surroundings:
    """Open the snaps that a payload runs with; they have to go with it."""
    consumers: dict[str, Payload] = {}
    for path in getattr(parsed_args, "consumer", ()):
        consumer = until.enter_context(open_payload(path))
        check_consumer(consumer, payload)
        if consumer.snap.name in consumers:
            message = f"Consumer {consumer.snap.name!r} is given twice"
            raise UsageError(message, resolution="Specify it once.")
        consumers[consumer.snap.name] = consumer
    launched = tuple(consumers.values()) or (payload,)
    around = Surroundings.opened(
        until,
        parsed_args.base or settings.bases,
        parsed_args.content or settings.contents,
    )
    bases, contents = around.bases, around.contents
    for other in (*bases, *contents):
        if consumers and other.snap.name == payload.snap.name:
            message = f"{str(other.path)!r} is {other.snap.name}, which is analysed"
            raise UsageError(message, resolution="Leave it out.")
    check_stack(launched, bases=bases, contents=contents)
    own = (payload,) if consumers else ()
    for path in _installed(launched, (*own, *bases), (*own, *contents)):
        found = _opened_if_fit(path, launched, until)
        if found is not None and found.snap.type in BASE_TYPES:
            bases = (*bases, found)
        elif found is not None:
            contents = (*contents, found)
    return Surroundings(
        bases=bases, contents=contents, consumers=tuple(consumers.values())
    )


def _installed(
    launched: Sequence[Payload], bases: Sequence[Payload], contents: Sequence[Payload]
) -> Iterator[Path]:
    """Yield the installed snaps that snaps run with and that aren't given."""
    known = {each.snap.name for each in (*bases, *contents)}
    names: dict[str, None] = {}
    for each in launched:
        names[each.snap.base_name] = None
        for plug_name, plug in each.snap.plugs.items():
            given = any(provides(other.snap, plug_name, plug) for other in contents)
            if plug.interface == "content" and not given:
                names[(plug.default_provider or "").partition(":")[0]] = None
    for path in (installed_snap(name) for name in names if name not in known):
        if path is not None:
            yield path


def _opened_if_fit(
    path: Path, launched: Sequence[Payload], until: ExitStack
) -> Payload | None:
    """Return an installed snap, or None if it can't be read or doesn't fit."""
    try:
        payload = until.enter_context(open_payload(path))
        is_base = payload.snap.type in BASE_TYPES
        check_stack(
            launched,
            bases=(payload,) if is_base else (),
            contents=() if is_base else (payload,),
        )
    except AdvisorError as error:
        warn(f"installed snap left out: {error}")
        return None
    note(f"{payload.snap.name} is installed: {path}")
    return payload


def installed_snap(name: str) -> Path | None:
    """Return an installed snap: its image if root runs this, else its mount."""
    if not _SNAP_NAME.fullmatch(name):
        return None
    mount = SNAP_MOUNTS / name / "current"
    try:
        image = SNAP_BLOBS / f"{name}_{mount.readlink().name}.snap"
    except OSError:
        return None
    if os.access(image, os.R_OK):
        return image
    return mount if is_prime_directory(mount) else None

"""Starts an app of a payload and times its launch."""

from __future__ import annotations

import os
import posixpath
import shlex
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field, replace
from pathlib import Path

import psutil

from ..core.errors import UsageError
from ..launch.launch_set import WindowEnd
from ..payload.inventory import PathResolver
from ..payload.source import Payload
from ..squashfs.entry import EntryKind
from .call_notices import CallNotices, HeldCall
from .isolation import (
    AUTHORITY,
    BUS_SOCKET,
    Isolation,
    Sources,
    bubblewrap_words,
    display_socket,
    home_places,
    is_root,
    isolation_steps,
    launch_user,
    snap_directory,
)
from .launch_event import LaunchEvent
from .observer import Observer
from .process_tree import StartRequest, process_tree
from .samples import RunTime
from .snap_environment import (
    INSIDE,
    PATH,
    HomeQuota,
    SnapApp,
    display_authority,
    expand,
    kept_environment,
    launch_environment,
    launch_home,
    make_places,
    seen_environment,
)

MOST_TASKS = 4096
"""Processes and threads of an isolated launch; a browser's are some hundred."""
_NO_CORE_BYTES = 1
"""0 wouldn't do: a program of the system's (``core_pattern``) would be started still
(``do_coredump`` in Linux's ``fs/coredump.c``)."""

PROGRAM_DIRECTORIES = (*(part.lstrip("/") for part in PATH.split(":")), "")
"""Where a bare program name is looked up in a payload, in this order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """What to start.

    :param words: program and arguments; ``$SNAP/`` before a word is the payload's
        directory.
    :param environment: what is added, as in snap.yaml: values may refer to variables.
    :param chroot: whether the payload is a whole system tree, to be taken as root
        directory; needs root.
    :param expands: whether references to variables in the words are replaced, as
        snapd does with those of snap.yaml.
    :param traced_by: words of an strace to start it with, if it is isolated.
    :param installed: whether snapd makes its surroundings: words and environment are
        taken as they are.
    """

    words: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)
    chroot: bool = False
    app: SnapApp = field(default_factory=SnapApp)
    expands: bool = False
    traced_by: tuple[str, ...] = ()
    isolation: Isolation | None = None
    installed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchRequest:
    """What to start, and what ends it.

    :param app: what a recording of it is of.
    :param timeout_s: after which the launch has failed.
    :param warm_up: whether a recording launches once before, so that what an
        application does once only in a new home isn't recorded.
    :param home: home directory of the launches, kept; a temporary one by default.
    """

    app: str = ""
    command: Command
    event: LaunchEvent
    timeout_s: float
    warm_up: bool = True
    home: Path | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Launched(RunTime):
    """A launch, measured; all figures from right before exec to the event.

    :param event: that ended it, as ``--until`` takes it.
    :param window: what the window showed, if one ended it.
    """

    event: str
    window: WindowEnd | None = None


def app_command(payload: Payload, app: str) -> Command:
    """Return the command by which snapd starts an app: command-chain, then command.

    :raises UsageError: if the snap has no such app, or that has no command.
    """
    description = payload.snap.apps.get(app)
    if description is None or not description.command:
        message = f"Snap {payload.snap.name!r} has no app {app!r} with a command"
        apps = ", ".join(sorted(payload.snap.apps)) or "none"
        raise UsageError(message, resolution=f"Its apps: {apps}.")
    try:
        program, *arguments = shlex.split(description.command)
    except ValueError as error:
        message = f"The command of app {app!r} can't be parsed: {error}"
        raise UsageError(message, resolution="Give the command after '--'.") from error
    programs = (*description.command_chain, program)
    in_snap = (each.removeprefix("$SNAP/").lstrip("/") for each in programs)
    return Command(
        words=(*(f"$SNAP/{each}" for each in in_snap), *arguments),
        environment={**payload.snap.environment, **description.environment},
        app=SnapApp(
            snap=payload.snap.name,
            version=payload.snap.version,
            app=app,
            common_id=description.common_id,
            has_desktop_file=description.desktop is not None,
        ),
        expands=True,
    )


def given_command(payload: Payload, words: Sequence[str], app: str = "") -> Command:
    """Return a command whose program is looked up in the payload, then on the host.

    :param app: that it is started in place of, and whose variables it has.
    :raises UsageError: if they begin with an option.
    """
    program, *arguments = words
    if program.startswith("-"):
        message = f"{program!r} is no program to start"
        given = " ".join(words)
        raise UsageError(
            message, resolution=f"After '--', name the program first: PROGRAM {given}"
        )
    replaced = payload.snap.apps.get(app)
    added = replaced.environment if replaced else {}
    return Command(
        words=(_find_program(payload, program), *arguments),
        environment={**payload.snap.environment, **added},
        app=SnapApp(snap=payload.snap.name, version=payload.snap.version),
    )


def time_launch(  # noqa: PLR0913 # two say where, three when to look
    request: LaunchRequest,
    root: Path,
    home: Path | None = None,
    *,
    watched: Callable[[set[int]], object] | None = None,
    noticed: Callable[[HeldCall], object] | None = None,
    frozen: Callable[[], object] | None = None,
) -> Launched:
    """Start a command, wait for the event, end all of its processes.

    :param root: the payload's directory or mount.
    :param home: what it may write to; a fresh one by default.
    :param watched: called with the ids of all processes, again and again until the
        event, and once more at it, while every process stands still.
    :param noticed: called with system calls before they are made, if the kernel reports
        them; in a thread of its own, until all processes have ended.
    :param frozen: called at the event, while every process stands still.
    :raises ToolError: if the command can't be started, ends before the event or
        doesn't come to it in time.
    """
    with ExitStack() as stack:
        command, event = request.command, request.event
        home = stack.enter_context(launch_home()) if home is None else home
        watch = stack.enter_context(event.watching())
        start = start_request(command, root, home=home, display=event.display)
        notices = None
        if noticed is not None:
            notices = stack.enter_context(closing(CallNotices(noticed)))
            start = replace(start, call_filter=notices.filter)
        tree = stack.enter_context(process_tree(start))
        started_s = tree.process.go(notices)
        name = command.words[0].removeprefix("$SNAP/")
        observer = Observer(
            tree,
            watch,
            event,
            f"snap run {command.words[-1]}" if command.installed else name,
            watched=watched,
            root=root,
            quota=None if command.isolation is None else HomeQuota(home),
        )
        happened_s = observer.wait(started_s, timeout_s=request.timeout_s)
        tree.freeze()
        user_s, system_s = watch.cpu_s or tree.cpu_s()
        launched = Launched(
            event=watch.name,
            window=watch.window,
            wall_s=happened_s,
            user_s=user_s,
            system_s=system_s,
        )
        if watched is not None:
            watched(tree.process_ids())
        if frozen is not None:
            frozen()
    return launched


def start_request(
    command: Command, root: Path, *, home: Path, display: str | None
) -> StartRequest:
    """Return the command that starts another from a payload at some place.

    :raises UsageError: if a root of its own isn't possible.
    """
    if command.installed:
        return StartRequest(
            words=command.words, environment=command.environment, directory="/"
        )
    if command.isolation is not None:
        return _isolated(command, command.isolation, (root, home), display)
    if command.chroot:
        _check_root(root)
    snap = "" if command.chroot else str(root.absolute())
    environment = launch_environment(
        command.app,
        snap=snap,
        seen_as=INSIDE if command.chroot else str(home),
        user=os.geteuid(),
        inherited=kept_environment(),
        added=command.environment,
    )
    if (authority := display_authority()) is not None:
        environment["XAUTHORITY"] = str(authority)
    if display is not None:
        environment["DISPLAY"] = display
    return StartRequest(
        words=tuple(_expanded(command, {**environment, "SNAP": snap})),
        environment=environment,
        directory=environment["HOME"],
        new_root=root.absolute() if command.chroot else None,
        shared_as=(home, INSIDE) if command.chroot else None,
    )


def _isolated(
    command: Command,
    isolation: Isolation,
    places: tuple[Path, Path],
    display: str | None,
) -> StartRequest:
    """Return the command by which bubblewrap starts another, from payload and home."""
    root, home = places
    display = display or os.environ.get("DISPLAY", "")
    socket, authority = display_socket(display), display_authority()
    kept = seen_environment()
    if socket is not None:
        kept["DISPLAY"] = display
    if authority is not None:
        kept["XAUTHORITY"] = AUTHORITY
    if isolation.bus is not None:
        kept["DBUS_SESSION_BUS_ADDRESS"] = f"unix:path={BUS_SOCKET}"
    snap, user = snap_directory(command.app.snap), launch_user()
    make_places(home, home_places(isolation.layout, command.app.snap), user=user)
    environment = launch_environment(
        command.app,
        snap=snap,
        seen_as=INSIDE,
        user=user,
        inherited=kept,
        added=command.environment,
    )
    added = {key: environment.pop(key) for key in command.environment}
    words = _expanded(command, {**environment, **added})
    sources = Sources()
    steps = isolation_steps(
        isolation,
        sources,
        name=command.app.snap,
        root=root,
        home=home,
        socket=socket,
        authority=authority,
    )
    traced_by = (*command.traced_by, "--") if command.traced_by else ()
    before = bubblewrap_words(steps, added=added, directory=f"{INSIDE}/user")
    return StartRequest(
        words=(*traced_by, *before, *words),
        environment=environment,
        directory="/",
        user=user if is_root() else None,
        isolated=True,
        shown=tuple(sources.shown),
        limits={
            "RLIMIT_NPROC": MOST_TASKS + _tasks_of(user),
            "RLIMIT_CORE": _NO_CORE_BYTES,
        },
    )


def _tasks_of(user: int) -> int:
    """Return the number of processes and threads of a user, which limits count."""
    everyone = psutil.process_iter(["uids", "num_threads"])
    return sum(
        each.info["num_threads"] or 0
        for each in everyone
        if each.info["uids"] and each.info["uids"].real == user
    )


def _expanded(command: Command, variables: Mapping[str, str]) -> list[str]:
    """Return the words to run; snapd drops those that expand to nothing."""
    if command.expands:
        words = [expand(word, variables) for word in command.words]
        return [word for word in words if word]
    prefix = "$SNAP/"
    return [
        f"{variables['SNAP']}/{word.removeprefix(prefix)}"
        if word.startswith(prefix)
        else word
        for word in command.words
    ]


def _find_program(payload: Payload, program: str) -> str:
    resolver = PathResolver(payload.inventory, snap_name=payload.snap.name)
    directories = ("",) if "/" in program else PROGRAM_DIRECTORIES
    for directory in directories:
        path = posixpath.join(directory, program.removeprefix("$SNAP/").lstrip("/"))
        entry = resolver.locate(path).entry
        if entry is not None and entry.kind is EntryKind.FILE:
            return f"$SNAP/{path}"
    return program


def _check_root(root: Path) -> None:
    if os.geteuid() != 0:
        message = "Using the payload as the root directory requires root"
        raise UsageError(message, resolution="Run as root, or without --chroot.")
    if not (root / "run").is_dir():
        message = f"{str(root)!r} can't be the root: it has no directory 'run'"
        raise UsageError(message, resolution="Remove --chroot.")

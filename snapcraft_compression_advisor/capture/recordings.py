"""Launches recorded as part of other work, isolated."""

from __future__ import annotations

import functools
import platform
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from ..core.errors import AdvisorError, ToolError, UsageError
from ..launch.launch_set import desktop_file, select_apps
from ..launch.profile import LaunchProfile
from ..payload.snap_yaml import COMPONENT_TYPE
from ..payload.source import Payload
from ..settings.parts import Recording
from ..trial.result import Progress
from .isolation import BUBBLEWRAP, Isolation, is_root
from .launch_event import EXITED, LaunchEvent, event_named, usual_event
from .mount import CAP_SYS_ADMIN, has_capability
from .record import record_directory, with_doubt
from .servers import can_bring_display, own_display, session_bus
from .start import Command, LaunchRequest, app_command, time_launch

NOTHING_BESIDE = Isolation()
"""This machine in place of the base, and no content snaps."""

_PROBE_TIMEOUT_S = 10.0
_MISSING = "bubblewrap isn't installed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reporter:
    """Tells the user how launches go.

    :param note: called with what the user has to know.
    """

    progress: Progress
    note: Progress
    warn: Progress


def recorded_profiles(
    payload: Payload,
    recordings: Sequence[Recording],
    reporter: Reporter,
    *,
    apps: Sequence[str] = (),
    within: Isolation = NOTHING_BESIDE,
) -> tuple[LaunchProfile, ...]:
    """Return recordings of the launches that settings ask to record.

    :param apps: the target apps, as far as they are named.
    :param within: has the base and the content snaps that a launch sees.
    :raises AdvisorError: if a required launch can't be recorded.
    """
    if payload.snap.type == COMPONENT_TYPE:
        return ()
    found = {}
    for each in recordings:
        app = _app(payload, each, apps)
        wanted = each.model_copy(update={"app": app})
        try:
            with isolated_request(
                payload, wanted, reporter, doing="Recording", within=within
            ) as request:
                recorded = record_directory(payload, request, reporter.progress)
            found[app] = with_doubt(recorded, payload, reporter.note)
        except AdvisorError as error:
            if each.required:
                raise
            reporter.warn(f"The launch of {app} is guessed, not recorded: {error}")
    return tuple(found.values())


@contextmanager
def isolated_request(
    payload: Payload,
    wanted: Recording,
    reporter: Reporter,
    *,
    doing: str = "Launching",
    within: Isolation = NOTHING_BESIDE,
) -> Iterator[LaunchRequest]:
    """Yield how an app is started, isolated, with a display of its own.

    :param doing: what is done with it, for the user.
    :param within: has the base and the content snaps that a launch sees.
    :raises AdvisorError: if it can't be started so here.
    """
    app = _app(payload, wanted, ())
    event = event_of(payload, app, wanted, has_display=can_bring_display())
    command = app_command(payload, app)
    reporter.progress("Starting a virtual display (Xvfb)")
    with own_display(), found_isolation(payload) as found:
        reporter.note(
            f"{doing} {app}: this runs the payload's program, isolated by bubblewrap"
        )
        if within.machine == NOTHING_BESIDE.machine:
            _say_whose_libraries(payload.snap.base_name, reporter)
        isolation = replace(found, machine=within.machine, contents=within.contents)
        yield LaunchRequest(
            app=app,
            command=replace(command, isolation=isolation),
            event=event,
            timeout_s=wanted.timeout,
        )


def in_place(
    profiles: Sequence[LaunchProfile], recorded: Sequence[LaunchProfile]
) -> tuple[LaunchProfile, ...]:
    """Return profiles, those of recorded apps replaced."""
    apps = {profile.app for profile in recorded}
    return (*(each for each in profiles if each.app not in apps), *recorded)


def event_of(
    payload: Payload,
    app: str | None,
    wanted: Recording,
    *,
    display: str | None = None,
    has_display: bool,
) -> LaunchEvent:
    """Return what ends the launch of an app, or of a command if that is None.

    :raises AdvisorError: if that can't happen here.
    """
    desktop = bool(app and desktop_file(payload.snap, payload.inventory, app))
    event = (
        usual_event(has_desktop_file=desktop, has_display=has_display, display=display)
        if wanted.until is None
        else event_named(wanted.until, display)
    )
    if event.window and not has_display:
        message = f"There is no display on which {app or 'it'} could show a window"
        advice = "Install Xvfb ('sudo apt-get install xvfb')"
        raise ToolError(message, resolution=f"{advice}, or use 'record --display'.")
    if event.due_s is not None and event.due_s > wanted.timeout:
        message = f"{event.name} exceeds the timeout of {wanted.timeout:g} s"
        raise UsageError(message, resolution="Set the timeout higher.")
    return event


def _say_whose_libraries(base: str, reporter: Reporter) -> None:
    """Say whose libraries stand for a base's: this machine's."""
    try:
        named = platform.freedesktop_os_release()
    except OSError:
        named = {}
    name, version = named.get("ID", "linux"), named.get("VERSION_ID", "")
    fits = name == "ubuntu" and base == f"core{version.split('.')[0]}"
    if base.startswith("core") and not fits:
        reporter.note(
            f"The libraries of base {base} are this machine's ({name} {version}), "
            "and may not fit"
        )


@contextmanager
def found_isolation(payload: Payload) -> Iterator[Isolation]:
    """Yield how a program is isolated here, with a session bus of its own.

    Isolation is tried with a program that does nothing.

    :raises AdvisorError: if it can't be isolated, or the bus doesn't start.
    """
    snap, refusal = payload.snap, isolation_refusal()
    if refusal is None:
        with session_bus() as bus:
            yield Isolation(base=snap.base_name, layout=snap.layout, bus=bus)
        return
    message = "The program can't be isolated here, and isn't started"
    install = "Install bubblewrap ('sudo apt-get install bubblewrap'), or"
    allow = "Allow user namespaces, or"
    raise ToolError(
        message,
        details=refusal,
        resolution=f"{install if refusal == _MISSING else allow} record it without "
        "isolation, as your own program: 'record --unconfined', then use "
        "--launch-profile.",
    )


def isolation_refusal() -> str | None:
    """Return why nothing can be isolated here, None if it can."""
    program = shutil.which(BUBBLEWRAP)
    if program is None:
        return _MISSING
    if is_root() and not has_capability(CAP_SYS_ADMIN):
        return "Root without CAP_SYS_ADMIN can't have another user start it"
    return _refusal(program)


@functools.cache
def _refusal(_program: str) -> str | None:
    """Return why bubblewrap isolates nothing here, None if it does."""
    request = LaunchRequest(
        command=Command(words=("true",), isolation=Isolation()),
        event=EXITED,
        timeout_s=_PROBE_TIMEOUT_S,
    )
    try:
        # A directory of the machine stands for the payload.
        time_launch(request, Path("/usr"))
    except ToolError as error:
        details = error.details or ""
        return details if "bwrap" in details else str(error)
    return None


def _app(payload: Payload, recording: Recording, apps: Sequence[str]) -> str:
    requested = [recording.app] if recording.app else apps
    names, _ = select_apps(payload.snap, payload.inventory, requested=requested)
    if not names:
        message = f"Snap {payload.snap.name!r} has no app to record"
        raise UsageError(message, resolution="Remove --record, or 'record'.")
    return names[0]

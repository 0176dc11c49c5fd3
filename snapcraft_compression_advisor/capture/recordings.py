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
from ..launch.launch_set import has_desktop_file, select_apps
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

    :param note: of what the user has to know.
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
        try:
            found[app] = _Launch(payload, app, each, reporter, within).profile()
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
    """Yield how an app is started for a recording, for other launches.

    :param doing: what is done with it, for the user.
    :param within: has the base and the content snaps that a launch sees.
    :raises AdvisorError: if it can't be started so here.
    """
    app = _app(payload, wanted, ())
    with _Launch(payload, app, wanted, reporter, within).request(doing) as request:
        yield request


def in_place(
    profiles: Sequence[LaunchProfile], recorded: Sequence[LaunchProfile]
) -> tuple[LaunchProfile, ...]:
    """Return profiles, those of recorded apps replaced."""
    apps = {profile.app for profile in recorded}
    return (*(each for each in profiles if each.app not in apps), *recorded)


class _Launch:
    """One launch that is to be recorded."""

    def __init__(
        self,
        payload: Payload,
        app: str,
        recording: Recording,
        reporter: Reporter,
        within: Isolation,
    ) -> None:
        self._payload = payload
        self._within = within
        self._app = app
        self._reporter = reporter
        self._timeout_s = recording.timeout
        self._event = self._chosen_event(recording.until)
        self._command = app_command(payload, app)

    def profile(self) -> LaunchProfile:
        """Return a recording of the launch."""
        with self.request("Recording") as request:
            recorded = record_directory(self._payload, request, self._reporter.progress)
        return with_doubt(recorded, self._payload, self._reporter.note)

    @contextmanager
    def request(self, doing: str) -> Iterator[LaunchRequest]:
        """Yield how the app is started, isolated, with a display of its own."""
        self._reporter.progress("Starting a virtual display (Xvfb)")
        with own_display(), found_isolation(self._payload) as found:
            self._reporter.note(
                f"{doing} {self._app}: this runs the payload's program, isolated by "
                "bubblewrap"
            )
            if self._within.machine == NOTHING_BESIDE.machine:
                self._say_whose_libraries()
            isolation = replace(
                found,
                machine=self._within.machine,
                contents=self._within.contents,
            )
            yield LaunchRequest(
                app=self._app,
                command=replace(self._command, isolation=isolation),
                event=self._event,
                timeout_s=self._timeout_s,
            )

    def _chosen_event(self, until: str | None) -> LaunchEvent:
        has_display = can_bring_display()
        event = (
            event_named(until)
            if until is not None
            else usual_event(
                has_desktop_file=has_desktop_file(
                    self._payload.snap, self._payload.inventory, self._app
                ),
                has_display=has_display,
            )
        )
        if event.window and not has_display:
            message = f"There is no display on which {self._app} could show a window"
            raise ToolError(
                message, resolution="Install Xvfb ('sudo apt-get install xvfb')."
            )
        if event.due_s is not None and event.due_s > self._timeout_s:
            message = f"{event.name} exceeds the timeout of {self._timeout_s:g} s"
            raise UsageError(message, resolution="Set the timeout higher.")
        return event

    def _say_whose_libraries(self) -> None:
        base = self._payload.snap.base_name
        name, version = _os_release()
        fits = name == "ubuntu" and base == f"core{version.split('.')[0]}"
        if base.startswith("core") and not fits:
            self._reporter.note(
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
        said = error.details or ""
        return said if "bwrap" in said else str(error)
    return None


def _app(payload: Payload, recording: Recording, apps: Sequence[str]) -> str:
    requested = [recording.app] if recording.app else apps
    names, _ = select_apps(payload.snap, payload.inventory, requested=requested)
    if not names:
        message = f"Snap {payload.snap.name!r} has no app to record"
        raise UsageError(message, resolution="Remove --record, or 'record'.")
    return names[0]


def _os_release() -> tuple[str, str]:
    """Return this machine's distribution and release, as os-release(5) names them."""
    try:
        named = platform.freedesktop_os_release()
    except OSError:
        named = {}
    return named.get("ID", "linux"), named.get("VERSION_ID", "")

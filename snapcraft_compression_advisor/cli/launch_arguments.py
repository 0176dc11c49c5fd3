"""Arguments that say what to start and when it counts as launched."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from ..capture.launch_event import LaunchEvent, event_named, usual_event
from ..capture.recordings import found_isolation
from ..capture.start import Command, app_command, given_command
from ..capture.virtual_display import can_bring_display, own_display
from ..core.errors import UsageError
from ..launch.launch_set import has_desktop_file, select_apps
from ..payload.source import Payload
from ..settings.policy_parts import LAUNCH_TIMEOUT_S
from .commands import WORD_MARK, WORD_OPTION, Arguments, details, exclude
from .policy_options import event_arguments
from .write import note

NO_DISPLAY_ADVICE = (
    "Install the package xvfb ('sudo apt-get install xvfb') to start a virtual one, "
    "or name one with --display."
)


@dataclass(frozen=True, slots=True)
class ChosenLaunch:
    """What to start, the event that ends its launch, and when it has failed."""

    app: str
    command: Command
    event: LaunchEvent
    timeout_s: float


@contextmanager
def open_launch(
    parsed_args: argparse.Namespace, payload: Payload
) -> Iterator[ChosenLaunch]:
    """Choose a launch, bring a display, and isolate the launch unless it is unconfined.

    :raises AdvisorError: if arguments don't fit, or launches can't be isolated here.
    """
    is_isolated = not (parsed_args.unconfined or parsed_args.chroot)
    with launch_display(parsed_args, is_isolated=is_isolated):
        launch = chosen_launch(parsed_args, payload)
        if not is_isolated:
            yield launch
            return
        with found_isolation(payload) as isolation:
            yield replace(launch, command=replace(launch.command, isolation=isolation))


@contextmanager
def launch_display(
    parsed_args: argparse.Namespace, *, is_isolated: bool
) -> Iterator[None]:
    """Bring a display for launches that need one; nothing without Xvfb.

    An isolated launch isn't shown the user's own, unless that is named.
    """
    if parsed_args.display or (os.environ.get("DISPLAY") and not is_isolated):
        yield
        return
    if can_bring_display():
        note("Starting a virtual display (Xvfb)")
    with own_display():
        yield


def chosen_launch(parsed_args: argparse.Namespace, payload: Payload) -> ChosenLaunch:
    """Return the launch that arguments name.

    :raises UsageError: if they don't fit together, or don't fit the payload.
    """
    words, display = tuple(parsed_args.command_word), parsed_args.display
    exclude(
        {"an app": parsed_args.app is not None, "a command": words},
        "Specify one: --app NAME or -- COMMAND….",
    )
    app = chosen_app(parsed_args, payload)
    command = given_command(payload, words) if words else app_command(payload, app)
    if display is not None:
        environment = {**command.environment, "DISPLAY": display}
        command = replace(command, environment=environment)
    command = replace(command, chroot=parsed_args.chroot)
    event, timeout_s = chosen_event(parsed_args, payload, None if words else app)
    return ChosenLaunch(app, command, event, timeout_s)


def chosen_event(
    parsed_args: argparse.Namespace, payload: Payload, app: str | None
) -> tuple[LaunchEvent, float]:
    """Return the event that ends the launch of an app, or of a command; the timeout.

    :raises UsageError: if it can't be waited for.
    """
    display = parsed_args.display
    has_display = bool(display or os.environ.get("DISPLAY"))
    timeout_s = parsed_args.timeout or LAUNCH_TIMEOUT_S
    if parsed_args.until is not None:
        event = event_named(parsed_args.until, display)
    else:
        desktop = app is not None and has_desktop_file(
            payload.snap, payload.inventory, app
        )
        event = usual_event(
            has_desktop_file=desktop, has_display=has_display, display=display
        )
        note(f"The launch ends when {_ENDS[event.window, event.exits]}")
    if event.window and not event.exits and not has_display:
        message = "No X display to watch for windows"
        raise UsageError(message, resolution=NO_DISPLAY_ADVICE)
    if event.due_s is not None and event.due_s > timeout_s:
        message = f"--until {event.name} exceeds the timeout of {timeout_s:g} s"
        raise UsageError(message, resolution="Set --timeout higher.")
    return event, timeout_s


def chosen_app(parsed_args: argparse.Namespace, payload: Payload) -> str:
    """Return the app that is named, else the one that advice looks at first.

    For a command in a snap without apps, the snap's name.

    :raises UsageError: if the snap has no such app, or none at all.
    """
    requested = () if parsed_args.app is None else (parsed_args.app,)
    names, _ = select_apps(payload.snap, payload.inventory, requested=requested)
    if names:
        return names[0]
    if not parsed_args.command_word:
        message = f"Snap {payload.snap.name!r} has no apps"
        raise UsageError(message, resolution="Specify a command after '--'.")
    return payload.snap.name


_ENDS = {
    (True, False): "its window has content",
    (True, True): "a window has content or the command ends",
    (False, True): "the command ends (there is no display; the package xvfb provides "
    "a virtual one)",
}
LAUNCH_ARGUMENTS: Arguments = {
    "--app NAME": "the app to start, as snapd would (default: the app that is named "
    "after the snap, else the first with a desktop file, else the first)",
    f"{WORD_OPTION} WORD…": details(
        "a word of a command to start instead; '-- COMMAND…' at the end of the line is "
        "short for these (default: the app is started)",
        type=lambda text: text.removeprefix(WORD_MARK),
    ),
    **event_arguments(),
    "--unconfined": "start the app without isolation, as any program of yours",
    "--display NAME": "the X display to start it on, which the app can then see "
    "(default: one of Xvfb; with --unconfined, DISPLAY before that)",
    "--chroot": "as --unconfined, with the payload as root directory; requires root",
    "--home DIR": "home directory for the launches (default: a temporary one)",
}

"""Arguments that say what to start and when it counts as launched."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from ..capture.launch_event import LaunchEvent, event_named, usual_event
from ..capture.mount import UBUNTU_READ_AHEAD_KB
from ..capture.recordings import found_isolation
from ..capture.start import Command, app_command, given_command
from ..capture.virtual_display import can_bring_display, own_display
from ..core.errors import UsageError
from ..core.terminal import emit
from ..launch.launch_set import has_desktop_file, select_apps
from ..payload.source import Payload
from ..settings.policy_parts import LAUNCH_TIMEOUT_S
from .arguments import Arguments, details, whole_number
from .commands import WORD_MARK, WORD_OPTION
from .record_options import event_arguments

NO_DISPLAY_ADVICE = (
    "Install the package xvfb ('sudo apt-get install xvfb') to start a virtual one, "
    "or name one with --display."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchOptions:
    """What to start and when it counts as launched, as options say it.

    :param words: of a command; none for an app.
    :param until: name of the event, or None for the usual one.
    """

    app: str | None
    words: tuple[str, ...]
    until: str | None
    timeout_s: float
    display: str | None
    chroot: bool
    unconfined: bool

    @property
    def has_display(self) -> bool:
        """Whether there is one to start on."""
        return bool(self.display or os.environ.get("DISPLAY"))


def launch_options(parsed_args: argparse.Namespace) -> LaunchOptions:
    """Return what the arguments of ``LAUNCH_ARGUMENTS`` say.

    :raises UsageError: if they don't fit together.
    """
    if parsed_args.chroot and not parsed_args.unconfined:
        message = "--chroot is given without --unconfined"
        raise UsageError(message, resolution="Add --unconfined, or leave out --chroot.")
    return LaunchOptions(
        app=parsed_args.app,
        words=tuple(parsed_args.command_word),
        until=parsed_args.until,
        timeout_s=parsed_args.timeout or LAUNCH_TIMEOUT_S,
        display=parsed_args.display,
        chroot=parsed_args.chroot,
        unconfined=parsed_args.unconfined,
    )


@contextmanager
def launch_display(
    options: LaunchOptions, *, is_isolated: bool | None = None
) -> Iterator[None]:
    """Bring a display for launches that need one; nothing without Xvfb.

    An isolated launch isn't shown the user's own, unless that is named.

    :param is_isolated: by default, what the options say.
    :raises AdvisorError: if Xvfb doesn't start.
    """
    is_isolated = not options.unconfined if is_isolated is None else is_isolated
    if options.display or (options.has_display and not is_isolated):
        yield
        return
    if can_bring_display():
        emit.progress("Starting a virtual display (Xvfb)", permanent=True)
    with own_display():
        yield


@contextmanager
def confined(
    command: Command, options: LaunchOptions, payload: Payload
) -> Iterator[Command]:
    """Isolate a command unless the user wants it without.

    :raises ToolError: if it can't be isolated here.
    """
    if options.unconfined:
        yield command
        return
    with found_isolation(payload) as isolation:
        yield replace(command, isolation=isolation)


def chosen_launch(
    options: LaunchOptions, payload: Payload
) -> tuple[Command, LaunchEvent, float]:
    """Return the command to start, the event that ends its launch, the timeout.

    :raises UsageError: if they don't fit together, or don't fit the payload.
    """
    words, app, display = options.words, options.app, options.display
    if words and app is not None:
        message = "Both an app and a command are given"
        raise UsageError(message, resolution="Specify one: --app NAME or -- COMMAND….")
    if not words:
        app = chosen_app(options, payload)
    command = (
        given_command(payload, words) if app is None else app_command(payload, app)
    )
    if display is not None:
        command = replace(
            command, environment={**command.environment, "DISPLAY": display}
        )
    command = replace(command, chroot=options.chroot)
    return command, chosen_event(options, payload, app), options.timeout_s


def chosen_event(
    options: LaunchOptions, payload: Payload, app: str | None
) -> LaunchEvent:
    """Return the event that ends the launch of an app, or of a command.

    :raises UsageError: if it can't be waited for.
    """
    event = _event(options, payload, app)
    if event.window and not event.exits and not options.has_display:
        message = "No X display to watch for windows"
        raise UsageError(message, resolution=NO_DISPLAY_ADVICE)
    if event.due_s is not None and event.due_s > options.timeout_s:
        message = f"--until {event.name} exceeds the timeout of {options.timeout_s:g} s"
        raise UsageError(message, resolution="Set --timeout higher.")
    return event


def chosen_app(options: LaunchOptions, payload: Payload) -> str:
    """Return the app whose launch this is.

    The one named; else the app that advice on this payload looks at first; for a
    command in a snap without apps, the snap's name.

    :raises UsageError: if the snap has no such app, or none at all.
    """
    requested = (options.app,) if options.app is not None else ()
    names, _ = select_apps(payload.snap, payload.inventory, requested=requested)
    if not names and options.words:
        return payload.snap.name
    if not names:
        message = f"Snap {payload.snap.name!r} has no apps"
        raise UsageError(message, resolution="Specify a command after '--'.")
    return names[0]


def _event(options: LaunchOptions, payload: Payload, app: str | None) -> LaunchEvent:
    if options.until is not None:
        return event_named(options.until, options.display)
    event = usual_event(
        has_desktop_file=app is not None
        and has_desktop_file(payload.snap, payload.inventory, app),
        has_display=options.has_display,
        display=options.display,
    )
    emit.progress(
        f"The launch ends when {_ENDS[event.window, event.exits]}", permanent=True
    )
    return event


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
    "--chroot": "with --unconfined, use the payload as root directory; requires root",
    "--home DIR": "home directory for the launches (default: a temporary one)",
}

READ_AHEAD_ARGUMENT: Arguments = {
    "--read-ahead-kb KIB": details(
        f"read-ahead of the mount (default: {UBUNTU_READ_AHEAD_KB}, Ubuntu's)",
        type=whole_number(least=0),
        default=UBUNTU_READ_AHEAD_KB,
    )
}

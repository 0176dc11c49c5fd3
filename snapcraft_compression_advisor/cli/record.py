"""``record``: which data blocks a launch reads; arguments that say what to start."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

from ..capture.installed import (
    SnapRoots,
    installed_snap,
    snap_run,
    split_app_name,
)
from ..capture.launch_event import LaunchEvent
from ..capture.mount import can_mount
from ..capture.page_cache import can_drop_caches
from ..capture.record import record_directory, record_residency, with_doubt
from ..capture.record_installed import record_installed
from ..capture.recordings import event_of, found_isolation
from ..capture.servers import can_bring_display, own_display
from ..capture.start import LaunchRequest, app_command, given_command
from ..core.errors import UsageError
from ..core.terminal import emit
from ..core.units import counted, format_bytes, format_seconds
from ..launch.launch_set import Method, select_apps
from ..launch.profile import LaunchProfile, ProfileFile, profile_text
from ..payload.source import Payload, find_payload, open_payload
from ..report.words import WINDOW_PHRASES
from ..settings.parts import LAUNCH_TIMEOUT_S, Recording
from .commands import PATH, WORD_MARK, WORD_OPTION, Arguments, Command, details, exclude
from .settings_options import event_arguments
from .write import check_outputs, note, write_output


@contextmanager
def open_launch(
    parsed_args: argparse.Namespace, payload: Payload
) -> Iterator[LaunchRequest]:
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


def chosen_launch(parsed_args: argparse.Namespace, payload: Payload) -> LaunchRequest:
    """Return the launch that arguments name.

    :raises UsageError: if they don't fit together, or don't fit the payload.
    """
    words, display = tuple(parsed_args.command_word), parsed_args.display
    exclude(
        {"an app": parsed_args.app is not None, "a command": words},
        "Specify one: --app NAME or -- COMMAND….",
    )
    app = chosen_app(parsed_args, payload)
    command = given_command(payload, words, app) if words else app_command(payload, app)
    if display is not None:
        environment = {**command.environment, "DISPLAY": display}
        command = replace(command, environment=environment)
    command = replace(command, chroot=parsed_args.chroot)
    event, timeout_s = chosen_event(parsed_args, payload, None if words else app)
    return LaunchRequest(app=app, command=command, event=event, timeout_s=timeout_s)


def chosen_event(
    parsed_args: argparse.Namespace, payload: Payload, app: str | None
) -> tuple[LaunchEvent, float]:
    """Return the event that ends the launch of an app, or of a command; the timeout.

    :raises UsageError: if it can't be waited for.
    """
    until, display = parsed_args.until, parsed_args.display
    wanted = Recording(until=until, timeout=parsed_args.timeout or LAUNCH_TIMEOUT_S)
    has_display = bool(display or os.environ.get("DISPLAY"))
    event = event_of(payload, app, wanted, display=display, has_display=has_display)
    if until is None:
        note(f"The launch ends when {_ENDS[event.window, event.exits]}")
    return event, wanted.timeout


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


_NOT_OF_INSTALLED = {
    "path": "PATH", "app": "--app", "command_word": "a command", "chroot": "--chroot",
    "home": "--home", "unconfined": "--unconfined", "method": "--method",
}  # fmt: skip
"""Arguments on a payload that isn't installed, with their names for the user."""


class RecordCommand(Command):
    """Launch an app, see what it reads, keep that as a file."""

    name = "record"
    overview = (
        "Start an app of the snap and write to a file what a cold start reads. 'advise "
        "PATH --record' does that and advises in one step. Keep the file beside "
        "snapcraft.yaml to give it to 'advise' or 'measure' with --launch-profile, on "
        "any machine.\n\n"
        "As root, the app starts from a mounted image, of which nothing is in memory "
        "yet. Otherwise it starts from the directory. bubblewrap isolates it: no "
        "network, a home directory of its own, the snap read-only. Xvfb provides a "
        "display. In place of the base snap's files, the app sees this machine's."
    )

    arguments: ClassVar[Arguments] = {
        **PATH,
        "--installed SNAP": details(
            "in place of PATH: SNAP or SNAP.APP; record an installed app as 'snap run' "
            "starts it, over all snaps that it reads from; requires root (default: "
            "none)",
            type=None,  # no path
        ),
        "-o, --output FILE": "write the launch profile to this file (default: the "
        "standard output)",
        **LAUNCH_ARGUMENTS,
        "--no-warm-up": details(
            "record the app's first start in a new home directory, when many apps "
            "write their settings; usually, the second start is recorded",
            dest="warm_up",
            action="store_false",
        ),
        "--method": details(
            "start the app from a mounted image (residency), or from the directory "
            "(default: residency as root, else directory)",
            choices=("residency", "directory"),
        ),
    }

    def run(self, parsed_args: argparse.Namespace) -> None:
        """Record a launch and write its profile."""
        check_outputs(parsed_args.output)
        if parsed_args.installed is not None:
            profile = installed_profile(parsed_args)
            summary = [*installed_summary(profile), _times(profile)]
        else:
            with open_payload(parsed_args.path or find_payload(Path.cwd())) as payload:
                profile = _profile(parsed_args, payload)
            files = f"{counted(len(profile.files), 'file')}, {_blocks(profile.files)}"
            summary = [", ".join(filter(None, (files, _times(profile))))]
        write_output(profile_text(profile), parsed_args.output)
        for line in summary:
            note(line)


def _profile(parsed_args: argparse.Namespace, payload: Payload) -> LaunchProfile:
    with open_launch(parsed_args, payload) as launch:
        request = replace(launch, warm_up=parsed_args.warm_up, home=parsed_args.home)
        is_mounted = _from_mount(parsed_args.method)
        record = record_residency if is_mounted else record_directory
        app_of = None if parsed_args.command_word else payload
        return with_doubt(record(payload, request, emit.progress), app_of, note)


def _from_mount(method: Method | None) -> bool:
    """Return whether to record from a mount, as root does by default."""
    mounts = can_mount() and can_drop_caches()
    if method == "residency" and not mounts:
        message = "Recording from a mount needs root and a loop device"
        raise UsageError(message, resolution="Run as root, or use --method directory.")
    is_mounted = mounts if method is None else method == "residency"
    how = "by residency, from a mount" if is_mounted else "from the directory"
    note(f"Recording {how}")
    return is_mounted


def installed_profile(parsed_args: argparse.Namespace) -> LaunchProfile:
    """Record the launch that ``--installed`` names."""
    for name, given in _NOT_OF_INSTALLED.items():
        exclude(
            {"--installed": True, given: getattr(parsed_args, name)},
            f"Leave out {given}: snapd knows the rest.",
        )
    name, parsed_args.app = split_app_name(parsed_args.installed)
    roots = SnapRoots.here()
    with (
        installed_snap(name, roots) as snap,
        launch_display(parsed_args, is_isolated=False),
    ):
        app = chosen_app(parsed_args, snap.payload)
        event, timeout_s = chosen_event(parsed_args, snap.payload, app)
        with snap_run(name, app, program=roots.program) as command:
            request = LaunchRequest(
                app=app,
                command=command,
                event=event,
                timeout_s=timeout_s,
                warm_up=parsed_args.warm_up,
            )
            return record_installed(snap, request, emit.progress, note=note)


def installed_summary(profile: LaunchProfile) -> Iterator[str]:
    """Yield a line on what was recorded of each snap."""
    for each in profile.payloads or ():
        image = (
            f", {each.codec} image of {format_bytes(each.image_bytes)}"
            if each.image_bytes is not None
            else ""
        )
        yield (
            f"{each.role} {each.name}: {counted(len(each.files), 'file')}, "
            f"{_blocks(each.files)}{image}"
        )


def _blocks(files: Iterable[ProfileFile]) -> str:
    spans = (span for file in files for span in file.blocks)
    count = sum(last - first + 1 for first, last in spans)
    return f"{counted(count, 'block')} of 128 KiB"


def _times(profile: LaunchProfile) -> str:
    words = []
    recorded = profile.recorded
    if recorded is not None and recorded.window is not None:
        words.append(f"up to {WINDOW_PHRASES[recorded.window]}")
    if recorded is not None and recorded.cold_s is not None:
        words.append(f"cold launch {format_seconds(recorded.cold_s)} (measured)")
    if profile.warm_s is not None:
        words.append(f"warm launch {format_seconds(profile.warm_s)} (measured)")
    return ", ".join(words)

"""``compression-advisor record``: which data blocks a launch reads."""

from __future__ import annotations

import argparse
from contextlib import ExitStack
from pathlib import Path
from typing import ClassVar, get_args

from ..capture.record import RecordRequest, with_doubt
from ..capture.record_launch import record_launch, told
from ..capture.record_trace import import_trace
from ..core.errors import UsageError
from ..core.terminal import emit
from ..core.units import counted, format_seconds
from ..launch.launch_set import Method
from ..launch.profile import LaunchProfile, profile_text
from ..payload.source import Payload, find_payload, open_payload
from ..report.words import WINDOW_PHRASES
from .arguments import PATH, Arguments, Command, details, output_argument
from .launch_arguments import (
    LAUNCH_ARGUMENTS,
    READ_AHEAD_ARGUMENT,
    chosen_app,
    chosen_launch,
    confined,
    launch_display,
    launch_options,
)
from .write import check_outputs, write_output

_METHODS = get_args(Method)


class RecordCommand(Command):
    """Launch an app, see what it reads, keep that as a file."""

    name = "record"
    overview = (
        "Start an app of the payload and record which data blocks a cold launch "
        "reads. The file is small and relocatable: keep it beside snapcraft.yaml "
        "and give it to 'advise' or 'measure' with --launch-profile.\n\n"
        "As root, the caches of the whole system are dropped, the app starts from "
        "a temporary mounted image, and the blocks are those that are then in the "
        "kernel's page cache. Otherwise, the payload's own files are dropped from "
        "the cache, the app starts from the directory, and the blocks follow from "
        "the cache and from the app's page tables; for files that other programs "
        "use, from a trace with strace. The app is isolated by bubblewrap: without a "
        "network, with a home of its own unless --home names one, the payload "
        "read-only in /snap, and the layouts of snap.yaml in their places. Xvfb "
        "provides a display. Files of the base snap are taken from this machine."
    )

    arguments: ClassVar[Arguments] = {
        **PATH,
        "--installed SNAP": details(
            "in place of PATH: SNAP or SNAP.APP; record an installed app as 'snap run' "
            "starts it, over all snaps that it reads from (its own, its base, its "
            "content snaps), and time the parts of its launch; requires root (with "
            "sudo, the app runs as your own user) (default: none)",
            type=None,  # no path
        ),
        "--root PAYLOAD": "the same as PATH (default: PATH)",
        **output_argument(text="the launch profile"),
        **LAUNCH_ARGUMENTS,
        "--no-warm-up": details(
            "skip the unrecorded first launch, so that the app's first run in a new "
            "home directory is recorded",
            dest="warm_up",
            action="store_false",
        ),
        "--method": details(
            "from a mount (residency, as root), from the payload's directory "
            "(directory), or with strace (trace) (default: residency as root, else "
            "directory, or trace where other programs use the payload)",
            choices=_METHODS,
        ),
        **READ_AHEAD_ARGUMENT,
        "--scratch DIR": "directory for the temporary uncompressed image (default: "
        "TMPDIR, else /tmp)",
        "--import LOG": details(
            "import a log of 'strace -f' instead of starting the app; it should "
            "contain the file, mmap, read and clone calls (default: none, the app is "
            "started)",
            dest="log",
        ),
        "--prefix DIR…": details(
            "with --import: path of the payload when the log was written, in addition "
            "to PATH and /snap/NAME/…; may be repeated (default: none)",
            type=None,
        ),
    }

    def run(self, parsed_args: argparse.Namespace) -> None:
        """Record a launch and write its profile."""
        check_outputs(parsed_args.output)
        if parsed_args.installed is not None:
            # Few runs do.
            from . import record_installed  # noqa: PLC0415 # as above

            profile = record_installed.installed_profile(parsed_args)
            write_output(profile_text(profile), parsed_args.output)
            for line in (*record_installed.installed_summary(profile), _times(profile)):
                emit.progress(line, permanent=True)
            return
        if parsed_args.path and parsed_args.root:
            message = "The payload is given twice: PATH and --root"
            raise UsageError(message, resolution="Leave out --root.")
        path = parsed_args.path or parsed_args.root or find_payload(Path.cwd())
        with open_payload(path) as payload:
            profile = _profile(parsed_args, payload)
        write_output(profile_text(profile), parsed_args.output)
        emit.progress(_summary(profile), permanent=True)


def _profile(parsed_args: argparse.Namespace, payload: Payload) -> LaunchProfile:
    options = launch_options(parsed_args)
    app = chosen_app(options, payload)
    if parsed_args.log is not None:
        if options.words:
            message = "--import can't be combined with a command"
            raise UsageError(message, resolution="Leave out one of the two.")
        prefixes: list[str] = parsed_args.prefix
        traced = import_trace(parsed_args.log, payload, app=app, prefixes=prefixes)
        return told(traced, _note)
    with ExitStack() as stack:
        stack.enter_context(launch_display(options))
        command, event, timeout_s = chosen_launch(options, payload)
        command = stack.enter_context(confined(command, options, payload))
        request = RecordRequest(
            app=app,
            command=command,
            event=event,
            timeout_s=timeout_s,
            warm_up=parsed_args.warm_up,
            home=parsed_args.home,
            read_ahead_kb=parsed_args.read_ahead_kb,
            scratch=parsed_args.scratch,
        )
        profile = record_launch(
            payload, request, emit.progress, method=parsed_args.method, note=_note
        )
        return with_doubt(profile, _note)


def _note(text: str) -> None:
    emit.progress(text, permanent=True)


def _summary(profile: LaunchProfile) -> str:
    blocks = sum(
        last - first + 1 for file in profile.files for first, last in file.blocks
    )
    files = f"{counted(len(profile.files), 'file')}, {blocks} blocks of 128 KiB"
    return ", ".join(filter(None, (files, _times(profile))))


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

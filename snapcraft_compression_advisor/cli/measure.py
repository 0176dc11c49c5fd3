"""``compression-advisor measure``: launches timed from real mounts."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import ClassVar

from ..capture.home import launch_home
from ..capture.launch_event import window_doubt
from ..capture.measure import Launch, MeasureRequest, measure, timed_here
from ..capture.mount import Mount
from ..capture.page_cache import fit_for_replay, replay
from ..capture.samples import RunTime
from ..capture.start import time_launch
from ..codecs import CODECS
from ..core.errors import UsageError
from ..core.terminal import emit
from ..launch.fit import FittedProfile
from ..launch.profile import LaunchProfile, read_profile
from ..payload.source import Payload, find_payload, open_payload
from ..report.measure import measure_json, measure_page
from .arguments import (
    PATH,
    Arguments,
    Command,
    details,
    format_argument,
    output_argument,
    whole_number,
)
from .launch_arguments import (
    LAUNCH_ARGUMENTS,
    READ_AHEAD_ARGUMENT,
    chosen_launch,
    confined,
    launch_display,
    launch_options,
)
from .pages import FORMATS, write_page
from .write import check_outputs, write_output

DEFAULT_RUNS = 10
"""As many as the published study of snaps took."""

_ALL = 0.995
"""From here on, a share prints as 100 %."""


class MeasureCommand(Command):
    """Pack, mount, launch and time, with every codec."""

    name = "measure"
    overview = (
        "Pack the payload with each codec, mount each image, and time cold and "
        "warm launches, alternating between the codecs. With --launch-profile, "
        "the reads of a recorded launch are replayed instead: no app is started "
        "and no display is needed.\n\n"
        "As root, the kernel mounts the images, and the caches of the whole "
        "system are dropped before each cold launch. Otherwise, squashfuse mounts "
        "them."
    )

    arguments: ClassVar[Arguments] = {
        **PATH,
        "--launch-profile FILE": "a recorded launch, whose reads are replayed "
        "(default: none, the app is started)",
        **LAUNCH_ARGUMENTS,
        "--codec": details(
            "a codec to measure; may be repeated (default: "
            f"{', '.join(CODECS)}, if available)",
            action="append",
            choices=tuple(CODECS),
            default=[],
        ),
        "--runs COUNT": details(
            "cold and warm launches with each codec",
            type=whole_number(least=1),
            default=DEFAULT_RUNS,
        ),
        **format_argument(FORMATS),
        **output_argument(),
        "--scratch DIR": "directory for the temporary images; one in memory (/dev/shm) "
        "shows decompression alone (default: TMPDIR, else /tmp)",
        **READ_AHEAD_ARGUMENT,
    }

    def run(self, parsed_args: argparse.Namespace) -> None:
        """Measure, and report."""
        check_outputs(parsed_args.output)
        path = parsed_args.path or find_payload(Path.cwd())
        codecs = tuple(dict.fromkeys(parsed_args.codec)) or tuple(CODECS)
        replayed = parsed_args.launch_profile is not None
        with (
            open_payload(path) as payload,
            _launch(parsed_args, payload) as launch,
        ):
            request = MeasureRequest(
                launch=launch,
                method="replay" if replayed else "launch",
                codecs=codecs,
                runs=parsed_args.runs,
                warm_up=not replayed,
                read_ahead_kb=parsed_args.read_ahead_kb,
                scratch=parsed_args.scratch,
            )
            measurement = measure(payload, request, emit.progress)
        if parsed_args.format == "json":
            write_output(measure_json(measurement), parsed_args.output)
        else:
            page = measure_page(measurement)
            write_page(page, parsed_args.format, parsed_args.output)


@contextmanager
def _launch(parsed_args: argparse.Namespace, payload: Payload) -> Iterator[Launch]:
    """Return what is timed: the reads of the profile, or a real launch."""
    if parsed_args.launch_profile is not None:
        fitted = fit_for_replay(_profile(parsed_args), payload.inventory)
        for warning in replay_warnings(fitted):
            emit.progress(f"Warning: {warning}", permanent=True)
        files = fitted.launch_set.files
        yield lambda mount: timed_here(partial(replay, mount.root, files))
        return
    options = launch_options(parsed_args)
    with ExitStack() as stack:
        stack.enter_context(launch_display(options))
        home = stack.enter_context(launch_home(parsed_args.home))
        command, event, timeout_s = chosen_launch(options, payload)
        command = stack.enter_context(confined(command, options, payload))

        def launch(mount: Mount) -> RunTime:
            launched = time_launch(
                command, mount.root, event, timeout_s=timeout_s, home=home
            )
            if (doubt := window_doubt(launched.window)) is not None:
                emit.progress(f"Warning: {doubt}")
            return RunTime(
                wall_s=launched.wall_s,
                user_s=launched.user_s,
                system_s=launched.system_s,
            )

        yield launch


def _profile(parsed_args: argparse.Namespace) -> LaunchProfile:
    """Return the recorded launch, whose app is that of the profile.

    :raises UsageError: if an app or a command is given too.
    """
    if parsed_args.app is not None or parsed_args.command_word:
        message = "Both a launch profile and an app or command are given"
        raise UsageError(
            message,
            resolution="Specify one: --launch-profile FILE, --app NAME or -- COMMAND….",
        )
    return read_profile(parsed_args.launch_profile)


def replay_warnings(fitted: FittedProfile) -> Iterator[str]:
    """Yield in what a replay differs from the launch, as far as that is known."""
    if fitted.fitting_share < 1:
        yield (
            f"the payload has {fitted.fitting_share:.0%} of the launch profile's "
            "blocks; the others are not replayed"
        )
    launch_set = fitted.launch_set
    if launch_set.read_of_named < _ALL:
        how = "guessed" if launch_set.source == "static" else "traced"
        yield (
            f"the launch profile was {how}: a launch reads about "
            f"{launch_set.read_of_named:.0%} of the blocks that it names, and all of "
            "them are replayed"
        )

"""``measure --base … --content …``: launches over several mounts."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

from ..capture.home import launch_home
from ..capture.measure import timed_here
from ..capture.measure_stack import (
    StackLaunch,
    StackMeasurement,
    StackRequest,
    measure_stack,
)
from ..capture.page_cache import fit_for_replay, replay
from ..capture.recordings import found_isolation
from ..capture.samples import RunTime
from ..capture.start import time_launch
from ..codecs import SHIPPABLE
from ..core.errors import UsageError
from ..core.terminal import emit
from ..launch.fit import fit_layer
from ..launch.launch_set import LaunchFile
from ..launch.profile import read_profile
from ..payload.source import Payload, open_payload
from ..payload.stack import Layer, layers_of, stack_of
from ..payload.stack_check import check_stack
from ..squashfs.entry import EntryKind
from .launch_arguments import chosen_launch, launch_display, launch_options

_NOT_OF_STACKS = (
    "compare", "walk", "first_run", "until_precise", "max_runs", "chroot",
    "unconfined",
)  # fmt: skip
"""Options whose measurements are of one mount."""


def measured_stack(parsed_args: argparse.Namespace, path: Path) -> StackMeasurement:
    """Measure launches of a snap over its base and content snaps.

    :raises AdvisorError: where the options or the snaps don't fit together, or a launch
        fails.
    """
    for name in _NOT_OF_STACKS:
        if getattr(parsed_args, name):
            option = f"--{name.replace('_', '-')}"
            message = f"{option} can't be combined with --base or --content"
            raise UsageError(message, resolution="Leave out one of the two.")
    with ExitStack() as stack:
        payload, *others = (
            stack.enter_context(open_payload(each))
            for each in (path, *parsed_args.base, *parsed_args.content)
        )
        bases = others[: len(parsed_args.base)]
        contents = others[len(parsed_args.base) :]
        check_stack([payload], bases=bases, contents=contents)
        layers = layers_of(stack_of(payload, bases=bases, contents=contents))
        launching = _replayed if parsed_args.launch_profile else _started
        request = StackRequest(
            layers=layers,
            launch=stack.enter_context(launching(parsed_args, layers)),
            method="replay" if parsed_args.launch_profile else "launch",
            codecs=tuple(dict.fromkeys(parsed_args.codec)) or SHIPPABLE,
            runs=parsed_args.runs,
            warm_up=not parsed_args.launch_profile,
            read_ahead_kb=parsed_args.read_ahead_kb,
            scratch=parsed_args.scratch,
        )
        return measure_stack(request, emit.progress)


@contextmanager
def _replayed(
    parsed_args: argparse.Namespace, layers: Sequence[Layer]
) -> Iterator[StackLaunch]:
    """Return what reads of each mount what a recorded launch read of it."""
    if parsed_args.app is not None or parsed_args.command_word:
        message = "Both a launch profile and an app or command are given"
        raise UsageError(
            message,
            resolution="Specify one: --launch-profile FILE, --app NAME or -- COMMAND….",
        )
    profile = read_profile(parsed_args.launch_profile)
    own = fit_for_replay(profile, layers[0].payload.inventory).launch_set.files
    files: list[Sequence[LaunchFile]] = [own]
    for layer in layers[1:]:
        inventory = layer.payload.inventory
        fitted = fit_layer(profile, layer.role, layer.name, inventory)
        if fitted is None:
            message = f"The launch profile doesn't say what was read of {layer.name!r}"
            raise UsageError(
                message, resolution="Record the launch with 'record --installed'."
            )
        files.append(fitted.launch_set.files)

    def read(places: Sequence[Path]) -> float:
        return sum(map(replay, places, files))

    yield lambda places: timed_here(partial(read, places))


@contextmanager
def _started(
    parsed_args: argparse.Namespace, layers: Sequence[Layer]
) -> Iterator[StackLaunch]:
    """Return what starts the app with the base's mount as its root directory."""
    payload = layers[0].payload
    _check_places(payload, layers)
    options = launch_options(parsed_args)
    with (
        launch_display(options),
        launch_home(parsed_args.home) as home,
        found_isolation(payload) as isolation,
    ):
        command, event, timeout_s = chosen_launch(options, payload)

        def start(places: Sequence[Path]) -> RunTime:
            """Launch the app once from where the layers are mounted."""
            mounts = dict(zip([layer.place for layer in layers], places, strict=True))
            own, machine = mounts.pop(""), mounts.pop("/", Path("/"))
            launched = time_launch(
                replace(
                    command,
                    isolation=replace(isolation, machine=machine, contents=mounts),
                ),
                own,
                event,
                timeout_s=timeout_s,
                home=home,
            )
            return RunTime(
                wall_s=launched.wall_s,
                user_s=launched.user_s,
                system_s=launched.system_s,
            )

        yield start


def _check_places(payload: Payload, layers: Sequence[Layer]) -> None:
    """Refuse a content snap whose place the app's snap doesn't have."""
    for layer in layers:
        entry = payload.inventory.entries.get(layer.place)
        if layer.role == "content" and (
            entry is None or entry.kind is not EntryKind.DIRECTORY
        ):
            message = (
                f"Content snap {layer.name!r} can't be mounted: {payload.snap.name!r} "
                f"has no directory {layer.place!r}"
            )
            raise UsageError(
                message, resolution="Create the directory in a part of the snap."
            )

"""``record --installed``: a launch of an installed snap, by ``snap run``."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from functools import partial

from ..capture.installed import SnapRoots, split_app_name
from ..capture.record_installed import (
    InstalledLaunch,
    installed_snap,
    record_installed,
)
from ..core.errors import UsageError
from ..core.terminal import emit
from ..core.units import counted, format_bytes, seconds
from ..launch.profile import LaunchProfile, RecordedLaunch
from .launch_arguments import (
    chosen_app,
    chosen_event,
    launch_display,
    launch_options,
)

_NOT_WITH_IT = (
    "path", "root", "app", "command_word", "chroot", "home", "unconfined", "method",
    "log", "prefix", "scratch",
)  # fmt: skip
"""Options that are about a payload that isn't installed."""


def installed_profile(parsed_args: argparse.Namespace) -> LaunchProfile:
    """Record the launch that ``--installed`` names.

    :raises AdvisorError: where it can't be recorded.
    """
    for name in _NOT_WITH_IT:
        if getattr(parsed_args, name):
            option = {"path": "PATH", "log": "--import", "command_word": "a command"}
            given = option.get(name, f"--{name}")
            message = f"Both --installed and {given} are given"
            raise UsageError(
                message, resolution=f"Leave out {given}: snapd knows the rest."
            )
    name, app = split_app_name(parsed_args.installed)
    parsed_args.app = app
    options = launch_options(parsed_args)
    with (
        installed_snap(name, SnapRoots.here()) as snap,
        launch_display(options, is_isolated=False),
    ):
        app = chosen_app(options, snap.payload)
        request = InstalledLaunch(
            app=app,
            event=chosen_event(options, snap.payload, app),
            timeout_s=options.timeout_s,
            warm_up=parsed_args.warm_up,
        )
        note = partial(emit.progress, permanent=True)
        return record_installed(snap, request, emit.progress, note=note)


def installed_summary(profile: LaunchProfile) -> Iterator[str]:
    """Yield lines on what was recorded: each snap, then each part of the launch."""
    for each in profile.payloads or ():
        blocks = sum(
            last - first + 1 for file in each.files for first, last in file.blocks
        )
        image = (
            f", {each.codec} image of {format_bytes(each.image_bytes)}"
            if each.image_bytes is not None
            else ""
        )
        yield (
            f"{each.role} {each.name}: {counted(len(each.files), 'file')}, "
            f"{counted(blocks, 'block')} of 128 KiB{image}"
        )
    if profile.recorded is not None and profile.recorded.parts:
        yield f"cold launch (measured): {_parts(profile.recorded)}"


def _parts(recorded: RecordedLaunch) -> str:
    return ", ".join(
        f"{part} {seconds(taken_s)}" for part, taken_s in recorded.part_seconds
    )

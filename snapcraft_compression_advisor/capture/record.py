"""Records which data blocks a launch reads, by having a look at a real one."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from ..core.errors import ToolError
from ..launch.profile import CpuTime, LaunchProfile, ProfileFile, RecordedLaunch
from ..payload.source import Payload
from ..trial.result import Progress
from .call_notices import HeldCall
from .home import launch_home
from .images import packed_images
from .launch_event import LaunchEvent, window_doubt
from .mount import Mount, mount_point, mounted
from .page_cache import Storage, drop_caches, resident_blocks, storage_of, without_holes
from .running_kernel import recorded_kernel
from .start import Command, Launched, time_launch

ATTEMPTS = 3
"""Launches before somebody else's work on the caches is too much."""

_STATISTICS = Path("/proc/vmstat")

Recording = TypeVar("Recording")


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordRequest:
    """What to record.

    :param warm_up: whether to launch once before, unrecorded, so that what an
        application does once only in a new home isn't recorded.
    :param home: home directory of the launches, kept; a temporary one by default.
    """

    app: str
    command: Command
    event: LaunchEvent
    timeout_s: float
    warm_up: bool = True
    home: Path | None = None


def record_residency(
    payload: Payload, request: RecordRequest, progress: Progress
) -> LaunchProfile:
    """Record a cold launch from a mounted, uncompressed image of the payload.

    The blocks are those in the page cache at the event, read while all processes
    of the launch stand still. A launch with warm caches follows, for its time.

    :raises AdvisorError: if the image can't be made or mounted, or the launch fails.
    """
    with (
        launch_home(request.home) as home,
        packed_images(payload, ("none",), scratch=None, progress=progress) as images,
        mount_point() as root,
    ):
        image = images.paths["none"]
        if request.warm_up:
            progress("Launching once to set up the home directory")
            with mounted(image, at=root):
                launch(request, root, home)

        def record() -> LaunchProfile | None:
            # A mount of its own begins with nothing of the payload in the cache.
            with mounted(image, at=root) as mount:
                return _record(payload, request, image, mount, home)

        return undisturbed(record, "with cold caches", progress)


def _record(
    payload: Payload, request: RecordRequest, image: Path, mount: Mount, home: Path
) -> LaunchProfile | None:
    """Launch with cold caches, look what they hold, and launch again.

    :returns: None if somebody dropped the caches meanwhile.
    """
    files: tuple[ProfileFile, ...] = ()

    def look() -> None:
        nonlocal files
        files = resident_blocks(mount.root, payload.inventory)

    drop_caches()
    drops = cache_drops()
    storage = storage_of(image)
    cold = launch(request, mount.root, home, frozen=look)
    warm = launch(request, mount.root, home)
    if cache_drops() != drops:
        return None
    recorded = recorded_launch(
        cold, warm, read_ahead_kb=mount.read_ahead_kb, storage=storage
    )
    return LaunchProfile(
        source="residency",
        app=request.app,
        warm_s=recorded.warm_s,
        recorded=recorded,
        app_files=tuple(without_holes(payload, files)),
    )


def undisturbed(
    record: Callable[[], Recording | None], how: str, progress: Progress
) -> Recording:
    """Launch until nobody drops the system's caches meanwhile.

    :param record: makes a recording, None if somebody did.
    :param how: it launches at first, for the user.
    :raises ToolError: if that happens each time: the cache can't tell what was read.
    """
    for attempt in range(1, ATTEMPTS + 1):
        progress(f"Launching {how}, then with warm caches (attempt {attempt})")
        recording = record()
        if recording is not None:
            return recording
    message = "Another process dropped the system's caches during every launch"
    raise ToolError(
        message, resolution="Make sure that no benchmark or test runs meanwhile."
    )


def launch(  # noqa: PLR0913 # two say where, three when to look
    request: RecordRequest,
    root: Path,
    home: Path,
    *,
    watched: Callable[[set[int]], object] | None = None,
    noticed: Callable[[HeldCall], object] | None = None,
    frozen: Callable[[], object] | None = None,
) -> Launched:
    """Launch once; see :func:`time_launch`."""
    return time_launch(
        request.command,
        root,
        request.event,
        timeout_s=request.timeout_s,
        home=home,
        watched=watched,
        noticed=noticed,
        frozen=frozen,
    )


def recorded_launch(
    cold: Launched,
    warm: Launched,
    *,
    read_ahead_kb: int | None,
    storage: Storage | None = None,
) -> RecordedLaunch:
    """Return what a recording keeps of its launches and of this machine."""
    # To the tenth of a millisecond; more is noise.
    cold_cpu_s, warm_cpu_s = (
        CpuTime(user=round(each.user_s, 4), system=round(each.system_s, 4))
        for each in (cold, warm)
    )
    return RecordedLaunch(
        event=cold.event,
        window=cold.window,
        cold_s=round(cold.wall_s, 4),
        warm_s=round(warm.wall_s, 4),
        cold_cpu_s=cold_cpu_s,
        warm_cpu_s=warm_cpu_s,
        processors=len(os.sched_getaffinity(0)),
        kernel=platform.release(),
        kernel_modes=recorded_kernel(),
        read_ahead_kb=read_ahead_kb,
        storage=storage,
    )


def with_doubt(profile: LaunchProfile, note: Progress) -> LaunchProfile:
    """Return a profile, with a warning if its end leaves something open."""
    doubt = window_doubt(profile.recorded.window if profile.recorded else None)
    if doubt is not None:
        note(f"Warning: {doubt}")
    return profile


def cache_drops() -> int:
    """Return how often the system's caches were dropped since it was started."""
    for line in _STATISTICS.read_text().splitlines():
        name, _, value = line.partition(" ")
        if name == "drop_pagecache":
            return int(value)
    return 0

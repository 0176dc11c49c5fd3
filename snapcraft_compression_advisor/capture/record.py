"""Records which data blocks a launch reads, by having a look at a real one."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from ..core.errors import ToolError
from ..launch.profile import (
    CpuTime,
    LaunchProfile,
    ProfileFile,
    RecordedLaunch,
)
from ..payload.source import Payload
from ..trial.result import Progress
from .call_notices import HeldCall
from .home import launch_home
from .images import packed_images
from .kernel_trace import metadata_reads
from .launch_event import LaunchEvent, window_doubt
from .mount import mount_point, mounted
from .page_cache import (
    Storage,
    drop_caches,
    resident_blocks,
    storage_of,
    without_holes,
)
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

    :raises AdvisorError: if the image can't be made or mounted, or the launch
        fails.
    """
    with ExitStack() as stack:
        home = stack.enter_context(launch_home(request.home))
        images = stack.enter_context(
            packed_images(payload, ("none",), scratch=None, progress=progress)
        )
        recorder = _Recorder(
            payload=payload,
            request=request,
            image=images.paths["none"],
            root=stack.enter_context(mount_point()),
            home=home,
        )
        if request.warm_up:
            progress("Launching once to set up the home directory")
            recorder.warm_up()
        return undisturbed(recorder.record, "with cold caches", progress)


def undisturbed(
    record: Callable[[], Recording | None], how: str, progress: Progress
) -> Recording:
    """Launch until nobody drops the system's caches meanwhile.

    :param record: makes a recording, ``None`` if somebody did.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Recorder:
    """Launches from mounts of one image, always at the same place.

    :param root: an empty directory to mount at.
    """

    payload: Payload
    request: RecordRequest
    image: Path
    root: Path
    home: Path

    def warm_up(self) -> None:
        """Launch from a mount that goes again."""
        with mounted(self.image, at=self.root):
            launch(self.request, self.root, self.home)

    def record(self) -> LaunchProfile | None:
        """Launch with cold caches, look what they hold, and launch again.

        :returns: ``None`` if somebody dropped the caches meanwhile.
        """
        files: tuple[ProfileFile, ...] = ()
        metadata_blocks: int | None = None

        def look() -> None:
            nonlocal files, metadata_blocks
            # First: looking at the files reads inodes and directories.
            metadata_blocks = reads.count(self.root, self.image)
            files = resident_blocks(self.root, self.payload.inventory)

        # A mount of its own begins with nothing of the payload in the cache.
        with mounted(self.image, at=self.root) as mount:
            drop_caches()
            drops = cache_drops()
            storage = storage_of(self.image)
            with metadata_reads([self.root]) as reads:
                cold = launch(self.request, self.root, self.home, frozen=look)
            warm = launch(self.request, self.root, self.home)
            if cache_drops() != drops:
                return None
        recorded = recorded_launch(
            cold, warm, read_ahead_kb=mount.read_ahead_kb, storage=storage
        )
        return LaunchProfile(
            source="residency",
            app=self.request.app,
            warm_s=recorded.warm_s,
            recorded=recorded,
            metadata_blocks=metadata_blocks,
            app_files=tuple(without_holes(self.payload, files)),
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
    return RecordedLaunch(
        event=cold.event,
        window=cold.window,
        cold_s=_rounded(cold.wall_s),
        warm_s=_rounded(warm.wall_s),
        cold_cpu_s=_cpu_time(cold),
        warm_cpu_s=_cpu_time(warm),
        processors=len(os.sched_getaffinity(0)),
        kernel=platform.release(),
        kernel_modes=recorded_kernel(),
        read_ahead_kb=read_ahead_kb,
        storage=storage,
    )


def _cpu_time(launched: Launched) -> CpuTime:
    return CpuTime(user=_rounded(launched.user_s), system=_rounded(launched.system_s))


def _rounded(seconds: float) -> float:
    """Return a time to the tenth of a millisecond; more is noise."""
    return round(seconds, 4)


def with_doubt(profile: LaunchProfile, note: Progress) -> LaunchProfile:
    """Return a profile, having told what its end leaves open."""
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

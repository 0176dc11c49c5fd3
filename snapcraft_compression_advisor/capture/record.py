"""Records which data blocks a launch reads, by having a look at a real one.

As root, that starts from a mounted image, and the page cache shows what it read. Else
it starts from the payload's own directory: no root, no mount, no tracer. The files are
evicted from the page cache first. Of files that were read, the cache then shows which
blocks. Of files that were mapped, page tables show what was touched; from that follows
what a mount would have read.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import numpy as np

from ..core.errors import ToolError
from ..core.scratch import scratch_directory
from ..launch.fit import fit_profile
from ..launch.guess.guess import static_launch_set
from ..launch.profile import CpuTime, LaunchProfile, ProfileFile, RecordedLaunch
from ..payload.inventory import Inventory
from ..payload.source import Payload
from ..trial.exact import payload_directory
from ..trial.result import Progress
from .images import packed_images
from .launch_event import window_doubt
from .mount import UBUNTU_READ_AHEAD_KB, Mount, mount_point, mounted, recorded_kernel
from .page_cache import (
    Storage,
    block_runs,
    check_visible,
    drop_caches,
    evict,
    resident_blocks,
    storage_of,
    without_holes,
)
from .page_tables import PageTables, Touch, mount_blocks, reads_code_forward
from .snap_environment import launch_home
from .start import Launched, LaunchRequest, time_launch

EARLY_SHARE = 0.25
"""Of the bytes that are guessed. Of the applications with windows that were scored
blind, none read less than 0.35 (``study/data/*-scores-*.csv``)."""

ATTEMPTS = 3
"""Launches before somebody else's work on the caches is too much."""

_STATISTICS = Path("/proc/vmstat")
_PAGE_TABLES = Path("/proc/self/pagemap")

Recording = TypeVar("Recording")


def record_residency(
    payload: Payload, request: LaunchRequest, progress: Progress
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
                time_launch(request, root, home)

        def record() -> LaunchProfile | None:
            # A mount of its own begins with nothing of the payload in the cache.
            with mounted(image, at=root) as mount:
                return _record(payload, request, image, mount, home)

        return undisturbed(record, "with cold caches", progress)


def _record(
    payload: Payload, request: LaunchRequest, image: Path, mount: Mount, home: Path
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
    cold = time_launch(request, mount.root, home, frozen=look)
    warm = time_launch(request, mount.root, home)
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


def record_directory(
    payload: Payload, request: LaunchRequest, progress: Progress
) -> LaunchProfile:
    """Record a cold launch from the payload's directory, as any user who owns it.

    A launch with warm caches follows, for its time. A .snap is unpacked first.

    :raises ToolError: if files can't be evicted or belong to somebody else, page tables
        are hidden, or the launch fails or changes the payload.
    """
    with launch_home(request.home) as home, scratch_directory() as scratch:
        root = payload_directory(payload, scratch, progress)
        inventory = payload.inventory
        check_visible(root, inventory)
        if not os.access(_PAGE_TABLES, os.R_OK):
            message = f"{str(_PAGE_TABLES)!r} can't be read"
            raise ToolError(message, resolution="Run the command as root.")
        evict(root, inventory)  # refused before anything is started
        # What Python alone writes beside its modules: in a mounted snap it can't.
        environment = {
            **request.command.environment, "PYTHONDONTWRITEBYTECODE": "1",
        }  # fmt: skip
        command = replace(request.command, environment=environment)
        request = replace(request, command=command)
        before = _states(root, inventory)
        if request.warm_up:
            progress("Launching once to set up the home directory")
            time_launch(request, root, home)
            _check_unchanged(before, root, inventory)
        profile = undisturbed(
            lambda: _record_evicted(payload, request, root, home),
            "from the evicted directory",
            progress,
        )
        _check_unchanged(before, root, inventory)
        return profile


def _record_evicted(
    payload: Payload, request: LaunchRequest, root: Path, home: Path
) -> LaunchProfile | None:
    """Launch with nothing of the payload in the cache, look, and launch again.

    :returns: None if somebody dropped the caches meanwhile.
    """
    resident: Sequence[ProfileFile] = ()

    def look() -> None:
        nonlocal resident
        tables.end()
        resident = resident_blocks(root, payload.inventory)

    drops = cache_drops()
    evict(root, payload.inventory)
    tables = PageTables(root, payload.inventory)
    cold = time_launch(
        request, root, home, watched=tables.look, noticed=tables.notice, frozen=look
    )
    warm = time_launch(request, root, home)
    if cache_drops() != drops:  # the kernel counts a drop when it is over
        return None
    # The cold launch was no snap's: it read from the directory's own file system.
    recorded = recorded_launch(
        cold, warm, read_ahead_kb=UBUNTU_READ_AHEAD_KB
    ).model_copy(update={"cold_s": None, "cold_cpu_s": None})
    files = directory_files(payload, resident, tables.touches)
    return LaunchProfile(
        source="directory",
        app=request.app,
        warm_s=recorded.warm_s,
        recorded=recorded,
        app_files=tuple(without_holes(payload, files)),
    )


def directory_files(
    payload: Payload,
    resident: Sequence[ProfileFile],
    touches: Mapping[str, Sequence[Touch]],
) -> Iterator[ProfileFile]:
    """Yield what a mount would read of each file, sorted by path.

    :param resident: what is in the cache.
    :param touches: of files that were seen mapped or read.
    """
    forward = reads_code_forward()
    cached = {file.path: file for file in resident}
    for path in sorted({*cached, *touches}):
        if path not in touches:
            yield cached[path]
        elif touches[path] or path in cached:
            size_bytes = payload.inventory.entries[path].size_bytes
            read = mount_blocks(
                touches[path],
                size_bytes=size_bytes,
                code_forward=forward,
            )
            blocks = block_runs(np.array([*read]))
            yield ProfileFile(path=path, size=size_bytes, blocks=blocks)


def _states(root: Path, inventory: Inventory) -> dict[str, tuple[int, int]]:
    """Return a state that changes with each file and directory."""
    found = {}
    for path in inventory.entries:
        status = (root / path).lstat()
        found[path] = status.st_mtime_ns, status.st_size
    return found


def _check_unchanged(
    before: Mapping[str, tuple[int, int]], root: Path, inventory: Inventory
) -> None:
    try:
        after = _states(root, inventory)
    except OSError as error:
        changed = [os.path.relpath(error.filename, root)]
    else:
        changed = [path for path in sorted(after) if after[path] != before[path]]
    if changed:
        message = f"The app wrote into its payload: {changed[0]!r}"
        raise ToolError(
            message,
            details="\n".join(changed[1:]) or None,
            resolution="A snap is read-only. Build the payload again, and record "
            "without --unconfined: the app then can't write there.",
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


def recorded_launch(
    cold: Launched,
    warm: Launched,
    *,
    read_ahead_kb: int | None,
    storage: Storage | None = None,
) -> RecordedLaunch:
    """Return the facts of its launches and of this machine that a recording keeps."""
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


def with_doubt(
    profile: LaunchProfile, payload: Payload | None, note: Progress
) -> LaunchProfile:
    """Return a profile, with a warning if its end leaves something open.

    :param payload: whose app was started; None if it was another command.
    """
    recorded = profile.recorded
    window = recorded and recorded.window
    if recorded and payload and window == "drawn" and _is_early(profile, payload):
        recorded = recorded.model_copy(update={"window": "early"})
        profile = profile.model_copy(update={"recorded": recorded})
    doubt = window_doubt(recorded.window if recorded else None)
    if doubt is not None:
        note(f"Warning: {doubt}")
    return profile


def _is_early(profile: LaunchProfile, payload: Payload) -> bool:
    """Return whether a launch read less than any known one of what is guessed."""
    read = fit_profile(profile, payload.inventory).launch_set
    guess = static_launch_set(payload, profile.app)
    read_bytes, guessed_bytes = (
        sum(file.expected_bytes for file in each.files) * each.read_share.mid
        for each in (read, guess)
    )
    return read_bytes < EARLY_SHARE * guessed_bytes


def cache_drops() -> int:
    """Return the number of times the system's caches were dropped since its start."""
    for line in _STATISTICS.read_text().splitlines():
        name, _, value = line.partition(" ")
        if name == "drop_pagecache":
            return int(value)
    return 0

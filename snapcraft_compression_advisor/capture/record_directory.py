"""Records a launch from the payload's own directory: no root, no mount, no tracer.

The payload's files are evicted from the page cache, and a launch brings in what it
reads. Of files that were read, the cache shows which blocks. Of files that were mapped,
page tables show what was touched; from that follows what a mount would have read.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from ..core.errors import ToolError
from ..core.scratch import scratch_directory
from ..launch.profile import LaunchProfile, ProfileFile
from ..payload.inventory import Inventory
from ..payload.source import Payload
from ..trial.exact import payload_directory
from ..trial.result import Progress
from .home import launch_home
from .mount import UBUNTU_READ_AHEAD_KB
from .page_cache import block_runs, check_visible, evict, resident_blocks, without_holes
from .page_tables import PageTables, Touch, mount_blocks, reads_code_forward
from .record import RecordRequest, cache_drops, launch, recorded_launch, undisturbed

_PAGE_TABLES = Path("/proc/self/pagemap")


def record_directory(
    payload: Payload, request: RecordRequest, progress: Progress
) -> LaunchProfile:
    """Record a cold launch from the payload's directory, as any user who owns it.

    A launch with warm caches follows, for its time. A .snap is unpacked first.

    :raises ToolError: if files can't be evicted or belong to somebody else, page tables
        are hidden, or the launch fails or changes the payload.
    """
    with (
        launch_home(request.home) as home,
        scratch_directory(
            resolution="Choose another directory with TMPDIR."
        ) as scratch,
    ):
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
            launch(request, root, home)
            _check_unchanged(before, root, inventory)
        profile = undisturbed(
            lambda: _record(payload, request, root, home),
            "from the evicted directory",
            progress,
        )
        _check_unchanged(before, root, inventory)
        return profile


def _record(
    payload: Payload, request: RecordRequest, root: Path, home: Path
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
    cold = launch(
        request, root, home, watched=tables.look, noticed=tables.notice, frozen=look
    )
    warm = launch(request, root, home)
    if cache_drops() != drops:  # the kernel counts a drop when it is over
        return None
    # The cold launch was no snap's: it read from the directory's own file system.
    recorded = recorded_launch(
        cold, warm, read_ahead_kb=UBUNTU_READ_AHEAD_KB
    ).model_copy(update={"cold_s": None, "cold_cpu_s": None})
    files = directory_files(
        payload, resident, tables.touches, read_ahead_kb=UBUNTU_READ_AHEAD_KB
    )
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
    *,
    read_ahead_kb: int,
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
                read_ahead_kb=read_ahead_kb,
                code_forward=forward,
            )
            blocks = block_runs(np.array(sorted(read)))
            yield ProfileFile(path=path, size=size_bytes, blocks=blocks)


def _states(root: Path, inventory: Inventory) -> dict[str, tuple[int, int]]:
    """Return what changes with each file and directory."""
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

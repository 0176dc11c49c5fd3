"""Records a launch in the best way that works on this machine."""

from __future__ import annotations

from ..core.errors import ToolError, UsageError
from ..launch.launch_set import Method
from ..launch.profile import LaunchProfile
from ..payload.source import Payload
from ..trial.result import Progress
from .mount import can_mount
from .page_cache import can_drop_caches
from .record import RecordRequest, record_residency
from .record_directory import NotFromDirectoryError, record_directory
from .record_trace import TracedLaunch, record_trace


def record_launch(
    payload: Payload,
    request: RecordRequest,
    progress: Progress,
    *,
    method: Method | None = None,
    note: Progress | None = None,
) -> LaunchProfile:
    """Record a launch.

    :param method: by default from a mount as root, else from the directory; by a trace
        where files of the payload can't be evicted from the page cache.
    :param note: told of the method and of what it leaves open; like progress, but to
        stay on the screen.
    :raises AdvisorError: where the method doesn't work here, or the launch fails.
    """
    note = note or progress
    mounts = can_mount() and can_drop_caches()
    if method == "residency" and not mounts:
        message = "Recording from a mount needs root and a loop device"
        raise UsageError(message, resolution="Run as root, or use --method directory.")
    if method == "residency" or (method is None and mounts):
        note("Recording by residency, from a mount")
        return record_residency(payload, request, progress)
    if method == "trace":
        return told(record_trace(payload, request, progress), note)
    if method == "directory":
        return record_directory(payload, request, progress)
    return record_unmounted(payload, request, progress, note=note)


def record_unmounted(
    payload: Payload, request: RecordRequest, progress: Progress, *, note: Progress
) -> LaunchProfile:
    """Record a launch without a mount: from the directory, else by a trace.

    :raises AdvisorError: where neither works here, or the launch fails.
    """
    note("Recording from the directory")
    try:
        return record_directory(payload, request, progress)
    except NotFromDirectoryError as error:
        note(f"{error}. Recording by trace instead")
        try:
            return told(record_trace(payload, request, progress), note)
        except ToolError as failed:
            failed.details = failed.details or f"Before that: {error}"
            raise


def told(traced: TracedLaunch, note: Progress) -> LaunchProfile:
    """Return the profile of a trace, having said what it leaves open."""
    if traced.doubts is not None:
        note(f"Warning: the trace has {traced.doubts}")
    return traced.profile

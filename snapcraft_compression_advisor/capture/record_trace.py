"""Records which data blocks a launch reads from the system calls that it makes."""

from __future__ import annotations

import os
import platform
import shutil
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from snapcraft_compression_advisor.capture.record import (
    RecordRequest,
    cpu_time,
    launch,
    rounded,
)
from snapcraft_compression_advisor.capture.snap_environment import launch_home
from snapcraft_compression_advisor.capture.trace import TRACED_CALLS, follow
from snapcraft_compression_advisor.capture.traced_blocks import traced_files
from snapcraft_compression_advisor.core.deferred_signals import deferred_signals
from snapcraft_compression_advisor.core.errors import (
    BadDataError,
    NoInputError,
    StorageError,
    ToolError,
    UsageError,
)
from snapcraft_compression_advisor.core.scratch import ScratchDirectory
from snapcraft_compression_advisor.launch.profile import (
    LaunchProfile,
    RecordedLaunch,
)
from snapcraft_compression_advisor.squashfs import mksquashfs

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from snapcraft_compression_advisor.capture.trace import Trace
    from snapcraft_compression_advisor.payload.source import Payload
    from snapcraft_compression_advisor.trial.result import Progress


@dataclass(frozen=True, slots=True, kw_only=True)
class TracedLaunch:
    """A profile from a trace, and how much of the trace went into it.

    :param trace: what was read, wherever the files are.
    """

    profile: LaunchProfile
    trace: Trace

    @property
    def doubts(self) -> str | None:
        """What the trace left open, in words; nothing where all is clear."""
        found = []
        if self.trace.unreadable_lines:
            found.append(f"{self.trace.unreadable_lines} lines can't be read")
        if self.trace.unknown_files:
            found.append(f"{self.trace.unknown_files} files can't be told by name")
        return ", ".join(found) or None


def record_trace(
    payload: Payload, request: RecordRequest, progress: Progress
) -> TracedLaunch:
    """Record a launch from the payload's directory, traced by strace.

    A launch that isn't traced follows, for its time with warm caches.

    :raises UsageError: where the payload is to be the root directory.
    :raises ToolError: where strace is missing, or the launch fails.
    """
    strace = shutil.which("strace")
    if strace is None:
        message = "strace is not installed"
        raise ToolError(
            message,
            resolution="Install it, for instance with 'sudo apt install strace', or "
            "record as root.",
        )
    if request.command.chroot:
        message = "A launch in a root of its own can't be traced"
        raise UsageError(message, resolution="Leave out --chroot or --method trace.")
    with ExitStack() as stack:
        home = stack.enter_context(launch_home(request.home))
        scratch = stack.enter_context(_scratch_directory(request.scratch))
        root = _directory(payload, scratch, progress)
        log = scratch / "strace.log"
        log_bytes = 0

        def look() -> None:
            nonlocal log_bytes
            log_bytes = log.stat().st_size

        if request.warm_up:
            progress("Launching once to settle its home directory")
            launch(request, root, home)
        progress("Launching under strace")
        traced = replace(request.command, traced_by=strace_words(strace, log))
        launch(replace(request, command=traced), root, home, frozen=look)
        progress("Launching with warm caches")
        warm = launch(request, root, home)
        # What it did as it was ended stands behind.
        trace = follow(_lines(log, log_bytes))
        prefixes = (str(root.absolute()), str(root.resolve()))
    recorded = RecordedLaunch(
        event=warm.event,
        warm_s=rounded(warm.wall_s),
        warm_cpu_s=cpu_time(warm),
        processors=len(os.sched_getaffinity(0)),
        kernel=platform.release(),
    )
    profile = LaunchProfile(
        source="trace",
        app=request.app,
        warm_s=recorded.warm_s,
        recorded=recorded,
        files=traced_files(trace, payload, prefixes=prefixes),
    )
    return TracedLaunch(profile=profile, trace=trace)


def import_trace(
    log: Path, payload: Payload, *, app: str, prefixes: Sequence[str]
) -> TracedLaunch:
    """Make a profile of a log that ``strace -f`` has written.

    :param app: whose launch it was.
    :param prefixes: directories where the payload was then; its own directory and
        ``/snap/NAME/REVISION`` count in any case.
    :raises NoInputError: where the log can't be read.
    :raises BadDataError: where it holds no call of a file of the payload.
    """
    path = payload.path
    own = (str(path.absolute()), str(path.resolve())) if path.is_dir() else ()
    try:
        trace = follow(_lines(log, log.stat().st_size))
    except OSError as error:
        message = f"Cannot read the log {str(log)!r}: {error.strerror}"
        raise NoInputError(message, resolution="Check its path.") from error
    files = traced_files(trace, payload, prefixes=(*prefixes, *own))
    if not files:
        message = f"{str(log)!r} shows no read of a file of {str(path)!r}"
        raise BadDataError(
            message,
            details=f"{trace.calls} calls, {trace.unreadable_lines} lines that can't "
            f"be read, {len(trace.ranges)} other files read",
            resolution="Write it with 'strace -f -y -o LOG -e trace="
            "file,desc,process COMMAND', and name the payload's directory of then "
            "with --prefix.",
        )
    profile = LaunchProfile(source="trace", app=app, files=files)
    return TracedLaunch(profile=profile, trace=trace)


def strace_words(strace: str, log: Path) -> tuple[str, ...]:
    """Return the words before a command that have strace write a log of it.

    A call that this machine doesn't have is passed over (``?``).
    """
    calls = ",".join(f"?{name}" for name in TRACED_CALLS)
    return (
        strace, "-f", "-qq", "-y", "-s", "0", "-e", f"trace={calls}", "-e",
        "signal=none", "-o", str(log),
    )  # fmt: skip


def _lines(log: Path, log_bytes: int) -> Iterator[str]:
    """Yield a log's lines up to some length, bytes that aren't UTF-8 escaped."""
    left = log_bytes
    with log.open("rb") as file:
        for line in file:
            left -= len(line)
            if left < 0:
                return
            yield line.decode(errors="surrogateescape")


def _directory(payload: Payload, scratch: Path, progress: Progress) -> Path:
    if payload.kind == "prime":
        return payload.path
    progress(f"Unpacking {payload.path.name}")
    directory = scratch / "payload"
    mksquashfs.unpack(payload.path, directory)
    return directory


@contextmanager
def _scratch_directory(parent: Path | None) -> Iterator[Path]:
    with deferred_signals() as signals:
        try:
            directory = ScratchDirectory(parent)
        except OSError as error:
            message = f"Cannot write to {error.filename!r}: {error.strerror}"
            raise StorageError(
                message, resolution="Name another directory with --scratch."
            ) from error
        with directory as path, signals.delivered():
            yield Path(path)

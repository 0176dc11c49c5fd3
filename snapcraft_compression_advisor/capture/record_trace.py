"""Records the data blocks that a launch reads or maps, by its system calls."""

from __future__ import annotations

import os
import platform
import re
import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path

from ..codecs.codec import DATA_BLOCK_BYTES
from ..core.errors import BadDataError, NoInputError, ToolError, UsageError
from ..core.files import open_regular
from ..core.frozen import frozen
from ..core.scratch import scratch_directory
from ..launch.guess.candidates import Candidate
from ..launch.guess.guess import keys_of
from ..launch.guess.priors import Priors, built_in_priors
from ..launch.guess.shell import parse_shebang
from ..launch.launch_set import share_ranges
from ..launch.profile import LaunchProfile, ProfileFile, RecordedLaunch
from ..payload.elf import readable_linkage
from ..payload.inventory import Entry, block_count
from ..payload.paths import MAX_LINKS, PathResolver
from ..payload.source import Payload
from ..squashfs.entry import EntryKind
from ..trial.exact import payload_directory
from ..trial.result import Progress
from .home import launch_home
from .page_cache import named_files
from .record import RecordRequest, cpu_time, launch, rounded
from .running_kernel import recorded_kernel
from .trace import TRACED_CALLS, Trace, follow

_HEAD_BYTES = 4096
"""What the kernel looks at of a script (``BINPRM_BUF_SIZE`` is less)."""

_WAY = "traced"
_DIGITS = 2

_LEAST_SHARE = 0.01
"""A block that is only mapped is neither surely read nor surely not."""


@frozen
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
            found.append(f"{self.trace.unreadable_lines} unreadable lines")
        if self.trace.unknown_files:
            found.append(f"{self.trace.unknown_files} files of unknown name")
        return ", ".join(found) or None


def record_trace(
    payload: Payload, request: RecordRequest, progress: Progress
) -> TracedLaunch:
    """Record a launch from the payload's directory, traced by strace.

    A launch that isn't traced follows, for its time with warm caches.

    :raises UsageError: where the payload is to be the root directory.
    :raises ToolError: where strace is missing, or the launch fails.
    """
    strace = _strace()
    if request.command.chroot:
        message = "A launch with --chroot can't be traced"
        raise UsageError(message, resolution="Remove --chroot or --method trace.")
    with ExitStack() as stack:
        home = stack.enter_context(launch_home(request.home))
        scratch = stack.enter_context(
            scratch_directory(
                request.scratch, resolution="Choose another directory with --scratch."
            )
        )
        root = payload_directory(payload, scratch, progress)
        log = scratch / "strace.log"
        log_bytes = 0

        def look() -> None:
            nonlocal log_bytes
            log_bytes = log.stat().st_size

        if request.warm_up:
            progress("Launching once to set up the home directory")
            launch(request, root, home)
        progress("Launching under strace")
        traced = replace(request.command, traced_by=strace_words(strace, log))
        cold = launch(replace(request, command=traced), root, home, frozen=look)
        progress("Launching with warm caches")
        warm = launch(request, root, home)
        # What it did as it was ended stands behind.
        trace = follow(_lines(log, log_bytes))
        prefixes = (str(root.absolute()), str(root.resolve()))
    recorded = RecordedLaunch(
        event=warm.event,
        window=cold.window,
        warm_s=rounded(warm.wall_s),
        warm_cpu_s=cpu_time(warm),
        processors=len(os.sched_getaffinity(0)),
        kernel=platform.release(),
        kernel_modes=recorded_kernel(),
    )
    profile = LaunchProfile(
        source="trace",
        app=request.app,
        warm_s=recorded.warm_s,
        recorded=recorded,
        app_files=traced_files(trace, payload, prefixes=prefixes),
    )
    return TracedLaunch(profile=profile, trace=trace)


def can_trace() -> bool:
    """Tell whether strace is installed."""
    return shutil.which("strace") is not None


def _strace() -> str:
    program = shutil.which("strace")
    if program is None:
        message = "strace is not installed"
        raise ToolError(
            message,
            resolution="Install it, for instance with 'sudo apt install strace', or "
            "record as root.",
        )
    return program


def import_trace(
    log: Path, payload: Payload, *, app: str, prefixes: Sequence[str]
) -> TracedLaunch:
    """Make a profile of a log that ``strace -f`` has written.

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
        message = f"{str(log)!r} contains no read of a file in {str(path)!r}"
        raise BadDataError(
            message,
            details=f"{trace.calls} calls, {trace.unreadable_lines} unreadable lines, "
            f"{len(trace.ranges)} other files read",
            resolution="Record it with 'strace -f -y -o LOG -e trace="
            "file,desc,process COMMAND', and use --prefix to name the directory that "
            "the payload was in.",
        )
    profile = LaunchProfile(source="trace", app=app, app_files=files)
    return TracedLaunch(profile=profile, trace=trace)


def strace_words(strace: str, log: Path) -> tuple[str, ...]:
    """Return the words before a command that have strace write a log of it.

    A call that this machine doesn't have is ignored (``?``).
    """
    calls = ",".join(f"?{name}" for name in TRACED_CALLS)
    return (
        strace, "-f", "-qq", "-y", "-s", "0", "-e", f"trace={calls}", "-e",
        "signal=none", "-o", str(log),
    )  # fmt: skip


def _lines(log: Path, log_bytes: int) -> Iterator[str]:
    """Yield a log's lines up to some length, bytes that aren't UTF-8 escaped."""
    left = log_bytes
    with open_regular(log) as file:
        for line in file:
            left -= len(line)
            if left < 0:
                return
            yield line.decode(errors="surrogateescape")


def traced_files(
    trace: Trace,
    payload: Payload,
    *,
    prefixes: Iterable[str],
    priors: Priors | None = None,
) -> tuple[ProfileFile, ...]:
    """Return the blocks of a payload that a trace has seen read or mapped.

    Ranges reach as far as the file does. Programs are mapped whole, and so are the
    loader or interpreter that the kernel adds; scripts are read. A block that was only
    mapped has the share in which recorded launches read such a block.

    :param prefixes: directories where the payload was.
    :returns: sorted by path; hard links to one file count once, under the first.
    """
    places = _Places(payload, tuple(prefixes))
    seen: dict[str, SeenFile] = {}

    def file_of(entry: Entry) -> SeenFile:
        return seen.setdefault(entry.path, SeenFile(entry))

    for path, ranges in trace.ranges.items():
        if (entry := places.find(path)) is not None:
            file_of(entry).read.update(_blocks(entry, ranges))
    for path, ranges in trace.mapped.items():
        if (entry := places.find(path)) is not None:
            file_of(entry).mapped.update(_blocks(entry, ranges))
    for path in trace.programs:
        for entry in _with_interpreters(payload, places, path):
            file_of(entry).read.add(0)  # the kernel looks at its header
            file_of(entry).mapped.update(_blocks(entry, [(0, entry.size_bytes)]))
    known = priors or built_in_priors()
    return tuple(
        seen_file(file, payload, known)
        for _, file in sorted(seen.items())
        if file.read or file.mapped
    )


def looked_for(trace: Trace, payload: Payload) -> frozenset[str]:
    """Return the files of a payload that processes of an isolated launch missed.

    :param payload: that has them; the launch was from one that doesn't.
    """
    places = _Places(payload, ())
    found = (places.find(path) for path in trace.missing)
    return frozenset(entry.path for entry in found if entry is not None)


@dataclass(frozen=True, slots=True)
class SeenFile:
    """What was seen of a file, in numbers of data blocks."""

    entry: Entry
    read: set[int] = field(default_factory=set)
    mapped: set[int] = field(default_factory=set)


def _blocks(entry: Entry, ranges: Iterable[tuple[int, int]]) -> Iterator[int]:
    for start, end in ranges:
        last_block = block_count(min(end, entry.size_bytes))
        yield from range(start // DATA_BLOCK_BYTES, last_block)


def seen_file(file: SeenFile, payload: Payload, priors: Priors) -> ProfileFile:
    """Return a file's blocks: those that were only mapped have their measured share."""
    shares = dict.fromkeys(file.read, 1.0)
    if file.mapped - file.read:
        keys = keys_of(
            payload, Candidate(entry=file.entry, way=_WAY, role="plugin", direct=False)
        )
        for number in file.mapped - file.read:
            share = round(priors.block_share(keys[number]), _DIGITS)
            shares[number] = min(max(share, _LEAST_SHARE), 1 - _LEAST_SHARE)
    ranges = tuple(share_ranges(shares))
    return ProfileFile(
        path=file.entry.path,
        size=file.entry.size_bytes,
        blocks=tuple((first, last) for first, last, _ in ranges),
        shares=tuple(share for _, _, share in ranges),
    )


class _Places:
    """Finds the payload's files by the paths that they had on some machine."""

    def __init__(self, payload: Payload, prefixes: tuple[str, ...]) -> None:
        self._prefixes = tuple(f"{prefix.rstrip('/')}/" for prefix in prefixes)
        self._snap = re.compile(rf"/snap/{re.escape(payload.snap.name)}/[^/]+/")
        self._resolver = PathResolver(payload.inventory, snap_name=payload.snap.name)
        files = named_files(payload.inventory)
        self._first = {entry.identity: entry for entry in files}

    def find(self, path: str) -> Entry | None:
        """Return the file of that path, under its first name.

        ``None`` for what isn't the payload's, an empty file, or no regular one.
        """
        for _ in range(MAX_LINKS):
            inside = self._inside(path)
            if inside is None:
                return None
            location = self._resolver.locate(inside)
            if location.outside is None:
                entry = location.entry
                if entry is None or entry.kind is not EntryKind.FILE:
                    return None
                return self._first.get(entry.identity)
            # An absolute link of a system tree stays in it.
            path = location.outside
        return None

    def _inside(self, path: str) -> str | None:
        for prefix in self._prefixes:
            if path.startswith(prefix):
                return path.removeprefix(prefix).lstrip("/")
        match = self._snap.match(path)
        return path[match.end() :].lstrip("/") if match else None


def _with_interpreters(payload: Payload, places: _Places, path: str) -> Iterator[Entry]:
    """Yield a program and what the kernel loads along with it."""
    for _ in range(MAX_LINKS):
        entry = places.find(path)
        if entry is None:
            return
        yield entry
        following = _interpreter(payload, entry)
        if following is None:
            return
        path = following


def _interpreter(payload: Payload, entry: Entry) -> str | None:
    head = payload.read(entry.path, offset=0, length=_HEAD_BYTES)
    shebang = parse_shebang(head)
    if shebang is not None:
        return shebang.interpreter
    linkage = readable_linkage(payload, entry)
    return linkage.interpreter if linkage else None

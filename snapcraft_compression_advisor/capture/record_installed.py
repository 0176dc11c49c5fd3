"""Records a launch of an installed snap, as snapd starts it, over all that it reads.

``snap run`` becomes ``snap-confine``, which makes or joins the mount namespace and
becomes ``snap-exec``; that becomes the first program of the command-chain, and so on to
the app's command. All of that is one process (snapd ``cmd/snapd/cli/cmd_run.go``,
``cmd/snap-confine``, ``cmd/snapctl/tool/snap-exec``). The kernel's trace event of
execve(2) has the path that was given and the process, so it shows the launch's parts.
Traces go to buffers of our own, ``instances`` of tracefs (Linux's
``Documentation/trace/ftrace.rst``).
"""

from __future__ import annotations

import posixpath
import re
import shlex
import tempfile
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path

from ..codecs.codec import DATA_BLOCK_BYTES
from ..core.deferred_signals import deferred_signals
from ..core.errors import StorageError
from ..core.scratch import PREFIX, unmount
from ..core.units import format_bytes
from ..launch.profile import (
    LaunchPart,
    LaunchProfile,
    ProfileFile,
    ProfilePayload,
    RecordedPart,
)
from ..payload.scan import scan_directory
from ..payload.snap_yaml import App
from ..trial.result import Progress
from .installed import InstalledSnap, MountedSnap, image_facts
from .mount import mount_point, virtual_mount
from .page_cache import (
    drop_caches,
    resident_blocks,
    storage_of,
    without_blocks,
    without_holes,
)
from .record import cache_drops, recorded_launch, undisturbed, with_doubt
from .start import Launched, LaunchRequest, time_launch

_TOLERATED_BYTES = 1024 * 1024
"""What other programs may keep in memory of a snap without a word about it."""
_ANYWHERE = Path("/")
"""snapd makes a launch's surroundings."""

_TRACING = (Path("/sys/kernel/tracing"), Path("/sys/kernel/debug/tracing"))
"""Where tracefs may be mounted."""
_EXEC_EVENT = "sched/sched_process_exec"
_EXEC = re.compile(
    r" (?P<at>\d+\.\d+): sched_process_exec: "
    r"filename=(?P<program>.*) pid=(?P<pid>\d+) old_pid=\d+$",
    re.MULTILINE,
)
_INITIAL_PID_NAMESPACE = 0xEFFFFFFC
"""``PROC_PID_INIT_INO`` of Linux's ``include/linux/proc_ns.h``."""
_SNAPD: dict[str, LaunchPart] = {
    "snap": "snap-run",
    "snap-confine": "snap-confine",
    "snap-exec": "snap-exec",
}


def record_installed(
    snap: InstalledSnap,
    request: LaunchRequest,
    progress: Progress,
    *,
    note: Progress | None = None,
) -> LaunchProfile:
    """Record a cold launch by ``snap run``, and time a warm one.

    The blocks are those of each snap's mount in the page cache at the event, but for
    those that were there before: other programs use them.

    :param request: with the command of :func:`~.installed.snap_run`.
    :param note: shows what is in doubt; like progress, but to stay on the screen.
    :raises AdvisorError: if the launch fails.
    """
    recorder = _Recorder(snap, request, note or progress)
    if request.warm_up:
        progress("Launching once to set up the home directory")
        time_launch(request, _ANYWHERE, _ANYWHERE)
    profile = undisturbed(recorder.record, "with cold caches", progress)
    return with_doubt(profile, note or progress)


class _Recorder:
    """Launches one app of an installed snap."""

    def __init__(
        self, snap: InstalledSnap, request: LaunchRequest, note: Progress
    ) -> None:
        self._snap = snap
        self._request = request
        self._note = note
        self._inventories = {snap.stack[0].device: snap.payload.inventory}

    def record(self) -> LaunchProfile | None:
        """Launch cold and warm; None if somebody dropped the caches."""
        own = self._snap.stack[0]
        drop_caches()
        before = {each.device: self._resident(each) for each in self._snap.stack}
        # Looking has brought in directories and inodes.
        drop_caches()
        drops = cache_drops()
        storage = storage_of(own.image) if own.image is not None else None
        cold, parts, payloads = self._launch_cold(before)
        warm = time_launch(self._request, _ANYWHERE, _ANYWHERE)
        if cache_drops() != drops:
            return None
        self._warn_of_used(before)
        recorded = recorded_launch(
            cold, warm, read_ahead_kb=own.read_ahead_kb, storage=storage
        ).model_copy(update={"parts": parts})
        return LaunchProfile(
            schema_version=2,
            source="residency",
            app=self._request.app,
            warm_s=recorded.warm_s,
            recorded=recorded,
            payloads=payloads,
        )

    def _launch_cold(
        self, before: Mapping[str, Sequence[ProfileFile]]
    ) -> tuple[Launched, tuple[RecordedPart, ...], tuple[ProfilePayload, ...]]:
        """Launch once, with its parts and what is then in the page cache."""
        payloads: tuple[ProfilePayload, ...] = ()

        def look() -> None:
            nonlocal payloads
            payloads = tuple(
                _payload(each, self._resident(each, before[each.device]))
                for each in self._snap.stack
            )

        with exec_trace() as traced:
            launched = time_launch(self._request, _ANYWHERE, _ANYWHERE, frozen=look)
            text = traced() if names_our_processes() else ""
        app = self._snap.payload.snap.apps[self._request.app]
        return launched, launch_parts(text, launched, app), payloads

    def _resident(
        self, snap: MountedSnap, before: Sequence[ProfileFile] = ()
    ) -> tuple[ProfileFile, ...]:
        if snap.device not in self._inventories:
            self._inventories[snap.device] = scan_directory(snap.place)
        found = resident_blocks(snap.place, self._inventories[snap.device])
        if snap.device == self._snap.stack[0].device:
            found = tuple(without_holes(self._snap.payload, found))
        return tuple(without_blocks(found, before))

    def _warn_of_used(self, before: Mapping[str, Sequence[ProfileFile]]) -> None:
        """Say what of the snaps other programs use: a launch needn't read that."""
        for snap in self._snap.stack:
            kept = before[snap.device]
            blocks = sum(
                last - first + 1 for each in kept for first, last in each.blocks
            )
            size_bytes = blocks * DATA_BLOCK_BYTES
            if size_bytes > _TOLERATED_BYTES and snap.role != "snapd":
                self._note(
                    f"Warning: running programs use up to {format_bytes(size_bytes)} "
                    f"of snap {snap.name!r}, which the launch then didn't read"
                )


def _payload(snap: MountedSnap, files: tuple[ProfileFile, ...]) -> ProfilePayload:
    image_bytes, codec = image_facts(snap)
    return ProfilePayload(
        role=snap.role,
        name=snap.snap_name,
        revision=snap.revision,
        image_bytes=image_bytes,
        codec=codec,
        files=files,
    )


@contextmanager
def exec_trace(
    places: tuple[Path, ...] = _TRACING,
) -> Iterator[Callable[[], str]]:
    """Trace which processes become what, as root and if the kernel does that.

    :param places: where tracefs may be mounted; else it is, for the time.
    :returns: a function that returns the trace's lines, nothing without a trace.
    """
    with ExitStack() as stack:
        signals = stack.enter_context(deferred_signals())
        lines: Callable[[], str] = str
        with suppress(OSError, StorageError):
            trace = _started_trace(stack, places) / "trace"
            lines = partial(trace.read_text, errors="replace")
        with signals.delivered():
            yield lines


def _started_trace(stack: ExitStack, places: tuple[Path, ...]) -> Path:
    """Begin a trace that ends with a stack; return the directory of its buffer."""
    root = next((each for each in places if (each / "instances").is_dir()), None)
    if root is None:
        root = stack.enter_context(mount_point())
        virtual_mount("tracefs", root)
        stack.callback(unmount, str(root))
    instance = Path(tempfile.mkdtemp(prefix=PREFIX, dir=root / "instances"))
    stack.callback(_end_trace, instance)
    (instance / "trace_clock").write_text("mono")
    (instance / f"events/{_EXEC_EVENT}/enable").write_text("1")
    return instance


def _end_trace(instance: Path) -> None:
    with suppress(OSError):
        instance.rmdir()  # the kernel switches its events off


def names_our_processes(namespace: Path = Path("/proc/self/ns/pid")) -> bool:
    """Return whether the kernel's events have the process ids that this process sees.

    A container has ids of its own, and the events have those outside of it.
    """
    return namespace.stat().st_ino == _INITIAL_PID_NAMESPACE


def launch_parts(trace: str, launched: Launched, app: App) -> tuple[RecordedPart, ...]:
    """Return the parts of a launch by their beginning.

    :param trace: the kernel's lines, of any processes, in order.
    :param launched: of ``snap run``.
    :return: those that were seen, none if nothing was.
    """
    found: dict[LaunchPart, RecordedPart] = {}
    for match in _EXEC.finditer(trace):
        after_s, program = float(match["at"]) - launched.started_s, match["program"]
        is_first = int(match["pid"]) == launched.pid
        part = _part_of(program, app, is_first=is_first, begun=found)
        if after_s >= 0 and part is not None and part not in found:
            # Starting the first program is its part too.
            start_s = round(after_s, 4) if found else 0.0
            found[part] = RecordedPart(part=part, program=program, start_s=start_s)
    return tuple(found.values())


def _part_of(
    program: str, app: App, *, is_first: bool, begun: Container[LaunchPart]
) -> LaunchPart | None:
    """Return what part a program begins, which has the first process or another.

    A command-chain may start the app as another process.
    """
    if "snap-exec" not in begun:
        return _SNAPD.get(posixpath.basename(program)) if is_first else None
    if _is_one_of(program, app.command_chain):
        return "command-chain"
    with suppress(ValueError):
        if _is_one_of(program, shlex.split(app.command or "")[:1]):
            return "app"
    return None


def _is_one_of(program: str, paths: Iterable[str]) -> bool:
    """Return whether a program has one of the paths relative to its snap."""
    own = (path.removeprefix("$SNAP/").lstrip("/") for path in paths)
    return any(program.endswith(f"/{path}") for path in own)

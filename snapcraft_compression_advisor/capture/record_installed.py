"""Records a launch of an installed snap, as snapd starts it, over all that it reads."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from ..codecs.codec import DATA_BLOCK_BYTES
from ..core.errors import UsageError
from ..core.units import format_bytes
from ..launch.profile import (
    LaunchProfile,
    ProfileFile,
    ProfilePayload,
    RecordedPart,
)
from ..payload.scan import scan_directory
from ..payload.source import Payload, open_payload
from ..trial.result import Progress
from .installed import (
    MountedSnap,
    SnapRoots,
    find_installed,
    find_stack,
    image_facts,
    shown_inside,
)
from .kernel_trace import kernel_trace
from .launch_event import LaunchEvent
from .launch_parts import (
    EXEC_EVENT,
    exec_events,
    launch_parts,
    names_our_processes,
)
from .page_cache import (
    can_drop_caches,
    drop_caches,
    resident_blocks,
    storage_of,
    without_blocks,
    without_holes,
)
from .record import cache_drops, recorded_launch, undisturbed, with_doubt
from .snap_run import snap_run
from .start import Launched, time_launch

_TOLERATED_BYTES = 1024 * 1024
"""What other programs may keep in memory of a snap without a word about it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InstalledSnap:
    """An installed snap and what its apps run on.

    :param payload: the files of its mount.
    :param stack: it, its content snaps, its base and what brings snapd's programs.
    """

    payload: Payload
    stack: tuple[MountedSnap, ...]
    roots: SnapRoots

    @property
    def name(self) -> str:
        """Its name, with the key of a parallel instance."""
        return self.stack[0].name


@dataclass(frozen=True, slots=True, kw_only=True)
class InstalledLaunch:
    """What to record of an installed snap.

    :param warm_up: whether to launch once before, unrecorded.
    """

    app: str
    event: LaunchEvent
    timeout_s: float
    warm_up: bool = True


@contextmanager
def installed_snap(name: str, roots: SnapRoots) -> Iterator[InstalledSnap]:
    """Open an installed snap.

    :param name: with the key of a parallel instance.
    :raises AdvisorError: if it can't be recorded here.
    """
    if not can_drop_caches():
        message = "Recording an installed snap needs root"
        raise UsageError(
            message,
            resolution="Run with sudo: the app is still started as your own user.",
        )
    own = find_installed(name, roots)
    with open_payload(own.place) as payload:
        stack = find_stack(own, payload.snap, roots)
        yield InstalledSnap(payload=payload, stack=stack, roots=roots)


def record_installed(
    snap: InstalledSnap,
    request: InstalledLaunch,
    progress: Progress,
    *,
    note: Progress | None = None,
) -> LaunchProfile:
    """Record a cold launch by ``snap run``, and time a warm one.

    The blocks are those of each snap's mount in the page cache at the event, but for
    those that were there before: other programs use them.

    :param note: told what is in doubt; like progress, but to stay on the screen.
    :raises AdvisorError: if the launch fails.
    """
    recorder = _Recorder(snap, request, note or progress)
    if request.warm_up:
        progress("Launching once to set up the home directory")
        recorder.launch()
    profile = undisturbed(recorder.record, "with cold caches", progress)
    return with_doubt(profile, note or progress)


@dataclass(frozen=True, slots=True)
class _Seen:
    """What a cold launch left in the page cache."""

    launched: Launched
    parts: tuple[RecordedPart, ...]
    payloads: tuple[ProfilePayload, ...]


class _Recorder:
    """Launches one app of an installed snap."""

    def __init__(
        self, snap: InstalledSnap, request: InstalledLaunch, note: Progress
    ) -> None:
        self._snap = snap
        self._request = request
        self._note = note
        self._inventories = {snap.stack[0].device: snap.payload.inventory}

    def record(self) -> LaunchProfile | None:
        """Launch cold and warm; ``None`` if somebody dropped the caches."""
        own = self._snap.stack[0]
        drop_caches()
        before = {each.device: self._resident(each) for each in self._snap.stack}
        # Looking has brought in directories and inodes.
        drop_caches()
        drops = cache_drops()
        storage = storage_of(own.image) if own.image is not None else None
        cold = self._cold(before)
        warm, warm_parts = self.launch()
        if cache_drops() != drops:
            return None
        self._warn_of_used(before)
        recorded = recorded_launch(
            cold.launched, warm, read_ahead_kb=own.read_ahead_kb, storage=storage
        ).model_copy(update={"parts": cold.parts, "warm_parts": warm_parts})
        return LaunchProfile(
            schema_version=2,
            source="residency",
            app=self._request.app,
            warm_s=recorded.warm_s,
            recorded=recorded,
            payloads=cold.payloads,
        )

    def launch(
        self,
        *,
        watched: Callable[[set[int]], object] | None = None,
        frozen: Callable[[], object] | None = None,
    ) -> tuple[Launched, tuple[RecordedPart, ...]]:
        """Launch once, and return the parts that the kernel's trace shows.

        :raises ToolError: if the launch fails.
        """
        app, roots = self._request.app, self._snap.roots
        with (
            snap_run(self._snap.name, app, program=roots.program) as command,
            kernel_trace({EXEC_EVENT: ""}) as trace,
        ):
            launched = time_launch(
                command,
                Path("/"),
                self._request.event,
                timeout_s=self._request.timeout_s,
                home=Path("/"),  # snapd makes the app's own
                watched=watched,
                frozen=frozen,
            )
            text = trace.text() if names_our_processes() else None
        parts = launch_parts(
            exec_events(text),
            pid=launched.pid,
            started_s=launched.started_s,
            app=self._snap.payload.snap.apps[app],
        )
        return launched, parts

    def _cold(self, before: Mapping[str, Sequence[ProfileFile]]) -> _Seen:
        pids: set[int] = set()  # also of those that have ended by then
        payloads: tuple[ProfilePayload, ...] = ()

        def look() -> None:
            nonlocal payloads
            payloads = tuple(
                _payload(each, self._resident(each, before.get(each.device, ())))
                for each in self._stack_of(pids)
            )

        launched, parts = self.launch(watched=pids.update, frozen=look)
        return _Seen(launched, parts, payloads)

    def _stack_of(self, pids: Iterable[int]) -> Iterator[MountedSnap]:
        """Yield the snaps of a launch: those known before, and what it mounted."""
        own, *others = self._snap.stack
        known = {each.device for each in self._snap.stack}
        yield own
        for pid in sorted(pids):
            with suppress(OSError):
                table = Path(f"/proc/{pid}/mountinfo").read_text(errors="replace")
                for each in shown_inside(own, table, self._snap.roots):
                    if each.device not in known:
                        known.add(each.device)
                        yield each
        yield from others

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

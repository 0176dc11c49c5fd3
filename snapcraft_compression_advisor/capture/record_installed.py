"""Records a launch of an installed snap, as snapd starts it, over all that it reads.

``snap run`` becomes ``snap-confine``, which makes or joins the mount namespace and
becomes ``snap-exec``; that becomes the first program of the command-chain, and so on to
the app's command. All of that is one process (snapd ``cmd/snapd/cli/cmd_run.go``,
``cmd/snap-confine``, ``cmd/snapctl/tool/snap-exec``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from ..codecs.codec import DATA_BLOCK_BYTES
from ..core.units import format_bytes
from ..launch.profile import LaunchProfile, ProfileFile, ProfilePayload
from ..payload.scan import scan_directory
from ..trial.result import Progress
from .installed import InstalledSnap, MountedSnap, image_facts
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
    return with_doubt(profile, snap.payload, note or progress)


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
        cold, payloads = self._launch_cold(before)
        warm = time_launch(self._request, _ANYWHERE, _ANYWHERE)
        if cache_drops() != drops:
            return None
        self._warn_of_used(before)
        recorded = recorded_launch(
            cold, warm, read_ahead_kb=own.read_ahead_kb, storage=storage
        )
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
    ) -> tuple[Launched, tuple[ProfilePayload, ...]]:
        """Launch once, with what is then in the page cache."""
        payloads: tuple[ProfilePayload, ...] = ()

        def look() -> None:
            nonlocal payloads
            payloads = tuple(
                _payload(each, self._resident(each, before[each.device]))
                for each in self._snap.stack
            )

        launched = time_launch(self._request, _ANYWHERE, _ANYWHERE, frozen=look)
        return launched, payloads

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

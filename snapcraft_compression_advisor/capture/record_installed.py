"""Records a launch of an installed snap, as snapd starts it, over all that it reads.

``snap run`` becomes ``snap-confine``, which makes or joins the mount namespace and
becomes ``snap-exec``; that becomes the first program of the command-chain, and so on to
the app's command. All of that is one process (snapd ``cmd/snapd/cli/cmd_run.go``,
``cmd/snap-confine``, ``cmd/snapctl/tool/snap-exec``).
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from pathlib import Path

from ..codecs.codec import DATA_BLOCK_BYTES
from ..core.units import format_bytes
from ..launch.profile import LaunchProfile, ProfileFile, ProfilePayload
from ..payload.inventory import Inventory
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
from .start import LaunchRequest, time_launch

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
    own, say = snap.stack[0], note or progress
    resident = partial(_resident, snap, {own.device: snap.payload.inventory})

    def record() -> LaunchProfile | None:
        """Launch cold and warm; None if somebody dropped the caches."""
        payloads: tuple[ProfilePayload, ...] = ()

        def look() -> None:
            nonlocal payloads
            payloads = tuple(
                _payload(each, without_blocks(resident(each), before[each.device]))
                for each in snap.stack
            )

        drop_caches()
        before = {each.device: resident(each) for each in snap.stack}
        # Looking has brought in directories and inodes.
        drop_caches()
        drops = cache_drops()
        storage = storage_of(own.image) if own.image is not None else None
        cold = time_launch(request, _ANYWHERE, _ANYWHERE, frozen=look)
        warm = time_launch(request, _ANYWHERE, _ANYWHERE)
        if cache_drops() != drops:
            return None
        for each in snap.stack:
            _warn_of_used(each, before[each.device], say)
        recorded = recorded_launch(
            cold, warm, read_ahead_kb=own.read_ahead_kb, storage=storage
        )
        return LaunchProfile(
            schema_version=2,
            source="residency",
            app=request.app,
            warm_s=recorded.warm_s,
            recorded=recorded,
            payloads=payloads,
        )

    if request.warm_up:
        progress("Launching once to set up the home directory")
        time_launch(request, _ANYWHERE, _ANYWHERE)
    profile = undisturbed(record, "with cold caches", progress)
    return with_doubt(profile, snap.payload, say)


def _resident(
    snap: InstalledSnap, inventories: dict[str, Inventory], of: MountedSnap
) -> tuple[ProfileFile, ...]:
    """Return the blocks of a snap of the stack that are in the page cache.

    :param inventories: of snaps that were listed already, by device; may grow.
    """
    if of.device not in inventories:
        inventories[of.device] = scan_directory(of.place)
    found = resident_blocks(of.place, inventories[of.device])
    is_own = of is snap.stack[0]
    return tuple(without_holes(snap.payload, found)) if is_own else found


def _warn_of_used(
    snap: MountedSnap, kept: Iterable[ProfileFile], say: Progress
) -> None:
    """Say what of a snap other programs use: a launch needn't read that."""
    blocks = sum(last - first + 1 for each in kept for first, last in each.blocks)
    size_bytes = blocks * DATA_BLOCK_BYTES
    if size_bytes > _TOLERATED_BYTES and snap.role != "snapd":
        say(
            f"Warning: running programs use up to {format_bytes(size_bytes)} of snap "
            f"{snap.name!r}, which the launch then didn't read"
        )


def _payload(snap: MountedSnap, files: Iterable[ProfileFile]) -> ProfilePayload:
    image_bytes, codec = image_facts(snap)
    return ProfilePayload(
        role=snap.role,
        name=snap.snap_name,
        revision=snap.revision,
        image_bytes=image_bytes,
        codec=codec,
        files=tuple(files),
    )

"""Which of a snap's apps count."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

from snapcraft_compression_advisor.core.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from snapcraft_compression_advisor.payload.inventory import Inventory
    from snapcraft_compression_advisor.payload.snap_yaml import SnapMetadata


def select_apps(
    snap: SnapMetadata, inventory: Inventory, *, requested: Sequence[str] = ()
) -> tuple[tuple[str, ...], str]:
    """Return the target apps, and why these.

    Those requested; else the app that is named after the snap; else those with a
    desktop file; else all that have a command.

    :returns: names, the deciding one first, and the reason in words; no names
        for a snap without apps.
    :raises UsageError: where the snap has no app of a requested name.
    """
    if requested:
        for name in requested:
            check_app(snap.name, snap.apps, name)
        return tuple(dict.fromkeys(requested)), "named on the command line"
    if snap.name in snap.apps:
        return (snap.name,), "named after the snap"
    with_desktop_file = tuple(
        name for name in snap.apps if _has_desktop_file(snap, inventory, name)
    )
    if with_desktop_file:
        return with_desktop_file, "with a desktop file"
    return tuple(snap.apps), "all apps of the snap"


def _has_desktop_file(snap: SnapMetadata, inventory: Inventory, name: str) -> bool:
    desktop = snap.apps[name].desktop
    return desktop is not None or f"meta/gui/{name}.desktop" in inventory.entries


def check_app(snap: str, apps: Collection[str], name: str) -> None:
    """Check that a snap has an app.

    :param snap: its name.
    :param apps: that it has.
    :raises UsageError: where it has none of that name.
    """
    if name in apps:
        return
    near = difflib.get_close_matches(name, apps, n=1)
    message = f"Snap {snap!r} has no app {name!r}"
    raise UsageError(
        message,
        resolution=(f"Did you mean {near[0]!r}? " if near else "")
        + f"Its apps: {', '.join(sorted(apps)) or 'none'}.",
    )

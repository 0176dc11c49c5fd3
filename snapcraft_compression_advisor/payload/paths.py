"""The entries that paths lead to, as the running snap would see them."""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass

from ..squashfs.entry import EntryKind
from .inventory import Entry, Inventory

MAX_LINKS = 40
"""Symlinks followed in one path: the kernel's MAXSYMLINKS (linux/namei.h)."""

# DOTALL and \Z: a name may have a new line in it, or at its end.
_OWN_MOUNT = re.compile(r"/snap/(?P<name>[^/]+)/[^/]+(?P<rest>/.*|\Z)", re.DOTALL)
_VARIABLE = re.compile(r"\$\{?SNAP\}?(?=/|\Z)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Location:
    """If a path leads.

    :param entry: what it leads to inside of the payload, links followed.
    :param outside: the absolute path that it leads to in the base or another
        snap; ``None`` if it stays inside.
    """

    entry: Entry | None = None
    outside: str | None = None


class PathResolver:
    """Follows paths and symlinks of one payload without leaving it.

    :param snap_name: ``/snap/NAME/REVISION`` is the payload itself.
    """

    def __init__(self, inventory: Inventory, *, snap_name: str) -> None:
        self._entries = inventory.entries
        self._snap_name = snap_name

    def in_payload(self, path: str) -> str | None:
        """Return a path relative to the payload, ``None`` if it lies outside.

        ``$SNAP/…``, ``/snap/NAME/current/…`` and relative paths lie inside; other
        absolute ones are the base's, other variables the user's. No link is looked
        at.
        """
        mount = f"/snap/{self._snap_name}/current"
        expanded = _VARIABLE.sub(lambda _: mount, path, count=1)
        if expanded.startswith("$"):
            return None
        if not expanded.startswith("/"):
            return _normal(expanded)
        own = _OWN_MOUNT.match(posixpath.normpath(expanded))
        if own is None or own["name"] != self._snap_name:
            return None
        return _normal(own["rest"].lstrip("/"))

    def locate(self, path: str) -> Location:
        """Follow a path and all links in it.

        A path that leads nowhere, out through ``..`` or round in a loop has
        neither entry nor outside.
        """
        names = self._names(path)
        if names is None:
            return Location(outside=path)
        reached: list[str] = []
        links = 0
        while names:
            name = names.pop()
            if name == "..":
                if not reached:
                    return Location()
                reached.pop()
                continue
            entry = self._entries.get("/".join((*reached, name)))
            if entry is None:
                return Location()
            if entry.kind is not EntryKind.SYMLINK:
                reached.append(name)
                continue
            links += 1
            target = entry.link_target or ""
            if links > MAX_LINKS:
                return Location()
            following = self._names(target)
            if following is None:
                rest = "/".join(reversed(names))
                return Location(outside=posixpath.join(target, rest).rstrip("/"))
            if target.startswith("/"):
                reached.clear()
            names.extend(following)
        return Location(entry=self._entries.get("/".join(reached)))

    def _names(self, path: str) -> list[str] | None:
        """Return a path's names last first, ``None`` if it is the base's."""
        if path.startswith(("/", "$")):
            inside = self.in_payload(path)
            if inside is None:
                return None
            path = inside
        return [name for name in reversed(path.split("/")) if name not in ("", ".")]


def _normal(path: str) -> str:
    normal = posixpath.normpath(path) if path else ""
    return "" if normal == "." else normal

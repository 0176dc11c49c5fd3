"""``icon-theme.cache``: which icons a theme has, without listing its directories."""

from __future__ import annotations

import posixpath
import struct
from collections.abc import Iterator
from functools import partial

from ...squashfs.entry import EntryKind
from ..inventory import Entry
from ..tree import Tree
from . import CacheFault, cache_fault
from .schemas import GNOME_CONTENT

CACHE = "icon-theme.cache"

LEAST_ICONS = 100
"""Fewer icons lie in a few directories, which are listed in no time."""

GTK = ("libgtk-3", "libgtk-4", "libgtk-x11-2.0")
QT = ("libQt5Gui", "libQt6Gui")
"""Libraries that look for icons in themes, and use the cache."""

KDE = ("libKF5IconThemes", "libKF6IconThemes")
"""Libraries that look for icons in Qt's place, and keep a cache of their own."""

_SUFFIXES = (".png", ".svg", ".xpm")
_LONGEST_NAME = 256
_END_OF_CHAIN = 0xFFFFFFFF
_ENTRY_BYTES = 12


_fault = partial(cache_fault, "icon-theme", readers=(*GTK, *QT))


class BrokenIconCacheError(ValueError):
    """It isn't an icon cache, or one that contradicts itself."""


def icon_faults(tree: Tree) -> Iterator[CacheFault]:
    """Yield icon themes whose cache is missing, or ignored by GTK and Qt."""
    qt = () if tree.has_library(*KDE) else QT
    if not tree.has_library(*GTK, *qt, content=GNOME_CONTENT):
        return
    for theme in tree.directories():
        if posixpath.dirname(theme).endswith("share/icons"):
            icons = [entry for entry in tree.below(theme) if _is_icon(entry, theme)]
            if len(icons) >= LEAST_ICONS:
                yield from _faults(tree, theme, icons)


def _faults(tree: Tree, theme: str, icons: list[Entry]) -> Iterator[CacheFault]:
    path = f"{theme}/{CACHE}"
    if path not in tree.entries:
        yield _fault("missing", path, icons, "the theme has icons but no cache")
        return
    cache, directory = tree.file(path), tree.entries.get(theme)
    # gtk_icon_cache_new_for_path and Qt's QIconCacheGtkReader compare these times.
    # Those of a prime directory may be of its copying; a built snap's stay.
    if (
        tree.payload.kind == "snap"
        and cache
        and directory
        and cache.modified_s < directory.modified_s
    ):
        reason = "GTK and Qt ignore it because it is older than its directory"
        yield _fault("stale", path, icons, reason)
        return
    data = tree.contents(cache)
    if data is None:
        return
    try:
        names = cached_icons(data)
    except BrokenIconCacheError:
        return
    unknown = [icon for icon in icons if names.isdisjoint(_names(icon.path))]
    if unknown:
        yield _fault("stale", path, unknown, "these icons are missing from it")


def _is_icon(entry: Entry, theme: str) -> bool:
    return (
        entry.kind is EntryKind.FILE
        and entry.path.endswith(_SUFFIXES)
        and posixpath.dirname(entry.path) != theme
    )


def _names(path: str) -> set[str]:
    """Return the names that an icon may have in a cache."""
    stem = posixpath.splitext(posixpath.basename(path))[0]
    return {stem, stem.removesuffix(".symbolic")}


def cached_icons(data: bytes) -> set[str]:
    """Return the names of the icons in a cache.

    The layout is that of GTK's ``docs/iconcache.txt``: a hash table of names, whose
    buckets are linked lists.

    :raises BrokenIconCacheError: where it can't be read.
    """
    try:
        major, _, table, _ = struct.unpack_from(">HHII", data)
        if major != 1:
            message = f"version {major}"
            raise BrokenIconCacheError(message)
        (buckets,) = struct.unpack_from(">I", data, table)
        if table + 4 + 4 * buckets > len(data):
            message = "the table extends past the end"
            raise BrokenIconCacheError(message)
        heads = struct.unpack_from(f">{buckets}I", data, table + 4)
        return set(_chained_names(data, heads))
    except struct.error as error:
        raise BrokenIconCacheError(str(error)) from error


def _chained_names(data: bytes, heads: tuple[int, ...]) -> Iterator[str]:
    seen: set[int] = set()
    for head in heads:
        position = head
        while position != _END_OF_CHAIN and position not in seen:
            if len(seen) * _ENTRY_BYTES > len(data):
                message = "its entries overlap"
                raise BrokenIconCacheError(message)
            seen.add(position)
            position, name = struct.unpack_from(">II", data, position)
            text = data[name : name + _LONGEST_NAME].partition(b"\0")[0]
            yield text.decode("utf-8", "surrogateescape")

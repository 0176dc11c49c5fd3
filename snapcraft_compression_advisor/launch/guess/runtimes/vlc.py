"""Programs on libVLC: the plug-ins that it looks into."""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING

from ....squashfs.entry import EntryKind
from .runtime import Loaded

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .runtime import StartedApp

MAX_PLUGINS = 1000
"""Debian ships some 370 of them."""

_PLUGIN = re.compile(r"(?P<root>.*/vlc/plugins)/(?P<kind>\w+)/lib\w+_plugin\.so")
_WITH_CACHE = frozenset(("control", "gui", "keystore", "logger", "lua", "misc"))


def loads(app: StartedApp) -> Iterator[Loaded]:
    """Yield all plug-ins, or if there is a list of them, those of the interface.

    Without its ``plugins.dat``, libVLC opens each plug-in to ask what it can do.
    """
    entries = app.payload.inventory.entries
    count = 0
    for path, entry in entries.items():
        match = _PLUGIN.fullmatch(path) if path.endswith("_plugin.so") else None
        if match is None or entry.kind is not EntryKind.FILE:
            continue
        is_listed = posixpath.join(match["root"], "plugins.dat") in entries
        if is_listed and match["kind"] not in _WITH_CACHE:
            continue
        count += 1
        if count > MAX_PLUGINS:
            return
        yield Loaded(entry=entry, way="vlc-interface" if is_listed else "vlc-plugin")

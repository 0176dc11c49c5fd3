"""Caches that programs make of other files during a build.

Tried with Debian 12's tools on files in two orders and with two times: fontconfig's
caches, Python's bytecode and mandb's index hold the times of their sources, so they
differ where nothing else does. The caches of icon themes, of schemas, of MIME types and
of modules don't depend on either, but did with older tools.
"""

from __future__ import annotations

import posixpath
from collections.abc import Collection
from fnmatch import fnmatchcase

from ..payload.source import Payload

_SOURCES = (
    ("*/icon-theme.cache", "{folder}/"),
    ("*/gschemas.compiled", "{folder}/"),
    ("*/giomodule.cache", "{folder}/"),
    ("*/mimeinfo.cache", "{folder}/"),
    ("*/mime/mime.cache", "{folder}/packages/"),
    ("*/loaders.cache", "{folder}/loaders/"),
    ("*/immodules.cache", "{folder}/immodules/"),
    ("*/__pycache__/*.pyc", "{above}/{stem}.py"),
    ("*/cache/man/*index.db", "usr/share/man/"),
    ("*/cache/fontconfig/*.cache-*", "usr/share/fonts/"),
)
"""Patterns of caches, and where the files are that each is made of."""


def sources_of(path: str) -> str | None:
    """Return how the paths of a cache's sources begin; ``None`` for no cache."""
    found = next((where for cache, where in _SOURCES if fnmatchcase(path, cache)), None)
    if found is None:
        return None
    folder, name = posixpath.split(path)
    return found.format(
        folder=folder, above=posixpath.dirname(folder), stem=name.partition(".")[0]
    )


def same_files(
    start: str, old: Payload, new: Payload, changed: Collection[str]
) -> bool:
    """Tell whether the sources of a cache are there, and the same in both builds.

    :param start: how their paths begin.
    :param changed: files whose contents changed.
    """
    listed = [_sources(payload, start) for payload in (old, new)]
    return (
        bool(listed[1])
        and listed[0] == listed[1]
        and not any(path in changed for path, _ in listed[1])
    )


def _sources(payload: Payload, start: str) -> set[tuple[str, int]]:
    """Return paths and lengths of files below a folder, or of one file."""
    entries = payload.inventory.entries
    if start in entries:
        return {(start, entries[start].size_bytes)}
    return {
        (entry.path, entry.size_bytes)
        for entry in payload.inventory.files()
        if entry.path.startswith(start) and sources_of(entry.path) is None
    }

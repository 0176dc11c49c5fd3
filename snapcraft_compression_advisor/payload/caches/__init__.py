"""Caches of libraries that spare launches work: missing ones, stale ones."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

from ...core.frozen import frozen
from ..inventory import Entry

CacheKind = Literal[
    "settings-schemas",
    "image-loaders",
    "input-methods",
    "icon-theme",
    "fonts",
    "gio-modules",
    "python-bytecode",
]
CacheState = Literal["missing", "stale"]


@frozen
class CacheFault:
    """A cache that would spare launches work, but isn't there or doesn't fit.

    :param state: ``missing``, or ``stale`` where it is there but doesn't know all of
        the files that it is of.
    :param path: of the cache, or where it should be; of bytecode the directory of the
        sources.
    :param sources: files that the cache doesn't know, by path.
    :param source_count: how many there are; more than ``sources`` where only some were
        looked at.
    :param reason: what was compared, in words.
    :param readers: libraries that read it, their names up to ``.so``; empty where it
        isn't a library that does.
    :param doubt: why a launch may do without; ``None`` where nothing says so.
    """

    kind: CacheKind
    state: CacheState
    path: str
    sources: tuple[str, ...]
    source_count: int
    reason: str
    readers: tuple[str, ...] = ()
    doubt: str | None = None


def cache_fault(
    kind: CacheKind,
    state: CacheState,
    path: str,
    sources: Iterable[Entry],
    reason: str,
    **more: Any,  # noqa: ANN401 # further fields of CacheFault
) -> CacheFault:
    """Return the fault of a cache that doesn't know some files; all were looked at."""
    paths = tuple(sorted(entry.path for entry in sources))
    fields = {"source_count": len(paths), **more}
    return CacheFault(
        kind=kind, state=state, path=path, sources=paths, reason=reason, **fields
    )

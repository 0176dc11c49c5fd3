"""fontconfig's caches: what fonts a directory has, without opening each of them."""

from __future__ import annotations

import hashlib
import posixpath
import struct
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import partial
from itertools import chain

from .caches import CacheFault, Tree, cache_fault
from .inventory import Entry

LEAST_FONTS = 10
"""Fewer are opened in no time."""

_FONTS = "usr/share/fonts"
CACHES = "var/cache/fontconfig"

DIRECTORIES = (f"{_FONTS}/", "usr/local/share/fonts/")
"""Where fontconfig looks unless it is told otherwise."""

_SUFFIXES = (".ttf", ".otf", ".ttc", ".pcf", ".pcf.gz", ".pfb")
_CONTENT = ("gnome-", "kf5-", "kf6-", "kde-frameworks-")
_HEADER = struct.Struct("<IiqqqixxxxqixxxxQ")
_MAGIC = (0xFC02FC02, 0xFC02FC04)
_WRITTEN_FOR_64_BITS = "-le64.cache-"
_fault = partial(cache_fault, "fonts", path=CACHES, readers=("libfontconfig",))


def font_faults(tree: Tree) -> Iterator[CacheFault]:
    """Yield the fonts whose directories have no cache that fontconfig would take."""
    if not tree.has_library("libfontconfig", content=_CONTENT):
        return
    fonts = _fonts(tree)
    if sum(map(len, fonts.values())) < LEAST_FONTS:
        return
    doubt = _doubt(tree)
    caches: dict[str, list[Entry]] = defaultdict(list)
    for entry in tree.folders.get(CACHES, ()):
        name, _, form = posixpath.basename(entry.path).partition("-")
        if ".cache-" in form:
            caches[name].append(entry)
    if not caches:
        found = chain.from_iterable(fonts.values())
        why = "there are fonts but no cache for them"
        yield _fault("missing", sources=found, reason=why, doubt=doubt)
        return
    if doubt:  # the caches may be of other paths than those that look right
        return
    stale = {
        directory: reason
        for directory in fonts
        if (reason := _stale(tree, directory, caches))
    }
    affected = [entry for directory in stale for entry in fonts[directory]]
    if len(affected) >= LEAST_FONTS:
        reasons = "; ".join(sorted(set(stale.values())))
        yield _fault("stale", sources=affected, reason=reasons)


def _fonts(tree: Tree) -> Mapping[str, list[Entry]]:
    return {
        directory: fonts
        for directory in tree.folders
        if f"{directory}/".startswith(DIRECTORIES)
        and (fonts := tree.named(directory, _SUFFIXES))
    }


def _doubt(tree: Tree) -> str | None:
    """Return why a cache may not help: fontconfig finds it by the directory's path."""
    snap = tree.payload.snap
    if snap.base_name in ("bare", "none"):
        return None
    laid_out = [target.rstrip("/") + "/" for target in snap.layout]
    if all(f"/{needed}/".startswith(tuple(laid_out)) for needed in (_FONTS, CACHES)):
        return None
    return (
        "fontconfig looks a cache up by its directory's path in the running snap, and "
        "no layout of the snap fixes that path"
    )


def _stale(tree: Tree, directory: str, caches: Mapping[str, list[Entry]]) -> str | None:
    """Return why fontconfig would ignore a directory's cache."""
    name = hashlib.md5(
        f"/{directory}".encode("utf-8", "surrogateescape"), usedforsecurity=False
    ).hexdigest()
    own = caches.get(name, ())
    if not own:
        return "some font directories have no cache"
    entry = tree.entries.get(directory)
    for cache in own:
        times = cache_times(tree, cache.path)
        if times is None:
            return None
        seconds, nanoseconds = times
        if nanoseconds:
            return (
                "some caches record the directory's time in nanoseconds, which an "
                "image doesn't store"
            )
        moved = entry is None or seconds != entry.modified_s
        if tree.payload.kind == "snap" and moved:
            return "some caches record a different time from their directory's"
    return None


def cache_times(tree: Tree, path: str) -> tuple[int, int] | None:
    """Return the directory's time that a cache was made at: seconds, and beyond.

    The layout is that of fontconfig's ``struct _FcCache`` (``src/fcint.h``); the check
    is ``FcCacheTimeValid`` of ``src/fccache.c``.

    :returns: None if it isn't a cache of known form.
    """
    if _WRITTEN_FOR_64_BITS not in path or tree.file(path) is None:
        return None
    header = tree.payload.read(path, offset=0, length=_HEADER.size)
    if len(header) < _HEADER.size:
        return None
    magic, *_, seconds, nanoseconds = _HEADER.unpack(header)
    return (seconds, nanoseconds) if magic in _MAGIC else None

"""Caches of many files: Python's bytecode, and what fontconfig knows of fonts.

A snap can't be written to: what isn't compiled in it, Python compiles at every launch;
fontconfig opens each font to write a cache for the user.
"""

from __future__ import annotations

import hashlib
import os
import posixpath
import re
import struct
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import partial
from itertools import chain

from .caches import CacheFault, Tree, cache_fault
from .inventory import Entry

LOOKED_AT = 128
"""Bytecode files of a directory of modules whose headers are read, evenly spread.

Bytecode gets stale by what is done to a whole tree, so that a few tell.
"""

BASE_PYTHONS = {"core18": 6, "core20": 8, "core22": 10, "core24": 12}
"""Minor versions of ``python3`` of the Ubuntu releases that bases are made from."""

MOST_INTERPRETERS = 4
"""Versions of Python that are told apart in a payload, the newest."""

_ROOT = re.compile(
    r"(?P<root>(?:.*/)?lib(?:64)?/(?:python3/dist-packages"
    r"|python3\.(?P<minor>\d+)(?:/(?:dist|site)-packages)?))/"
)
_NOT_IMPORTED = re.compile(
    r"(?:^|/)(?:tests?|testing|idle_test|lib2to3|config-3[^/]*)/"
)
_INTERPRETER = re.compile(r"(?:.*/)?bin/python3\.(?P<minor>\d+)")
_BYTECODE_HEADER_BYTES = 16

LEAST_FONTS = 10
"""Fewer are opened in no time."""

_FONTS = "usr/share/fonts"
CACHES = "var/cache/fontconfig"

_FONT_DIRECTORIES = (f"{_FONTS}/", "usr/local/share/fonts/")
"""Where fontconfig looks unless it is told otherwise."""

_FONT_SUFFIXES = (".ttf", ".otf", ".ttc", ".pcf", ".pcf.gz", ".pfb")
_FONT_CONTENT = ("gnome-", "kf5-", "kf6-", "kde-frameworks-")
_FONT_CACHE = struct.Struct("<IiqqqixxxxqixxxxQ")
_FONT_CACHE_MAGICS = (0xFC02FC02, 0xFC02FC04)
_WRITTEN_FOR_64_BITS = "-le64.cache-"
_font_fault = partial(cache_fault, "fonts", path=CACHES, readers=("libfontconfig",))


def bytecode_faults(tree: Tree) -> Iterator[CacheFault]:
    """Yield directories of modules that lack bytecode, or have some that is stale."""
    minors = _interpreters(tree)
    if not minors:
        return
    roots: dict[str, list[Entry]] = defaultdict(list)
    for entry in tree.payload.inventory.files():
        root = _root_of(entry, minors)
        if root is not None:
            roots[root].append(entry)
    for root, sources in roots.items():
        yield from _bytecode_faults(tree, root, sources, minors)


def _interpreters(tree: Tree) -> frozenset[int]:
    """Return the minor versions of the payload's Python 3, or else its base's."""
    matches = (_INTERPRETER.fullmatch(path) for path in tree.entries)
    found = {int(match["minor"]) for match in matches if match}
    own = frozenset(sorted(found)[-MOST_INTERPRETERS:])
    base = BASE_PYTHONS.get(tree.payload.snap.base_name)
    return own or frozenset(() if base is None else (base,))


def _root_of(entry: Entry, minors: frozenset[int]) -> str | None:
    """Return a source's directory of modules; ``None`` if nobody imports it."""
    if not entry.path.endswith(".py") or not entry.size_bytes:
        return None
    match = _ROOT.match(entry.path)
    if match is None or (match["minor"] and int(match["minor"]) not in minors):
        return None
    if _NOT_IMPORTED.search(entry.path, match.end()):
        return None
    modules = entry.path[match.end() : -len(".py")].split("/")
    return match["root"] if all(name.isidentifier() for name in modules) else None


def _bytecode_faults(
    tree: Tree, root: str, sources: list[Entry], minors: frozenset[int]
) -> Iterator[CacheFault]:
    compiled = [(source, _bytecode(tree, source, minors)) for source in sources]
    missing = [source for source, bytecode in compiled if bytecode is None]
    if missing:
        versions = " or ".join(f"3.{minor}" for minor in sorted(minors))
        reason = f"these sources have no bytecode for Python {versions}"
        yield cache_fault("python-bytecode", "missing", root, missing, reason)
    pairs = [(source, each) for source, each in compiled if each is not None]
    looked_at = pairs[:: max(1, -(-len(pairs) // LOOKED_AT))]
    stale = [source for source, each in looked_at if _is_stale(tree, source, each)]
    if stale:
        reason = (
            "Python ignores bytecode that doesn't match its source's length, "
            f"time or hash in the snap ({len(looked_at)} of {len(pairs)} checked)"
        )
        count = round(len(stale) * len(pairs) / len(looked_at))
        yield cache_fault(
            "python-bytecode", "stale", root, stale, reason, source_count=count
        )


def _bytecode(tree: Tree, source: Entry, minors: frozenset[int]) -> Entry | None:
    """Return a source's bytecode for one of these versions."""
    directory, name = posixpath.split(source.path)
    for minor in minors:
        cached = f"__pycache__/{name[:-3]}.cpython-3{minor}.pyc"
        found = tree.file(posixpath.join(directory, cached))
        if found is not None:
            return found
    return None


def _is_stale(tree: Tree, source: Entry, bytecode: Entry) -> bool:
    """Return whether Python would ignore a source's bytecode, as far as times tell.

    See "Cached bytecode invalidation" of Python's reference (PEP 552). A prime
    directory's times may be of its copying, so there only the length counts, and that
    a pack with ``SOURCE_DATE_EPOCH`` leaves no source a later time than that.
    """
    header = tree.payload.read(bytecode.path, offset=0, length=_BYTECODE_HEADER_BYTES)
    if len(header) < _BYTECODE_HEADER_BYTES:
        return True
    _, by_hash, modified_s, size_bytes = struct.unpack("<IIII", header)
    if by_hash:
        return False
    if size_bytes != source.size_bytes & 0xFFFFFFFF:
        return True
    if tree.payload.kind == "snap":
        return bool(modified_s != source.modified_s & 0xFFFFFFFF)
    latest = os.environ.get("SOURCE_DATE_EPOCH", "")
    return latest.isdecimal() and bool(modified_s > int(latest))


def font_faults(tree: Tree) -> Iterator[CacheFault]:
    """Yield the fonts whose directories have no cache that fontconfig would take."""
    if not tree.has_library("libfontconfig", content=_FONT_CONTENT):
        return
    fonts = _fonts(tree)
    if sum(map(len, fonts.values())) < LEAST_FONTS:
        return
    doubt = _doubt_of_fonts(tree)
    caches: dict[str, list[Entry]] = defaultdict(list)
    for entry in tree.folders.get(CACHES, ()):
        name, _, form = posixpath.basename(entry.path).partition("-")
        if ".cache-" in form:
            caches[name].append(entry)
    if not caches:
        found = chain.from_iterable(fonts.values())
        why = "there are fonts but no cache for them"
        yield _font_fault("missing", sources=found, reason=why, doubt=doubt)
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
        yield _font_fault("stale", sources=affected, reason=reasons)


def _fonts(tree: Tree) -> Mapping[str, list[Entry]]:
    return {
        directory: fonts
        for directory in tree.folders
        if f"{directory}/".startswith(_FONT_DIRECTORIES)
        and (fonts := tree.named(directory, _FONT_SUFFIXES))
    }


def _doubt_of_fonts(tree: Tree) -> str | None:
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
    if name not in caches:
        return "some font directories have no cache"
    for cache in caches[name]:
        times = cache_times(tree, cache.path)
        if times is None:
            return None
        seconds, nanoseconds = times
        if nanoseconds:
            return (
                "some caches record the directory's time in nanoseconds, which an "
                "image doesn't store"
            )
        moved = seconds != tree.entries[directory].modified_s
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
    header = tree.payload.read(path, offset=0, length=_FONT_CACHE.size)
    if len(header) < _FONT_CACHE.size:
        return None
    magic, *_, seconds, nanoseconds = _FONT_CACHE.unpack(header)
    return (seconds, nanoseconds) if magic in _FONT_CACHE_MAGICS else None

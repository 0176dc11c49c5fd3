"""Caches of many files: Python's bytecode, and what fontconfig knows of fonts.

A snap can't be written to: what isn't compiled in it, Python compiles at every launch;
fontconfig opens each font to write a cache for the user.
"""

from __future__ import annotations

import os
import posixpath
import re
import struct
from collections import defaultdict
from collections.abc import Iterator

from .caches import CacheFault, Tree, cache_fault
from .inventory import Entry

LOOKED_AT = 128
"""Bytecode files of a directory of modules whose headers are read, evenly spread.

Bytecode gets stale by what is done to a whole tree, so that a few tell.
"""

BASE_PYTHONS = {"core18": 6, "core20": 8, "core22": 10, "core24": 12}
"""Minor versions of ``python3`` of the Ubuntu releases that bases are made from."""

MOST_INTERPRETERS = 4
"""Versions of Python that a payload may have side by side, the newest."""

_ROOT = re.compile(
    r"(?P<root>(?:.*/)?lib(?:64)?/(?:python3/dist-packages"
    r"|python3\.(?P<minor>\d+)(?:/(?:dist|site)-packages)?))/"
)
_NOT_IMPORTED = re.compile(
    r"(?:^|/)(?:tests?|testing|idle_test|lib2to3|config-3[^/]*)/"
)
_INTERPRETER = re.compile(
    r"(?:.*/)?(?:bin/python3\.|lib/python3\.(?=\d+/os\.py))(?P<minor>\d+)(?:/os\.py)?"
)
"""An interpreter, or the library that one named without its version has."""
_BYTECODE_HEADER_BYTES = 16

LEAST_FONTS = 10
"""Fewer are opened in no time."""

_FONTS = "usr/share/fonts"
CACHES = "var/cache/fontconfig"

_FONT_DIRECTORIES = (f"{_FONTS}/", "usr/local/share/fonts/")
"""Where fontconfig looks by default."""

_FONT_SUFFIXES = (".ttf", ".otf", ".ttc", ".pcf", ".pcf.gz", ".pfb")
_FONT_CONTENT = ("gnome-", "kf5-", "kf6-", "kde-frameworks-")


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
    """Yield the fonts if fontconfig has no cache of them at all.

    Whether it would take one that is there isn't looked at.
    """
    if not tree.has_library("libfontconfig", content=_FONT_CONTENT):
        return
    fonts = [
        font
        for directory in tree.folders
        if f"{directory}/".startswith(_FONT_DIRECTORIES)
        for font in tree.named(directory, _FONT_SUFFIXES)
    ]
    cached = any(".cache-" in each.path for each in tree.folders.get(CACHES, ()))
    if len(fonts) >= LEAST_FONTS and not cached:
        why = "there are fonts but no cache for them"
        doubt = _doubt_of_fonts(tree)
        yield cache_fault(
            "fonts",
            "missing",
            CACHES,
            fonts,
            why,
            readers=("libfontconfig",),
            doubt=doubt,
        )


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

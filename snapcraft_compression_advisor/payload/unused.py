"""Libraries that nothing in a payload links, and whose name nothing in it has.

What loads a library by its name while it runs has that name among its bytes. A name put
together from parts escapes that, if neither part tells. So only libraries count that
have a version in their name, in the directories that the loader searches: programs that
load whatever they find in a directory keep it elsewhere.
"""

from __future__ import annotations

import posixpath
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping

from ..core.units import MIB
from ..squashfs.entry import EntryKind
from .elf import ELF_MAGIC, ElfLinkage, readable_linkage
from .inventory import Entry
from .linkage import BASE_LIBRARY, LIBRARY_DIRECTORIES
from .needless import NeedlessFile, compiler_of
from .paths import MAX_LINKS
from .references import links_of
from .source import Payload, is_far

MOST_BYTES = 1024 * MIB
"""Of a payload whose files are searched; a larger one takes a minute and more."""

_VERSIONED = re.compile(r"lib[^/]+\.so(?:\.\d+)+")
_INDEX = "etc/ld.so.cache"
"""It names all libraries, and the loader reads the base's instead."""

_PIECE_BYTES = 4 * MIB
_OVERLAP_BYTES = 1024
"""More than four times the longest name, which may have four bytes a character."""

_NULS_A_CHARACTER = (0, 1, 3)
"""Of ASCII, and of UTF-16 and UTF-32 as little-endian machines have them."""

_COMPOSED = re.compile(rb"(lib[\w+.-]+)[%${]")
_WIDE_COMPOSED = re.compile(rb"(l\0i\0b\0(?:[\w+.-]\0)+)[%${]\0")
"""A beginning, and something that is put in: ``libfoo%s.so``."""
_JOINT = re.compile(r"[-_]")
"""If a name may be put together: ``GLX_`` or ``libGLX_``, and ``mesa``."""

_PACKED = (
    *(b"PK\3\4", b"\x1f\x8b", b"\xfd7zXZ", b"\x28\xb5\x2f\xfd", b"BZh", b"7z\xbc\xaf"),
    b"hsqs",
)
"""How ZIP archives begin (a JAR, a wheel), and what gzip, xz, zstd, bzip2, 7-Zip and
mksquashfs write."""
_ZIP_END, _ZIP_END_BYTES = b"PK\5\6", 22
"""Of an archive behind a program; APPNOTE.TXT, 4.3.16."""
_UPX, _UPX_BYTES = b"UPX!", 1024
_PYINSTALLER, _PYINSTALLER_BYTES = b"MEI\x0c\x0b\x0a\x0b\x0e", 4096
"""Programs that unpack themselves: what is within the first and the last bytes."""
_LIBRARY = re.compile(rb"lib[\w+.-]{0,200}\.so(?:\.\d+)*")

_CONTENT = "a snap that shares content with this one may load it"
_COMPILER = "the snap also ships {!r}, which links such files"
_COMPRESSED = "{!r} is compressed, and may name it"


def find_unused(
    payload: Payload, *, ignored: Collection[str] = ()
) -> tuple[NeedlessFile, ...]:
    """Return the libraries that nothing links or names, by path.

    :param ignored: documentation and the like, which loads nothing.
    """
    inventory = payload.inventory
    if is_far(payload) or inventory.raw_bytes > MOST_BYTES:
        return ()
    files = [each for each in inventory.files() if each.size_bytes]
    links = _Links(payload, files)
    silent = {*ignored, _INDEX}
    counted = [each for each in files if each.path not in silent]
    searched = [each for each in counted if each.path not in links.left]
    while links.left and searched:
        stems = {
            path: posixpath.basename(path).partition(".so")[0] for path in links.left
        }
        named = names_in(payload, searched, frozenset(stems.values()))
        reached = links.reach(path for path, stem in stems.items() if stem in named)
        searched = [each for each in counted if each.path in reached]
    doubt = _doubt(payload, counted) if links.left else None
    return tuple(
        NeedlessFile(path=path, size_bytes=entry.size_bytes, doubt=doubt)
        for path, entry in sorted(links.left.items())
    )


class _Links:
    """Which ELF files link which.

    :ivar left: libraries that nothing reached links so far, by path.
    """

    def __init__(self, payload: Payload, files: Iterable[Entry]) -> None:
        linkages = {
            each.path: (each, linkage)
            for each in files
            if payload.read(each.path, offset=0, length=4) == ELF_MAGIC
            for linkage in (readable_linkage(payload, each),)
            if linkage is not None
        }
        names = _names(payload)
        self._needed = {path: linkage.needed for path, (_, linkage) in linkages.items()}
        self._by_name: dict[str, set[str]] = defaultdict(set)
        for path, (entry, linkage) in linkages.items():
            for name in (*names[entry.identity], linkage.soname or ""):
                self._by_name[posixpath.basename(name)].add(path)
        self.left = {
            path: entry
            for path, (entry, linkage) in linkages.items()
            if _may_go(linkage, names[entry.identity])
        }
        self.reach(linkages.keys() - self.left.keys())

    def reach(self, paths: Iterable[str]) -> frozenset[str]:
        """Take files, and all that they link, from those left; return what was."""
        reached: set[str] = set()
        pending = list(paths)
        while pending:
            path = pending.pop()
            if self.left.pop(path, None) is not None:
                reached.add(path)
            for name in self._needed[path]:
                found = self._by_name.get(posixpath.basename(name), set())
                pending.extend(found & self.left.keys())
        return frozenset(reached)


def _may_go(linkage: ElfLinkage, names: Collection[str]) -> bool:
    """Return whether a file, by its names, is a library that only a name leads to."""
    bases = {posixpath.basename(name) for name in names}
    return (
        linkage.soname is not None
        and linkage.interpreter is None
        and {posixpath.dirname(name) for name in names} <= set(LIBRARY_DIRECTORIES)
        and any(map(_VERSIONED.fullmatch, bases))
        and not any(map(BASE_LIBRARY.fullmatch, bases))
    )


def _names(payload: Payload) -> Mapping[int, set[str]]:
    """Return each file's paths, and those of links that lead there in any steps."""
    entries, links = payload.inventory.entries, dict(links_of(payload))
    found: dict[int, set[str]] = defaultdict(set)
    for path in entries:
        at = path
        for _ in range(MAX_LINKS if at in links else 0):
            at = links.get(at, at)
        entry = entries.get(at)
        if entry is not None and entry.kind is EntryKind.FILE:
            found[entry.identity].add(path)
    return found


def _doubt(payload: Payload, files: Iterable[Entry]) -> str | None:
    """Return what may load libraries in a way that isn't seen."""
    snap = payload.snap
    if any(
        each.interface == "content"
        for each in (*snap.plugs.values(), *snap.slots.values())
    ):
        return _CONTENT
    if compiler := compiler_of(payload):
        return _COMPILER.format(compiler)
    packed = (each.path for each in files if is_packed(payload, each))
    return next((_COMPRESSED.format(path) for path in packed), None)


def names_in(
    payload: Payload, files: Iterable[Entry], stems: Collection[str]
) -> frozenset[str]:
    """Return those of some libraries' names that files have.

    With or without ``lib``, as a word of its own, or a beginning that something may
    have been put behind; in UTF-16 and UTF-32 as well, as Qt and wxWidgets have them.

    :param stems: names up to ``.so``.
    """
    left = {each: _Name(each) for each in stems}
    found: set[str] = set()
    for entry in files:
        for piece in _pieces(payload, entry):
            packed = piece.translate(None, b"\0")
            named = {each for each, name in left.items() if name.is_in(piece, packed)}
            named |= _composed(piece, left.keys())
            found |= named
            left = {each: name for each, name in left.items() if each not in named}
            if not left:
                return frozenset(found)
    return frozenset(found)


class _Name:
    """A library's name, as bytes have it."""

    def __init__(self, stem: str) -> None:
        bare = stem.removeprefix("lib")
        texts = [bare, *(bare[: joint.end()] for joint in _JOINT.finditer(bare))]
        self._words = {
            name: [_word(name, bytes(nuls)) for nuls in _NULS_A_CHARACTER]
            for name in (text.encode("utf-8", "surrogateescape") for text in texts)
        }

    def is_in(self, piece: bytes, packed: bytes) -> bool:
        """Return whether a piece has it.

        :param packed: the piece without NULs, so that one search is enough for most.
        """
        return any(
            name in packed and any(word.search(piece) for word in words)
            for name, words in self._words.items()
        )


def _word(name: bytes, nuls: bytes) -> re.Pattern[bytes]:
    """Return the pattern of a name that is a word of its own, ``lib`` before it or not.

    It begins with what is searched for, or it would take ten times as long.
    """
    short, long = _widened(name, nuls), _widened(b"lib" + name, nuls)
    letter = b"[0-9A-Za-z]" + nuls
    return re.compile(
        rb"%b(?:(?<!%b%b)|(?<=%b)(?<!%b%b))(?!%b)"
        % (short, letter, short, long, letter, long, letter)
    )


def _widened(text: bytes, nuls: bytes) -> bytes:
    """Return a pattern of a text with NULs behind each character."""
    return b"".join(re.escape(bytes((byte,))) + nuls for byte in text)


def _composed(piece: bytes, stems: Collection[str]) -> set[str]:
    """Return the names that begin as a piece has it, something else following."""
    starts = {
        match[1].replace(b"\0", b"").decode()
        for pattern in (_COMPOSED, _WIDE_COMPOSED)
        for match in pattern.finditer(piece)
    }
    return {each for each in stems if each.startswith(tuple(starts))}


def _pieces(payload: Payload, entry: Entry) -> Iterator[bytes]:
    step = _PIECE_BYTES - _OVERLAP_BYTES
    for offset in range(0, max(1, entry.size_bytes - _OVERLAP_BYTES), step):
        yield payload.read(entry.path, offset=offset, length=_PIECE_BYTES)


def library_names(payload: Payload, entry: Entry) -> frozenset[str]:
    """Return the names of libraries that a file has among its bytes."""
    return frozenset(
        name.decode()
        for piece in _pieces(payload, entry)
        if b".so" in piece
        for name in _LIBRARY.findall(piece)
    )


def is_packed(payload: Payload, entry: Entry) -> bool:
    """Return whether a file hides what it names: an archive, or compressed."""
    size = entry.size_bytes
    head = payload.read(entry.path, offset=0, length=_UPX_BYTES)
    if head.startswith(_PACKED) or _UPX in head:
        return True
    start = max(0, size - _PYINSTALLER_BYTES)
    tail = payload.read(entry.path, offset=start, length=_PYINSTALLER_BYTES)
    return tail[-_ZIP_END_BYTES:].startswith(_ZIP_END) or _PYINSTALLER in tail

"""Which names of libraries are among the bytes of files."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator

from ..core.units import MIB
from .inventory import Entry
from .source import Payload

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


def names_in(
    payload: Payload, files: Iterable[Entry], stems: Collection[str]
) -> frozenset[str]:
    """Return those of some libraries' names that files have.

    With or without ``lib``, as a word of its own, or a beginning that something may
    have been put behind; in UTF-16 and UTF-32 as well, as programs of
    Qt and wxWidgets have them.

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

    :param nuls: behind each character.
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


_LIBRARY = re.compile(rb"lib[\w+.-]{0,200}\.so(?:\.\d+)*")


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

"""The classes that a file's data blocks are counted by, from wide to narrow."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from snapcraft_compression_advisor.codecs.codec import DATA_BLOCK_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from snapcraft_compression_advisor.launch.guess.candidates import Candidate
    from snapcraft_compression_advisor.launch.guess.segments import ElfParts

LONG_FILE_BLOCKS = 16
DATA_STRETCHES = 64
"""Parts that a long file of data is told apart in, where its name is known."""

STRETCHES = 32
"""Parts of equal length that code and constants of a library known by its name are told
apart in; from version to version its functions keep about their places."""

EDGE_BLOCKS = 3
"""Blocks behind the relocations that are told apart: the kernel reads 64 KiB to both
sides of a page fault on a mapping (``do_sync_mmap_readahead``, mm/filemap.c)."""

_TEXT_SIZES = (8, 32, 128)
_STRETCH = re.compile(r"((?:text|constants) .*) \d+")
_LIBRARY_NAME = re.compile(r"(lib[A-Za-z_+]+[A-Za-z_+\d]*?)(?:[-.]?\d[\d.]*)?\.so.*")


def block_keys(
    candidate: Candidate, parts: ElfParts | None, block_count: int
) -> tuple[tuple[str, ...], ...]:
    """Return for every block of a file its classes, from wide to narrow.

    :param parts: of an ELF file, ``None`` for any other.
    :param block_count: of the file.
    """
    if parts is None:
        return tuple(_data_keys(candidate, block_count))
    size = _size_class(parts.text_bytes)
    name = file_name_class(candidate.entry.path)
    places = _places(parts)
    return tuple(
        (
            place,
            f"{place} {size}",
            f"{place} {size} {candidate.role}",
            f"{place} {name}",
            *_stretch(place, name, number * STRETCHES // len(places)),
        )
        for number, place in enumerate(places)
    )


def wider_class(key: str) -> str | None:
    """Return the class of a library's part that a stretch belongs to.

    :param key: a class; ``None`` comes back for any other than a stretch.
    """
    match = _STRETCH.fullmatch(key)
    return match[1] if match else None


def _stretch(place: str, name: str, stretch: int) -> Iterator[str]:
    if place.startswith(("text", "constants")):
        yield f"{place} {name} {stretch}"


def _data_keys(candidate: Candidate, block_count: int) -> Iterator[tuple[str, ...]]:
    way = candidate.way
    name = candidate.entry.path.rpartition("/")[2]
    long = not way.startswith("own-") and block_count >= LONG_FILE_BLOCKS
    for number in range(block_count):
        place = "data" if number else "data-first"
        keys: tuple[str, ...] = (place, f"{place} {way}")
        if long:
            stretch = number * DATA_STRETCHES // block_count
            keys = (*keys, f"data {name} {stretch} of {DATA_STRETCHES}")
        yield keys


def file_name_class(path: str) -> str:
    """Return what names one library whatever its version: ``libLLVM`` of all."""
    folder, _, name = path.rpartition("/")
    if folder.endswith("/dri") or name.startswith("libgallium"):
        return "mesa-driver"
    match = _LIBRARY_NAME.fullmatch(name)
    return match[1] if match else name


def _places(parts: ElfParts) -> tuple[str, ...]:
    """Return each block's part, told apart near the relocations."""
    places: list[str] = []
    behind = 0
    for part in parts.parts:
        if part == "linking":
            places.append(part)
            continue
        behind += 1
        near = behind <= EDGE_BLOCKS and part != "data"
        places.append(f"{part} {behind} behind linking" if near else part)
    for number in range(len(places) - 1):
        if places[number] in ("text", "constants") and places[number + 1] == "data":
            places[number] += " before data"
    return tuple(places)


def _size_class(text_bytes: int) -> str:
    blocks = text_bytes / DATA_BLOCK_BYTES
    for limit in _TEXT_SIZES:
        if blocks < limit:
            return f"<{limit}"
    return f">={_TEXT_SIZES[-1]}"

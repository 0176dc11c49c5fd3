"""How often a file is read that a rule names, and how much of it: counted.

The counts come from recorded launches (``benchmarks/static_fit.py`` writes
``priors.json``). A share is read over counted, drawn towards the share of the next
wider class as if that had been seen :data:`WEIGHT` times: a class that was seen once or
never says little by itself.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from snapcraft_compression_advisor.codecs.codec import DATA_BLOCK_BYTES
from snapcraft_compression_advisor.units import Interval

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from snapcraft_compression_advisor.launch.launch_set import LaunchFile
    from snapcraft_compression_advisor.launch.static.candidates import Candidate
    from snapcraft_compression_advisor.launch.static.segments import ElfParts

WEIGHT = 4.0
"""How many observations the wider class counts as."""

UNKNOWN_SHARE = 0.5
"""Of the blocks of what no recorded launch tells anything."""

UNKNOWN_FILE_SHARE = 0.75
"""Of files that a rule names and no recorded launch had: set by hand, since a rule is
written where such a file is expected."""

UNLIKELY_FILE_SHARE = 0.1
"""Likewise of what only windows need, where none is expected, and of own files."""

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
_LIBRARY_NAME = re.compile(r"(lib[A-Za-z_+]+[A-Za-z_+\d]*?)(?:[-.]?\d[\d.]*)?\.so.*")


@dataclass(frozen=True, slots=True)
class Counts:
    """What recorded launches read, by key.

    :param read: of the files or blocks counted, those that were read.
    :param counted: files or blocks.
    """

    read: Counter[str] = field(default_factory=Counter)
    counted: Counter[str] = field(default_factory=Counter)

    def add(self, key: str, *, read: int, counted: int) -> None:
        """Count files or blocks of a key."""
        self.read[key] += read
        self.counted[key] += counted

    def plus(self, others: Iterable[Counts]) -> Counts:
        """Return these and others together."""
        total = Counts(Counter(self.read), Counter(self.counted))
        for other in others:
            total.read.update(other.read)
            total.counted.update(other.counted)
        return total


@dataclass(frozen=True, slots=True, kw_only=True)
class Priors:
    """Shares fitted on recorded launches.

    :param files: counts of files by way.
    :param blocks: counts of blocks by the keys of :func:`block_keys`.
    :param read_share: recorded ÷ expected bytes, over applications left out.
    :param seek_share: likewise, of runs of blocks.
    :param unseen_share: recorded ÷ expected bytes where all applications of a kind were
        left out: for kinds that weren't recorded.
    :param kinds: the applications recorded of each kind, with recorded ÷ expected.
    """

    files: Counts
    blocks: Counts
    read_share: Interval
    seek_share: Interval
    unseen_share: Interval
    kinds: Mapping[str, tuple[tuple[str, float], ...]] = field(default_factory=dict)

    def shares(
        self,
        files: Sequence[LaunchFile],
        *,
        payload_blocks: int,
        payload_files: int,
        followed: bool = True,
        kind: str | None = None,
    ) -> tuple[Interval, Interval]:
        """Return what is read per byte expected, and sought per run expected.

        Never more than the whole payload.

        :param files: of the launch.
        :param payload_blocks: of all its files.
        :param followed: whether every program started is known. Where a script's or
            an interpreter's doing is not, the launch may read anything.
        :param kind: of application, ``None`` where that isn't known.
        """
        read = self.unseen_share if kind and kind not in self.kinds else self.read_share
        expected = sum(file.expected_blocks for file in files)
        most = payload_blocks / expected if expected else 1.0
        most_files = payload_files / max(1, len(files))
        if followed:
            return _up_to(read, most), self.seek_share
        seeks = self.seek_share
        return (
            replace(read, high=max(read.mid, most)),
            replace(seeks, high=max(seeks.high, min(most, most_files))),
        )

    def file_share(self, way: str) -> float:
        """Return the chance that a file found this way is read at all."""
        return _drawn(self.files, way, _expected_share(way), weight=1.0)

    def block_share(self, keys: Sequence[str]) -> float:
        """Return the chance that a block of a file that is read is read.

        :param keys: from wide to narrow.
        """
        share = UNKNOWN_SHARE
        for key in keys:
            share = _drawn(self.blocks, key, share, weight=WEIGHT)
        return share


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
            f"{place} {name} {candidate.role}",
            f"{place} {name} {number * STRETCHES // len(places)}",
        )
        for number, place in enumerate(places)
    )


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


def _expected_share(way: str) -> float:
    """Return the chance where nothing is known: set by hand.

    A rule is written where such a file is expected, unless no window opens or it is one
    of many that lie in a program's own directory.
    """
    if way.endswith(", no window") or way.startswith("own-"):
        return UNLIKELY_FILE_SHARE
    return UNKNOWN_FILE_SHARE


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


def _drawn(counts: Counts, key: str, towards: float, *, weight: float) -> float:
    counted = counts.counted[key]
    return (counts.read[key] + weight * towards) / (counted + weight)


@cache
def built_in_priors() -> Priors:
    """Return the priors that come with the package."""
    text = files(__package__).joinpath("priors.json").read_text(encoding="utf-8")
    return parse_priors(json.loads(text))


def parse_priors(document: Mapping[str, object]) -> Priors:
    """Return priors from the document that :func:`priors_document` makes."""
    return Priors(
        files=_counts(document["files"]),
        blocks=_counts(document["blocks"]),
        read_share=_interval(document["read_share"]),
        seek_share=_interval(document["seek_share"]),
        unseen_share=_interval(document["unseen_share"]),
        kinds=_kinds(document["kinds"]),
    )


def priors_document(priors: Priors) -> dict[str, object]:
    """Return priors as a JSON document: ``[read, counted]`` by key."""
    return {
        "read_share": _ends(priors.read_share),
        "seek_share": _ends(priors.seek_share),
        "unseen_share": _ends(priors.unseen_share),
        "kinds": {
            kind: dict(recorded) for kind, recorded in sorted(priors.kinds.items())
        },
        "files": _rows(priors.files),
        "blocks": _rows(priors.blocks),
    }


def _up_to(share: Interval, most: float) -> Interval:
    return replace(share, high=max(share.mid, min(share.high, most)))


def _interval(document: object) -> Interval:
    low, mid, high = _list(document)
    return Interval(low=low, mid=mid, high=high)


def _kinds(document: object) -> dict[str, tuple[tuple[str, float], ...]]:
    if not isinstance(document, dict):
        return {}
    return {
        str(kind): tuple((str(name), float(ratio)) for name, ratio in recorded.items())
        for kind, recorded in document.items()
    }


def _ends(share: Interval) -> list[float]:
    return [round(end, 3) for end in (share.low, share.mid, share.high)]


def _rows(counts: Counts) -> dict[str, list[int]]:
    return {
        key: [counts.read[key], counts.counted[key]] for key in sorted(counts.counted)
    }


def _counts(document: object) -> Counts:
    counts = Counts()
    if isinstance(document, dict):
        for key, row in document.items():
            read, counted = (int(number) for number in _list(row))
            counts.add(str(key), read=read, counted=counted)
    return counts


def _list(value: object) -> list[float]:
    return [float(item) for item in value] if isinstance(value, list) else []

"""The result of a trial, also kept for later runs on the same payload.

There it is in a file under a digest of the payload's state, the blocks tried, and the
codecs.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
import sys
import zipfile
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, field, replace
from operator import mul
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from .. import __version__
from ..codecs import CODECS
from ..core.files import MOST_BYTES, keep_result, result_file
from ..core.units import Interval
from ..payload.inventory import Inventory
from ..payload.layout import Layout
from ..payload.source import Payload, SnapPayload
from ..squashfs.entry import MINIMUM_IMAGE_BYTES, SUPERBLOCK_BYTES, ImageBlock
from .stored import BlockSizes, StoredSizes

PADDING_BYTES = 4096
"""mksquashfs fills an image up to a multiple of this (``mksquashfs.c``, do_pad)."""

METADATA_ERROR = 0.2
"""By how much the estimate may be off, two standard deviations: of the directories of
its fit (:attr:`Codec.metadata_bytes_each`) it was off by up to 30 %, of the
applications by up to 3 %. Metadata is 0.2 to 1 % of their images."""

TABLES_ERROR_BYTES = 400
"""By how much it may be off at least: the ends of an image's tables, which the fit
leaves out, take 150 (lzo) to 360 bytes (xz) of an image of 20 files."""


BlockPlaces = Callable[[str], range]
"""Returns the numbers of a file's blocks; none for a file without contents."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredBlocks:
    """The data blocks of files, all in one row: a launch may read 100,000.

    Arrays have an element for each block.

    :param stored_bytes: their lengths in the image; 0 for blocks of zeros.
    :param compressed: whether the kernel has to decompress them.
    """

    places: BlockPlaces
    raw_bytes: NDArray[np.int64]
    stored_bytes: NDArray[np.float64]
    compressed: NDArray[np.bool_]

    def with_files_of(self, other: StoredBlocks, paths: Iterable[str]) -> StoredBlocks:
        """Return these blocks, with some files' sizes taken from another image.

        :param paths: of files that are the same in both.
        """
        stored_bytes, compressed = self.stored_bytes.copy(), self.compressed.copy()
        for path in paths:
            own, its = self.places(path), other.places(path)
            if len(own) == len(its):
                here, there = slice(own.start, own.stop), slice(its.start, its.stop)
                stored_bytes[here] = other.stored_bytes[there]
                compressed[here] = other.compressed[there]
        return replace(self, stored_bytes=stored_bytes, compressed=compressed)


def blocks_of_files(files: Mapping[str, Sequence[ImageBlock]]) -> StoredBlocks:
    """Return the data blocks of files, given by path."""
    ranges: dict[str, range] = {}
    rows: list[ImageBlock] = []
    for path, blocks in files.items():
        ranges[path] = range(len(rows), len(rows) + len(blocks))
        rows += blocks
    return StoredBlocks(
        places=lambda path: ranges.get(path, range(0)),
        raw_bytes=np.array([row.raw_bytes for row in rows], dtype=np.int64),
        stored_bytes=np.array([row.stored_bytes for row in rows], dtype=np.float64),
        compressed=np.array([row.compressed for row in rows], dtype=np.bool_),
    )


Progress = Callable[[str], None]
"""Gets what long work is doing: a line that the next one replaces."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CodecTrial:
    """One codec's image, with the data blocks of all files.

    :param image_bytes: None if the codec isn't available, or wasn't tried.
    """

    codec: str
    image_bytes: Interval | None
    blocks: StoredBlocks = field(
        default_factory=lambda: blocks_of_files({}), compare=False
    )

    @property
    def shippable(self) -> bool:
        """Whether snapcraft and the store accept it."""
        return CODECS[self.codec].shippable

    @property
    def available(self) -> bool:
        """Whether its size is known: it was tried, and this machine has it."""
        return self.image_bytes is not None


def notes_on_payload(payload: Payload) -> tuple[str, ...]:
    """Return notes on the sizes that a payload leads to."""
    unlike = payload.unlike_snap_pack() if isinstance(payload, SnapPayload) else None
    if unlike is None:
        return ()
    sizes = "Sizes are for images that 'snap pack' would make, not for this one"
    return (f"{sizes}: {unlike}",)


def size_difference(
    first: CodecTrial | None, second: CodecTrial | None
) -> Interval | None:
    """Return the difference of two codecs' images, the ends combined the worst way."""
    if first is None or second is None:
        return None
    one, other = first.image_bytes, second.image_bytes
    if one is None or other is None:
        return None
    return one + -other


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialResult:
    """Every codec's image.

    :param tool: source of the sizes, with its version.
    :param codecs: by name, in the order of the report.
    :param lzo_less_xz_bytes: the difference of the two sizes, whose interval is
        narrower than theirs, since the same blocks went to both; ``None`` if either
        isn't available.
    :param notes: what a reader should know of these sizes.
    """

    mode: Literal["exact", "sampled"]
    tool: str
    codecs: Mapping[str, CodecTrial]
    lzo_less_xz_bytes: Interval | None
    notes: tuple[str, ...] = ()
    stored: StoredSizes | None = field(default=None, compare=False, repr=False)


def sampled_result(
    stored: StoredSizes,
    image_bytes: Mapping[str, Interval | None],
    lzo_less_xz_bytes: Interval | None,
    *,
    tool: str,
    notes: tuple[str, ...],
) -> TrialResult:
    """Return the estimate of every codec's image from a sample.

    :param image_bytes: by codec; None for one that isn't available.
    """
    raw_bytes = stored.layout.raw_bytes()
    blocks = {
        codec: StoredBlocks(
            places=stored.layout.blocks_of,
            raw_bytes=raw_bytes,
            stored_bytes=sizes.stored_bytes,
            compressed=(sizes.stored_bytes > 0) & (sizes.stored_bytes < raw_bytes),
        )
        for codec, sizes in stored.codecs.items()
    }
    return TrialResult(
        mode="sampled",
        tool=tool,
        codecs={
            codec: CodecTrial(
                codec=codec,
                image_bytes=size,
                blocks=blocks.get(codec) or blocks_of_files({}),
            )
            for codec, size in image_bytes.items()
        },
        lzo_less_xz_bytes=lzo_less_xz_bytes,
        notes=notes,
        stored=stored,
    )


def metadata_of(inventory: Inventory) -> dict[str, float]:
    """Return the estimated bytes of the metadata by codec, superblock and all."""
    entries = inventory.entries.values()
    names = "".join(path.rpartition("/")[2] for path in inventory.entries)
    targets = "".join(entry.link_target or "" for entry in entries)
    inodes = 1 + len({entry.identity for entry in entries})  # 1: the root
    characters = len((names + targets).encode("utf-8", "surrogateescape"))
    counts = (inodes, characters, inventory.data_blocks)
    return {
        name: SUPERBLOCK_BYTES + sum(map(mul, codec.metadata_bytes_each, counts))
        for name, codec in CODECS.items()
    }


def metadata_bytes(payload: Payload) -> dict[str, float]:
    """Return the estimated bytes of a payload's metadata by codec.

    A built snap's own metadata shows by how much the estimate is off.
    """
    estimated = metadata_of(payload.inventory)
    if not isinstance(payload, SnapPayload) or payload.packed_with not in estimated:
        return estimated
    superblock = payload.image.superblock
    own = superblock.used_bytes - superblock.inode_table_start
    factor = own / estimated[payload.packed_with]
    return {codec: factor * each for codec, each in estimated.items()}


def padded_bytes(size_bytes: float) -> float:
    """Return the size of the file that mksquashfs and ``snap pack`` make of it."""
    pages = math.ceil(round(size_bytes, 3) / PADDING_BYTES)
    return float(max(MINIMUM_IMAGE_BYTES, pages * PADDING_BYTES))


_BROKEN = (
    *(OSError, EOFError, KeyError, ValueError, TypeError, NotImplementedError),
    *(zipfile.BadZipFile, zlib.error),
)
"""What reading a damaged file raises."""
_LAYOUT = ("sizes", "first_block", "holes")
_SIZES = ("stored_bytes", "errors", "runs")
_DIFFERENCE = "lzo less xz"


def saved_file(payload: Payload, seed: int) -> Path | None:
    """Return the file of a trial's result; None if the payload's state is unknown."""
    state = getattr(payload, "state", None)
    methods = [f"{vars(codec)} {codec.implementation}" for codec in CODECS.values()]
    known = f"{__version__} {sys.version} {seed} {methods} {state}"
    name = hashlib.sha256(known.encode()).hexdigest()
    return None if state is None else result_file(name)


def load_result(path: Path | None) -> TrialResult | None:
    """Return the result of an earlier run; None without such a run."""
    if path is None:
        return None
    try:
        with path.open("rb") as file:
            return _result(file.read(MOST_BYTES))
    except _BROKEN:
        return None


def save_result(path: Path | None, result: TrialResult) -> None:
    """Write the result to its file."""
    if path is not None and result.stored is not None:
        content = _content(result, result.stored)
        if len(content) < MOST_BYTES:
            keep_result(path, content)


def _content(result: TrialResult, stored: StoredSizes) -> bytes:
    layout = stored.layout
    arrays: dict[str, Any] = {name: getattr(layout, name) for name in _LAYOUT}
    for codec, sizes in stored.codecs.items():
        arrays |= {f"{codec} {name}": getattr(sizes, name) for name in _SIZES}
    intervals = {
        **{name: codec.image_bytes for name, codec in result.codecs.items()},
        _DIFFERENCE: result.lzo_less_xz_bytes,
    }
    about = {
        "paths": layout.paths,
        "same_as": dict(layout.same_as),
        "tool": result.tool,
        "notes": result.notes,
        "sizes": {name: each and astuple(each) for name, each in intervals.items()},
    }
    text = json.dumps(about).encode("utf-8", "surrogatepass")
    target = io.BytesIO()
    np.savez(target, about=np.frombuffer(text, dtype=np.uint8), **arrays)
    return target.getvalue()


def _result(content: bytes) -> TrialResult | None:
    with zipfile.ZipFile(io.BytesIO(content)) as members:
        if any(each.compress_type for each in members.infolist()):
            return None  # it would take more memory than the file
    with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
        about = json.loads(arrays["about"].tobytes().decode("utf-8", "surrogatepass"))
        intervals = {
            name: ends and Interval(low=ends[0], mid=ends[1], high=ends[2])
            for name, ends in about["sizes"].items()
        }
        difference = intervals.pop(_DIFFERENCE)
        layout = Layout(
            paths=tuple(about["paths"]),
            same_as=about["same_as"],
            **{name: arrays[name] for name in _LAYOUT},
        )
        sizes = {
            codec: BlockSizes(**{name: arrays[f"{codec} {name}"] for name in _SIZES})
            for codec in intervals
            if f"{codec} errors" in arrays
        }
    stored = StoredSizes(layout=layout, codecs=sizes)
    tool, notes = about["tool"], tuple(about["notes"])
    return sampled_result(stored, intervals, difference, tool=tool, notes=notes)

"""Deltas made as snapd makes them, and images packed as snapd packs them again.

The commands and their options are those of ``snap/squashfs/delta.go`` of snapd (commit
bee548f): ``generatePlainXdelta3Delta``, ``generateXdelta3Delta``, ``applySnapDelta``.
"""

from __future__ import annotations

import os
import shutil
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import IO

from ..core.child import run_child
from ..core.errors import ToolError
from ..core.files import first_difference
from ..core.units import MIB
from ..payload.inventory import Entry
from ..payload.source import Payload
from ..squashfs.entry import MINIMUM_IMAGE_BYTES, EntryKind
from ..squashfs.image import Image
from ..squashfs.mksquashfs import mksquashfs_version, run_tool

_ENCODE = ("-7", "-e", "-f", "-A", "-s")
HEADER_BYTES = 32
"""What snapd writes before a snap-aware delta (``deltaHeaderSize``)."""
COPY_BYTES = 3
"""What a copy takes beside a byte that isn't copied: its code and its address, after
xdelta3 has compressed them. It only shares a delta among files."""
_OPTIONS = (
    (4, True, "-no-fragments"),
    (6, False, "-no-duplicates"),
    (7, True, "-exports"),
    (9, True, "-no-xattrs"),
)
"""The superblock's flags by bit, and which option of mksquashfs snapd makes of each
(``superBlockFlagsToMksquashfsArgs``)."""

_KINDS = {EntryKind.DIRECTORY: "D", EntryKind.FILE: "R", EntryKind.SYMLINK: "S"}
_READ_BYTES = MIB

Place = tuple[int, str]
"""Where a file begins in what a delta makes, and its path; empty for no file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rebuild:
    """Whether a device that applies a snap-aware delta gets the new image again.

    :param reason: why it doesn't.
    """

    equal: bool
    reason: str | None = None


def check_xdelta3() -> None:
    """Raise a :class:`ToolError` if xdelta3 isn't installed."""
    if shutil.which("xdelta3") is None:
        message = "xdelta3 isn't installed, so the sizes of deltas aren't known"
        raise ToolError(
            message,
            resolution="Install the package xdelta3, for instance with 'sudo apt "
            "install xdelta3'.",
        )


def _run(*arguments: str, inherited: Sequence[int] = ()) -> None:
    """Run xdelta3, without the options that it would take from the environment."""
    check_xdelta3()
    environment = {name: text for name, text in os.environ.items() if name != "XDELTA"}
    command = ("xdelta3", *arguments)
    done = run_child(command, environment=environment, inherited=inherited)
    if done.returncode:
        message = f"xdelta3 failed with status {done.returncode}"
        if done.stderr:
            message += f": {done.stderr.splitlines()[0]}"
        raise ToolError(
            message,
            details=done.stderr.strip() or None,
            resolution=f"The command was: {' '.join(command)}",
        )


class Stream:
    """A build's files as one stream, as ``unsquashfs -pf`` writes them from 4.5 on.

    A line for each entry (name, kind, time, mode, owner, then a file's length and where
    its contents begin, or what a link points to), then all contents, in the order of
    their paths (``write_pseudo_file``).

    :ivar places: where each file's contents begin, in ascending order.
    """

    def __init__(self, payload: Payload) -> None:
        self._payload = payload
        lines, self._files = _listing(payload)
        self._listing = "\n".join(lines).encode("utf-8", "surrogateescape")
        lengths = (entry.size_bytes for entry in self._files)
        starts = accumulate(lengths, initial=len(self._listing))
        paths = (entry.path for entry in self._files)
        self.places: list[Place] = list(zip(starts, paths))  # noqa: B905 # one end more

    def write(self, sink: IO[bytes]) -> None:
        """Write the stream.

        :raises AdvisorError: if the build is broken or changes meanwhile.
        """
        sink.write(self._listing)
        for entry in self._files:
            for start in range(0, entry.size_bytes, _READ_BYTES):
                length = min(_READ_BYTES, entry.size_bytes - start)
                part = self._payload.read(entry.path, offset=start, length=length)
                sink.write(part.ljust(length, b"\0"))

    @contextmanager
    def piped(self) -> Iterator[int]:
        """Write the stream to a pipe, and give the end to read from."""
        reading, writing = os.pipe()
        with ThreadPoolExecutor(max_workers=1) as pool:
            feeding = pool.submit(self._feed, writing)
            try:
                yield reading
            finally:
                os.close(reading)
            feeding.result()

    def _feed(self, writing: int) -> None:
        # A reader that fails says so itself.
        with suppress(BrokenPipeError), os.fdopen(writing, "wb") as sink:
            self.write(sink)


def _listing(payload: Payload) -> tuple[list[str], list[Entry]]:
    """Return the lines before the contents, and the files with contents in order."""
    entries = payload.inventory.entries
    lines = ["/ D 0 755 0 0"]
    files: list[Entry] = []
    firsts: dict[int, str] = {}
    start = 0
    # In the order of an image: directories by name.
    for path in sorted(entries, key=lambda path: os.fsencode(path).split(b"/")):
        entry = entries[path]
        first = firsts.setdefault(entry.identity, path)
        if entry.kind is EntryKind.FILE and first != path:
            lines.append(f"{path} L {first}")
            continue
        kind = _KINDS.get(entry.kind, "I")
        line = f"{path} {kind} {entry.modified_s} {entry.mode:o} 0 0"
        if entry.kind is EntryKind.FILE:
            files.append(entry)
            line += f" {entry.size_bytes} {start}"
            start += entry.size_bytes
        elif entry.link_target is not None:
            line += f" {entry.link_target}"
        lines.append(line)
    return [*lines, "#", "# START OF DATA - DO NOT MODIFY", "#", ""], files


def make_plain_delta(old: Path, new: Path, delta: Path) -> int:
    """Make a plain delta between two images and return its size in bytes."""
    _run("-3", "-f", "-e", "-s", str(old), str(new), str(delta))
    return delta.stat().st_size


def make_snap_aware_delta(old: Stream, new: Stream, delta: Path) -> int:
    """Make a snap-aware delta of two builds' contents; return its size in bytes.

    :raises AdvisorError: if a build is broken or changes meanwhile.
    """
    with old.piped() as source, new.piped() as target:
        files = (f"/dev/fd/{source}", f"/dev/fd/{target}", str(delta))
        _run(*_ENCODE, *files, inherited=(source, target))
    return delta.stat().st_size + HEADER_BYTES


def shares_of_files(
    delta: Path, size_bytes: float, places: Sequence[Place]
) -> dict[str, float]:
    """Return the bytes that each file adds to a delta, by its instructions.

    :param places: in ascending order, the first at 0.
    """
    starts = [start for start, _ in places]
    weights: dict[str, float] = defaultdict(float)
    for offset, weight in _instructions(delta):
        weights[places[bisect_right(starts, offset) - 1][1]] += weight
    total = sum(weights.values()) or 1.0
    return {path: each / total * size_bytes for path, each in weights.items() if path}


def _instructions(delta: Path) -> Iterator[tuple[int, float]]:
    """Yield where each instruction writes, and about what it takes in the delta."""
    listing = delta.with_suffix(".txt")
    _run("printdelta", "-f", str(delta), str(listing))
    with listing.open("rb") as lines:
        for line in lines:
            # as "  000014 019  CPY_0     19 S@14"
            fields = line.split()
            if len(fields) >= 4 and fields[0].isdigit():  # noqa: PLR2004 # as above
                added = fields[2] == b"ADD"
                yield int(fields[0]), int(fields[3]) if added else COPY_BYTES


def rebuild(image: Path, scratch: Path) -> Rebuild:
    """Pack an image again as a device does after a snap-aware delta, and compare.

    xdelta3 gives the device the contents that the image unpacks to.

    :param scratch: directory for the contents and the second image.
    """
    stream, again = scratch / "contents", scratch / "rebuilt"
    unpack = ("unsquashfs", "-no-progress", "-pf", str(stream), str(image))
    pack = ("mksquashfs", "-", str(again), "-pf", str(stream), "-noappend", "-quiet")
    with Image.open(image) as opened:
        block = opened.superblock
    # What snapd reads of the delta's header: codec, flags, time.
    flags = [
        option
        for bit, wanted, option in _OPTIONS
        if bool(block.flags >> bit & 1) is wanted
    ]
    options = ("-comp", block.codec, *flags, "-mkfs-time", str(block.modified_s))
    try:
        for command in (unpack, (*pack, *options)):
            run_tool(command)
    except ToolError as error:
        return Rebuild(equal=False, reason=f"it could not be packed: {error}")
    if again.stat().st_size < MINIMUM_IMAGE_BYTES:
        os.truncate(again, MINIMUM_IMAGE_BYTES)
    place = first_difference(image, again)
    if place is None:
        return Rebuild(equal=True)
    tool = f"mksquashfs {mksquashfs_version()}"
    return Rebuild(
        equal=False, reason=f"{tool} packs it differently from byte {place:,} on"
    )

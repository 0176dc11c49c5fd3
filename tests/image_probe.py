"""All that the advisor reads of an image, done to one image at a time."""

from contextlib import suppress
from pathlib import Path

from snapcraft_compression_advisor.core.errors import AdvisorError
from snapcraft_compression_advisor.diff.build import snap_sizes
from snapcraft_compression_advisor.diff.files import unchanged_paths
from snapcraft_compression_advisor.payload.inventory import list_image
from snapcraft_compression_advisor.payload.layout import lay_out
from snapcraft_compression_advisor.payload.snap_yaml import SnapMetadata
from snapcraft_compression_advisor.payload.source import Payload, SnapPayload
from snapcraft_compression_advisor.preflight.packing import inspect_packing
from snapcraft_compression_advisor.squashfs.entry import EntryKind, ImageEntry
from snapcraft_compression_advisor.squashfs.image import Image

_READ_FILES = 200
"""Files of one image that are read; its corpus has none with more that matter."""
_READ_BYTES = 300_000


def probe(path: Path, other: Payload | None = None) -> bool:
    """Read an image in every way that a command does.

    :param other: a payload to compare it with, as ``diff`` does.
    :returns: whether nothing was found wrong with it.
    :raises Exception: whatever isn't an :class:`AdvisorError`, which is a fault.
    """
    try:
        with Image.open(path) as image:
            return _probe_image(path, image, other)
    except AdvisorError:
        return False


def _probe_image(path: Path, image: Image, other: Payload | None) -> bool:
    entries = list(image.walk())
    right = [_read_tables(image), _read_files(image, entries)]
    with suppress(AdvisorError):
        inspect_packing(image, entries)
        right.append(True)
    payload = _open_snap(path, image, entries)
    layout = lay_out(payload)
    sizes = snap_sizes(payload)
    for name in layout.paths:
        sizes(name)
    if other is not None:
        unchanged_paths(other, payload)
        unchanged_paths(payload, other)
    return all(right)


class NamelessSnap(SnapPayload):
    """A snap whose metadata aren't looked at, so that all else can be."""

    def __init__(self, path: Path, image: Image, entries: list[ImageEntry]) -> None:
        self.path, self.image, self.entries = path, image, entries
        self.inventory = list_image(entries)
        self._files = {
            entry.path: entry for entry in entries if entry.kind is EntryKind.FILE
        }
        self.snap = SnapMetadata(name="nameless")


def _open_snap(path: Path, image: Image, entries: list[ImageEntry]) -> SnapPayload:
    try:
        return SnapPayload(path, image)
    except AdvisorError:
        return NamelessSnap(path, image, entries)


def _read_tables(image: Image) -> bool:
    with suppress(AdvisorError):
        return len(image._indexed("export table")) >= 0
    return False


def _read_files(image: Image, entries: list[ImageEntry]) -> bool:
    right = True
    files = [entry for entry in entries if entry.blocks is not None]
    for entry in files[:_READ_FILES]:
        try:
            image.read(entry, 0, _READ_BYTES)
            image.read(entry, max(0, entry.size_bytes - 10), 100)
        except AdvisorError:  # noqa: PERF203 - each file by itself
            right = False
    return right

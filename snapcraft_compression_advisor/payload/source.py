"""A payload to read from: a prime directory or a built snap, or a component's."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol

from ..codecs import CODECS
from ..codecs.codec import DATA_BLOCK_BYTES
from ..core.errors import BadDataError, NoInputError, UsageError
from ..squashfs.entry import EntryKind, FileBlocks, ImageEntry
from .inventory import PACKED_FREE_BYTES, Inventory, check_contents_size, list_image
from .scan import Directory, PayloadState, read_beneath
from .snap_yaml import (
    COMPONENT_YAML_PATH,
    SNAP_YAML,
    SNAP_YAML_MAX_BYTES,
    SNAP_YAML_PATH,
    SnapMetadata,
    component_metadata,
    parse_component_yaml,
    split_component_name,
)

if TYPE_CHECKING:
    from ..squashfs.image import Image

PayloadKind = Literal["prime", "snap"]

_METADATA: Mapping[str, Callable[..., SnapMetadata]] = {
    SNAP_YAML_PATH: SNAP_YAML.parse_yaml,
    COMPONENT_YAML_PATH: parse_component_yaml,
}
"""What tells a payload's name, and how it is read; the first one found counts."""
_NAME_ONE = "Specify a prime directory, or a built .snap or .comp."
_SUFFIXES = (".snap", ".comp")


class Payload(Protocol):
    """What is shipped, wherever it is read from.

    What reads it raises :class:`.StorageError` if a file changes or vanishes meanwhile,
    and :class:`BadDataError` if an image is broken.
    """

    @property
    def path(self) -> Path:
        """The prime directory, the ``.snap`` or the ``.comp``."""

    @property
    def kind(self) -> PayloadKind:
        """Whether it is a prime directory or a built image."""

    @property
    def is_remote(self) -> bool:
        """Whether it is in a store, so that bytes are dear; of a stack, the app's."""

    @property
    def inventory(self) -> Inventory:
        """All of its entries."""

    @property
    def snap(self) -> SnapMetadata:
        """Its ``meta/snap.yaml``; a component's name, type and nothing else."""

    @property
    def packed_with(self) -> str | None:
        """The codec of a built image, ``None`` for a prime directory."""

    def read(self, path: str, *, offset: int, length: int) -> bytes:
        """Return bytes of a regular file, fewer at its end; no link is followed."""

    def data_ranges(self, path: str) -> Sequence[tuple[int, int]]:
        """Return the parts of a regular file that aren't holes, start and end."""


class DirectoryPayload(Directory):
    """A prime directory of a snap or of a component.

    :param component: name of a component as reports call it: files, but no apps. Its
        ``meta/component.yaml`` isn't looked at, and may be missing yet.
    """

    kind: PayloadKind = "prime"
    is_remote = False
    packed_with = None

    def __init__(self, path: Path, *, component: str | None = None) -> None:
        super().__init__(path)
        self.snap = component_metadata(component) if component else _read_metadata(self)


class SnapPayload:
    """A built snap or component, read without unpacking it.

    :param image: stays open as long as the payload is read.
    :param state: names its contents; None if nothing does for sure.
    """

    kind: PayloadKind = "snap"

    def __init__(self, path: Path, image: Image, state: str | None = None) -> None:
        self.path = path
        self.image = image
        self.is_remote = image.is_remote
        self.state = state
        self.entries: Sequence[ImageEntry] = tuple(image.walk())
        self.inventory = list_image(self.entries)
        check_contents_size(
            self.inventory, taken_bytes=image.image_bytes, where=str(path)
        )
        self._files = {
            entry.path: entry for entry in self.entries if entry.kind is EntryKind.FILE
        }
        self.snap = _read_metadata(self)

    @property
    def packed_with(self) -> str:
        """The codec that the image was packed with."""
        return self.image.superblock.codec

    def read(self, path: str, *, offset: int, length: int) -> bytes:
        """Return bytes of a regular file, fewer at its end."""
        return self.image.read(self._files[path], offset, length)

    def data_ranges(self, path: str) -> Sequence[tuple[int, int]]:
        """Return the parts of a file that aren't sparse blocks, start and end."""
        blocks = self._files[path].blocks
        return [] if blocks is None else _filled_ranges(blocks)

    def unlike_snap_pack(self) -> str | None:
        """Return the difference of its blocks from those that ``snap pack`` makes."""
        superblock = self.image.superblock
        if superblock.codec not in CODECS:
            return f"it is packed with {superblock.codec}, which no kernel reads"
        if superblock.block_bytes != DATA_BLOCK_BYTES:
            return f"its blocks have {superblock.block_bytes:,} bytes"
        if superblock.fragment_count:
            return "it stores the ends of several files in one block (fragments)"
        return None

    def stored_blocks(self, path: str) -> FileBlocks | None:
        """Return where a file's data blocks are, if it has any."""
        return self._files[path].blocks


def check_packed_size(payload: Payload) -> None:
    """Refuse to pack, unpack or make deltas of holes far larger than the contents.

    :raises BadDataError: if the files claim more than :data:`PACKED_FREE_BYTES` allows.
    """
    taken_bytes = (
        payload.image.image_bytes
        if isinstance(payload, SnapPayload)
        else sum(entry.allocated_bytes for entry in payload.inventory.files())
    )
    check_contents_size(
        payload.inventory,
        taken_bytes=taken_bytes,
        where=str(payload.path),
        free_bytes=PACKED_FREE_BYTES,
    )


def _filled_ranges(blocks: FileBlocks) -> list[tuple[int, int]]:
    """Return a file's ranges without sparse blocks, adjacent blocks as one range."""
    ranges: list[tuple[int, int]] = []
    for index, block in blocks.filled_blocks():
        start = index * blocks.block_bytes
        if ranges and ranges[-1][1] == start:
            start = ranges.pop()[0]
        ranges.append((start, index * blocks.block_bytes + block.raw_bytes))
    if blocks.fragment is not None:
        ranges.append((len(blocks) * blocks.block_bytes, blocks.size_bytes))
    return ranges


@contextmanager
def open_payload(path: Path) -> Iterator[Payload]:
    """Open a prime directory, a snap or a component.

    :raises NoInputError: if it isn't there, can't be read, or has neither
        ``meta/snap.yaml`` nor ``meta/component.yaml``.
    :raises BadDataError: if it is neither, or broken.
    :raises StorageError: if it changes meanwhile.
    """
    try:
        status = path.stat()
    except OSError as error:
        message = f"Cannot open {str(path)!r}: {error.strerror}"
        raise NoInputError(message, resolution=_NAME_ONE) from error
    if stat.S_ISDIR(status.st_mode):
        if os.access(path, os.R_OK | os.X_OK) and not is_prime_directory(path):
            raise _no_metadata(path)  # before anything is listed: it may be large
        yield DirectoryPayload(path)
        return
    if not stat.S_ISREG(status.st_mode):
        message = f"{str(path)!r} is neither a directory nor a file"
        raise BadDataError(message, resolution=_NAME_ONE)
    from ..squashfs.image import Image  # noqa: PLC0415 # a directory has none

    state = PayloadState(path)
    state.note("", status)
    with Image.open(path) as image:
        yield SnapPayload(path, image, state.name())


def is_prime_directory(path: Path) -> bool:
    """Return whether a directory has what every prime directory has.

    That is ``meta/snap.yaml``, or ``meta/component.yaml`` for a component.
    """
    return any(os.path.lexists(path / each) for each in _METADATA)


def _read_metadata(payload: DirectoryPayload | SnapPayload) -> SnapMetadata:
    """Return the kind of a payload by its ``meta``; one with both files is a snap."""
    for path, parse in _METADATA.items():
        entry = payload.inventory.entries.get(path)
        if entry is not None and entry.kind is EntryKind.FILE:
            text = payload.read(path, offset=0, length=SNAP_YAML_MAX_BYTES + 1)
            return parse(text, where=f"{payload.path}/{path}")
    raise _no_metadata(payload.path)


def _no_metadata(path: Path) -> NoInputError:
    """Return the error of what isn't a payload; a project's is named if it is there."""
    prime = path / "prime"
    if is_prime_directory(prime):
        named = "./prime" if str(prime) == "prime" else str(prime)
        return NoInputError(
            f"{str(path)!r} is a project folder; its prime directory is {named}",
            resolution=f"Specify {named}, or omit the argument in that folder.",
        )
    return NoInputError(
        f"{str(path)!r} is not a prime directory: it has no {SNAP_YAML_PATH}",
        resolution="Specify the directory that 'snapcraft prime' fills (usually "
        "'prime'), or a built .snap or .comp.",
    )


def component_name(prime_dir: Path) -> str:
    """Return a component's own name, after the snap's and ``+``.

    :raises NoInputError: if the directory has no ``meta/component.yaml``.
    :raises BadDataError: if that doesn't name it.
    """
    path = prime_dir / COMPONENT_YAML_PATH
    try:
        text = read_beneath(
            prime_dir, COMPONENT_YAML_PATH, offset=0, length=SNAP_YAML_MAX_BYTES + 1
        )
    except OSError as error:
        message = f"Cannot read {str(path)!r}: {error.strerror}"
        raise NoInputError(message, resolution="Rebuild the component.") from error
    name = parse_component_yaml(text, where=str(path)).name
    return split_component_name(name)[1] or name


def find_payload(directory: Path) -> Path:
    """Return a directory's ``prime``, else the one ``.snap`` in it.

    :returns: the directory itself if it is a prime directory.
    :raises NoInputError: if there is neither.
    :raises UsageError: if there are several snaps.
    """
    prime, where = directory / "prime", str(directory.absolute())
    for place in (directory, prime):
        if is_prime_directory(place):
            return place
    snaps = sorted(directory.glob("*.snap"))
    if len(snaps) == 1:
        return snaps[0]
    if snaps:
        names = ", ".join(snap.name for snap in snaps)
        message = f"Several snaps in {where!r}: {names}"
        raise UsageError(message, resolution="Specify the one to analyse.")
    if prime.is_dir():  # its reader says what it lacks
        return prime
    message = f"Nothing to analyse: neither 'prime' nor a .snap in {where!r}"
    raise NoInputError(
        message, resolution="Specify a prime directory or a built .snap."
    )


def named_payloads(paths: Iterable[Path]) -> list[Path]:
    """Return the payloads at some paths, each once.

    A directory without ``meta``, which a prime directory has, stands for the ``.snap``
    and ``.comp`` files in it, by name. One without any stays, for its reader to refuse.
    """
    found = [each for path in paths for each in _images_in(path) or [path]]
    return list(dict.fromkeys(found))


def _images_in(path: Path) -> list[Path]:
    try:
        if not path.is_dir() or (path / "meta").exists():
            return []
        return sorted(each for each in path.iterdir() if each.suffix in _SUFFIXES)
    except OSError:  # whoever opens it says what is wrong
        return []

"""One of two builds: its image's size, what each file takes of it, its launches."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol

import numpy as np

from ..core.errors import ToolError
from ..core.units import Interval
from ..trial.result import CodecTrial, blocks_of_files

if TYPE_CHECKING:
    from collections.abc import Collection, Hashable, Mapping

    from ..launch.launch_set import LaunchSet
    from ..payload.source import Payload, SnapPayload
    from ..trial.result import TrialResult
    from ..trial.stored import StoredSizes


class FileSizes(Protocol):
    """What regular files take in an image."""

    def content_of(self, path: str) -> Hashable | None:
        """Return what is equal for files that share their blocks.

        :returns: ``None`` for a file that has none.
        """

    def stored_bytes(self, path: str) -> Interval:
        """Return what a file's blocks take, whoever shares them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Build:
    """One of two builds.

    :param codec: what it is packed with, or will be.
    :param image_bytes: a snap's own size; of a prime directory an estimate.
    :param launch_sets: by app.
    :param trial: the blocks that these launches read, as the image has them.
    :param measured: whether these figures are those of an image.
    :param unlike_snap_pack: how its blocks differ from those of ``snap pack``, so
        that launches can't be estimated; ``None`` if they don't.
    """

    payload: Payload
    codec: str
    image_bytes: Interval
    sizes: FileSizes
    launch_sets: Mapping[str, LaunchSet]
    trial: CodecTrial
    measured: bool = False
    unlike_snap_pack: str | None = None

    def with_blocks_of(self, other: Build, unchanged: Collection[str]) -> Build:
        """Return this build, its unchanged files stored as the other one's are."""
        blocks = self.trial.blocks.with_files_of(other.trial.blocks, unchanged)
        return replace(self, trial=replace(self.trial, blocks=blocks))


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapSizes:
    """Sizes that an image's tables tell; no block is read."""

    payload: SnapPayload

    def content_of(self, path: str) -> Hashable | None:
        """Return where a file's blocks are."""
        blocks = self.payload.stored_blocks(path)
        if blocks is None or not (blocks.stored_bytes or blocks.fragment):
            return None
        return blocks.start, blocks.size_bytes, blocks.stored_bytes, blocks.fragment

    def stored_bytes(self, path: str) -> Interval:
        """Return what a file's blocks take; of a fragment, the tail's part."""
        blocks = self.payload.stored_blocks(path)
        if blocks is None:
            return Interval.exactly(0)
        whole = Interval.exactly(blocks.stored_bytes)
        tail = blocks.fragment
        if tail is None:
            return whole
        fragment = self.payload.image.fragment_block(tail.index)
        ratio = min(1.0, fragment.stored_bytes / blocks.block_bytes)
        return whole + Interval(
            low=0.0, mid=tail.size_bytes * ratio, high=tail.size_bytes
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class TriedSizes:
    """Sizes that a trial predicts."""

    stored: StoredSizes
    codec: str
    _known: dict[str, Interval] = field(default_factory=dict, init=False, repr=False)

    def content_of(self, path: str) -> Hashable | None:
        """Return the first path of the same contents."""
        layout = self.stored.layout
        first = layout.same_as.get(path, path)
        return first if first in layout.file_numbers else None

    def stored_bytes(self, path: str) -> Interval:
        """Return what a file's blocks take."""
        if path not in self._known:
            blocks = np.array(self.stored.layout.blocks_of(path), dtype=np.int64)
            self._known[path] = self.stored.codecs[self.codec].total(blocks)
        return self._known[path]


def snap_build(payload: SnapPayload, launch_sets: Mapping[str, LaunchSet]) -> Build:
    """Return a built snap as its tables describe it."""
    size = Interval.exactly(payload.image.image_bytes)
    return Build(
        payload=payload,
        codec=payload.packed_with,
        image_bytes=size,
        sizes=SnapSizes(payload=payload),
        launch_sets=launch_sets,
        trial=CodecTrial(
            codec=payload.packed_with,
            image_bytes=size,
            blocks=blocks_of_files(
                {
                    file.path: tuple(payload.stored_blocks(file.path) or ())
                    for launch_set in launch_sets.values()
                    for file in launch_set.files
                }
            ),
        ),
        measured=True,
        unlike_snap_pack=payload.unlike_snap_pack(),
    )


def prime_build(
    payload: Payload,
    launch_sets: Mapping[str, LaunchSet],
    trial: TrialResult,
    *,
    codec: str,
) -> Build:
    """Return a prime directory as a trial predicts its image.

    :param codec: what it will be packed with.
    :raises ToolError: if this machine can't try that codec block by block.
    """
    tried = trial.codecs.get(codec)
    stored = trial.stored
    if (
        tried is None
        or tried.image_bytes is None
        or stored is None
        or codec not in stored.codecs
    ):
        message = (
            f"File sizes with {codec} aren't known: this machine can't compress with it"
        )
        raise ToolError(
            message,
            resolution="Install the library of that codec (squashfs-tools depends on "
            "it).",
        )
    return Build(
        payload=payload,
        codec=codec,
        image_bytes=tried.image_bytes,
        sizes=TriedSizes(stored=stored, codec=codec),
        launch_sets=launch_sets,
        trial=tried,
    )

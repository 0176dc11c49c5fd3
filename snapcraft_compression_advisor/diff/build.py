"""One of two builds: its image's size, what each file takes of it, its launches."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ..core.errors import ToolError
from ..core.units import Interval
from ..trial.result import CodecTrial, blocks_of_files

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from ..launch.launch_set import LaunchSet
    from ..payload.source import Payload, SnapPayload
    from ..trial.result import TrialResult
    from ..trial.stored import StoredSizes


FileSizes = Callable[[str], "tuple[Hashable, Interval] | None"]
"""Returns what is equal for files that share their blocks, and what these take in the
image, whoever shares them; ``None`` for a file that has none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Build:
    """One of two builds.

    :param codec: what it is packed with, or will be.
    :param launch_sets: by app.
    :param trial: the blocks that these launches read, as the image has them.
    :param measured: whether these figures are those of an image, not estimates.
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


def snap_sizes(payload: SnapPayload) -> FileSizes:
    """Return sizes that an image's tables tell; no block is read."""

    def size(path: str) -> tuple[Hashable, Interval] | None:
        blocks = payload.stored_blocks(path)
        if blocks is None or not (blocks.stored_bytes or blocks.fragment):
            return None
        content = blocks.start, blocks.size_bytes, blocks.stored_bytes, blocks.fragment
        whole, tail = Interval.exactly(blocks.stored_bytes), blocks.fragment
        if tail is not None:  # of a fragment, the tail's part
            fragment = payload.image.fragment_block(tail.index)
            ratio = min(1.0, fragment.stored_bytes / blocks.block_bytes)
            part = tail.size_bytes * ratio
            whole += Interval(low=0.0, mid=part, high=tail.size_bytes)
        return content, whole

    return size


def tried_sizes(stored: StoredSizes, codec: str) -> FileSizes:
    """Return sizes that a trial predicts."""
    layout = stored.layout

    def size(path: str) -> tuple[Hashable, Interval] | None:
        content = layout.same_as.get(path, path)
        if content not in layout.file_numbers:
            return None
        blocks = np.array(layout.blocks_of(path), dtype=np.int64)
        return content, stored.codecs[codec].total(blocks)

    return size


def snap_build(payload: SnapPayload, launch_sets: Mapping[str, LaunchSet]) -> Build:
    """Return a built snap as its tables describe it."""
    size = Interval.exactly(payload.image.image_bytes)
    return Build(
        payload=payload,
        codec=payload.packed_with,
        image_bytes=size,
        sizes=snap_sizes(payload),
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

    :raises ToolError: if this machine can't try that codec block by block.
    """
    tried, stored = trial.codecs.get(codec), trial.stored
    size = tried.image_bytes if tried else None
    if not tried or not size or not stored or codec not in stored.codecs:
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
        image_bytes=size,
        sizes=tried_sizes(stored, codec),
        launch_sets=launch_sets,
        trial=tried,
    )

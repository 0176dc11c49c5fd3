"""A guessed launch set beside a recorded one: what it names, misses, names in vain."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from snapcraft_compression_advisor.launch.fit import fit_profile
from snapcraft_compression_advisor.payload.inventory import block_bytes

if TYPE_CHECKING:
    from collections.abc import Iterable

    from snapcraft_compression_advisor.launch.launch_set import LaunchFile
    from snapcraft_compression_advisor.launch.profile import LaunchProfile
    from snapcraft_compression_advisor.payload.inventory import Inventory

NAMED_FROM = 1 / 3
"""A block counts as named from this share on. One that is missed makes the answer wrong
in the direction that hurts (a slow launch is not predicted), so it weighs twice as much
as one that is named in vain."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileDifference:
    """A file of which other blocks are read than are named.

    :param missed_bytes: read, but not named.
    :param vain_bytes: named, but not read.
    """

    path: str
    missed_bytes: int
    vain_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """A guess and a recording of the same launch.

    All bytes are those of files' contents, in whole data blocks.

    :param read_bytes: recorded.
    :param named_bytes: of the blocks with a share of :data:`NAMED_FROM` and more.
    :param hit_bytes: recorded and named.
    :param expected_bytes: of all guessed blocks, times their shares.
    :param files: that differ, by path.
    :param gone: recorded files that the payload doesn't contain; they don't count.
    """

    read_bytes: int
    named_bytes: int
    hit_bytes: int
    expected_bytes: float
    files: tuple[FileDifference, ...]
    gone: tuple[str, ...]

    @property
    def recall(self) -> float:
        """Of the bytes read, those named."""
        return self.hit_bytes / self.read_bytes if self.read_bytes else 1.0

    @property
    def precision(self) -> float:
        """Of the bytes named, those read."""
        return self.hit_bytes / self.named_bytes if self.named_bytes else 1.0

    @property
    def read_per_expected(self) -> float | None:
        """Bytes read over bytes expected; ``None`` if nothing is expected."""
        return self.read_bytes / self.expected_bytes if self.expected_bytes else None

    def missed(self) -> tuple[FileDifference, ...]:
        """Return the files of which blocks were missed, most bytes first."""
        files = (file for file in self.files if file.missed_bytes)
        return tuple(sorted(files, key=lambda file: (-file.missed_bytes, file.path)))

    def in_vain(self) -> tuple[FileDifference, ...]:
        """Return the files of which blocks are named in vain, most bytes first."""
        files = (file for file in self.files if file.vain_bytes)
        return tuple(sorted(files, key=lambda file: (-file.vain_bytes, file.path)))


def compare_launches(
    guessed: Iterable[LaunchFile], recorded: LaunchProfile, inventory: Inventory
) -> Comparison:
    """Compare a guess with a recording, hard links to one file taken as one."""
    fitted = fit_profile(recorded, inventory)
    read: dict[int, set[int]] = defaultdict(set)
    named: dict[int, set[int]] = defaultdict(set)
    paths: dict[int, str] = {}
    expected = 0.0
    for file in fitted.launch_set.files:
        identity = inventory.entries[file.path].identity
        paths.setdefault(identity, file.path)
        for first, last in file.blocks:
            read[identity].update(range(first, last + 1))
    for file in guessed:
        identity = inventory.entries[file.path].identity
        paths.setdefault(identity, file.path)
        for first, last, share in file.ranges():
            blocks = range(first, last + 1)
            expected += share * sum(block_bytes(file.size_bytes, n) for n in blocks)
            if share >= NAMED_FROM:
                named[identity].update(blocks)
    read_bytes = named_bytes = hit_bytes = 0
    files: list[FileDifference] = []
    for identity, path in sorted(paths.items(), key=lambda item: item[1]):
        size = inventory.entries[path].size_bytes
        is_read, is_named = read[identity], named[identity]
        missed, vain, hit = (
            sum(block_bytes(size, number) for number in numbers)
            for numbers in (is_read - is_named, is_named - is_read, is_read & is_named)
        )
        read_bytes += missed + hit
        named_bytes += vain + hit
        hit_bytes += hit
        if missed or vain:
            files.append(
                FileDifference(path=path, missed_bytes=missed, vain_bytes=vain)
            )
    return Comparison(
        read_bytes=read_bytes,
        named_bytes=named_bytes,
        hit_bytes=hit_bytes,
        expected_bytes=expected,
        files=tuple(files),
        gone=fitted.gone,
    )

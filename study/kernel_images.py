"""The images that ``kernels.py`` measures, and what is read of them.

- ``blocks/CODEC.squashfs``: blocks of real applications, one a file.
- ``readers/CODEC.squashfs``: files of 16 blocks, for several readers.
- ``launches/NAME/CODEC.squashfs``: a tree of the corpus, and ``launches/NAME.json``:
  pages that bring in just the blocks of its recorded launch.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from kernel_reads import PAGE_BYTES, touch
from launch import block_figures, profile_path, replace_rows
from snapcraft_compression_advisor.capture.block_timing import (
    block_name,
    choose_blocks,
    write_blocks,
)
from snapcraft_compression_advisor.capture.metadata_reads import metadata_reads
from snapcraft_compression_advisor.capture.mount import mount_point, mounted
from snapcraft_compression_advisor.codecs import CODECS
from snapcraft_compression_advisor.codecs.codec import DATA_BLOCK_BYTES
from snapcraft_compression_advisor.launch.profile import read_profile
from snapcraft_compression_advisor.squashfs import mksquashfs

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from snapcraft_compression_advisor.launch.profile import LaunchProfile

LAUNCH_CODECS = ("xz", "lzo")
READER_CODECS = ("xz", "lzo")
LAUNCH_BLOCKS = Path(__file__).parent / "data" / "kernel-launch-blocks.csv"
FIELDS = (
    "application",
    "codec",
    "image_bytes",
    "blocks",
    "raw_bytes",
    "stored_bytes",
    "compressed_blocks",
    "compressed_raw_bytes",
    "compressed_stored_bytes",
    "metadata_blocks",
)
_SEED = 23
_BLOCKS_PER_TREE = 16
_READER_FILES = 8
_READER_BLOCKS = 16
_BLOCK_PAGES = DATA_BLOCK_BYTES // PAGE_BYTES
_MEMORY = Path("/dev/shm")  # noqa: S108 # a name of our own is made in it


def write_sample(trees: Sequence[Path], work: Path) -> None:
    """Pack blocks and files of some applications."""
    chance = random.Random(_SEED)  # noqa: S311 # a sample, not a secret
    files = {tree: _regular_files(tree) for tree in trees}
    places = [
        place
        for tree, paths in files.items()
        for place in choose_blocks(
            paths, group=tree.name, count=_BLOCKS_PER_TREE, chance=chance
        )
    ]
    with tempfile.TemporaryDirectory(dir=_MEMORY) as scratch:
        blocks, readers = Path(scratch, "blocks"), Path(scratch, "readers")
        blocks.mkdir()
        readers.mkdir()
        for number, group in enumerate(write_blocks(places, blocks)):
            (blocks / block_name(number)).rename(blocks / f"{number:03}.{group}")
        _write_reader_files(
            (path for paths in files.values() for path in paths), readers, chance
        )
        _pack(blocks, work / "blocks", tuple(CODECS))
        _pack(readers, work / "readers", READER_CODECS)


def write_launch(tree: Path, work: Path) -> None:
    """Pack a tree, and write which pages its recorded launch touches."""
    profile = read_profile(profile_path(tree.name))
    directory = work / "launches"
    directory.mkdir(parents=True, exist_ok=True)
    touches = list(_touches(profile, tree))
    (directory / f"{tree.name}.json").write_text(json.dumps(touches), encoding="utf-8")
    with tempfile.TemporaryDirectory(dir=_MEMORY) as scratch:
        pruned = Path(scratch, tree.name)
        _copy_read_blocks(tree, pruned, profile)
        _pack(pruned, directory / tree.name, LAUNCH_CODECS)
        plain = Path(scratch, "plain")
        _pack(pruned, plain, ("none",))
        metadata = _metadata_blocks(plain / "none.squashfs", touches)
    rows: list[dict[str, object]] = [
        {
            "application": tree.name,
            "codec": codec,
            **block_figures(directory / tree.name / f"{codec}.squashfs", profile),
            "metadata_blocks": metadata,
        }
        for codec in LAUNCH_CODECS
    ]
    replace_rows(LAUNCH_BLOCKS, FIELDS, tree.name, rows)


def _copy_read_blocks(tree: Path, copy: Path, profile: LaunchProfile) -> None:
    """Copy a tree with holes for all but the blocks that the launch reads.

    So names and sizes are those of the tree, and the rest needn't be packed.
    """
    read = {file.path: file.blocks for file in profile.files}

    def copy_file(source: str, destination: str) -> None:
        path = Path(source).relative_to(tree).as_posix()
        with Path(source).open("rb") as old, Path(destination).open("wb") as new:
            new.truncate(os.fstat(old.fileno()).st_size)
            for first, last in read.get(path, ()):
                old.seek(first * DATA_BLOCK_BYTES)
                new.seek(first * DATA_BLOCK_BYTES)
                new.write(old.read((last + 1 - first) * DATA_BLOCK_BYTES))

    shutil.copytree(tree, copy, symlinks=True, copy_function=copy_file)


def _touches(profile: LaunchProfile, tree: Path) -> Iterator[tuple[str, list[int]]]:
    """Yield a page in the middle of each block: a fault there reads just the block.

    Of files that the tree has, as it was built: some were made by the launch.
    """
    for file in profile.files:
        if not (tree / file.path).is_file():
            continue
        last_page = (file.size - 1) // PAGE_BYTES
        yield (
            file.path,
            [
                min(block * _BLOCK_PAGES + _BLOCK_PAGES // 2, last_page)
                for first, last in file.blocks
                for block in range(first, last + 1)
            ],
        )


def _metadata_blocks(image: Path, touches: Sequence[tuple[str, list[int]]]) -> int:
    with mount_point() as root, mounted(image, at=root), metadata_reads([root]) as seen:
        touch(root, touches)
        count = seen.count(root, image)
    if count is None:
        message = "The kernel doesn't tell which metadata blocks are read"
        raise SystemExit(message)
    return count


def _regular_files(tree: Path) -> list[Path]:
    return sorted(
        path
        for path in tree.rglob("*")
        if path.is_file() and not path.is_symlink() and path.stat().st_size
    )


def _write_reader_files(
    files: Iterable[Path], directory: Path, chance: random.Random
) -> None:
    """Cut pieces of 16 blocks out of large files, one each."""
    size_bytes = _READER_BLOCKS * DATA_BLOCK_BYTES
    large = [path for path in files if path.stat().st_size >= size_bytes]
    for number, path in enumerate(chance.sample(large, _READER_FILES)):
        with path.open("rb") as file:
            (directory / f"reader-{number}").write_bytes(file.read(size_bytes))


def _pack(tree: Path, directory: Path, codecs: Sequence[str]) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    for codec in codecs:
        image = directory / f"{codec}.squashfs"
        image.unlink(missing_ok=True)
        mksquashfs.pack(
            tree,
            image,
            codec=codec,
            snap_type="app",
            exclude_file=Path("/dev/null"),
        )

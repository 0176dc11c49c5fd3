"""Which blocks are in memory after known reads of a real mount."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from mounts import BLOCK, fill_tree, make_image
from snapcraft_compression_advisor.capture import page_cache
from snapcraft_compression_advisor.capture.mount import Mount, mounted
from snapcraft_compression_advisor.capture.page_cache import (
    drop_caches,
    replay,
    resident_blocks,
)
from snapcraft_compression_advisor.codecs import CODECS
from snapcraft_compression_advisor.launch.launch_set import LaunchFile
from snapcraft_compression_advisor.launch.profile import ProfileFile
from snapcraft_compression_advisor.payload.inventory import Inventory
from snapcraft_compression_advisor.payload.scan import scan_directory

pytestmark = pytest.mark.mounts

LARGE_BYTES = 20 * BLOCK + 70_000


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return fill_tree(tmp_path / "source")


@pytest.fixture
def inventory(source: Path) -> Inventory:
    return scan_directory(source)


@pytest.fixture(params=CODECS)
def cold_mount(
    request: pytest.FixtureRequest, source: Path, tmp_path: Path
) -> Iterator[Mount]:
    image = make_image(source, tmp_path / "image", codec=request.param)
    with mounted(image) as mount:
        drop_caches()
        yield mount


def read_byte(path: Path, offset: int, *, advice: int = os.POSIX_FADV_NORMAL) -> None:
    with path.open("rb", buffering=0) as file:
        os.posix_fadvise(file.fileno(), 0, 0, advice)
        os.pread(file.fileno(), 1, offset)


def large(*blocks: tuple[int, int]) -> ProfileFile:
    return ProfileFile(path="lib/large", size=LARGE_BYTES, blocks=blocks)


ONE = ProfileFile(path="another-name", size=5000, blocks=((0, 0),))


def test_nothing_is_resident_at_first_and_looking_changes_nothing(
    cold_mount: Mount, inventory: Inventory
) -> None:
    for _ in range(2):
        assert resident_blocks(cold_mount.root, inventory) == ()


@pytest.mark.parametrize("advice", [os.POSIX_FADV_NORMAL, os.POSIX_FADV_RANDOM])
def test_one_byte_brings_in_its_whole_block_and_no_other(
    cold_mount: Mount, inventory: Inventory, advice: int
) -> None:
    for offset in (0, 7 * BLOCK + 3, 20 * BLOCK + 69_999):
        read_byte(cold_mount.root / "lib/large", offset, advice=advice)
    found = resident_blocks(cold_mount.root, inventory)
    assert found == (large((0, 0), (7, 7), (20, 20)),)
    with (cold_mount.root / "lib/large").open("rb") as file:
        pages = page_cache.resident_pages(file.fileno())
    assert pages.sum() == 32 + 32 + 18


def test_reading_in_sequence_reads_on(cold_mount: Mount, inventory: Inventory) -> None:
    with (cold_mount.root / "lib/large").open("rb", buffering=0) as file:
        for _ in range(64):
            file.read(4096)
    (found,) = resident_blocks(cold_mount.root, inventory)
    ((first, last),) = found.blocks
    assert first == 0
    assert last > 1


def test_file_of_two_names_counts_once_under_the_first(
    cold_mount: Mount, inventory: Inventory
) -> None:
    read_byte(cold_mount.root / "lib/one", 0)
    assert resident_blocks(cold_mount.root, inventory) == (ONE,)


def launch_files(*files: ProfileFile) -> tuple[LaunchFile, ...]:
    return tuple(
        LaunchFile(path=file.path, size_bytes=file.size, blocks=file.blocks)
        for file in files
    )


@pytest.mark.parametrize(
    "blocks",
    [
        ((0, 0),),
        ((1, 1), (3, 3)),
        ((0, 4), (19, 20)),
        ((20, 20),),
        ((0, 20),),
    ],
)  # fmt: skip
def test_replay_reads_the_blocks_of_the_profile_and_no_other(
    cold_mount: Mount, inventory: Inventory, blocks: tuple[tuple[int, int], ...]
) -> None:
    files = (ONE, large(*blocks))
    assert replay(cold_mount.root, launch_files(*files)) > 0
    assert resident_blocks(cold_mount.root, inventory) == files


def test_replay_leaves_out_what_is_not_there(
    cold_mount: Mount, inventory: Inventory
) -> None:
    def file(path: str, *blocks: tuple[int, int]) -> ProfileFile:
        return ProfileFile(path=path, size=10**9, blocks=blocks)

    files = (
        file("fifo", (0, 0)),
        file("lib", (0, 0)),
        file("lib/gone", (0, 0)),
        file("lib/large", (20, 9000)),
        file("lib/one/below", (0, 0)),
        file("link", (0, 0)),
    )
    replay(cold_mount.root, launch_files(*files))
    assert resident_blocks(cold_mount.root, inventory) == (large((20, 20)),)

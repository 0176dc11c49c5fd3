"""Which blocks a mount would read, from a launch out of a directory."""

from __future__ import annotations

import mmap
import os
from typing import TYPE_CHECKING

import pytest

from elf_files import make_elf
from payloads import make_payload
from snapcraft_compression_advisor.capture import page_cache, record
from snapcraft_compression_advisor.capture.launch_event import EXITED
from snapcraft_compression_advisor.capture.page_cache import check_visible, evict
from snapcraft_compression_advisor.capture.page_tables import Touch
from snapcraft_compression_advisor.capture.record import directory_files
from snapcraft_compression_advisor.capture.start import Command, Launched, LaunchRequest
from snapcraft_compression_advisor.codecs.codec import DATA_BLOCK_BYTES
from snapcraft_compression_advisor.core.errors import ToolError
from snapcraft_compression_advisor.launch import fit
from snapcraft_compression_advisor.launch.fit import fit_profile
from snapcraft_compression_advisor.launch.profile import LaunchProfile, ProfileFile
from snapcraft_compression_advisor.payload.scan import scan_directory
from snapcraft_compression_advisor.payload.source import open_payload

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pytest_mock import MockerFixture

SIZE_BYTES = 8 * DATA_BLOCK_BYTES
BLOCK_PAGES = DATA_BLOCK_BYTES // mmap.PAGESIZE
LIBRARY = make_elf().ljust(SIZE_BYTES, b"x")
PAYLOAD = make_payload({"lib/libx.so": LIBRARY, "data": b"x" * SIZE_BYTES})
ALL = ((0, 7),)


def cached(path: str, *blocks: tuple[int, int]) -> ProfileFile:
    return ProfileFile(path=path, size=SIZE_BYTES, blocks=blocks)


def files(
    *resident: ProfileFile, **touches: list[Touch]
) -> dict[str, tuple[tuple[int, int], ...]]:
    found = directory_files(PAYLOAD, resident, {"lib/libx.so": [], **touches})
    return {file.path: file.blocks for file in found}


def test_read_file_has_the_blocks_in_the_cache() -> None:
    assert files(cached("data", (0, 1))) == {"data": ((0, 1),)}


def test_mapped_file_has_what_a_mount_reads_not_what_the_directory_read_ahead() -> None:
    page = 3 * BLOCK_PAGES + BLOCK_PAGES - 1
    found = files(cached("data", *ALL), data=[Touch(first=page, last=page)])
    assert found == {"data": ((0, 0), (3, 4))}


def test_mapped_file_of_which_nothing_was_read_is_left_out() -> None:
    assert files(data=[]) == {}
    assert files(cached("data", (0, 0)), data=[]) == {"data": ((0, 0),)}


def test_file_that_was_seen_read_has_what_a_mount_reads() -> None:
    touch = Touch(first=3 * BLOCK_PAGES, last=3 * BLOCK_PAGES, is_read=True)
    assert files(cached("data", *ALL), data=[touch]) == {"data": ((3, 3),)}


@pytest.fixture
def drops(tmp_path: Path, mocker: MockerFixture) -> Iterator[list[int]]:
    """Play launches during which the caches are dropped so often."""
    counts: list[int] = []
    launched = Launched(event="exit", wall_s=1.0, user_s=0.0, system_s=0.0)
    mocker.patch.object(record, "time_launch", return_value=launched)
    mocker.patch.object(record, "evict", return_value=())
    mocker.patch.object(record, "cache_drops", side_effect=lambda: counts.pop(0))
    (tmp_path / "meta").mkdir()
    (tmp_path / "meta/snap.yaml").write_text("name: a\nversion: '1'\n")
    yield counts
    assert counts == []


def recorded(path: Path) -> LaunchProfile:
    request = LaunchRequest(
        app="a", command=Command(words=("a",)), event=EXITED, timeout_s=9
    )
    with open_payload(path) as payload:
        return record.record_directory(payload, request, lambda _: None)


def test_drop_that_ends_behind_the_last_look_is_noticed(
    tmp_path: Path, drops: list[int]
) -> None:
    # Counted before the cold launch, and after the warm one.
    drops += [4, 5, 5, 5]
    assert recorded(tmp_path).source == "directory"


def test_drops_in_every_launch_are_an_error(tmp_path: Path, drops: list[int]) -> None:
    drops += [4, 5, 5, 6, 6, 7]
    with pytest.raises(ToolError, match="dropped the system's caches"):
        recorded(tmp_path)


def profile(*resident: ProfileFile) -> LaunchProfile:
    found = directory_files(PAYLOAD, resident, {})
    return LaunchProfile(source="directory", app="hello", app_files=tuple(found))


def test_interval_is_that_of_recordings_from_directories() -> None:
    seen = fit_profile(profile(cached("data", *ALL)), PAYLOAD.inventory).launch_set
    assert seen.read_share == fit.DIRECTORY_READ_SHARE
    assert seen.method == "directory"


def test_file_in_memory_can_not_be_evicted(tmp_path: Path) -> None:
    (tmp_path / "data").write_bytes(b"x" * SIZE_BYTES)
    (tmp_path / "empty").touch()
    with (
        (tmp_path / "data").open("rb") as file,
        mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as mapping,
    ):
        assert mapping[0]
        with pytest.raises(ToolError, match="be evicted from the page cache: 'data'"):
            evict(tmp_path, scan_directory(tmp_path))


def test_file_of_another_user_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "data").write_bytes(b"x")
    inventory = scan_directory(tmp_path)
    check_visible(tmp_path, inventory)
    (tmp_path / "data").chmod(0o444)
    monkeypatch.setattr(os, "geteuid", lambda: 4711)
    monkeypatch.setattr(os, "access", lambda *_, **__: False)
    monkeypatch.setattr(page_cache, "CAP_FOWNER", 63)
    with pytest.raises(ToolError, match="'data' belongs to another user"):
        check_visible(tmp_path, inventory)

"""A payload that changes while it is read leads nowhere else."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from pytest_mock import MockerFixture

from hostile_payload import elf_bomb
from snapcraft_compression_advisor.core.errors import (
    AdvisorError,
    BadDataError,
    NoInputError,
    StorageError,
)
from snapcraft_compression_advisor.payload import scan
from snapcraft_compression_advisor.payload.elf import BrokenElfError, read_elf
from snapcraft_compression_advisor.payload.inventory import (
    Inventory,
    check_contents_size,
)
from snapcraft_compression_advisor.payload.scan import file_beneath, scan_directory
from snapcraft_compression_advisor.payload.snap_yaml import SNAP_YAML
from snapcraft_compression_advisor.payload.source import (
    DirectoryPayload,
    component_name,
)
from trees import fill


@pytest.fixture
def payload(tmp_path: Path) -> DirectoryPayload:
    """Return a payload, beside a directory that isn't part of it."""
    for name in ("prime/data", "outside"):
        (tmp_path / name).mkdir(parents=True)
        with (tmp_path / name / "file").open("wb") as file:
            file.write(name.encode())
            file.truncate(1_000_000)
    return DirectoryPayload(fill(tmp_path / "prime", {"meta/snap.yaml": "name: x\n"}))


def swap(payload: DirectoryPayload) -> None:
    """Put a link in a directory's place."""
    (payload.path / "data").rename(payload.path / "old")
    (payload.path / "data").symlink_to("../outside")


def test_a_path_that_leads_above_the_payload_is_not_followed(
    payload: DirectoryPayload,
) -> None:
    for path in ("../outside/file", "data/../../outside/file"):
        with (
            pytest.raises(OSError, match="cross-device"),
            file_beneath(payload.path, path),
        ):
            pass


def test_a_directory_swapped_for_a_link_is_not_followed(
    payload: DirectoryPayload,
) -> None:
    swap(payload)
    with pytest.raises(StorageError, match="data/file"):
        payload.read("data/file", offset=0, length=10)
    with pytest.raises(StorageError, match="data/file"):
        payload.data_ranges("data/file")
    with pytest.raises(StorageError, match="data"):
        list(payload.heads(["data/file"], 10))


def test_heads_are_the_first_bytes_of_files_in_any_directories(tmp_path: Path) -> None:
    files = {"a": "1", "b/c": "22", "b/d": "", "b/e/f": "4" * 9, "b/g": "5" * 9}
    tree = fill(tmp_path, {"meta/snap.yaml": "name: x\n", **files})
    heads = list(DirectoryPayload(tree).heads(files, 4))
    assert heads == [text[:4].encode() for text in files.values()]


def test_a_directory_swapped_for_a_link_is_not_listed(
    payload: DirectoryPayload, mocker: MockerFixture
) -> None:
    def swap_first(name: str, *, top_level: bool) -> bool:
        if name == "meta" and top_level:
            swap(payload)
        return False

    mocker.patch.object(scan, "is_excluded", swap_first)
    with pytest.raises(StorageError, match="data"):
        scan_directory(payload.path)


@pytest.mark.parametrize(
    "read",
    [
        lambda payload, path: payload.read(path, offset=0, length=1),
        lambda payload, path: payload.data_ranges(path),
        lambda payload, path: list(payload.heads([path], 1)),
    ],
)
def test_a_file_swapped_for_a_fifo_is_not_waited_for(
    payload: DirectoryPayload, read: Callable[[DirectoryPayload, str], object]
) -> None:
    path = payload.path / "data/file"
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(StorageError, match="no longer a regular file"):
        read(payload, "data/file")


def test_no_descriptor_stays_open(payload: DirectoryPayload) -> None:
    before = len(os.listdir("/proc/self/fd"))  # noqa: PTH208 - names are all it takes
    payload.read("data/file", offset=0, length=10)
    list(payload.heads(["data/file", "meta/snap.yaml"], 10))
    swap(payload)
    for _ in range(3):
        with pytest.raises(StorageError):
            payload.read("data/file", offset=0, length=10)
    scan_directory(payload.path)
    assert len(os.listdir("/proc/self/fd")) == before  # noqa: PTH208 - likewise


@pytest.mark.parametrize("kind", ["link", "fifo"])
def test_a_component_is_not_named_by_what_is_no_file(tmp_path: Path, kind: str) -> None:
    (tmp_path / "prime/meta").mkdir(parents=True)
    (tmp_path / "outside.yaml").write_text("component: x+y\ntype: standard\n")
    path = tmp_path / "prime/meta/component.yaml"
    if kind == "link":
        path.symlink_to("../../outside.yaml")
    else:
        os.mkfifo(path)
    with pytest.raises(NoInputError, match="component"):
        component_name(tmp_path / "prime")


def test_paths_longer_than_programs_open_are_refused(tmp_path: Path) -> None:
    above = os.open(tmp_path, os.O_RDONLY)
    for _ in range(17):
        os.mkdir("d" * 250, dir_fd=above)
        below = os.open("d" * 250, os.O_RDONLY, dir_fd=above)
        os.close(above)
        above = below
    os.close(above)
    with pytest.raises(BadDataError, match="The payload has a path of"):
        scan_directory(tmp_path)


def test_a_sparse_file_of_eight_exbibytes_is_refused(payload: DirectoryPayload) -> None:
    entries = dict(payload.inventory.entries)
    entries["data/file"] = entries["data/file"]._replace(size_bytes=2**63 - 1)
    with pytest.raises(BadDataError, match=r"claim 9223372036\.85 GB"):
        check_contents_size(Inventory(entries=entries), taken_bytes=4096, where="x")


def test_an_elf_file_of_a_thousand_segments_is_broken() -> None:
    raw = elf_bomb()
    reads = 0

    def read(offset: int, length: int) -> bytes:
        nonlocal reads
        reads += 1
        return raw[offset : offset + length]

    elf = read_elf(read, size_bytes=len(raw))
    assert elf is not None
    with pytest.raises(BrokenElfError, match="names 9000 libraries"):
        elf.linkage()
    assert reads < 10


@pytest.mark.parametrize(
    "text",
    [
        "name: " + "[" * 100_000,
        "name: &a [*a]",
        "name: x\napps: &a {b: *a}",
        "name: x\nenvironment: &a {b: *a}",
        "? [a]\n: b",
        "name: !!python/object/apply:os.system ['true']",
        "name: x\x00",
        "\ufeffname: 2020-99-99",
        "1" * 10_000,
        "name: 0x" + "f" * 100_000,
        "name: " + "9" * 10_000 + ":" + "9" * 10_000,
    ],
    ids=range(11),
)
def test_a_bomb_of_yaml_is_refused_or_read(text: str) -> None:
    try:
        assert SNAP_YAML.parse_yaml(text.encode(), where="meta/snap.yaml").name
    except AdvisorError as error:
        assert len(str(error)) < 1000  # noqa: PT017 - success is right as well

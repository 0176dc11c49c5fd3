"""What names a file's contents unread: only as long as it certainly has the same."""

from __future__ import annotations

import os
import random
import time
from typing import TYPE_CHECKING

import pytest

from snapcraft_compression_advisor.codecs.xz import Xz
from snapcraft_compression_advisor.core.result_store import VARIABLE, keeping_results
from snapcraft_compression_advisor.payload import file_state
from snapcraft_compression_advisor.payload.file_state import SETTLED_NS, StatesOfFiles
from snapcraft_compression_advisor.payload.inventory import scan_directory
from snapcraft_compression_advisor.payload.layout import DataBlock
from snapcraft_compression_advisor.payload.source import DirectoryPayload
from snapcraft_compression_advisor.trial.kept import Block, compressed_bytes
from snapcraft_compression_advisor.trial.sampled import LEAST, run_sampled_trial

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pytest_mock import MockerFixture

    from snapcraft_compression_advisor.trial.result import TrialResult

HOUR_NS = 3600 * 10**9
LENGTH = 60_000


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(VARIABLE, str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def later(mocker: MockerFixture) -> None:
    """Let an hour pass, on a file system that is trusted."""
    mocker.patch.object(file_state, "_is_trusted", return_value=True)
    mocker.patch("time.time_ns", return_value=time.time_ns() + HOUR_NS)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "prime"
    (root / "meta").mkdir(parents=True)
    (root / "meta" / "snap.yaml").write_text("name: x\nversion: '1'\n")
    for number in range(20):
        chance = random.Random(number)
        part = chance.randbytes(LENGTH // 4)
        (root / f"file{number}").write_bytes(part + b"words " * (number + 1) * 500)
    write(root / "file", 1)
    return root


def write(file: Path, seed: int) -> None:
    """Write contents, and again until the kernel notes another time."""
    before = file.stat().st_ctime_ns if file.exists() else 0
    while not file.exists() or file.stat().st_ctime_ns == before:
        file.write_bytes(random.Random(seed).randbytes(LENGTH))


def listed(root: Path) -> StatesOfFiles:
    """Return the states of a directory's files as it is now."""
    states = StatesOfFiles(root)
    scan_directory(root, noted=states.note)
    return states


def size_of(payload: DirectoryPayload, path: str = "file") -> int:
    """Return what xz makes of a file's only block, kept or found."""
    length = payload.inventory.entries[path].size_bytes
    block = DataBlock(path=path, offset=0, raw_bytes=length)
    with keeping_results():
        return compressed_bytes(Block(payload, block), Xz())


def attempt(payload: DirectoryPayload) -> TrialResult:
    return run_sampled_trial(
        payload,
        wanted=lambda: ("file1",),
        progress=lambda _: None,
        decided=lambda _: False,
        effort=LEAST,
    )


@pytest.mark.usefixtures("later")
def test_file_that_is_as_it_was_is_not_read(root: Path, mocker: MockerFixture) -> None:
    found = size_of(DirectoryPayload(root))
    payload = DirectoryPayload(root)
    read = mocker.spy(payload, "read")
    assert size_of(payload) == found
    assert not read.called


@pytest.mark.usefixtures("later")
def test_file_of_another_name_with_the_same_inode_is_not_read(
    root: Path, mocker: MockerFixture
) -> None:
    os.link(root / "file", root / "other")
    found = size_of(DirectoryPayload(root))
    payload = DirectoryPayload(root)
    read = mocker.spy(payload, "read")
    assert size_of(payload, "other") == found
    assert not read.called


@pytest.mark.usefixtures("later")
def test_answers_are_the_same_as_without_after_any_change(root: Path) -> None:
    for change in (None, "file2", "file7", None):
        if change is not None:
            write(root / change, 99)
        with keeping_results():
            kept = attempt(DirectoryPayload(root))
        assert kept == attempt(DirectoryPayload(root))


def rewrite(file: Path) -> None:
    write(file, 2)


def replace(file: Path) -> None:
    write(file.with_name("new"), 2)
    file.with_name("new").replace(file)


def rewrite_behind_its_times(file: Path) -> None:
    before = file.stat()
    write(file, 2)
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))


CHANGES = [rewrite, replace, rewrite_behind_its_times]


@pytest.mark.usefixtures("later")
@pytest.mark.parametrize("change", CHANGES)
def test_file_that_changed_is_read(
    root: Path, mocker: MockerFixture, change: Callable[[Path], None]
) -> None:
    size_of(DirectoryPayload(root))
    change(root / "file")
    payload = DirectoryPayload(root)
    read = mocker.spy(payload, "read")
    size_of(payload)
    assert read.called


@pytest.mark.usefixtures("later")
@pytest.mark.parametrize("change", CHANGES)
def test_file_that_changes_while_it_is_read_is_not_kept_as_it_was(
    root: Path, mocker: MockerFixture, change: Callable[[Path], None]
) -> None:
    payload = DirectoryPayload(root)
    real = os.pread

    def pread(descriptor: int, length: int, offset: int) -> bytes:
        change(root / "file")
        return real(descriptor, length, offset)

    before = payload.digests.states.of("file")
    mocker.patch("os.pread", pread)
    size_of(payload)
    mocker.patch("os.pread", real)
    # That of a file that was replaced is still that of what was read.
    assert payload.digests.states.of("file") is None or change is replace
    payload = DirectoryPayload(root)
    assert payload.digests.states.of("file") != before
    read = mocker.spy(payload, "read")
    size_of(payload)
    assert read.called


def test_file_has_no_state_until_its_times_are_past(
    root: Path, mocker: MockerFixture
) -> None:
    mocker.patch.object(file_state, "_is_trusted", return_value=True)
    changed_ns = (root / "file").stat().st_ctime_ns
    clock = mocker.patch("time.time_ns")
    clock.return_value = changed_ns + SETTLED_NS
    assert listed(root).of("file") is None
    clock.return_value += 1
    assert listed(root).of("file") is not None
    os.utime(root / "file", ns=(0, changed_ns + HOUR_NS))  # a date that is to come
    clock.return_value += SETTLED_NS
    assert listed(root).of("file") is None


@pytest.mark.usefixtures("later")
def test_only_regular_files_of_one_device_have_a_state(
    root: Path, mocker: MockerFixture
) -> None:
    (root / "link").symlink_to("file")
    states = listed(root)
    assert [states.of(path) for path in ("link", "meta", "gone")] == [None] * 3
    assert states.of("file") is not None
    mocker.patch.object(StatesOfFiles, "_device", -1)
    assert listed(root).of("file") is None


@pytest.mark.usefixtures("later")
def test_state_is_of_one_start_of_the_machine(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = []
    for boot in ("first", "second"):
        (tmp_path / boot).write_text(boot)
        monkeypatch.setattr(file_state, "_BOOT", tmp_path / boot)
        found.append(listed(root).where)
    assert None not in found
    assert found[0] != found[1]
    for missing in ("_BOOT", "_MOUNTS"):
        monkeypatch.setattr(file_state, missing, tmp_path / "gone")
        assert listed(root).where is None
        monkeypatch.setattr(file_state, missing, tmp_path / "first")


MOUNTS = r"""
22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw
30 22 0:30 / /srv rw - nfs4 server:/x rw
31 22 7:1 / /snap/x/1 ro - squashfs /dev/loop1 ro
32 22 7:2 / /mnt/image ro - ext4 /dev/loop2 ro
33 22 0:33 / /a\040b rw - fuse.sshfs host: rw
34 22 0:34 / /build rw - 9p share rw
35 34 0:35 / /build rw - overlay overlay rw,lowerdir=/x
36 22 0:36 / /run rw - tmpfs tmpfs rw
""".strip()


@pytest.mark.parametrize(
    ("path", "trusted"),
    [
        ("/home/x/prime", True),
        ("/srv/prime", False),
        ("/srv", False),
        ("/srvx/prime", True),
        ("/snap/x/1", False),
        ("/mnt/image/prime", False),
        ("/a b/prime", False),
        ("/build/prime", True),
        ("/run/prime", True),
    ],
)
def test_file_systems_with_times_of_their_own_are_not_trusted(
    path: str, *, trusted: bool
) -> None:
    assert file_state._is_trusted(MOUNTS, path) is trusted


def test_nothing_is_trusted_where_no_mount_is_known() -> None:
    assert not file_state._is_trusted("", "/home")

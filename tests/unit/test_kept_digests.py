"""Digests that are kept by files' states: copies are found without reading."""

from __future__ import annotations

import os
import random
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import TYPE_CHECKING

import numpy as np
import pytest

from snapcraft_compression_advisor.core.result_store import (
    VARIABLE,
    ResultStore,
    keeping_results,
)
from snapcraft_compression_advisor.payload import file_state, kept_digests
from snapcraft_compression_advisor.payload.kept_digests import HEAD
from snapcraft_compression_advisor.payload.layout import HEAD_BYTES, Layout, lay_out
from snapcraft_compression_advisor.payload.source import DirectoryPayload
from snapcraft_compression_advisor.trial.look import look_at_blocks, quick_look

if TYPE_CHECKING:
    from pathlib import Path
    from unittest.mock import MagicMock

    from numpy.typing import NDArray
    from pytest_mock import MockerFixture

HOUR_NS = 3600 * 10**9
LENGTH = 3 * HEAD_BYTES


@pytest.fixture(autouse=True)
def _later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mocker: MockerFixture
) -> None:
    """Let an hour pass, on a file system that is trusted."""
    monkeypatch.setenv(VARIABLE, str(tmp_path / "cache"))
    mocker.patch.object(file_state, "_is_trusted", return_value=True)
    mocker.patch("time.time_ns", return_value=time.time_ns() + HOUR_NS)


@pytest.fixture
def reads(mocker: MockerFixture) -> MagicMock:
    return mocker.patch("os.pread", side_effect=os.pread)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Return a payload with copies, and files that differ at their ends only."""
    root = tmp_path / "prime"
    (root / "meta").mkdir(parents=True)
    (root / "meta" / "snap.yaml").write_text("name: x\nversion: '1'\n")
    contents = random.Random(1).randbytes(LENGTH)
    for name in ("one", "two", "three"):
        (root / name).write_bytes(contents)
    (root / "other").write_bytes(contents[:-1] + bytes([contents[-1] ^ 1]))
    for name in ("short", "shorter"):
        (root / name).write_bytes(b"the same text")
    return root


def found(root: Path) -> Layout:
    with keeping_results():
        return lay_out(DirectoryPayload(root))


def replace(file: Path, contents: bytes) -> None:
    file.with_name("new").write_bytes(contents)
    file.with_name("new").replace(file)


COPIES = {"two": "one", "three": "one", "shorter": "short"}


def test_copies_are_found_unread_the_second_time(root: Path, reads: MagicMock) -> None:
    assert found(root).same_as == COPIES
    reads.reset_mock()
    assert found(root).same_as == COPIES
    assert reads.call_count == 1  # meta/snap.yaml


def test_only_a_file_that_changed_is_read_again(root: Path, reads: MagicMock) -> None:
    found(root)
    replace(root / "two", random.Random(2).randbytes(LENGTH))
    reads.reset_mock()
    assert found(root).same_as == {"three": "one", "shorter": "short"}
    assert reads.call_count == 2  # and its beginning
    replace(root / "two", (root / "other").read_bytes())
    assert found(root).same_as == {"three": "one", "shorter": "short", "two": "other"}


def test_what_changes_while_it_is_read_is_not_kept(
    root: Path, mocker: MockerFixture
) -> None:
    real = os.pread

    def pread(descriptor: int, length: int, offset: int) -> bytes:
        contents = real(descriptor, length, offset)
        if length == HEAD_BYTES:
            os.truncate(f"/proc/self/fd/{descriptor}", LENGTH)  # sets its times
        return contents

    mocker.patch("os.pread", pread)
    payload = DirectoryPayload(root)
    time.time_ns.return_value += HOUR_NS  # type: ignore[attr-defined]
    with keeping_results():
        lay_out(payload)
        assert payload.digests.get("one", HEAD) is None


@pytest.mark.parametrize("damage", [b"", b"x", bytes(56), bytes(57)])
def test_damaged_digests_are_found_again(
    root: Path, damage: bytes, mocker: MockerFixture
) -> None:
    found(root)
    get = mocker.patch.object(ResultStore, "get", return_value=damage)
    assert found(root).same_as == COPIES
    assert get.called


def test_digests_of_files_that_are_gone_are_dropped(
    root: Path, mocker: MockerFixture
) -> None:
    found(root)
    for name in ("one", "two"):
        (root / name).unlink()
    replace(root / "three", bytes(LENGTH))
    put = mocker.spy(ResultStore, "put")
    found(root)
    (_, _, records) = put.call_args.args
    heads, wholes = ["other", "three", "short", "shorter"], ["other"]
    assert len(records) == kept_digests._RECORD_BYTES * len(heads + wholes)


def test_no_more_than_so_many_are_kept(root: Path, mocker: MockerFixture) -> None:
    mocker.patch.object(kept_digests, "MOST_DIGESTS", 3)
    put = mocker.spy(ResultStore, "put")
    found(root)
    assert len(put.call_args.args[2]) == 3 * kept_digests._RECORD_BYTES
    assert found(root).same_as == COPIES


def test_no_thread_waits_for_what_earlier_runs_found(
    root: Path, mocker: MockerFixture
) -> None:
    def looked_at() -> NDArray[np.float64]:
        with keeping_results():
            payload = DirectoryPayload(root)
            layout = lay_out(payload)
            numbers = np.arange(layout.block_count)
            return look_at_blocks(payload, layout, numbers, quick_look())

    first = looked_at()
    submit = mocker.patch.object(ThreadPoolExecutor, "submit")
    assert (looked_at() == first).all()
    submit.assert_not_called()


def test_digests_are_read_once_whoever_asks_first(
    root: Path, mocker: MockerFixture
) -> None:
    read = mocker.patch.object(kept_digests, "_unpacked", return_value={})
    started = threading.Barrier(2)

    def meet(_: bytes) -> dict[bytes, bytes]:
        with suppress(threading.BrokenBarrierError):
            started.wait(timeout=0.2)  # for the other thread, which mustn't come
        return {}

    read.side_effect = meet
    with keeping_results():
        digests = DirectoryPayload(root).digests
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(lambda path: digests.get(path, HEAD), ("one", "two")))
    read.assert_called_once()

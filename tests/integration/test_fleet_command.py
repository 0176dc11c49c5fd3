"""A fleet's runs, and what they survive."""

import os
import random
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from elf_files import make_elf
from fleets import make_request, make_snap, rows_of
from image_sources import needs_mksquashfs, pack_as_snap
from snapcraft_compression_advisor.cli.main import main
from snapcraft_compression_advisor.core.errors import ToolError
from snapcraft_compression_advisor.fleet import bounded
from snapcraft_compression_advisor.fleet.bounded import BoundedWorker, Limits, Pool
from snapcraft_compression_advisor.fleet.sources import Snap, find_snaps
from snapcraft_compression_advisor.fleet.task import SnapTask
from snapcraft_compression_advisor.trial import census
from trees import fill

pytestmark = needs_mksquashfs


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a directory with three snaps and a file that is none."""
    folder = tmp_path_factory.mktemp("store")
    for name in ("one", "two", "three"):
        make_snap(folder, name)
        shutil.rmtree(folder / f"{name}.tree")
    (folder / "broken.snap").write_bytes(b"hsqs" + bytes(200))
    return folder


def rows_by_name(dataset: Path) -> dict[str, dict[str, Any]]:
    rows = rows_of(dataset)
    found = {row["path"].rpartition("/")[2]: row for row in rows}
    assert len(found) == len(rows)
    return found


def test_every_snap_gets_a_row_and_a_second_run_none(
    store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    dataset = tmp_path / "data"
    arguments = ["fleet", str(store), "-o", str(dataset), "--processes", "2"]
    assert main(arguments) == 0
    assert "4 new rows, 1 of them with an error" in capsys.readouterr().out
    rows = rows_by_name(dataset)
    assert rows["broken.snap"]["error"].startswith(f"{store}/broken.snap: ")
    assert rows["broken.snap"]["error_status"] == os.EX_DATAERR
    row = rows["one.snap"]
    assert (row["name"], row["base"], row["codec"]) == ("one", "core24", "xz")
    assert row["image_bytes"] == (store / "one.snap").stat().st_size
    assert row["xz_bytes_low"] == row["xz_bytes_high"] == row["image_bytes"]
    assert row["verdict"] in ("change", "keep", "no-benefit", "undecided")
    assert {each["app"] for each in row["launches"]} == {"one"}
    assert row["digest"].startswith("sha256:")
    assert main(arguments) == 0
    assert "0 new rows, 4 were there already" in capsys.readouterr().out
    # Touched: digested again, and found to be the same.
    (store / "one.snap").touch()
    assert main(arguments) == 0
    assert "0 new rows" in capsys.readouterr().out
    assert rows_by_name(dataset) == rows


def test_a_snap_that_takes_too_much_memory_gets_a_row(store: Path) -> None:
    """No snap can be analysed in 16 MB, this one in the usual limit."""
    limits = Limits(memory_bytes=16_000_000)
    worker = BoundedWorker(make_request(), limits)
    try:
        hungry = worker.row(Snap(path=str(store / "one.snap")))
    finally:
        worker.close()
    assert "takes more than 16 MB of memory. Raise --mem" in str(hungry["error"])
    assert hungry["digest"] is None  # the file isn't read again


def test_a_snap_that_takes_too_long_fails_alone(store: Path) -> None:
    worker = BoundedWorker(make_request(), Limits(seconds=60))
    snap = Snap(path=str(store / "one.snap"))
    try:
        assert worker.row(snap).get("error") is None
        assert worker._process is not None
        os.kill(worker._process.pid, signal.SIGSTOP)  # as if it never ended
        worker._limits = Limits(seconds=0.2)
        assert "takes longer than 0.2 s" in str(worker.row(snap)["error"])
        worker._limits = Limits(seconds=60)
        assert worker.row(snap).get("error") is None
    finally:
        worker.close()


def test_a_worker_that_is_killed_while_it_starts_is_started_again(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    worker, kills = BoundedWorker(make_request(), Limits(seconds=60)), iter(range(2))
    opened = worker._open

    def killed() -> subprocess.Popen[bytes]:
        process = opened()
        if next(kills, None) is not None:
            process.kill()
        return process

    monkeypatch.setattr(worker, "_open", killed)
    try:
        assert worker.row(Snap(path=str(store / "one.snap"))).get("error") is None
    finally:
        worker.close()
    assert next(kills, None) is None


def test_a_worker_that_ends_by_itself_when_it_starts_ends_the_run(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bounded, "_PROGRAM", "raise SystemExit(1)")
    worker = BoundedWorker(make_request(), Limits(seconds=60))
    with pytest.raises(ToolError, match="No worker process can be started"):
        worker.row(Snap(path=str(store / "one.snap")))


def test_workers_that_are_killed_cost_no_row(store: Path) -> None:
    pool = Pool(make_request(), Limits(), workers=2)
    over = threading.Event()

    def kill() -> None:
        killed = 0
        while not over.wait(0.01):
            for worker in pool.workers:
                if killed < 2:
                    killed += worker.kill()

    killer = threading.Thread(target=kill)
    killer.start()
    try:
        rows = [*pool.rows(find_snaps([str(store)]))]
    finally:
        over.set()
        killer.join()
    assert len(rows) == 4
    assert [str(row["path"]) for row in rows if row.get("error")] == [
        f"{store}/broken.snap"
    ]


SNAPS = 8
FLEET = (sys.executable, "-m", "snapcraft_compression_advisor", "fleet")


@pytest.fixture(scope="module")
def small_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("store")
    for number in range(SNAPS):
        make_snap(folder, f"s{number}")
    return folder


def paths_of(dataset: Path) -> list[str]:
    return [row["path"] for row in rows_of(dataset)]


@contextmanager
def started(*command: str, **environment: str) -> Iterator[subprocess.Popen[str]]:
    """Start a program and end it, whatever happens; its messages are to be read."""
    process = subprocess.Popen(
        command,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **environment},
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()
        if process.stderr is not None:
            process.stderr.close()


def line_with(text: str, process: subprocess.Popen[str]) -> str:
    """Return a program's next message that has this in it."""
    assert process.stderr is not None
    said = []
    for line in process.stderr:
        said.append(line)
        if text in line:
            return line
    pytest.fail(f"{text!r} wasn't said: {said}")


def test_an_interrupted_run_keeps_its_rows_and_is_continued(
    small_store: Path, tmp_path: Path
) -> None:
    command = (*FLEET, str(small_store), "-o", str(tmp_path), "--processes", "1")
    with started(*command) as first:
        line_with(f"1 of {SNAPS} snaps", first)
        first.send_signal(signal.SIGINT)
        _, said = first.communicate()
    assert first.returncode == 128 + signal.SIGINT
    assert "Traceback" not in said
    kept = paths_of(tmp_path)
    assert 0 < len(kept) < SNAPS
    subprocess.run(command, check=True, capture_output=True)
    assert sorted(paths_of(tmp_path)) == sorted(map(str, small_store.glob("*.snap")))


def test_two_runs_at_once_make_each_row_once(small_store: Path, tmp_path: Path) -> None:
    command = (*FLEET, str(small_store), "-o", str(tmp_path), "--processes", "1")
    with started(*command) as first, started(*command) as second:
        said = [process.communicate()[1] for process in (first, second)]
    assert (first.returncode, second.returncode) == (0, 0), said
    assert sorted(paths_of(tmp_path)) == sorted(map(str, small_store.glob("*.snap")))


LIBRARIES = 90
NOISE = random.Random(1)


def half_noise(length: int) -> bytes:
    """Return what compresses to half of its length, and nowhere to less."""
    digits = bytes(range(16)) * 16
    return NOISE.randbytes(length).translate(digits)


def pack(folder: Path, files: Mapping[str, bytes], codec: str) -> bytes:
    tree = fill(folder / "tree", files)
    return pack_as_snap(tree, folder / "one.snap", codec=codec).read_bytes()


def row_of(content: bytes) -> dict[str, Any]:
    fsspec = pytest.importorskip("fsspec")
    fsspec.filesystem("memory").pipe("/one.snap", content)
    with ExitStack() as until:
        task = SnapTask(make_request(), until)
        return {**task.row(Snap(path="memory://one.snap"))}


def snap_yaml() -> bytes:
    return b"name: one\nversion: '1'\nbase: core24\napps: {one: {command: bin/one}}\n"


def test_a_large_snap_costs_a_sample_of_its_blocks(tmp_path: Path) -> None:
    files = {f"data/{n}.bin": NOISE.randbytes(1 << 20) for n in range(12)}
    files |= {"bin/one": b"#!/bin/sh\n", "meta/snap.yaml": snap_yaml()}
    content = pack(tmp_path, files, "xz")
    row = row_of(content)
    assert row.get("error") is None
    assert len(content) > 12_000_000
    assert row["read_bytes"] < census.REMOTE_BYTES + 300_000
    assert row["added_bytes_low"] <= row["added_bytes_mid"] <= row["added_bytes_high"]


@pytest.mark.parametrize("codec", ["xz", "lzo"])
def test_of_libraries_only_the_beginnings_are_read(
    tmp_path: Path, codec: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [f"lib{number}.so.1" for number in range(LIBRARIES)]
    files = {
        f"lib/{name}": make_elf(soname=name) + half_noise(60_000) for name in names
    }
    files |= {"bin/one": make_elf(needed=names), "meta/snap.yaml": snap_yaml()}
    content = pack(tmp_path, files, codec)
    monkeypatch.setattr(census, "REMOTE_BYTES", 1)
    row = row_of(content)
    assert row.get("error") is None
    assert row["launches"]
    assert row["read_bytes"] < len(content) * 0.6

"""``fleet`` with real workers: rows, limits, workers that die, runs that are killed."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
from typing import TYPE_CHECKING, Any

import pytest

from fleets import make_request, make_snap, rows_of
from snapcraft_compression_advisor.cli.main import main
from snapcraft_compression_advisor.core.errors import ToolError
from snapcraft_compression_advisor.fleet import bounded
from snapcraft_compression_advisor.fleet.bounded import BoundedWorker, Limits
from snapcraft_compression_advisor.fleet.engines import Pool
from snapcraft_compression_advisor.fleet.sources import Snap, find_snaps

if TYPE_CHECKING:
    from pathlib import Path

if shutil.which("mksquashfs") is None:
    pytest.skip("mksquashfs is not installed", allow_module_level=True)


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


def test_a_worker_that_is_killed_whenever_it_starts_is_started_again(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    worker, kills = BoundedWorker(make_request(), Limits(seconds=60)), iter(range(5))
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
            for worker in pool.workers():
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


def test_a_run_that_is_killed_is_continued(store: Path, tmp_path: Path) -> None:
    dataset = tmp_path / "data"
    arguments = ["fleet", str(store), "-o", str(dataset)]
    program = "import sys; from snapcraft_compression_advisor.cli.main import main; "
    command = [sys.executable, "-c", f"{program} main(sys.argv[1:])", *arguments]
    first = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert first.stderr is not None
    first.stderr.readline()  # until something is done
    first.kill()
    first.communicate()
    subprocess.run(command, check=True, capture_output=True)
    assert len(rows_of(dataset)) == 4

"""Runs of ``fleet`` that are interrupted from outside lose nothing that is ready."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from fleets import make_snap, rows_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

if shutil.which("mksquashfs") is None:
    pytest.skip("mksquashfs is not installed", allow_module_level=True)

SNAPS = 8
SCHEDULER = """
import signal, sys
from distributed import LocalCluster
with LocalCluster(
    n_workers=1, threads_per_worker=1, processes=False, protocol="tcp",
    host="127.0.0.1", scheduler_port=0, dashboard_address=None,
) as cluster:
    print("Scheduler at:", cluster.scheduler_address, file=sys.stderr, flush=True)
    signal.pause()
"""
FLEET = (sys.executable, "-m", "snapcraft_compression_advisor", "fleet")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
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
    store: Path, tmp_path: Path
) -> None:
    command = (*FLEET, str(store), "-o", str(tmp_path), "--processes", "1")
    with started(*command) as first:
        line_with(f"1 of {SNAPS} snaps", first)
        first.send_signal(signal.SIGINT)
        _, said = first.communicate()
    assert first.returncode == 128 + signal.SIGINT
    assert "Traceback" not in said
    kept = paths_of(tmp_path)
    assert 0 < len(kept) < SNAPS
    subprocess.run(command, check=True, capture_output=True)
    assert sorted(paths_of(tmp_path)) == sorted(map(str, store.glob("*.snap")))


def test_two_runs_at_once_make_each_row_once(store: Path, tmp_path: Path) -> None:
    command = (*FLEET, str(store), "-o", str(tmp_path), "--processes", "1")
    with started(*command) as first, started(*command) as second:
        said = [process.communicate()[1] for process in (first, second)]
    assert (first.returncode, second.returncode) == (0, 0), said
    assert sorted(paths_of(tmp_path)) == sorted(map(str, store.glob("*.snap")))


def test_a_scheduler_that_is_killed_ends_the_run_with_what_is_ready(
    store: Path, tmp_path: Path
) -> None:
    pytest.importorskip("distributed")
    # Tries to reach the scheduler again take as long as this.
    quick = {"DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "1s"}
    with started(sys.executable, "-c", SCHEDULER, TMPDIR=str(tmp_path)) as scheduler:
        found = re.search(r"tcp://[\d.:]+", line_with("Scheduler at:", scheduler))
        assert found is not None
        command = (*FLEET, str(store), "-o", str(tmp_path / "data"))
        with started(*command, "--scheduler", found[0], **quick) as run:
            line_with(f"1 of {SNAPS} snaps", run)
            scheduler.kill()
            _, said = run.communicate()
    assert run.returncode == os.EX_UNAVAILABLE, said
    assert "The Dask scheduler is gone" in said
    assert "run the same command again" in said
    assert "Traceback" not in said
    kept = paths_of(tmp_path / "data")
    assert 0 < len(kept) < SNAPS
    assert len({*kept}) == len(kept)

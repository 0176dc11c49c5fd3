"""What is interrupted leaves nothing, and snapcraft.yaml is never damaged."""

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from mounts import small_disk
from real_payloads import advisor
from snapcraft_compression_advisor.core.errors import BadDataError
from snapcraft_compression_advisor.project.edit import apply_edit, plan_edit

pytestmark = pytest.mark.slow

SCRIPT = Path(__file__).parents[2] / "benchmarks/reliability_signals.py"

ALONE = ("unshare", "--mount")
"""A mount namespace that another test makes would copy a mount, and keep it."""


def run_moments(*arguments: str, within: tuple[str, ...] = ()) -> None:
    """Run the trial at a small size; it fails if anything is left."""
    result = subprocess.run(
        [*within, sys.executable, SCRIPT, *arguments],
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize("command", ["advise", "exact", "resquash"])
def test_interrupted_command_leaves_nothing(command: str) -> None:
    run_moments("--moments", "6", command)


@pytest.mark.mounts
@pytest.mark.bubblewrap
@pytest.mark.parametrize("command", ["record", "measure"])
def test_interrupted_launch_leaves_no_mount_and_no_process(command: str) -> None:
    run_moments("--delays", "--moments", "4", command, within=ALONE)


@pytest.mark.mounts
@pytest.mark.bubblewrap
def test_next_run_cleans_up_after_one_that_was_killed() -> None:
    run_moments("--delays", "--moments", "4", "--kill", "measure", within=ALONE)


BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
OLD = b"name: x # kept\ncompression: xz\n" + b"# filler\n" * 4000
NEW = OLD.replace(b"xz", b"lzo", 1)


def test_killed_anywhere_it_leaves_the_old_file_or_the_new_one(tmp_path: Path) -> None:
    script = BENCHMARKS / "reliability_kills.py"
    result = subprocess.run(
        [sys.executable, script, "--kills", "48", "--scratch", tmp_path],
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stdout + result.stderr
    rows = [line.split("|")[1:-1] for line in result.stdout.splitlines()[2:]]
    assert [row[0].strip() for row in rows] == ["set", "fix", "advise", "write"]
    assert sum(int(row[1]) for row in rows) == 48
    assert sum(int(row[3]) for row in rows) > 0  # some come after the replacement


@pytest.mark.mounts
@pytest.mark.parametrize("state", ["full", "read-only"])
def test_disk_that_takes_nothing_is_an_error_and_the_file_stays(
    state: str, tmp_path: Path
) -> None:
    """The disk holds the file, but not a second one."""
    with small_disk(tmp_path, "size=64k,nr_inodes=64") as disk:
        path = disk / "snapcraft.yaml"
        path.write_bytes(OLD)
        if state == "full":
            (disk / "rest").write_bytes(b"x" * 16_000)
        else:
            subprocess.run(["mount", "-o", "remount,ro", disk], check=True)
        names = set(disk.iterdir())
        result = advisor("set", disk, "--compression", "lzo", status=os.EX_IOERR)
        assert "snapcraft.yaml" in result.stderr
        assert path.read_bytes() == OLD
        assert set(disk.iterdir()) == names


def test_what_another_editor_saves_is_never_mixed_with_ours(tmp_path: Path) -> None:
    path = tmp_path / "snapcraft.yaml"
    path.write_bytes(OLD)
    theirs = OLD.replace(b"x # kept", b"y # saved by the editor")
    stop = threading.Event()

    def save_again_and_again() -> None:
        while not stop.is_set():
            for text in (theirs, OLD):
                (tmp_path / "save").write_bytes(text)
                (tmp_path / "save").replace(path)

    editor = threading.Thread(target=save_again_and_again)
    editor.start()
    whole = {OLD, NEW, theirs, theirs.replace(b"compression: xz", b"compression: lzo")}
    refused = 0
    try:
        for _ in range(20):
            try:
                apply_edit(plan_edit(path, "lzo"))
            except BadDataError:  # it has changed since it was read
                refused += 1
            assert path.read_bytes() in whole
    finally:
        stop.set()
        editor.join()
    assert path.read_bytes() in whole
    assert refused
    assert set(tmp_path.iterdir()) <= {path, tmp_path / "save"}

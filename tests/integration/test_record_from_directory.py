"""Recording real launches from the payload's directory, as any user does."""

import json
import mmap
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from mounts import is_in_memory
from real_launches import BLOCK, fill_launchable
from real_payloads import advisor
from snapcraft_compression_advisor.launch.profile import LaunchProfile

pytestmark = [pytest.mark.users, pytest.mark.bubblewrap]

READ = {"first": ((0, 0),), "middle": ((3, 3),), "whole": ((0, 8),)}
MAPS_A_PAGE = """
import mmap, os, sys
with open(os.environ["SNAP"] + "/data/opened", "rb") as file:
    mapping = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
mapping[5 * 131072 + 24 * 4096]
print("mapped", flush=True)
sys.stdin.read() or __import__("time").sleep(4713)
"""
PRIVILEGES = (
    (),
    ("setpriv", "--bounding-set=-all", "--inh-caps=-all"),
    ("unshare", "--user", "--map-root-user"),
)


@pytest.fixture
def prime(tmp_path: Path) -> Path:
    directory = fill_launchable(tmp_path / "prime")
    if is_in_memory(tmp_path):
        pytest.skip("temporary files are in memory")
    return directory


def record(
    prime: Path, *arguments: str | Path, **environment: str
) -> subprocess.CompletedProcess[str]:
    method = ("--method", "directory")
    return advisor(
        "record", prime, *method, *arguments, cwd=None, status=None, **environment
    )


def blocks(result: subprocess.CompletedProcess[str]) -> dict[str, object]:
    assert result.returncode == 0, result.stderr
    profile = LaunchProfile.model_validate_json(result.stdout)
    assert profile.source == "directory"
    return {
        Path(file.path).name: file.blocks
        for file in profile.files
        if file.path.startswith("data/")
    }


@pytest.mark.parametrize("privileges", PRIVILEGES)
def test_blocks_are_those_that_a_mount_reads(
    prime: Path, privileges: tuple[str, ...]
) -> None:
    if privileges and subprocess.run([*privileges, "true"], check=False).returncode:
        pytest.skip("this user (root?) can't change its privileges")
    command = (sys.executable, "-m", "snapcraft_compression_advisor", "record", prime)
    # Root without its privileges can't make launches another user's.
    alone = ("--unconfined",) if privileges else ()
    result = subprocess.run(
        (*privileges, *command, "--method", "directory", *alone),
        capture_output=True,
        text=True,
        check=False,
    )
    assert blocks(result) == READ


def test_mapped_page_brings_the_blocks_that_a_mount_reads_around_it(
    prime: Path,
) -> None:
    command = (sys.executable, "-c", MAPS_A_PAGE)
    result = record(prime, "--unconfined", "--until", "output:mapped", "--", *command)
    # A fault in the second half of block 5: 64 KiB to both sides reach block 6.
    assert blocks(result) == {"opened": ((0, 0), (5, 6))}


def test_payload_that_the_app_writes_into_is_an_error(prime: Path) -> None:
    script = 'echo changed >> "$SNAP/data/first"'
    result = record(prime, "--unconfined", "--", "sh", "-c", script)
    assert result.returncode == 69
    assert "The app wrote into its payload: 'data/first'" in result.stderr
    assert result.stdout == ""


def test_app_with_paths_built_in_is_told_of_layouts(prime: Path) -> None:
    (prime / "usr/share/launchy").mkdir(parents=True)
    (prime / "usr/share/launchy/ui").touch()
    script = "cat /usr/share/launchy/ui"
    result = record(prime, "--unconfined", "--no-warm-up", "--", "sh", "-c", script)
    assert result.returncode == 69
    assert "The app looks for '/usr/share/launchy/ui'" in result.stderr
    assert "record without --unconfined" in result.stderr


def test_python_writes_no_bytecode_into_the_payload(prime: Path) -> None:
    (prime / "module.py").write_text("value = 1")
    script = "import os, sys; sys.path.insert(0, os.environ['SNAP']); import module"
    result = record(prime, "--unconfined", "--", sys.executable, "-c", script)
    assert result.returncode == 0, result.stderr
    assert not (prime / "__pycache__").exists()


def test_app_may_make_a_large_file_that_it_does_not_fill(prime: Path) -> None:
    # .NET's run time makes one of 2 TiB, in memory.
    script = 'truncate --size=2T "$HOME/sparse"'
    result = record(prime, "--", "sh", "-c", script)
    assert result.returncode == 0, result.stderr


def test_file_that_others_map_is_named(prime: Path) -> None:
    with (
        (prime / "data/middle").open("rb") as file,
        mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as mapping,
    ):
        assert mapping[3 * BLOCK] is not None
        result = record(prime)
    assert result.returncode == 69
    assert "can't be evicted from the page cache: 'data/middle'" in result.stderr


@pytest.fixture
def in_memory() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(dir="/dev/shm") as directory:
        yield fill_launchable(Path(directory) / "prime")


def without_mounts(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    drop = ("setpriv", "--bounding-set=-all", "--inh-caps=-all")
    command = (sys.executable, "-m", "snapcraft_compression_advisor", "record")
    alone = ("--unconfined",) if os.geteuid() == 0 else ()
    return subprocess.run(
        [*(drop if alone else ()), *command, *map(str, arguments), *alone],
        capture_output=True,
        text=True,
        check=False,
    )


def test_payload_in_memory_can_not_be_recorded_from_the_directory(
    in_memory: Path,
) -> None:
    result = without_mounts(in_memory)
    assert result.returncode == 69
    assert "copy it to a disk" in result.stderr


@pytest.mark.root
def test_payload_of_somebody_else_says_whose_it_is(prime: Path) -> None:
    (prime / "data/whole").chmod(0o644)
    os.chown(prime / "data/whole", 4711, 4711)
    result = without_mounts(prime, "--method", "directory")
    assert result.returncode == 69
    assert "'data/whole' belongs to another user" in result.stderr


@pytest.mark.parametrize(
    "method", ["directory", pytest.param("residency", marks=pytest.mark.mounts)]
)
def test_no_way_to_find_a_launch_counts_holes(
    prime: Path, tmp_path: Path, method: str
) -> None:
    with (prime / "data/first").open("r+b") as data:  # blocks 2 to 7
        data.truncate(2 * BLOCK)
        data.truncate(8 * BLOCK)
        data.seek(8 * BLOCK)
        data.write(b"end")
    (prime / "bin/launchy").write_text('#!/bin/sh\ncat "$SNAP/data/first" >/dev/null\n')
    recorded = tmp_path / "launch.json"
    advisor("record", prime, "--method", method, "--output", recorded, status=0)
    profile = LaunchProfile.model_validate_json(recorded.read_text())
    (read,) = (file for file in profile.files if file.path == "data/first")
    assert read.blocks == ((0, 1), (8, 8))
    guessed = advisor("launch-set", prime, "--format", "json").stdout
    for file in LaunchProfile.model_validate_json(guessed).files:
        if file.path == read.path:
            assert all(last < 2 or first >= 8 for first, last in file.blocks)
    advice = ("advise", prime, "--launch-profile", recorded, "--format", "json")
    (launch,) = json.loads(advisor(*advice).stdout)["launches"]
    assert launch["data_blocks"] == sum(
        last - first + 1 for file in profile.files for first, last in file.blocks
    )

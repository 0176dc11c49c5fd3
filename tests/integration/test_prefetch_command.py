"""The program that reads ahead, compiled and started; ``prefetch --prove``."""

import json
import os
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from mounts import is_in_memory
from real_launches import BLOCK, add_escape, fill_launchable
from real_payloads import advisor, snap_pack
from snapcraft_compression_advisor.capture.page_cache import evict, resident_blocks
from snapcraft_compression_advisor.launch.profile import (
    LaunchProfile,
    ProfileFile,
    profile_text,
)
from snapcraft_compression_advisor.payload.snap_yaml import SnapMetadata
from snapcraft_compression_advisor.payload.source import open_payload
from snapcraft_compression_advisor.prefetch.program import (
    add_to_command_chain,
    compile_program,
)
from trees import fill

pytestmark = [
    pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler"),
    pytest.mark.bubblewrap,
]
READERS_END_S = 30.0


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("program") / "program"
    compile_program(target, SnapMetadata(name="sample"))
    return target


@pytest.fixture
def program(compiled: Path, tmp_path: Path) -> Path:
    """Return the program as a snap has it, without its list."""
    target = tmp_path / "snap/prefetch/launchy"
    target.parent.mkdir(parents=True)
    shutil.copy(compiled, target)
    return target


def run(program: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [program, *words], check=False, capture_output=True, text=True, timeout=60
    )


@pytest.mark.parametrize(
    "listed",
    [
        None,
        "",
        "0 0 gone\n",
        "\0\xff 9",
        "99999999999999999999 1 data/a\n",
        "1 0 \n" * 9,
        "0 1 pipe\n" * 9,
        "0 1 prefetch\n1 9999999 prefetch/launchy\n",
    ],
)
def test_app_starts_whatever_is_in_the_list(program: Path, listed: str | None) -> None:
    os.mkfifo(program.parents[1] / "pipe")
    if listed is not None:
        program.with_name("launchy.list").write_text(listed, encoding="utf-8")
    done = run(program, "/bin/sh", "-c", 'echo "$0 $1 $GREETING"; exit 7', "a b", "c")
    assert (done.returncode, done.stderr) == (7, "")
    assert done.stdout == f"a b c {os.environ.get('GREETING', '')}\n"


def test_app_starts_where_the_list_is_no_file(program: Path) -> None:
    listed = program.with_name("launchy.list")
    os.mkfifo(listed)
    assert run(program, "/bin/echo", "started").stdout == "started\n"
    listed.unlink()
    listed.mkdir()
    assert run(program, "/bin/echo", "started").stdout == "started\n"


def test_program_that_is_missing_is_reported_as_a_shell_does(program: Path) -> None:
    assert run(program, "/nowhere/app").returncode == 127
    assert run(program, "/").returncode == 126
    assert "no program to start" in run(program).stderr


def test_blocks_of_the_list_are_read_and_no_others(
    program: Path, tmp_path: Path
) -> None:
    root = tmp_path / "snap"
    fill = fill_launchable(tmp_path / "filled")
    shutil.copytree(fill, root, dirs_exist_ok=True)
    if is_in_memory(root):
        pytest.skip("temporary files are in memory")
    program.with_name("launchy.list").write_text("1 2 data/whole\n4 4 data/first\n")
    wanted = {"data/first": {4}, "data/whole": {1, 2}}
    with open_payload(root) as payload:
        evict(root, payload.inventory)
        done = run(program, "/bin/echo", "started")
        assert done.stdout == "started\n"
        end_s = time.monotonic() + READERS_END_S
        found: dict[str, set[int]] = {}
        while found != wanted and time.monotonic() < end_s:
            found = {
                each.path: {n for a, b in each.blocks for n in range(a, b + 1)}
                for each in resident_blocks(root, payload.inventory)
                if each.path.startswith("data/")
            }
    assert found == wanted


def write_profile(path: Path) -> Path:
    """Write what a launch of the sample reads."""
    size = 8 * BLOCK + 1000
    files = (
        ProfileFile(path="data/first", size=size, blocks=((0, 0),)),
        ProfileFile(path="data/whole", size=size, blocks=((0, 8),)),
    )
    profile = LaunchProfile(source="residency", app="launchy", app_files=files)
    path.write_text(profile_text(profile))
    return path


@pytest.mark.skipif(shutil.which("snap") is None, reason="needs snap, of snapd")
def test_snap_trimmed_and_with_the_program_passes_the_check_of_the_store(
    tmp_path: Path,
) -> None:
    prime = fill_launchable(tmp_path / "prime")
    fill(prime, {"usr/include/idle.h": "int idle;\n" * 900})
    trimmed = advisor("trim", prime, "--format", "json")
    (group,) = json.loads(trimmed.stdout)["groups"]
    for name in group["files"]:
        (prime / name).unlink()
    (prime / "usr/include").rmdir()
    before = {path: path.read_bytes() for path in prime.rglob("*") if path.is_file()}
    profile = write_profile(tmp_path / "launch.json")
    ran = advisor("prefetch", prime, "--launch-profile", profile, "--write", prime)
    assert ran.returncode == 0, ran.stderr
    assert "command-chain: [prefetch/launchy]" in ran.stdout
    assert {path: path.read_bytes() for path in before} == before
    add_to_command_chain(prime, "launchy")
    snap = snap_pack(prime, tmp_path / "packed", compression="xz")
    checked = advisor(
        "lint", snap, "--resquash", "--select", "SCA5", "--format", "json"
    )
    (payload,) = json.loads(checked.stdout)["payloads"]
    assert (payload["error"], payload["findings"]) == (None, [])


@pytest.mark.parametrize("runs", [pytest.param("2", marks=pytest.mark.mounts)])
@pytest.mark.bubblewrap
def test_proof_times_all_three_kinds(tmp_path: Path, runs: str) -> None:
    prime = fill_launchable(tmp_path / "prime")
    add_escape(prime / "bin/launchy", tmp_path / "escaped")
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    before = {path: path.stat().st_mtime for path in prime.rglob("*")}
    ran = advisor(
        "prefetch", prime, "--launch-profile", write_profile(tmp_path / "launch.json"),
        "--prove", "--runs", runs, "--format", "json", TMPDIR=str(scratch), status=0,
    )  # fmt: skip
    proof = json.loads(ran.stdout)["proof"]
    kinds = {name: len(each["cold_s"]) for name, each in proof["runs"].items()}
    assert kinds == dict.fromkeys(("without", "with", "wrong"), int(runs))
    assert {path: path.stat().st_mtime for path in prime.rglob("*")} == before
    assert not list(scratch.iterdir())
    assert not (tmp_path / "escaped").exists()

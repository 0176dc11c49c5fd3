"""Hostile images, read and given to every command, and a short run of the fuzzer."""

import importlib.util
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any

import pytest
from pytest_mock import MockerFixture

from command_probe import COMMANDS
from image_bombs import bombs, holes, snap
from image_corpus import corpus, small_images
from image_mutation import mutate_image
from image_probe import probe
from image_sources import mksquashfs, needs_mksquashfs
from snapcraft_compression_advisor.core.errors import BadDataError
from snapcraft_compression_advisor.core.scratch import remove_tree
from snapcraft_compression_advisor.core.units import MIB
from snapcraft_compression_advisor.payload.source import open_payload
from snapcraft_compression_advisor.trial.exact import run_exact_trial
from trees import fill, make_deep

TESTS = Path(__file__).resolve().parents[1]
EXECUTIONS = 3000

pytestmark = [pytest.mark.slow, needs_mksquashfs]


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Return what a process says that read every image of the corpus."""
    scratch = tmp_path_factory.mktemp("corpus")
    images = scratch / "images"
    images.mkdir()
    for name, raw in corpus(scratch):
        (images / name).write_bytes(raw)
    (images / "gzip-right").rename(images / "0")  # what the others are compared with
    run = subprocess.run(
        [sys.executable, TESTS / "probe_corpus.py", images],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": f"{TESTS.parent}:{TESTS}"},
    )
    assert run.returncode == 0, run.stderr
    found: dict[str, Any] = json.loads(run.stdout)
    return found


def test_no_image_ends_in_anything_but_our_errors(result: dict[str, Any]) -> None:
    assert result["images"] > 1000
    assert result["faults"] == {}  # more than five seconds would be one


def test_no_image_takes_more_than_256_mib(result: dict[str, Any]) -> None:
    assert result["peak_bytes"] < 256 * MIB


def test_right_images_are_read_to_their_end(result: dict[str, Any]) -> None:
    right = {name for name in result["right"] if name.endswith("-right")}
    assert len(right) == 13
    allowed = {name for name, _ in bombs() if name.endswith("-just-allowed")}
    assert allowed <= set(result["right"])


def test_bombs_are_refused(result: dict[str, Any]) -> None:
    claims = ("holes-", "links", "paths", "overlapping")
    refused = {
        name
        for name, _ in bombs()
        if name.startswith(claims) and not name.endswith("-just-allowed")
    }
    assert len(refused) == 11
    assert not refused & set(result["right"])


def test_changes_upon_changes_end_in_our_errors(tmp_path: Path) -> None:
    random = Random(1)
    images = small_images(tmp_path)
    path, other = tmp_path / "x.snap", tmp_path / "other.snap"
    other.write_bytes(images["xz"])
    kept = list(images.values())
    with open_payload(other) as payload:
        for _ in range(EXECUTIONS):
            changed = mutate_image(random.choice(kept), random)
            path.write_bytes(changed)
            if probe(path, payload):
                kept.append(changed)


@pytest.mark.skipif(
    importlib.util.find_spec("atheris") is None,
    reason="atheris isn't installed (pip install atheris; Python 3.11 to 3.13)",
)
def test_the_fuzzer_finds_nothing_in_a_short_run(tmp_path: Path) -> None:
    run = subprocess.run(
        [
            *(sys.executable, TESTS.parent / "fuzz/fuzz_image.py", tmp_path / "corpus"),
            *("-runs=3000", "-seed=1", f"-artifact_prefix={tmp_path}/"),
        ],
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    assert run.returncode == 0, run.stderr[-4000:]
    assert "Done 3000 runs" in run.stderr


DOCUMENTED = {0, 1, 64, 65, 66, 69, 74}
"""Statuses of docs/reference/commands.md, without that of the program's own errors."""
PEAK_BYTES = 300 * MIB
DEEP = 1500
GIGABYTES, TERABYTES = 8 << 30, 4 << 40
FLEET_STEP = 4
"""``fleet`` gets all bombs, and one of so many other images."""


@pytest.fixture(scope="module")
def images(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a directory with the corpus."""
    scratch = tmp_path_factory.mktemp("corpus")
    folder = scratch / "images"
    folder.mkdir()
    for name, raw in corpus(scratch):
        (folder / name).write_bytes(raw)
    return folder


@pytest.fixture(scope="module")
def temporary(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the directory that runs have for temporary files."""
    return tmp_path_factory.mktemp("temporary")


def plan(folder: Path) -> Iterator[tuple[str, ...]]:
    """Yield each image with its commands: a bomb with all, any other with the next."""
    of_bombs = {name for name, _ in bombs()}
    for number, path in enumerate(sorted(folder.iterdir())):
        next_one = (COMMANDS[number % len(COMMANDS)],)
        yield (str(path), *(COMMANDS if path.name in of_bombs else next_one))


def run_all(
    lines: Sequence[Sequence[str]], right: Path, temporary: Path
) -> list[dict[str, Any]]:
    """Return how each run ended; a process for each processor runs them."""
    count = len(os.sched_getaffinity(0))
    environment = {
        **os.environ, "PYTHONPATH": f"{TESTS.parent}:{TESTS}", "TMPDIR": str(temporary)
    }  # fmt: skip
    processes = []
    for number in range(count):
        process = subprocess.Popen(
            [sys.executable, TESTS / "command_probe.py", right],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
            cwd=temporary,
        )
        assert process.stdin is not None
        process.stdin.write("\n".join(map(json.dumps, lines[number::count])))
        process.stdin.close()
        processes.append(process)
    found = []
    for process in processes:
        assert process.stdout is not None
        found += [json.loads(line) for line in process.stdout]
        process.stdout.close()
        assert process.wait() == 0
    return found


@pytest.fixture(scope="module")
def runs(images: Path, temporary: Path) -> list[dict[str, Any]]:
    """Return what became of every run."""
    return run_all([*plan(images)], images / "gzip-right", temporary)


def test_no_run_ends_in_a_traceback_or_an_undocumented_status(
    runs: list[dict[str, Any]],
) -> None:
    assert len(runs) > 1200
    faults = [
        run
        for run in runs
        if run["status"] not in DOCUMENTED or "Traceback" in run["output"]
    ]
    assert faults == []  # more than five seconds would be one


def test_no_run_takes_more_than_300_mib(runs: list[dict[str, Any]]) -> None:
    assert max(run["peak_bytes"] for run in runs) < PEAK_BYTES


def test_no_run_leaves_anything_behind(
    runs: list[dict[str, Any]], temporary: Path
) -> None:
    assert [run for run in runs if run["left_processes"]] == []
    assert list(temporary.iterdir()) == []


def test_deep_folders_are_unpacked_packed_and_removed(tmp_path: Path) -> None:
    (tmp_path / "temporary").mkdir()
    deep = tmp_path / "deep.snap"
    with tempfile.TemporaryDirectory(dir="/dev/shm") as memory:
        root = fill(Path(memory), {"meta/snap.yaml": "name: deep\n"})
        make_deep(root, DEEP)
        mksquashfs(root, deep, "-no-fragments", "-all-root", "-no-xattrs")
        remove_tree(root / "a")
    line = (str(deep), "lint --resquash", "advise --exact", "lint --resquash")
    for run in run_all([line], deep, tmp_path / "temporary"):
        assert run["status"] in {0, 1}, run["output"]
    assert list((tmp_path / "temporary").iterdir()) == []


def test_holes_of_gigabytes_are_not_packed_again(tmp_path: Path) -> None:
    sparse = tmp_path / "sparse.snap"
    sparse.write_bytes(holes(count=GIGABYTES >> 17))
    (tmp_path / "temporary").mkdir()
    line = (str(sparse), "lint --resquash", "advise --exact", "refresh")
    for run in run_all([line], sparse, tmp_path / "temporary"):
        assert run["status"] == os.EX_DATAERR or "refresh" in run["command"]
        assert run["processor_s"] < 2


def test_a_small_disk_is_not_blamed_for_what_an_image_claims(
    tmp_path: Path, mocker: MockerFixture
) -> None:
    sparse = tmp_path / "sparse.snap"
    sparse.write_bytes(holes(count=GIGABYTES >> 17))
    mocker.patch("shutil.disk_usage").return_value.free = 1_000
    with open_payload(sparse) as payload, pytest.raises(BadDataError):
        run_exact_trial(payload, progress=lambda _message: None)


def test_a_command_that_is_a_hole_of_terabytes_is_refused(tmp_path: Path) -> None:
    text = "name: x\napps: {x: {command: program}}\n"
    prime = fill(tmp_path / "prime", {"meta/snap.yaml": text})
    with (prime / "program").open("wb") as program:
        program.truncate(TERABYTES)
    for run in run_all([(str(prime), *COMMANDS)], prime, tmp_path):
        assert run["status"] == os.EX_DATAERR
        assert "'program'" in run["output"] or "claim" in run["output"]
        assert run["processor_s"] < 2


def test_a_fleet_gets_a_row_for_each_image(images: Path, tmp_path: Path) -> None:
    dataset = pytest.importorskip("pyarrow.dataset")
    folder, temporary = tmp_path / "snaps", tmp_path / "temporary"
    folder.mkdir()
    temporary.mkdir()
    of_bombs = {name for name, _ in bombs()}
    for number, path in enumerate(sorted(images.iterdir())):
        if path.name in of_bombs or number % FLEET_STEP == 0:
            (folder / f"{path.name}.snap").hardlink_to(path)
    fleet = (sys.executable, "-m", "snapcraft_compression_advisor", "fleet")
    limits = ("--time-limit", "60", "--memory-limit", "300")
    subprocess.run(
        [*fleet, folder, "-o", tmp_path / "rows", *limits],
        check=True,
        env={**os.environ, "TMPDIR": str(temporary)},
        capture_output=True,
    )
    rows = dataset.dataset(tmp_path / "rows", partitioning="hive").to_table()
    statuses = rows["error_status"].to_pylist()
    distinct = {path.read_bytes() for path in folder.iterdir()}
    assert len(statuses) >= len(distinct)  # equal images may share a row
    assert set(statuses) - {None} <= {65, 66}
    assert list(temporary.iterdir()) == []


def test_one_wrong_run_is_seen(tmp_path: Path) -> None:
    right = tmp_path / "right"
    right.write_bytes(snap(b"name: x\n"))
    wrong, *_ = run_all([(str(right), "no-such-command")], right, tmp_path)
    assert wrong["status"] == os.EX_USAGE

"""The sampled trial against the real mksquashfs."""

import json
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
from pytest_mock import MockerFixture

from image_sources import mksquashfs
from real_payloads import snap_pack
from snapcraft_compression_advisor.codecs import CODECS
from snapcraft_compression_advisor.codecs.lzo import Lzo
from snapcraft_compression_advisor.core.errors import StorageError
from snapcraft_compression_advisor.core.units import Interval
from snapcraft_compression_advisor.payload.source import open_payload
from snapcraft_compression_advisor.squashfs.image import Image
from snapcraft_compression_advisor.trial.exact import run_exact_trial
from snapcraft_compression_advisor.trial.result import (
    METADATA_ERROR,
    TrialResult,
    metadata_bytes,
)
from snapcraft_compression_advisor.trial.sampled import run_sampled_trial
from trees import fill

pytestmark = pytest.mark.slow

DRAWS = 4
PROGRAM_BYTES = 16_000_000
LEAST_PROGRAM_BYTES = 100_000
WORST_HALF_WIDTHS = 2.0
"""What an error exceeds once in 20,000 draws if its interval holds in 95 %."""

SNAP_YAML = "name: sample\nversion: '1'\nsummary: s\ndescription: d\nbase: core24\n"


def run(path: Path, *, seed: int = 0) -> TrialResult:
    with open_payload(path) as payload:
        return run_sampled_trial(payload, progress=lambda _: None, seed=seed)


def advise(path: Path, *options: str) -> str:
    command = [sys.executable, "-m", "snapcraft_compression_advisor", "advise"]
    done = subprocess.run(
        [*command, str(path), *options], check=False, capture_output=True, text=True
    )
    return done.stdout


def exact(path: Path) -> TrialResult:
    with open_payload(path) as payload:
        return run_exact_trial(payload, progress=lambda _: None)


def make_prime(root: Path) -> Path:
    return fill(root, {"meta/snap.yaml": SNAP_YAML})


@pytest.fixture(scope="module")
def library_prime(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a payload of Python's library and programs: 1,000 files or more."""
    prime = make_prime(tmp_path_factory.mktemp("library") / "prime")
    library = sysconfig.get_path("stdlib")
    ignored = shutil.ignore_patterns("site-packages", "test", "config-*", "__pycache__")
    shutil.copytree(library, prime / "lib", symlinks=True, ignore=ignored)
    (prime / "bin").mkdir()
    for program in ("bash", "git", "perl", "python3"):
        if found := shutil.which(program):
            shutil.copy(os.path.realpath(found), prime / "bin" / program)
    return prime


@pytest.fixture(scope="module")
def library_truth(library_prime: Path) -> TrialResult:
    """Return that payload's true sizes."""
    return exact(library_prime)


def sizes(result: TrialResult) -> dict[str, Interval]:
    """Return all sizes that an interval is given of."""
    images = {
        codec: trial.image_bytes
        for codec, trial in result.codecs.items()
        if trial.image_bytes is not None
    }
    assert result.lzo_less_xz_bytes is not None
    assert len(images) == len(CODECS)
    return {**images, "lzo less xz": result.lzo_less_xz_bytes}


def half_widths_off(result: TrialResult, truth: TrialResult) -> dict[str, float]:
    """Return how far each size lies from the truth, in half widths of its interval."""
    found, true = sizes(result), sizes(truth)
    return {
        name: abs(true[name].mid - size.mid) / max(1.0, (size.high - size.low) / 2)
        for name, size in found.items()
    }


def assert_within(
    result: TrialResult, truth: TrialResult, *, half_widths: float = 1.0
) -> None:
    """Assert that all sizes are right within their intervals, or so many times these.

    One draw in twenty misses an interval of 95 %. If a payload isn't the same on
    every machine, only a multiple of it can be asked of a single draw.
    """
    off = half_widths_off(result, truth)
    assert {name: each for name, each in off.items() if each > half_widths} == {}


def test_small_payload_is_within_its_intervals(small_prime: Path) -> None:
    result = run(small_prime)
    assert result.mode == "sampled"
    assert_within(result, exact(small_prime))


@pytest.fixture(scope="module")
def programs_prime(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a payload of this system's programs."""
    prime = make_prime(tmp_path_factory.mktemp("programs") / "prime")
    (prime / "bin").mkdir()
    left = PROGRAM_BYTES
    for program in sorted(Path("/usr/bin").iterdir()):
        if program.is_symlink() or not program.is_file():
            continue
        if LEAST_PROGRAM_BYTES < program.stat().st_size <= left:
            shutil.copy(program, prime / "bin")
            left -= program.stat().st_size
    return prime


def test_intervals_hold_in_most_draws(
    library_prime: Path, library_truth: TrialResult, programs_prime: Path
) -> None:
    """Each interval is that of a payload drawn from many, so one payload won't do."""
    truths = {library_prime: library_truth, programs_prime: exact(programs_prime)}
    draws = [
        half_widths_off(run(prime, seed=seed), truth)
        for prime, truth in truths.items()
        for seed in range(DRAWS)
    ]
    off = [each for draw in draws for each in draw.values()]
    held = sum(each <= 1 for each in off)
    assert held >= 0.8 * len(off)
    assert max(off) <= WORST_HALF_WIDTHS


@pytest.mark.parametrize("compression", ["xz", "lzo"])
def test_built_snap_has_its_own_size_for_nothing(
    library_prime: Path, library_truth: TrialResult, tmp_path: Path, compression: str
) -> None:
    snap = snap_pack(library_prime, tmp_path / "packed", compression=compression)
    result = run(snap)
    own = result.codecs[compression].image_bytes
    assert own is not None
    assert own == Interval.exactly(snap.stat().st_size)
    assert_within(result, library_truth, half_widths=WORST_HALF_WIDTHS)


def test_snap_with_fragments_and_other_blocks_is_read_all_the_same(
    small_prime: Path, tmp_path: Path
) -> None:
    options = ("-comp", "gzip", "-b", "32K")
    foreign = mksquashfs(small_prime, tmp_path / "foreign.snap", *options)
    result = run(foreign)
    assert result.codecs["lzo"].available
    assert result.codecs["gzip"].available
    assert result.notes[0].endswith("not for this one: its blocks have 32,768 bytes")


def test_sizes_of_an_image_with_fragments_are_said_not_to_be_its_own(
    small_prime: Path, tmp_path: Path
) -> None:
    image = mksquashfs(small_prime, tmp_path / "fragments.snap", "-comp", "xz")
    (note,) = run(image).notes
    assert note == (
        "Sizes are for images that 'snap pack' would make, not for this one: it stores "
        "the ends of several files in one block (fragments)"
    )
    report = " ".join(advise(image, "-v").split())
    assert note in report
    assert json.loads(advise(image, "--format", "json"))["trial"]["notes"] == [note]


def test_missing_library_is_made_up_for_by_mksquashfs(
    small_prime: Path, mocker: MockerFixture
) -> None:
    mocker.patch.object(Lzo, "available", new=False)
    result, truth = run(small_prime), exact(small_prime)
    assert result.codecs["lzo"] == truth.codecs["lzo"]
    assert any("lzo: packed with mksquashfs" in note for note in result.notes)


def test_metadata_is_within_its_error_and_a_snap_s_own_is_known(
    library_prime: Path, tmp_path: Path
) -> None:
    snap = snap_pack(library_prime, tmp_path / "packed", compression="lzo")
    with Image.open(snap) as image:
        superblock = image.superblock
        true_bytes = superblock.used_bytes - superblock.inode_table_start
    with open_payload(library_prime) as payload:
        estimated = metadata_bytes(payload)["lzo"]
    assert estimated == pytest.approx(true_bytes, rel=METADATA_ERROR)
    with open_payload(snap) as payload:
        assert metadata_bytes(payload)["lzo"] == pytest.approx(true_bytes)
        assert metadata_bytes(payload)["xz"] < true_bytes


def test_payload_of_nothing_but_metadata_is_a_smallest_snap(tmp_path: Path) -> None:
    result = run(make_prime(tmp_path / "prime"))
    sizes = {trial.image_bytes for trial in result.codecs.values()}
    assert {size.mid for size in sizes if size} == {16384.0}


def test_incompressible_payload_gains_nothing(tmp_path: Path) -> None:
    prime = make_prime(tmp_path / "prime")
    (prime / "noise").write_bytes(os.urandom(20_000_000))
    result, truth = run(prime), exact(prime)
    assert_within(result, truth)
    assert result.lzo_less_xz_bytes is not None
    assert abs(result.lzo_less_xz_bytes.mid) < 10_000


def test_huge_sparse_file_costs_neither_time_nor_size(tmp_path: Path) -> None:
    prime = make_prime(tmp_path / "prime")
    with (prime / "sparse").open("wb") as file:
        file.truncate(12 * 1024**3)
        file.write(b"start")
    result = run(prime)
    xz = result.codecs["xz"].image_bytes
    assert xz is not None
    assert xz.mid < 1_000_000


@pytest.mark.users
def test_pipes_and_devices_are_no_obstacle(tmp_path: Path) -> None:
    prime = make_prime(tmp_path / "prime")
    os.mkfifo(prime / "pipe")
    if os.geteuid() == 0:
        os.mknod(prime / "null", 0o20666, os.makedev(1, 3))
    assert_within(run(prime), exact(prime))


def test_file_that_vanishes_is_a_storage_error(small_prime: Path) -> None:
    with open_payload(small_prime) as payload:
        (small_prime / "usr/share/data/text").unlink()
        with pytest.raises(StorageError, match="usr/share/data/text"):
            run_sampled_trial(payload, progress=lambda _: None)

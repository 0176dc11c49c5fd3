"""``calibrate`` on real mounts: the profile, and that nothing else is left of it."""

import json
import os
import random
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from abilities import OTHER_USER, other_user_can_run
from mounts import loop_devices_of, mount_points_below, small_disk
from real_payloads import advisor, interrupt
from snapcraft_compression_advisor.capture.calibrate import MEMORY
from snapcraft_compression_advisor.codecs import CODECS
from snapcraft_compression_advisor.devices.builtin_devices import usual_block_s
from snapcraft_compression_advisor.devices.device_file import read_device
from trees import fill

pytestmark = [pytest.mark.slow, pytest.mark.mounts]

BLOCK = 128 * 1024


@pytest.fixture
def sample(tmp_path: Path) -> Path:
    """Return a directory of files that can be compressed, and one that can't."""
    chance = random.Random(4)
    words = [chance.randbytes(chance.randrange(2, 9)) for _ in range(500)]
    for number in range(6):
        text = b"".join(chance.choices(words, k=150_000))
        fill(tmp_path, {f"sample/share/part-{number}/text.txt": text})
    (tmp_path / "sample/noise").write_bytes(chance.randbytes(5 * BLOCK))
    return tmp_path / "sample"


@pytest.fixture
def storage(tmp_path: Path) -> Iterator[Path]:
    """Return a directory for everything temporary; in the end it must be empty."""
    directory = tmp_path / "storage"
    directory.mkdir()
    memory_before = set(MEMORY.glob("compression-advisor-*"))
    yield directory
    assert mount_points_below(tmp_path) == []
    assert loop_devices_of(tmp_path) == []
    assert list(directory.iterdir()) == []
    ours = set(MEMORY.glob("compression-advisor-*")) - memory_before
    assert not [path for path in ours if (path / "tree").exists()]


def few(sample: Path, storage: Path) -> tuple[str | Path, ...]:
    return ("--sample", sample, "--storage", storage, "--blocks", "40", "--rounds", "2")


def test_profile_of_this_machine_is_used_by_advise(
    sample: Path, storage: Path, tmp_path: Path, small_prime: Path
) -> None:
    output = tmp_path / "device.yaml"
    result = advisor(
        "calibrate", *few(sample, storage), "-o", output, "--name", "mine",
        TMPDIR=str(storage), status=0,
    )  # fmt: skip
    assert result.stderr.startswith("Calibrating takes about a minute")
    assert "Reading from storage (round 2 of 2)" in result.stderr
    device = read_device(output)
    assert device.name == "mine"
    assert device.processors == len(os.sched_getaffinity(0))
    sources = dict(source.split(": ", 1) for source in device.sources)
    for what in ("processor", "storage"):
        assert sources[what].startswith("measured")
    assert set(device.decompress) == set(CODECS)
    costs_s = {codec: usual_block_s(device.decompress[codec]) for codec in CODECS}
    assert costs_s["xz"] == max(costs_s.values()) > 0
    assert usual_block_s(device.fill) > 0

    advised = advisor("advise", small_prime, "--device", output, "--format", "json")
    assert advised.returncode == 0, advised.stderr
    launches = json.loads(advised.stdout)["launches"]
    assert [list(launch["devices"]) for launch in launches] == [["mine"]] * len(
        launches
    )


def test_storage_in_memory_is_said_to_be(sample: Path, storage: Path) -> None:
    with small_disk(storage / "memory", "size=50%") as place:
        result = advisor("calibrate", *few(sample, place), TMPDIR=str(storage))
        assert list(place.iterdir()) == []
    place.rmdir()
    assert result.returncode == 0, result.stderr
    assert "Warning: the storage is memory" in result.stderr
    assert "it is in memory, so this isn't the speed of a disk" in result.stdout


def test_full_storage_is_a_storage_error(sample: Path, storage: Path) -> None:
    with small_disk(storage / "small", "size=1m") as place:
        result = advisor("calibrate", *few(sample, place), TMPDIR=str(storage))
        assert list(place.iterdir()) == []
    place.rmdir()
    assert result.returncode == 74, result.stderr
    assert "--storage" in result.stderr


def test_storage_that_is_not_there_is_a_clear_error(
    sample: Path, storage: Path
) -> None:
    result = advisor("calibrate", *few(sample, storage / "gone"), TMPDIR=str(storage))
    assert result.returncode == 74
    assert "Cannot write to" in result.stderr


def test_sample_of_too_few_blocks_is_no_input(storage: Path, tmp_path: Path) -> None:
    sample = fill(tmp_path / "tiny", {"file": "only one"})
    result = advisor("calibrate", *few(sample, storage), TMPDIR=str(storage), status=66)
    assert "too few distinct blocks: 1 of the 8 needed" in result.stderr
    assert "--sample" in result.stderr


MOMENTS = (
    "Packing with xz",
    "Reading blocks with each codec (round 2 ",
    "Packing with none (1 of 1)",
    "Reading from storage (round 3 ",
)


@pytest.mark.parametrize("moment", MOMENTS)
@pytest.mark.parametrize("interruption", [signal.SIGINT, signal.SIGTERM])
def test_interruption_leaves_nothing_behind(
    sample: Path, storage: Path, moment: str, interruption: signal.Signals
) -> None:
    words = ("calibrate", *few(sample, storage), "--rounds", "5")
    interrupt(*words, at=moment, by=interruption, TMPDIR=str(storage))


def test_user_other_than_root_is_told_what_to_do(sample: Path, storage: Path) -> None:
    advisor_command = [sys.executable, "-m", "snapcraft_compression_advisor"]
    if not other_user_can_run(*advisor_command, "--version"):
        pytest.skip("other users can't read this Python")
    result = subprocess.run(
        [*advisor_command, "calibrate", *map(str, few(sample, storage))],
        user=OTHER_USER, group=OTHER_USER, extra_groups=[], cwd="/", check=False,
        env={**os.environ, "HOME": "/nonexistent"}, capture_output=True, text=True,
    )  # fmt: skip
    assert result.returncode == 69, result.stderr
    assert "Run the command as root" in result.stderr

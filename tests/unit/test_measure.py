"""What measuring packs, and the timings that it sums up."""

import random
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pytest_mock import MockerFixture

from machine import no_right_to_mount, write_script
from payloads import make_payload
from snapcraft_compression_advisor.capture.images import packed_images
from snapcraft_compression_advisor.capture.measure import in_turns
from snapcraft_compression_advisor.capture.samples import Sample, difference, student
from snapcraft_compression_advisor.core.errors import StorageError, ToolError
from snapcraft_compression_advisor.payload.source import open_payload
from trees import fill

PAYLOAD = make_payload({"bin/hello": b"x" * 1000})
UNSUPPORTED = 'echo "FATAL ERROR: Compressor \\"x\\" is not supported!"; exit 1'


def test_codecs_take_turns_and_each_round_begins_with_the_next() -> None:
    assert list(in_turns(("xz", "lzo", "none"), 4)) == [
        ("xz", "lzo", "none"),
        ("lzo", "none", "xz"),
        ("none", "xz", "lzo"),
        ("xz", "lzo", "none"),
    ]


@pytest.fixture
def scratch(tmp_path: Path) -> Path:
    directory = tmp_path / "scratch"
    directory.mkdir()
    return directory


@pytest.fixture
def prime(tmp_path: Path, mocker: MockerFixture) -> Path:
    """Return a prime directory with a file that the disk has no room for."""
    mocker.patch("shutil.disk_usage").return_value.free = 1_000
    text = "name: large\nversion: '1'\n"
    directory = fill(tmp_path / "prime", {"meta/snap.yaml": text})
    with (directory / "hole").open("wb") as file:
        file.truncate(1_000_000)
    return directory


@pytest.fixture(autouse=True)
def called(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return what is there once mksquashfs was called; it has no codec at all."""
    called, programs = tmp_path / "called", tmp_path / "programs"
    programs.mkdir()
    write_script(programs / "mksquashfs", f"echo >> {called}; {UNSUPPORTED}")
    monkeypatch.setenv("PATH", str(programs))
    return called


def pack(
    path: Path, codecs: Sequence[str], *, scratch: Path, to_mount: bool = False
) -> None:
    with (
        open_payload(path) as payload,
        packed_images(
            payload, codecs, scratch=scratch, progress=lambda _: None, to_mount=to_mount
        ),
    ):
        pytest.fail("packed")


def test_no_codec_left_is_an_error_with_every_reason(
    prime: Path, scratch: Path, called: Path
) -> None:
    with pytest.raises(ToolError) as caught:
        pack(prime, ("xz", "lzo"), scratch=scratch)
    details = (caught.value.details or "").splitlines()
    assert [line.partition(" ")[0] for line in details] == ["xz:", "lzo:"]
    assert "lzo: This mksquashfs" in details[1]
    assert called.exists()
    assert list(scratch.iterdir()) == []


@pytest.mark.parametrize(
    ("to_mount", "said"),
    [(True, "may not mount images"), (False, "No image could be packed")],
)
def test_right_to_mount_is_needed_before_packing_what_is_mounted(
    prime: Path, scratch: Path, called: Path, said: str, *, to_mount: bool
) -> None:
    with no_right_to_mount(), pytest.raises(ToolError, match=said):
        pack(prime, ("xz",), scratch=scratch, to_mount=to_mount)
    assert called.exists() is not to_mount


def test_disk_that_is_plainly_too_small_is_refused_before_packing(
    prime: Path, scratch: Path, called: Path
) -> None:
    with pytest.raises(StorageError, match="Not enough free space"):
        pack(prime, ("xz", "none"), scratch=scratch)
    assert not called.exists()
    # What xz makes of the files isn't known, so that is tried.
    with pytest.raises(ToolError, match="No image could be packed"):
        pack(prime, ("xz",), scratch=scratch)
    assert called.exists()


def test_missing_scratch_directory_is_a_storage_error(tmp_path: Path) -> None:
    with (
        pytest.raises(StorageError, match="Cannot write"),
        packed_images(
            PAYLOAD,
            ("xz",),
            scratch=tmp_path / "no",
            progress=lambda _: None,
            to_mount=False,
        ),
    ):
        pytest.fail("packed")


def test_spread_of_a_single_run_is_not_known() -> None:
    sample = Sample(runs_s=(4.0,))
    assert (sample.median, sample.stdev, sample.n) == (4.0, None, 1)


def test_run_far_beyond_the_quartiles_is_an_outlier() -> None:
    calm = (1.0, 1.1, 1.2, 1.1, 1.0)
    assert Sample(runs_s=calm).outliers == ()
    # Quartiles 1.025 and 1.175, so the fences are at 0.575 and 1.625.
    assert Sample(runs_s=(*calm, 1.62)).outliers == ()
    assert Sample(runs_s=(*calm, 1.63)).outliers == (6,)
    assert Sample(runs_s=(0.5, *calm)).outliers == (1,)


def test_runs_are_noisy_from_a_tenth_of_their_mean() -> None:
    assert not Sample(runs_s=(1.0, 1.0, 1.15)).is_noisy
    assert Sample(runs_s=(1.0, 1.0, 1.25)).is_noisy
    assert not Sample(runs_s=(1.0,)).is_noisy
    assert not Sample(runs_s=(0.0, 0.0)).is_noisy


SLOW_ROUNDS = (1.0, 3.0, 2.0, 5.0)
"""What the machine adds to both runs of each round."""


def sample(*runs_s: float) -> Sample:
    return Sample(runs_s=runs_s)


@pytest.mark.parametrize(
    ("degrees", "quantile"),
    [
        (1, 12.706),
        (2, 4.303),
        (9, 2.262),
        (30, 2.0423),
        (31, 2.0395),
        (60, 2.0003),
        (100_000, 1.960),
    ],
)
def test_quantiles_are_those_of_tables(degrees: int, quantile: float) -> None:
    assert student(degrees) == pytest.approx(quantile, abs=6e-4)


def test_difference_is_that_of_the_rounds_with_its_interval() -> None:
    found = difference(sample(3.0, 4.0, 5.0), sample(1.0, 2.0, 2.0))
    assert found is not None
    assert found.rounds == 3
    # Differences 2, 2, 3: mean 7/3, standard error 1/3, t of 2 degrees 4.303.
    assert found.saved_s.mid == pytest.approx(7 / 3)
    assert found.saved_s.high - found.saved_s.mid == pytest.approx(4.303 / 3, abs=1e-3)
    assert found.times_faster is not None
    assert found.times_faster.mid == pytest.approx((3 * 2 * 2.5) ** (1 / 3))


def test_what_slows_whole_rounds_down_does_not_widen_the_interval() -> None:
    slow = sample(*(4.0 + more for more in SLOW_ROUNDS))
    fast = sample(*(1.5 + more for more in SLOW_ROUNDS))
    found = difference(slow, fast)
    assert found is not None
    assert found.saved_s.low == found.saved_s.high == 2.5


def test_single_round_has_no_spread_and_zero_seconds_no_ratio() -> None:
    assert difference(sample(2.0), sample(1.0)) is None
    found = difference(sample(2.0, 2.0), sample(0.0, 1.0))
    assert found is not None
    assert found.times_faster is None
    assert found.saved_s.mid == 1.5


def test_intervals_hold_the_true_difference_as_often_as_they_say() -> None:
    noise = random.Random(20)
    held = 0
    for _ in range(2000):
        slow = sample(*(noise.gauss(3, 0.5) for _ in range(5)))
        fast = sample(*(noise.gauss(1, 0.3) for _ in range(5)))
        found = difference(slow, fast)
        assert found is not None
        held += found.saved_s.low <= 2 <= found.saved_s.high
    assert 0.94 * 2000 < held < 0.96 * 2000


CLOCKED_S = st.just(0.0) | st.floats(1e-9, 1e6)
"""What a clock of nanoseconds may show."""


@given(st.lists(st.tuples(CLOCKED_S, CLOCKED_S), min_size=2, max_size=20))
def test_ends_are_in_order_for_any_seconds(rounds: list[tuple[float, float]]) -> None:
    slow, fast = (sample(*seconds) for seconds in zip(*rounds, strict=True))
    found = difference(slow, fast)
    assert found is not None
    assert found.saved_s.low <= found.saved_s.mid <= found.saved_s.high
    if found.times_faster is not None:
        assert found.times_faster.low <= found.times_faster.mid
        assert found.times_faster.mid <= found.times_faster.high

"""Trials in rounds, and their results kept for the next run."""

import os
import random
from pathlib import Path

import pytest
from pytest_mock import MockerFixture

from payloads import make_payload
from snapcraft_compression_advisor.codecs import CODECS
from snapcraft_compression_advisor.core import files
from snapcraft_compression_advisor.core.files import (
    OFF,
    VARIABLE,
    cache_directory,
    keeping_results,
)
from snapcraft_compression_advisor.payload import scan
from snapcraft_compression_advisor.payload.layout import lay_out
from snapcraft_compression_advisor.payload.source import open_payload
from snapcraft_compression_advisor.squashfs import mksquashfs
from snapcraft_compression_advisor.trial import sampled
from snapcraft_compression_advisor.trial.result import TrialResult
from snapcraft_compression_advisor.trial.sampled import run_sampled_trial
from trees import fill


@pytest.fixture(autouse=True)
def few_blocks(mocker: MockerFixture) -> None:
    """Have each step take so few blocks that a small payload has more."""
    mocker.patch.multiple(
        sampled, CLOSER_BLOCKS=12, SNAP_CLOSER_BLOCKS=8, TRIED_BLOCKS=6
    )
    mocker.patch.object(sampled, "NARROW_ENOUGH", 1.0)


def run(mocker: MockerFixture, *, narrow_enough: float) -> TrialResult:
    """Try a payload whose files are part noise, part text."""
    mocker.patch.object(sampled, "NARROW_ENOUGH", narrow_enough)
    chance = random.Random(7)
    contents = {
        f"file{number}": chance.randbytes(chance.randrange(1, 9000))
        + b"words " * chance.randrange(1, 9000)
        for number in range(60)
    }
    return run_sampled_trial(make_payload(contents), progress=lambda _: None)


def half_width(result: TrialResult, codec: str) -> float:
    size = result.codecs[codec].image_bytes
    assert size is not None
    return (size.high - size.low) / 2


def difference_half_width(result: TrialResult) -> float:
    """Return that of lzo's size less that of xz, which isn't rounded to pages."""
    difference = result.lzo_less_xz_bytes
    assert difference is not None
    return (difference.high - difference.low) / 2


def test_wide_intervals_have_more_tried(mocker: MockerFixture) -> None:
    one, more = (run(mocker, narrow_enough=each) for each in (1.0, 1e-6))
    assert difference_half_width(more) < difference_half_width(one)
    for codec in ("gzip", "zstd", "lz4"):  # of the first round alone
        assert half_width(more, codec) == pytest.approx(half_width(one, codec), rel=0.1)
    assert more.stored is not None
    for codec in CODECS:
        assert len(more.codecs[codec].blocks.places("file1")) == 1
        assert len(more.stored.codecs[codec].stored_bytes) == 60


@pytest.mark.parametrize(("packed", "looked_at"), [(False, 12), (True, 8)])
def test_fewer_blocks_of_a_snap_are_looked_at(
    tmp_path: Path, *, packed: bool, looked_at: int
) -> None:
    """One of its sizes is known, and to read its blocks takes longer."""
    texts = {f"file{number}": f"{number} words " * 99 for number in range(60)}
    source = fill(
        tmp_path / "source", {"meta/snap.yaml": "name: a\nversion: '1'\n", **texts}
    )
    if packed:
        image = tmp_path / "packed.snap"
        nothing = tmp_path / "nothing"
        nothing.touch()
        mksquashfs.pack(
            source, image, codec="xz", snap_type="app", exclude_file=nothing
        )
        source = image
    with open_payload(source) as payload:
        ladder = sampled.Ladder(payload, lay_out(payload))
        ladder.climb(scale=1)
    assert len(ladder.phases[-1].members) == looked_at
    assert len(ladder.sample.members) == 6


@pytest.fixture
def cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mocker: MockerFixture
) -> Path:
    """Keep results in a directory, and take files that were just written as settled."""
    monkeypatch.setenv(VARIABLE, str(tmp_path / "cache"))
    mocker.patch.object(scan, "SETTLED_NS", -(10**10))
    mocker.patch.object(scan, "TRUSTED_FILE_SYSTEMS", _AnyName())
    return tmp_path / "cache"


class _AnyName(frozenset[str]):
    def __contains__(self, name: object) -> bool:
        return True


@pytest.fixture
def prime(tmp_path: Path) -> Path:
    files: dict[str, str | bytes] = {
        "meta/snap.yaml": "name: hello\nversion: '1'\n",
        "text": "".join(f"line {n}\n" for n in range(40_000)),
        **dict.fromkeys(("noise", "noise-again"), random.Random(1).randbytes(300_000)),
    }
    return fill(tmp_path / "prime", files)


def run_saved(prime: Path) -> TrialResult:
    with keeping_results(), open_payload(prime) as payload:
        return run_sampled_trial(payload, progress=lambda _: None)


def forbid_trials(mocker: MockerFixture) -> None:
    mocker.patch.object(sampled, "_try_blocks", side_effect=AssertionError)


def test_second_run_has_the_same_result_and_tries_nothing(
    cache: Path, prime: Path, mocker: MockerFixture
) -> None:
    first = run_saved(prime)
    assert len(list(cache.iterdir())) == 1
    forbid_trials(mocker)
    second = run_saved(prime)
    assert second == first
    one, other = first.stored, second.stored
    assert one is not None
    assert other is not None
    for path in ("noise", "text"):
        assert other.freed([path], "xz") == one.freed([path], "xz")


@pytest.mark.parametrize("change", ["contents", "mode", "link", "new", "moved"])
@pytest.mark.usefixtures("cache")
def test_payload_that_changed_is_tried_again(
    prime: Path, mocker: MockerFixture, change: str
) -> None:
    run_saved(prime)
    text = prime / "text"
    if change == "contents":  # of one length, with the old time
        status = text.stat()
        text.write_bytes(b"L" + text.read_bytes()[1:])
        os.utime(text, ns=(status.st_atime_ns, status.st_mtime_ns))
    elif change == "mode":
        text.chmod(0o700)
    elif change == "link":
        (prime / "link").symlink_to("text")
    elif change == "new":
        (prime / "new").touch()
    else:
        text.rename(prime / "other")
    forbid_trials(mocker)
    with pytest.raises(AssertionError):
        run_saved(prime)


@pytest.mark.parametrize(
    ("name", "value"), [("SETTLED_NS", 10**10), ("TRUSTED_FILE_SYSTEMS", frozenset())]
)
def test_files_that_may_still_change_and_foreign_clocks_are_not_trusted(
    cache: Path, prime: Path, mocker: MockerFixture, name: str, value: object
) -> None:
    mocker.patch.object(scan, name, value)
    run_saved(prime)
    assert not cache.exists()


@pytest.mark.parametrize("damage", ["cut", "emptied", "noise", "flipped"])
def test_damaged_file_costs_nothing_but_time(
    cache: Path, prime: Path, damage: str
) -> None:
    first = run_saved(prime)
    (file,) = cache.iterdir()
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    flipped = bytes(content)
    ways = {"cut": flipped[:1000], "emptied": b"", "noise": os.urandom(1000)}
    file.write_bytes(ways.get(damage, flipped))
    assert run_saved(prime) == first


def test_oldest_files_go(cache: Path, prime: Path, mocker: MockerFixture) -> None:
    mocker.patch.object(files, "MOST_FILES", 2)
    for number in range(4):
        (prime / "new").write_text("x" * number)
        run_saved(prime)
    assert len(list(cache.iterdir())) == 2


def test_directory_that_cannot_be_written_to_is_done_without(
    cache: Path, prime: Path
) -> None:
    cache.write_text("in the way")
    assert run_saved(prime).codecs["xz"].available


def test_nothing_is_kept_unless_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert cache_directory({VARIABLE: OFF, "HOME": str(tmp_path)}) is None
    own = cache_directory({"HOME": str(tmp_path)})
    assert own == tmp_path / ".cache/compression-advisor"
    own.mkdir(parents=True)
    own.chmod(0o777)
    assert cache_directory({"HOME": str(tmp_path)}) is None
    monkeypatch.setattr(os, "geteuid", lambda: -1)
    assert cache_directory({"HOME": str(tmp_path)}) is None

"""Results of trials, kept for the next run."""

import os
import random
from pathlib import Path

import pytest
from pytest_mock import MockerFixture

from snapcraft_compression_advisor.core import files
from snapcraft_compression_advisor.core.files import (
    OFF,
    VARIABLE,
    cache_directory,
    keeping_results,
)
from snapcraft_compression_advisor.payload import scan
from snapcraft_compression_advisor.payload.source import open_payload
from snapcraft_compression_advisor.trial import sampled
from snapcraft_compression_advisor.trial.result import TrialResult
from snapcraft_compression_advisor.trial.sampled import run_sampled_trial
from trees import fill


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
    mocker.patch.object(sampled, "climb", side_effect=AssertionError)


def test_trial_of_two_codecs_has_their_sizes_and_is_not_kept(
    cache: Path, prime: Path
) -> None:
    with keeping_results(), open_payload(prime) as payload:
        names = ("xz", "lzo")
        some = run_sampled_trial(payload, progress=lambda _: None, names=names)
    assert not cache.exists() or not list(cache.iterdir())
    every = run_saved(prime)
    assert {name: some.codecs[name] for name in names} == {
        name: every.codecs[name] for name in names
    }
    assert some.lzo_less_xz_bytes == every.lzo_less_xz_bytes
    assert not some.codecs["gzip"].available
    assert every.codecs["gzip"].available


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

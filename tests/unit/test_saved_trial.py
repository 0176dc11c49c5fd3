"""The rounds of a trial, kept for the next run on the same payload."""

from __future__ import annotations

import os
import random
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from snapcraft_compression_advisor.core import result_store
from snapcraft_compression_advisor.core.result_store import (
    OFF,
    VARIABLE,
    cache_directory,
    keeping_results,
)
from snapcraft_compression_advisor.payload import state
from snapcraft_compression_advisor.payload.source import open_payload
from snapcraft_compression_advisor.trial import sampled
from snapcraft_compression_advisor.trial.sampled import run_sampled_trial

if TYPE_CHECKING:
    from pytest_mock import MockerFixture

    from snapcraft_compression_advisor.trial.result import TrialResult


@pytest.fixture
def cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mocker: MockerFixture
) -> Path:
    """Keep results in a directory, and take files that were just written as settled."""
    monkeypatch.setenv(VARIABLE, str(tmp_path / "cache"))
    mocker.patch.object(state, "SETTLED_NS", -(10**10))
    mocker.patch.object(state, "TRUSTED_FILE_SYSTEMS", _AnyName())
    return tmp_path / "cache"


class _AnyName(frozenset[str]):
    def __contains__(self, name: object) -> bool:
        return True


@pytest.fixture
def prime(tmp_path: Path) -> Path:
    prime = tmp_path / "prime"
    (prime / "meta").mkdir(parents=True)
    (prime / "meta/snap.yaml").write_text("name: hello\nversion: '1'\n")
    (prime / "text").write_text("".join(f"line {n}\n" for n in range(40_000)))
    (prime / "noise").write_bytes(random.Random(1).randbytes(300_000))
    (prime / "noise-again").write_bytes(random.Random(1).randbytes(300_000))
    return prime


def run(prime: Path, *, decided: bool = True) -> TrialResult:
    with keeping_results(), open_payload(prime) as payload:
        return run_sampled_trial(
            payload, progress=lambda _: None, decided=lambda _: decided
        )


def forbid_trials(mocker: MockerFixture) -> None:
    mocker.patch.object(sampled, "_rounds", side_effect=AssertionError)


def test_second_run_has_the_same_result_and_tries_nothing(
    cache: Path, prime: Path, mocker: MockerFixture
) -> None:
    first = run(prime)
    assert len(list(cache.iterdir())) == 1
    forbid_trials(mocker)
    second = run(prime)
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
    run(prime)
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
        run(prime)


@pytest.mark.usefixtures("cache")
def test_result_that_another_run_would_not_stop_at_is_not_served(
    prime: Path, mocker: MockerFixture
) -> None:
    mocker.patch.object(sampled, "NARROW", -1.0)
    first = run(prime)
    assert run(prime, decided=False).codecs.keys() == first.codecs.keys()
    forbid_trials(mocker)
    assert run(prime) == first  # the first of three rounds


def test_files_that_may_still_change_are_not_kept(
    cache: Path, prime: Path, mocker: MockerFixture
) -> None:
    mocker.patch.object(state, "SETTLED_NS", 10**10)
    run(prime)
    assert not cache.exists()


def test_file_systems_with_foreign_clocks_are_not_trusted(
    cache: Path, prime: Path, mocker: MockerFixture
) -> None:
    mocker.patch.object(state, "TRUSTED_FILE_SYSTEMS", frozenset())
    run(prime)
    assert not cache.exists()


@pytest.mark.parametrize("damage", ["cut", "emptied", "noise", "flipped"])
def test_damaged_file_costs_nothing_but_time(
    cache: Path, prime: Path, damage: str
) -> None:
    first = run(prime)
    (file,) = cache.iterdir()
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    flipped = bytes(content)
    ways = {"cut": flipped[:1000], "emptied": b"", "noise": os.urandom(1000)}
    file.write_bytes(ways.get(damage, flipped))
    assert run(prime) == first


def test_oldest_files_go(cache: Path, prime: Path, mocker: MockerFixture) -> None:
    mocker.patch.object(result_store, "MOST_FILES", 2)
    for number in range(4):
        (prime / "new").write_text("x" * number)
        run(prime)
    assert len(list(cache.iterdir())) == 2


def test_directory_that_cannot_be_written_to_is_done_without(
    cache: Path, prime: Path
) -> None:
    cache.write_text("in the way")
    assert run(prime).codecs["xz"].available


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

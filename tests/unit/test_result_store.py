"""A file of results that later runs use, whatever happens to it."""

from __future__ import annotations

import os
import resource
import sqlite3
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from snapcraft_compression_advisor.core import result_store
from snapcraft_compression_advisor.core.result_store import (
    FILE_NAME,
    VARIABLE,
    ResultStore,
    cache_directory,
    keeping_results,
    kept_results,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@contextmanager
def run(directory: Path) -> Iterator[ResultStore]:
    """Be a run that ends well."""
    store = ResultStore(directory)
    yield store
    store.close()


def keep(directory: Path, **results: bytes) -> None:
    with run(directory) as store:
        for key, value in results.items():
            store.put(key.encode(), value)


def kept(directory: Path, *keys: str) -> list[bytes | None]:
    with run(directory) as store:
        return [store.get(key.encode()) for key in keys]


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "compression-advisor"


@pytest.fixture
def statements(place: Path) -> Iterator[Callable[..., object]]:
    """Return what changes the file as another program could."""
    keep(place, one=b"1", two=b"2")
    with closing(sqlite3.connect(place / FILE_NAME, isolation_level=None)) as other:
        yield other.execute


def test_results_are_there_in_the_same_run_and_in_the_next(place: Path) -> None:
    with run(place) as store:
        assert store.get(b"one") is None
        store.put(b"one", b"1")
        assert store.get(b"one") == b"1"
    assert kept(place, "one", "two") == [b"1", None]


def test_results_of_the_last_run_are_read_at_once_and_others_as_they_are_asked_for(
    place: Path, statements: Callable[..., object]
) -> None:
    keep(place, three=b"3")
    with run(place) as store:
        assert store.get(b"three") == b"3"
        statements("DELETE FROM results WHERE key IN (x'6f6e65', x'74776f')")
        assert store.get(b"three") == b"3"
        assert store.get(b"two") is None
    keep(place, one=b"1", two=b"2")
    with run(place) as store:
        assert store.get(b"one") == b"1"
        statements("DELETE FROM results")
        assert store.get(b"two") == b"2"
        assert store.get(b"three") is None


def test_only_the_user_may_read_the_directory(place: Path) -> None:
    keep(place, one=b"1")
    assert place.stat().st_mode & 0o777 == 0o700


def test_nothing_is_made_where_nothing_is_asked_for(place: Path) -> None:
    with run(place):
        pass
    assert not place.parent.exists()


def test_run_that_adds_nothing_writes_nothing(place: Path) -> None:
    keep(place, one=b"1")
    before = (place / FILE_NAME).stat().st_mtime_ns
    assert kept(place, "one") == [b"1"]
    assert (place / FILE_NAME).stat().st_mtime_ns == before


def test_runs_at_the_same_time_keep_the_results_of_all(place: Path) -> None:
    with run(place) as one, run(place) as other:
        assert one.get(b"two") is other.get(b"one") is None
        one.put(b"one", b"1")
        other.put(b"two", b"2")
    assert kept(place, "one", "two") == [b"1", b"2"]


def test_results_are_found_again_while_another_program_holds_the_file(
    place: Path, statements: Callable[..., object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(result_store, "_BUSY_TIMEOUT_S", 0)
    statements("BEGIN EXCLUSIVE")
    assert kept(place, "one") == [None]
    keep(place, three=b"3")
    statements("COMMIT")
    assert kept(place, "one", "three") == [b"1", None]


@pytest.mark.parametrize("value", [b"", b"1", b"2", b"1\0\0\0\0", "1", 1])
def test_damaged_result_is_none(
    place: Path, statements: Callable[..., object], value: object
) -> None:
    statements("UPDATE results SET value = ? WHERE key = ?", (value, b"one"))
    assert kept(place, "one", "two") == [None, b"2"]


def test_result_that_is_no_text_costs_no_others(
    place: Path, statements: Callable[..., object]
) -> None:
    statements("UPDATE results SET value = CAST(x'ff' AS TEXT) WHERE key = x'6f6e65'")
    for _ in range(2):
        assert kept(place, "two") == [b"2"]


def test_result_of_another_key_is_none(
    place: Path, statements: Callable[..., object]
) -> None:
    statements(
        "UPDATE results SET value = (SELECT value FROM results WHERE key = x'74776f') "
        "WHERE key = x'6f6e65'"
    )
    assert kept(place, "one", "two") == [None, b"2"]


@pytest.mark.parametrize("length", [1, 99, 4096, 5000])
@pytest.mark.parametrize("damage", [b"\0", b"no database ", bytes(range(255, 0, -1))])
def test_damaged_file_costs_its_results_and_is_replaced(
    place: Path, length: int, damage: bytes
) -> None:
    keep(place, one=b"1")
    path = place / FILE_NAME
    path.write_bytes((damage * length)[:length] + path.read_bytes()[length:])
    assert kept(place, "one")[0] in {None, b"1"}
    for _ in range(2):
        keep(place, two=b"2")
    assert kept(place, "two") == [b"2"]


@pytest.mark.parametrize("left", [0, 1, 100, 4096, 6000])
def test_truncated_file_costs_its_results_and_is_replaced(
    place: Path, left: int
) -> None:
    keep(place, **{f"key{number}": bytes(40) for number in range(200)})
    os.truncate(place / FILE_NAME, left)
    with run(place) as store:
        for number in range(200):
            assert store.get(b"key%d" % number) in {None, bytes(40)}
    for _ in range(2):
        keep(place, two=b"2")
    assert kept(place, "two") == [b"2"]


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TABLE more (key)",
        "CREATE TRIGGER more AFTER INSERT ON results BEGIN DELETE FROM results; END",
        "DROP TABLE results",
        "ALTER TABLE results RENAME COLUMN value TO other",
    ],
)
def test_file_of_another_program_costs_its_results(
    place: Path, statements: Callable[..., object], statement: str
) -> None:
    statements(statement)
    assert kept(place, "one") == [None]
    for _ in range(2):
        keep(place, two=b"2")
    assert kept(place, "two") == [b"2"]


def test_full_disk_costs_what_is_new(place: Path) -> None:
    keep(place, one=b"1")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1024, limits[1]))
    try:
        keep(place, two=b"2" * 100_000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert kept(place, "one", "two") == [b"1", None]


def test_directory_that_cannot_be_made_is_done_without(tmp_path: Path) -> None:
    (tmp_path / "cache").write_bytes(b"")
    keep(tmp_path / "cache" / "below", one=b"1")
    keep(tmp_path / "cache", one=b"1")
    assert (tmp_path / "cache").read_bytes() == b""


def test_file_that_is_a_directory_is_done_without(place: Path) -> None:
    (place / FILE_NAME).mkdir(parents=True)
    keep(place, one=b"1")
    assert kept(place, "one") == [None]


def test_directory_that_others_may_write_to_is_taken_only_if_it_is_named(
    place: Path,
) -> None:
    keep(place, one=b"1")
    place.chmod(0o770)
    assert cache_directory({"XDG_CACHE_HOME": str(place.parent)}) is None
    assert cache_directory({VARIABLE: str(place)}) == place
    place.chmod(0o750)
    assert cache_directory({"XDG_CACHE_HOME": str(place.parent)}) == place


def test_unused_results_go_first_where_there_are_too_many(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = b"1" * 3000
    monkeypatch.setattr(result_store, "MOST_BYTES", 6 * 4096)  # two are its own
    monkeypatch.setattr(result_store, "_LEFT_BYTES", 3 * 3100)
    keep(place, a=page, b=page)
    keep(place, c=page)
    with run(place) as store:
        assert store.get(b"a") == page
        store.put(b"d", page)
    keep(place, e=page)
    assert kept(place, *"abcde") == [page, None, None, page, page]
    assert (place / FILE_NAME).stat().st_size <= 6 * 4096


def test_many_new_results_are_written_before_the_end(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(result_store, "_SAVED_AT_ONCE", 2)
    store = ResultStore(place)
    for key in (b"one", b"two", b"three"):
        store.put(key, b"1")
    assert kept(place, "one", "two", "three") == [b"1", b"1", None]


def test_cache_is_where_the_specification_says() -> None:
    home = str(Path(__file__).parent)
    assert cache_directory({"HOME": home}) == Path(home, ".cache/compression-advisor")
    assert cache_directory({"HOME": "/", "XDG_CACHE_HOME": home}) == Path(
        home, "compression-advisor"
    )
    assert cache_directory({"HOME": home, "XDG_CACHE_HOME": "relative"}) == Path(
        home, ".cache/compression-advisor"
    )


def test_variable_names_another_place_or_none() -> None:
    assert cache_directory({VARIABLE: "/here", "HOME": "/root"}) == Path("/here")
    assert cache_directory({VARIABLE: "off", "HOME": "/root"}) is None
    assert cache_directory({}) is None


def test_cache_of_somebody_else_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    home = str(Path(__file__).parent)
    monkeypatch.setattr(os, "geteuid", lambda: 12_345)
    assert cache_directory({"HOME": home}) is None


def test_process_keeps_results_only_where_it_says_so(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, str(place))
    assert kept_results() is None
    with keeping_results():
        store = kept_results()
        assert store is not None
        store.put(b"one", b"1")
        with keeping_results():
            assert kept_results() is store
    assert kept_results() is None
    assert kept(place, "one") == [b"1"]


def test_run_that_fails_keeps_nothing(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail() -> None:
        with keeping_results():
            store = kept_results()
            assert store is not None
            store.put(b"one", b"1")
            raise KeyboardInterrupt

    monkeypatch.setenv(VARIABLE, str(place))
    with pytest.raises(KeyboardInterrupt):
        fail()
    assert kept_results() is None
    assert kept(place, "one") == [None]

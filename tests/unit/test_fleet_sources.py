"""What sources of a fleet stand for."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

import pytest

from snapcraft_compression_advisor.core.errors import NoInputError
from snapcraft_compression_advisor.fleet.sources import find_snaps

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def store(tmp_path: Path) -> Path:
    for name in ("b.snap", "a.snap", "a.txt", "deep/c.comp", "deep/d.iso"):
        path = tmp_path / "store" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"1234")
    return tmp_path / "store"


def found(store: Path, *sources: object) -> list[str]:
    paths = [snap.path for snap in find_snaps(map(str, sources))]
    return [path.removeprefix(f"{store}/") for path in paths]


def test_a_directory_stands_for_the_snaps_in_and_below_it(store: Path) -> None:
    assert found(store, store) == ["a.snap", "b.snap", "deep/c.comp"]


def test_a_pattern_stands_for_what_it_matches_and_each_counts_once(store: Path) -> None:
    assert found(store, store / "b*", store / "**/*.snap") == ["b.snap", "a.snap"]


def test_a_list_has_a_source_a_line(store: Path) -> None:
    lines = ["# those of today", "", f"{store}/deep", f" {store}/b.snap ", "gone.snap"]
    (store / "a.txt").write_text("\n".join(lines))
    assert found(store, store / "a.txt") == ["deep/c.comp", "b.snap", "gone.snap"]


def test_length_and_time_of_a_file_are_known_where_it_is_there(store: Path) -> None:
    there, gone = find_snaps([str(store / "a.snap"), str(store / "gone.snap")])
    assert (there.file_bytes, bool(there.stamp)) == (4, True)
    assert (gone.file_bytes, gone.stamp) == (None, "")


def look_after(
    path: Path, after_ns: int, monkeypatch: pytest.MonkeyPatch
) -> tuple[int | None, str, str]:
    now_ns = path.stat().st_ctime_ns + after_ns
    monkeypatch.setattr(time, "time_ns", lambda: now_ns)
    (snap,) = find_snaps([str(path)])
    return snap.file_bytes, snap.stamp, snap.state


def test_a_file_of_the_same_length_and_time_has_another_state(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, rebuilt = store / "a.snap", store / "b.snap"
    for file in (path, rebuilt):
        os.utime(file, (0, 0))  # as where builds are reproducible
    before = look_after(path, 10**10, monkeypatch)
    rebuilt.replace(path)
    after = look_after(path, 10**10, monkeypatch)
    assert before[:2] == after[:2] == (4, "0")
    assert before[2] != after[2]


def test_the_state_of_a_file_that_was_just_changed_proves_nothing(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = store / "a.snap"
    states = [
        look_after(path, after_ns, monkeypatch)[2]
        for after_ns in (-(10**9), 0, 2 * 10**9 - 1, 2 * 10**9)
    ]
    assert [bool(state) for state in states] == [False, False, False, True]


def test_a_source_without_snaps_is_an_error(store: Path) -> None:
    with pytest.raises(NoInputError, match="No snaps in"):
        find_snaps([str(store / "*.img")])
    (store / "deep/c.comp").unlink()
    with pytest.raises(NoInputError, match="No snaps in"):
        find_snaps([str(store), str(store / "deep")])
    with pytest.raises(NoInputError, match="Cannot read the list"):
        find_snaps([str(store / "gone.txt")])

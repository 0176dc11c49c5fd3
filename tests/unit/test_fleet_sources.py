"""What sources of a fleet stand for."""

from __future__ import annotations

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


def test_a_source_without_snaps_is_an_error(store: Path) -> None:
    with pytest.raises(NoInputError, match="No snaps in"):
        find_snaps([str(store / "*.img")])
    (store / "deep/c.comp").unlink()
    with pytest.raises(NoInputError, match="No snaps in"):
        find_snaps([str(store), str(store / "deep")])
    with pytest.raises(NoInputError, match="Cannot read the list"):
        find_snaps([str(store / "gone.txt")])

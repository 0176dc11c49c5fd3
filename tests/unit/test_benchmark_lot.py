"""The lot that draws the benchmark's payloads, and the part of the page."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from types import ModuleType

    from pytest_mock import MockerFixture

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
SIZES_MB = (30, 60, 100, 150, 300, 450, 600, 1500)


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.setattr(sys, "path", [str(BENCHMARKS), *sys.path])
    import drawn  # noqa: PLC0415 # a script beside the package

    return drawn


@pytest.fixture
def lot(
    drawn: ModuleType, tmp_path: Path, mocker: MockerFixture
) -> dict[str, dict[str, Path]]:
    """Return two lots of a seed and one of another; blind payloads are built."""
    mocker.patch.object(drawn, "build", lambda package, _: tmp_path / "built" / package)
    mocker.patch.object(Path, "is_dir", return_value=True)
    mocker.patch.object(
        drawn,
        "tree_bytes",
        lambda tree: SIZES_MB[sum(tree.name.encode()) % len(SIZES_MB)] * 1e6,
    )
    mocker.patch.object(drawn, "note")
    return {
        name: drawn.draw_anew(argparse.Namespace(seed=seed, trees=tmp_path / "trees"))
        for name, seed in (("one", "1"), ("same", "1"), ("other", "2"))
    }


def test_lot_is_the_seeds(lot: dict[str, dict[str, Path]]) -> None:
    assert lot["one"] == lot["same"]
    assert lot["one"].keys() != lot["other"].keys()


def test_lot_has_as_many_of_each_size_as_are_wanted(
    drawn: ModuleType, lot: dict[str, dict[str, Path]]
) -> None:
    sizes = [drawn.tree_bytes(tree) for tree in lot["one"].values()]
    for (least, below), count in drawn.CLASSES.items():
        assert sum(least <= size < below for size in sizes) == count
    assert len(sizes) == 10


def test_trees_of_the_blind_set_are_never_read(
    drawn: ModuleType, lot: dict[str, dict[str, Path]]
) -> None:
    trees = [*lot["one"].values(), *lot["other"].values()]
    assert not any("blind" in tree.parts for tree in trees)
    built = [tree for tree in lot["one"].values() if "built" in tree.parts]
    assert 0 < len(built) <= drawn.BLIND


def test_part_of_a_page_is_replaced_and_nothing_else(
    drawn: ModuleType, tmp_path: Path
) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "# A\n<!-- drawn -->\nold\n<!-- end -->\n<!-- five -->\n<!-- end -->\n"
    )
    drawn.replace_part(page, "drawn", "new")
    assert page.read_text() == (
        "# A\n<!-- drawn -->\nnew\n<!-- end -->\n<!-- five -->\n<!-- end -->\n"
    )
    with pytest.raises(ValueError, match="substring not found"):
        drawn.replace_part(page, "none", "new")


def test_what_was_measured_is_kept(drawn: ModuleType, tmp_path: Path) -> None:
    file = tmp_path / "rows" / "one.json"
    assert drawn.kept(file, lambda: {"a": 1.5}) == {"a": 1.5}
    assert drawn.kept(file, lambda: {"a": 2.0}) == {"a": 1.5}

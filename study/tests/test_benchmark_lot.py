"""The lot that draws the benchmark's payloads, and the part of the page."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from draw import read_drawn
from snap_metadata import snap_name

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
def lots(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.setattr(sys, "path", [str(BENCHMARKS), *sys.path])
    import lot  # noqa: PLC0415 # a script beside the package

    return lot


@pytest.fixture
def built(lots: ModuleType, mocker: MockerFixture) -> list[str]:
    """Return the names of what was built, of which all are empty directories."""
    names: list[str] = []

    def build(package: str, prime: Path, _cache: Path) -> bool:
        names.append(package)
        prime.mkdir(parents=True)
        return True

    mocker.patch.object(lots, "build", build)
    mocker.patch.object(
        lots,
        "tree_bytes",
        lambda tree: SIZES_MB[sum(tree.name.encode()) % len(SIZES_MB)] * 1e6,
    )
    mocker.patch.object(lots, "note")
    return names


def draw_by(lots: ModuleType, seed: str, work: Path) -> dict[str, Path]:
    arguments = argparse.Namespace(seed=seed, work=work, cache=work / "debs")
    lot: dict[str, Path] = lots.draw_anew(arguments)
    return lot


@pytest.mark.usefixtures("built")
def test_lot_is_the_seeds(lots: ModuleType, tmp_path: Path) -> None:
    drawn = [draw_by(lots, seed, tmp_path / at) for seed, at in ("1a", "1b", "2c")]
    one, same, other = [[*lot] for lot in drawn]
    assert one == same
    assert set(one) != set(other)


@pytest.mark.usefixtures("built")
def test_lot_has_as_many_of_each_size_as_are_wanted(
    lots: ModuleType, tmp_path: Path
) -> None:
    lot = draw_by(lots, "1", tmp_path)
    sizes = [lots.tree_bytes(tree) for tree in lot.values()]
    for (least, below), count in lots.CLASSES.items():
        assert sum(least <= size < below for size in sizes) == count
    assert len(sizes) == 10


@pytest.mark.usefixtures("built")
def test_lot_has_some_of_the_blind_set(lots: ModuleType, tmp_path: Path) -> None:
    blind = {row.package for row in read_drawn() if row.set == "blind"}
    names = {snap_name(package) for package in blind}
    assert len(names & draw_by(lots, "1", tmp_path).keys()) == lots.BLIND


def test_what_is_not_drawn_is_deleted_and_not_built_again(
    lots: ModuleType, built: list[str], tmp_path: Path
) -> None:
    lot = draw_by(lots, "1", tmp_path)
    assert sorted((tmp_path / "primes").iterdir()) == sorted(lot.values())
    before = [*built]
    assert len(before) > len(lot)
    assert draw_by(lots, "1", tmp_path) == lot
    assert built == before
    gone = next(iter(lot.values()))
    gone.rmdir()
    assert draw_by(lots, "1", tmp_path) == lot
    assert [snap_name(package) for package in built[len(before) :]] == [gone.name]


def test_tree_that_is_deleted_in_part_is_not_measured(
    lots: ModuleType, tmp_path: Path, mocker: MockerFixture
) -> None:
    prime = tmp_path / "jq"
    (prime / "usr").mkdir(parents=True)
    mocker.patch.object(lots.shutil, "rmtree", side_effect=KeyboardInterrupt)
    with pytest.raises(KeyboardInterrupt):
        lots.delete(prime)
    assert not prime.exists()


@pytest.mark.usefixtures("built")
def test_draw_of_another_seed_keeps_what_was_drawn(
    lots: ModuleType, tmp_path: Path
) -> None:
    lot = draw_by(lots, "1", tmp_path)
    draw_by(lots, "2", tmp_path)
    assert all(tree.is_dir() for tree in lot.values())


def test_lot_that_is_not_complete_is_none(
    lots: ModuleType, tmp_path: Path, mocker: MockerFixture
) -> None:
    mocker.patch.object(lots, "build", return_value=False)
    with pytest.raises(SystemExit, match="too few"):
        draw_by(lots, "1", tmp_path)
    assert not (tmp_path / "sizes.json").exists()


@pytest.mark.parametrize(("statuses", "is_built"), [((0,), True), ((66, 66), False)])
def test_what_the_release_has_not_is_not_built(
    lots: ModuleType,
    tmp_path: Path,
    mocker: MockerFixture,
    statuses: tuple[int, ...],
    *,
    is_built: bool,
) -> None:
    done = [mocker.Mock(returncode=status) for status in statuses]
    run = mocker.patch("subprocess.run", side_effect=done)
    assert lots.build("jq", tmp_path / "jq", tmp_path) is is_built
    assert run.call_count == len(statuses)


def test_build_that_fails_stops_the_draw(
    lots: ModuleType, tmp_path: Path, mocker: MockerFixture
) -> None:
    done = [mocker.Mock(returncode=status) for status in (69, 0)]
    mocker.patch("subprocess.run", side_effect=done)
    with pytest.raises(SystemExit, match="jq couldn't be built"):
        lots.build("jq", tmp_path / "jq", tmp_path)


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


def test_what_was_measured_is_kept(lots: ModuleType, tmp_path: Path) -> None:
    file = tmp_path / "rows" / "one.json"
    assert lots.kept(file, lambda: {"a": 1.5}) == {"a": 1.5}
    assert lots.kept(file, lambda: {"a": 2.0}) == {"a": 1.5}


def test_payload_is_packed_with_both_codecs_and_then_measured(
    drawn: ModuleType, tmp_path: Path, mocker: MockerFixture
) -> None:
    tree, work = tmp_path / "jq", tmp_path / "work"
    (tree / "usr/bin").mkdir(parents=True)
    (tree / "usr/bin/jq").write_text("#!/bin/sh\n" * 1000)
    advisor = mocker.patch.object(drawn, "measure_advisor", return_value={"a": 1.5})
    assert drawn.measure("jq", tree, work) == {"a": 1.5}
    ((_, _, images, packs), _) = advisor.call_args
    for codec in drawn.CODECS:
        image = images.with_name(f"{images.name}.{codec}")
        assert packs[codec]["image_bytes"] == image.stat().st_size > 0

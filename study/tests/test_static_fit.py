"""Counting what recorded launches read, and scoring guesses of them."""

from __future__ import annotations

import json
import math
import statistics
from dataclasses import replace
from datetime import date
from typing import TYPE_CHECKING

import pytest

from draw import read_drawn
from payloads import make_inventory
from snap_metadata import snap_name
from snapcraft_compression_advisor.core.units import Interval
from snapcraft_compression_advisor.launch.guess.candidates import Candidate
from snapcraft_compression_advisor.launch.guess.priors import (
    Counts,
    Priors,
    parse_priors,
)
from static_accuracy import read_rows
from static_data import (
    OWN_WEIGHT,
    Application,
    Score,
    count,
    missed,
    recorded_names,
    score,
    score_closure,
    weighed,
)
from static_fit import PRIORS, SCORES, fit_of, read_applications
from static_folds import (
    Fold,
    coverage_lines,
    kind_spread,
    lognormal_spread,
    make_folds,
    spread,
    summed,
    telling,
)
from vendor_counts import OURS, of_kind, with_vendors, without_vendors
from vendor_draw import SETS

if TYPE_CHECKING:
    from pathlib import Path

    from snapcraft_compression_advisor.launch.guess.blindness import Blindness

BLOCK = 128 * 1024
ONE = Interval.exactly(1.0)
NOTHING = Priors(
    files=Counts(), blocks=Counts(), read_share=ONE, seek_share=ONE, unseen_share=ONE
)
SIZES = {"bin/a": 4 * BLOCK, "lib/b": 2 * BLOCK, "share/c": BLOCK}


def application(
    name: str = "app", *, kind: str = "GTK 4", read: dict[str, set[int]]
) -> Application:
    """Return one whose candidates are a program of four blocks and a library of two."""
    entries = make_inventory(SIZES).entries
    return Application(
        name=name,
        kind=kind,
        read={
            entries[path].identity: (entries[path], frozenset(numbers))
            for path, numbers in read.items()
        },
        found=(
            (
                Candidate(entry=entries["bin/a"], way="started", role="program"),
                (("text",),) * 4,
            ),
            (
                Candidate(entry=entries["lib/b"], way="linked", role="library"),
                (("data",),) * 2,
            ),
        ),
    )


def test_files_and_blocks_that_were_read_are_counted() -> None:
    files, blocks = count(application(read={"bin/a": {0, 1, 3}}))
    assert (files.read["started"], files.counted["started"]) == (1, 1)
    assert (files.read["linked"], files.counted["linked"]) == (0, 1)
    assert (blocks.read["text"], blocks.counted["text"]) == (3, 4)
    assert "data" not in blocks.counted, "a file that wasn't opened says nothing"


def test_guess_is_scored_by_bytes_and_runs() -> None:
    app = application(read={"bin/a": {0, 1, 3}, "share/c": {0}})
    blocks = Counts()
    blocks.add("text", read=10_000, counted=10_000)
    blocks.add("data", read=0, counted=10_000)
    files = Counts()
    files.add("started", read=10_000, counted=10_000)
    found = score(app, replace(NOTHING, files=files, blocks=blocks))
    assert found.recall == pytest.approx(3 / 4)
    assert found.precision == pytest.approx(3 / 4)
    assert found.ratio == pytest.approx(1.0, rel=0.01)
    assert found.runs_ratio == pytest.approx(3.0, rel=0.01)


def test_closure_names_every_file_whole() -> None:
    found = score_closure(application(read={"bin/a": {0, 1, 3}}))
    assert (found.recall, found.precision) == (1.0, 0.5)


def test_files_that_no_rule_finds_are_listed_with_their_bytes() -> None:
    app = application(read={"share/c": {0}})
    assert list(missed(app)) == [(BLOCK, "share/c")]


def test_own_files_of_every_application_weigh_the_same() -> None:
    files = Counts()
    files.add("own-image", read=500, counted=1000)
    files.add("linked", read=7, counted=9)
    result = weighed(files)
    assert result.counted["own-image"] == OWN_WEIGHT
    assert result.read["own-image"] == OWN_WEIGHT / 2
    assert (result.read["linked"], result.counted["linked"]) == (7, 9)


def test_application_is_never_among_those_that_its_guess_is_counted_from() -> None:
    read_all: dict[str, set[int]] = {"bin/a": {0, 1, 2, 3}}
    one = application("one", read=read_all)
    two = application("two", kind="Qt", read={"bin/a": {0}, "lib/b": {0}})
    three = application("three", kind="Qt", read={"bin/a": {0}})
    apps = (one, two, three)
    folds = make_folds(apps, [count(each) for each in apps])
    text = [fold.priors.blocks for fold in folds]
    assert [(each.read["text"], each.counted["text"]) for each in text] == [
        (2, 8),
        (5, 8),
        (5, 8),
    ]
    assert "one" not in [
        name for each in folds[0].priors.kinds.values() for name, _ in each
    ]
    assert folds[1].kind_out == score(two, _counted_from(one))


def _counted_from(app: Application) -> Priors:
    files, blocks = count(app)
    return replace(NOTHING, files=summed([files]), blocks=summed([blocks]))


def test_spread_holds_nine_of_ten() -> None:
    found = spread([0.5, 1.0, 2.0])
    half = 2.92 * math.log(2) * math.sqrt(4 / 3)
    assert found.mid == pytest.approx(1.0)
    assert math.log(found.high) == pytest.approx(half)
    assert math.log(found.low) == pytest.approx(-half)


def test_spread_of_many_is_not_widened_by_one_that_is_far_off() -> None:
    near = [0.8, 0.9, 1.0, 1.1, 1.25] * 6
    found = spread([*near, 100.0])
    assert found.mid == pytest.approx(1.0)
    assert found.high == pytest.approx(1.25)
    assert lognormal_spread([*near, 100.0]).high > 2


def test_coverage_counts_those_inside_their_intervals() -> None:
    def fold(ratio: float, blindness: Blindness | None) -> Fold:
        scored = Score(recall=1, precision=1, ratio=ratio, runs_ratio=1, read_bytes=1)
        return Fold(
            application=replace(application(read={}), blindness=blindness),
            priors=NOTHING,
            closure=scored,
            alone=scored,
            kind_out=scored,
            interval=Interval(low=0.8, mid=1.0, high=1.2),
        )

    folds = [fold(1.0, None), fold(0.9, "modules"), fold(5.0, "modules")]
    assert [line.partition(" inside")[0] for line in coverage_lines(folds)] == [
        "blind to all: 2 of 3",
        "blind to nothing: 1 of 1",
        "blind to modules: 1 of 2",
    ]


def test_a_kind_is_drawn_towards_all_others() -> None:
    others = Interval(low=0.5, mid=1.0, high=2.0)
    alone = kind_spread([], others)
    assert alone.mid == pytest.approx(1.0)
    found = kind_spread([2.0] * 8, others)
    assert found.mid == pytest.approx(math.sqrt(2))
    near = kind_spread([1.0] * 100, others)
    assert near.high / near.low < 1.5 < alone.high / alone.low


def test_of_few_of_a_kind_none_is_an_exception() -> None:
    others = Interval(low=0.5, mid=1.0, high=2.0)
    assert of_kind([0.01, 1.0], others).low == 0.01
    assert of_kind([0.01, *[1.0] * 9], others).low > 0.2


def test_driver_that_may_be_opened_says_nothing_of_the_rest() -> None:
    app = application(read={"bin/a": {0, 1}})
    (program, library) = app.found
    driver = library[0]._replace(way="mesa-driver of glvnd")
    found = score(app, NOTHING, (program, (driver, library[1])))
    assert found.sure_ratio > found.ratio


def test_classes_that_say_nothing_more_than_the_wider_ones_are_dropped() -> None:
    blocks = Counts()
    for key, read, counted in (
        ("text liba", 1, 4),
        ("text liba 0", 1, 2),
        ("text liba 31", 0, 2),
        ("text libb", 4, 4),
        ("text libb 0", 2, 2),
        ("text libb 31", 2, 2),
        ("constants libc", 0, 4),
        ("constants libc 3", 0, 4),
        ("text libd", 1, 1),
        ("data file 3 of 64", 2, 2),
    ):
        blocks.add(key, read=read, counted=counted)
    kept = telling(blocks)
    assert list(kept.counted) == [
        "text liba",
        "text liba 0",
        "text liba 31",
        "text libb",
        "constants libc",
        "data file 3 of 64",
    ]
    assert all(kept.read[key] == blocks.read[key] for key in kept.counted)


def test_fit_says_where_it_comes_from_and_how_well_it_does() -> None:
    apps = [
        application(name, read={"bin/a": blocks})
        for name, blocks in (("one", {0}), ("two", {0, 1}), ("three", {0, 1, 2, 3}))
    ]
    folds = make_folds(apps, [count(each) for each in apps])
    found = fit_of(folds, date(2026, 1, 2))
    assert found["fitted_on"] == ["one", "two", "three"]
    assert found["fitted_at"] == "2026-01-02"
    worst, median, _ = sorted(fold.alone.precision for fold in folds)
    figures = {"median": median, "worst": worst}
    assert found["precision"] == pytest.approx(figures, abs=1e-4)


def test_trees_without_recorded_applications_are_refused(tmp_path: Path) -> None:
    (tmp_path / "jq").mkdir()
    with pytest.raises(SystemExit, match="fewer than 3 payloads"):
        read_applications([tmp_path])


def test_priors_are_counted_from_all_recordings() -> None:
    document = json.loads(PRIORS.read_text())
    fitted_on = document["fit"]["fitted_on"]
    assert set(fitted_on) == set(recorded_names())
    recorded = [
        name
        for names in document["kinds"].values()
        for name in names
        if not name.endswith(OURS)
    ]
    assert sorted(recorded) == fitted_on


def test_what_vendors_launches_tell_comes_on_top_of_debians() -> None:
    priors = parse_priors(json.loads(PRIORS.read_bytes()))
    debian = without_vendors(priors)
    again = with_vendors(debian)
    assert again.files == priors.files != debian.files
    assert again.blocks == priors.blocks != debian.blocks
    assert again.kinds == priors.kinds
    vendors = {name for rows in priors.kinds.values() for name, _ in rows}
    vendors = {name.removesuffix(OURS) for name in vendors if name.endswith(OURS)}
    recorded = (*SETS["fit"].glob("*.json"), *SETS["scored"].glob("*.json"))
    left_out = {path.stem for path in recorded} - vendors
    assert len(vendors) + len(left_out) == len(recorded)
    assert len(left_out) < len(recorded) / 10, "guesses in doubt"
    assert not vendors & {path.stem for path in SETS["blind"].glob("*.json")}


def test_nothing_is_fitted_to_the_blind_set() -> None:
    blind = {
        snap_name(row.package)
        for row in read_drawn()
        if row.set == "blind" and row.outcome == "recorded"
    }
    assert len(blind) >= 24
    fitted_on = json.loads(PRIORS.read_text())["fit"]["fitted_on"]
    assert not blind & {*recorded_names(), *fitted_on}


@pytest.mark.parametrize("figure", ["recall", "precision"])
def test_priors_say_the_errors_that_are_kept(figure: str) -> None:
    found = json.loads(PRIORS.read_text())["fit"][figure]
    rows = [row for row in read_rows(SCORES) if row["guess"] == "static"]
    figures = [float(row[figure]) for row in rows]
    assert found["median"] == pytest.approx(statistics.median(figures), abs=1e-4)
    assert found["worst"] == pytest.approx(min(figures), abs=1e-4)


@pytest.mark.parametrize(("figure", "median"), [("recall", 0.85), ("precision", 0.8)])
def test_guesses_of_applications_left_out_are_good_enough(
    figure: str, median: float
) -> None:
    rows = [row for row in read_rows(SCORES) if row["guess"] == "static"]
    figures = [float(row[figure]) for row in rows]
    assert len(figures) >= 80
    assert statistics.median(figures) >= median


@pytest.mark.parametrize(
    ("low", "high", "least"), [(0.5, 2.0, 0.9), (0.75, 1.33, 0.65)]
)
def test_bytes_read_by_applications_left_out_are_expected(
    low: float, high: float, least: float
) -> None:
    rows = [row for row in read_rows(SCORES) if row["guess"] == "static"]
    inside = [low <= float(row["read_expected"]) <= high for row in rows]
    assert sum(inside) / len(inside) >= least

"""Launches predicted from files alone, from the data that the repo keeps."""

from __future__ import annotations

import statistics
from dataclasses import replace
from pathlib import Path

import pytest

from accuracy_data import read_launches
from accuracy_static import WORST, Predicted, figure_lines, predict_all
from snapcraft_compression_advisor.core.units import Interval
from static_accuracy import read_rows
from static_fit import SCORES

DOCS = Path(__file__).parents[2] / "docs"
PREDICTED = Predicted(
    application="a",
    codec="xz",
    guessed=Interval(low=0.5, mid=1.2, high=2.0),
    recorded_s=1.1,
    measured_s=1.0,
    telling=True,
    verdict_recorded="change (lzo)",
    verdict_guessed="change (lzo)",
)


@pytest.fixture(scope="module")
def predicted() -> list[Predicted]:
    return predict_all(read_launches())


def test_error_is_relative_to_what_was_measured() -> None:
    assert PREDICTED.error == pytest.approx(0.2)
    assert PREDICTED.held
    assert not replace(PREDICTED, measured_s=2.1).held


def test_verdicts_count_once_an_application() -> None:
    unsure = "undecided (xz)"
    rows = [
        PREDICTED,
        replace(PREDICTED, codec="lzo"),
        replace(PREDICTED, application="b", verdict_guessed=unsure),
        replace(PREDICTED, application="c", codec="lzo", measured_s=9.0),
    ]
    found = "\n".join(figure_lines(rows))
    assert "| 2 of 3, undecided 1 |" in found
    assert "| 3 of 4 (75%) |" in found
    assert "xz | median 20%, worst 20% (2 applications)" in found


def test_every_measured_application_is_predicted(predicted: list[Predicted]) -> None:
    names = [each.name for each in read_launches()]
    assert list(dict.fromkeys(each.application for each in predicted)) == names


def test_seconds_of_xz_are_predicted_well_enough(predicted: list[Predicted]) -> None:
    errors = [abs(e.error) for e in predicted if e.telling and e.codec == "xz"]
    assert len(errors) >= 16
    assert statistics.median(errors) <= 0.3
    assert max(errors) <= 0.8


def test_intervals_hold_what_was_measured(predicted: list[Predicted]) -> None:
    assert sum(each.held for each in predicted) / len(predicted) >= 0.85


def test_verdicts_are_those_of_recordings_but_for_two(
    predicted: list[Predicted],
) -> None:
    names = {
        e.application for e in predicted if e.verdict_guessed != e.verdict_recorded
    }
    assert len(names) <= 2
    unsure = {e.application for e in predicted if "undecided" in e.verdict_guessed}
    assert len(unsure) <= 2


@pytest.mark.parametrize("figure", ["recall", "precision"])
def test_three_worst_by_bytes_are_looked_into(figure: str) -> None:
    rows = [row for row in read_rows(SCORES) if row["guess"] == "static"]
    rows.sort(key=lambda row: float(row[figure]))
    for row in rows[:3]:
        assert row["application"] in _looked_into(WORST)


def test_three_worst_by_seconds_are_looked_into(predicted: list[Predicted]) -> None:
    rows = [each for each in predicted if each.telling and each.codec == "xz"]
    rows.sort(key=lambda each: -abs(each.error))
    _, _, by_seconds = WORST.partition("By the seconds")
    for each in rows[:3]:
        assert each.application in _looked_into(by_seconds)


def test_tables_stand_on_one_page_only() -> None:
    assert "| firefox-esr |" in (DOCS / "study/accuracy.md").read_text(encoding="utf-8")
    assert "| firefox-esr |" not in (DOCS / "study/launch-set.md").read_text(
        encoding="utf-8"
    )


def _looked_into(text: str) -> list[str]:
    """Return the names in bold."""
    return [name for part in text.split("**")[1::2] for name in part.split(", ")]

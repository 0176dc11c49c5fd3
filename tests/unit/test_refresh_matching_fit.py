"""The factors of the matches come from the data that the repository has."""

from __future__ import annotations

import csv
from statistics import mean, median

import pytest

from doc_commands import ROOT
from snapcraft_compression_advisor.refresh.matching import (
    COPY_FACTORS,
    TEXT_COPY_FACTOR,
)


def factors(level: int, text: str) -> list[float]:
    path = ROOT / "study/data/refresh-matching.csv"
    with path.open(encoding="utf-8", newline="") as file:
        return [
            float(row["factor"])
            for row in csv.DictReader(file)
            if (row["level"], row["text"]) == (str(level), text)
        ]


@pytest.mark.parametrize("level", COPY_FACTORS)
def test_factor_is_the_mean_of_the_programs(level: int) -> None:
    assert COPY_FACTORS[level] == round(mean(factors(level, "no")), 2)


def test_factor_of_texts_is_their_median() -> None:
    assert pytest.approx(median(factors(7, "yes")), abs=0.006) == TEXT_COPY_FACTOR

"""The factors of the matches come from the data that the repository has."""

from __future__ import annotations

import csv
from statistics import mean

import pytest

from doc_commands import ROOT
from snapcraft_compression_advisor.refresh.matching import COPY_FACTORS


@pytest.mark.parametrize("level", COPY_FACTORS)
def test_factor_is_the_mean_of_the_programs(level: int) -> None:
    path = ROOT / "study/data/refresh-matching.csv"
    with path.open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if int(row["level"]) == level]
    assert COPY_FACTORS[level] == round(mean(float(row["factor"]) for row in rows), 2)

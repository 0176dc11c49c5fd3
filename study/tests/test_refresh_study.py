"""The page on refreshes shows what its data has."""

from __future__ import annotations

import csv
import statistics

import pytest

from doc_commands import ROOT
from refresh_pairs import summary
from snapcraft_compression_advisor.advice.month import LZO_SHARE


@pytest.mark.parametrize("line", [*summary(ROOT / "study/data/refresh-estimates.csv")])
def test_line_of_the_summary_is_on_the_page(line: str) -> None:
    page = (ROOT / "docs/study/deltas.md").read_text(encoding="utf-8")
    assert line in " ".join(page.split()) or line in page


def test_share_of_a_delta_with_lzo_is_that_of_the_pairs() -> None:
    path = ROOT / "study/data/refresh-pairs.csv"
    shares = {
        (row["pair"], row["codec"]): int(row["delta_bytes"])
        / int(row["new_image_bytes"])
        for row in csv.DictReader(path.read_text(encoding="utf-8").splitlines())
        if row["format"] == "xdelta3"
    }
    ratios = [
        share / shares[pair, "xz"]
        for (pair, codec), share in shares.items()
        if codec == "lzo"
    ]
    assert pytest.approx(min(ratios), abs=0.01) == LZO_SHARE.low
    assert pytest.approx(statistics.geometric_mean(ratios), abs=0.01) == LZO_SHARE.mid
    assert pytest.approx(max(ratios), abs=0.01) == LZO_SHARE.high

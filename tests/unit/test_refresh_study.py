"""The page on refreshes shows what its data has."""

from __future__ import annotations

import pytest

from doc_commands import ROOT
from refresh_pairs import summary

DATA = ROOT / "study/data/refresh-pairs.csv"


@pytest.mark.parametrize("line", [*summary(DATA)])
def test_line_of_the_summary_is_on_the_page(line: str) -> None:
    page = (ROOT / "docs/refresh.md").read_text(encoding="utf-8")
    assert line in " ".join(page.split()) or line in page

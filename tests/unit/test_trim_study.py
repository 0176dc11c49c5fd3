"""The page on what trim lists, and the data that it shows."""

from __future__ import annotations

import csv
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_page_has_the_sums_of_the_data() -> None:
    with (ROOT / "study/data/trim-needed.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    sums = {
        field: sum(int(row[field]) for row in rows)
        for field in rows[0]
        if field != "application"
    }
    page = (ROOT / "docs/trim.md").read_text(encoding="utf-8")
    shown = re.findall(r"\| ([\d,]+) \|$", page, re.MULTILINE)
    assert [int(each.replace(",", "")) for each in shown] == [
        len(rows),
        sums["read_files"],
        sums["sure_and_read"],
        sums["risky_and_read"],
        sums["planted"],
        sums["planted_sure"],
        sums["planted_risky"],
    ]
    assert not sums["sure_and_read"]

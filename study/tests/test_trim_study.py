"""The page on what trim lists, and the data that it shows."""

from __future__ import annotations

import csv
import math
import re
from pathlib import Path

import trim_prove
from snapcraft_compression_advisor.trim.prove import LEAST_COMMON

ROOT = Path(__file__).parents[2]


def test_page_has_the_sums_of_the_data() -> None:
    with (ROOT / "study/data/trim-needed.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    sums = {
        field: sum(int(row[field]) for row in rows)
        for field in rows[0]
        if field != "application"
    }
    page = (ROOT / "docs/study/trim-lists.md").read_text(encoding="utf-8")
    shown = re.findall(r"\| ([\d,]+) \|$", page, re.MULTILINE)
    assert [int(each.replace(",", "")) for each in shown[:7]] == [
        len(rows),
        sums["read_files"],
        sums["sure_and_read"],
        sums["risky_and_read"],
        sums["planted"],
        sums["planted_sure"],
        sums["planted_risky"],
    ]
    assert not sums["sure_and_read"]


def test_bar_of_the_proof_is_the_least_that_repeated_launches_have_in_common() -> None:
    table = ROOT / "study/data/directory-launches.csv"
    lines = table.read_text(encoding="utf-8").splitlines()
    shares = []
    for row in csv.DictReader(line for line in lines if not line.startswith("#")):
        one, other, common = (
            int(row[name]) for name in ("mount_blocks", "again_blocks", "again_common")
        )
        shares.append(common / (one + other - common))
    assert math.floor(100 * min(shares)) / 100 == LEAST_COMMON
    assert len(shares) == 24


def test_page_has_the_tables_of_the_proofs() -> None:
    page = (ROOT / "docs/study/trim-lists.md").read_text(encoding="utf-8")
    rows = trim_prove.read_rows(trim_prove.PROVED)
    assert "\n".join(trim_prove.table_lines(rows)) in page

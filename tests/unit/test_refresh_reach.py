"""xdelta3's reach in the estimate is about the one that was measured."""

from __future__ import annotations

import csv

from doc_commands import ROOT
from snapcraft_compression_advisor.core.units import MIB
from snapcraft_compression_advisor.refresh.compare import REACH_BYTES

DOUBT_BYTES = 3 * MIB


def test_reach_is_that_of_the_table() -> None:
    text = (ROOT / "study/data/refresh-reach.csv").read_text(encoding="utf-8")
    checked = 0
    for row in csv.DictReader(text.splitlines()):
        distance = int(row["distance_mib"]) * MIB
        if abs(distance - REACH_BYTES) > DOUBT_BYTES:
            found = int(row["delta_bytes"]) < MIB
            assert found == (distance < REACH_BYTES)
            checked += 1
    assert checked >= 6

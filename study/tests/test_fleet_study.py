"""The corpus as a fleet: the page has what the data set shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

import fleet_corpus
from doc_commands import ROOT
from fleet_summary import rank_correlation, summary
from fleets import make_row
from snapcraft_compression_advisor.fleet.columns import decode
from snapcraft_compression_advisor.fleet.dataset import Dataset, part_files

if TYPE_CHECKING:
    from pathlib import Path

pytest.importorskip("pyarrow")
DATA = ROOT / "study/data/fleet-corpus"


def test_every_line_of_the_summary_is_on_the_page() -> None:
    page = " ".join(
        (ROOT / "docs/study/fleet-data.md").read_text(encoding="utf-8").split()
    )
    missing = [line for line in summary(DATA) if line.rstrip(".") not in page]
    assert missing == []


def test_rows_of_several_runs_become_one_file_in_the_same_order(
    tmp_path: Path,
) -> None:
    for name in "ba":
        Dataset(tmp_path, settings="s").add([make_row(name)])
    assert len(part_files(tmp_path)) == 2
    fleet_corpus._join(tmp_path)
    fleet_corpus._join(tmp_path)
    (file,) = part_files(tmp_path)
    assert [row["name"] for row in decode(file)[0]] == ["a", "b"]
    assert Dataset(tmp_path, settings="s").digests() == {"sha256:a", "sha256:b"}
    # What is known of files on one machine is nothing to keep with a study's data.
    assert [each.name for each in file.parent.iterdir()] == [file.name]


def test_a_longer_draw_goes_on_where_a_shorter_ended() -> None:
    names = [f"n{number}" for number in range(20)]
    lot = fleet_corpus.drawn(names, 1)
    assert sorted(lot) == sorted(names)
    assert fleet_corpus.drawn(reversed(names), 1) == lot != fleet_corpus.drawn(names, 2)


def test_equal_values_share_their_rank() -> None:
    values = np.array([1.0, 2.0, 2.0, 3.0])
    assert rank_correlation(values, values**3) == pytest.approx(1.0)
    assert rank_correlation(values, -values) == pytest.approx(-1.0)
    # Of ranks 1, 2.5, 2.5, 4 and 1, 2, 3, 4.
    assert rank_correlation(values, np.arange(4)) == pytest.approx(0.9486833)

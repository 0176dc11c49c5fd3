"""The page on refreshes shows what its data has."""

from __future__ import annotations

import lzma
import random

import pytest

import refresh_coded
import refresh_lost
from doc_commands import ROOT
from refresh_pairs import summary
from snapcraft_compression_advisor.refresh import compare

LOST = ROOT / "study/data/refresh-lost.csv"
DATA = ROOT / "study/data/refresh-pairs.csv"
CODED = ROOT / "study/data/refresh-coded.csv"


@pytest.mark.parametrize("line", [*summary(DATA)])
def test_line_of_the_summary_is_on_the_page(line: str) -> None:
    page = (ROOT / "docs/refresh.md").read_text(encoding="utf-8")
    assert line in " ".join(page.split()) or line in page


def test_what_full_buffers_add_is_fitted_to_the_table() -> None:
    found = refresh_lost.summary(LOST)
    mean_kb, spread_kb = compare.LOST_BYTES / 1e3, compare.LOST_SPREAD / 1e3
    assert f"adds {mean_kb:.0f} kB, standard deviation {spread_kb:.0f} kB" in found
    assert found in (ROOT / "docs/refresh.md").read_text(encoding="utf-8")


def test_copies_are_counted_by_window() -> None:
    said = """\
VCDIFF window number:         0
  Offset Code Type1 Size1  @Addr1 + Type2 Size2 @Addr2
  000000 022  CPY_0      6 S@0
  000006 163  ADD        1         + CPY_0    4 S@9
VCDIFF window number:         1
  000010 001  ADD      300
  000310 022  CPY_1     16 T@0
"""
    assert refresh_lost.copies_of(said) == {0: 2, 1: 1}


def test_chunks_of_lzma_are_told_apart() -> None:
    noise, text = random.Random(1).randbytes(150_000), b"a text\n" * 9_000
    stream = lzma.compress(noise + text, check=lzma.CHECK_NONE)
    found = [*refresh_coded.chunks(stream)]
    assert sum(chunk.length for chunk in found) == len(noise) + len(text)
    stored = sum(chunk.length for chunk in found if not chunk.is_short)
    assert stored == pytest.approx(len(noise), abs=2**16)


def test_entropy_says_which_literals_lzma_made_shorter() -> None:
    page = " ".join((ROOT / "docs/method.md").read_text(encoding="utf-8").split())
    chosen, drawn = (line.split()[-3] for line in refresh_coded.summary(CODED))
    assert f"within {chosen} of what LZMA coded" in page
    assert f"within {drawn} (ejabberd" in page

"""The speeds of applying deltas are those of the table, and predict its other pairs."""

from __future__ import annotations

import math
import statistics

import pytest

from doc_commands import ROOT
from refresh_apply_fit import (
    DRAWN_SETS,
    fit,
    fit_decoding,
    fit_packing,
    fit_side_by_side,
    on_both,
    summary,
)
from refresh_apply_rows import OTHER_TABLE, PAIRS, of_rounds, other_times_s, read_table
from refresh_pairs import read_rows
from snapcraft_compression_advisor.advice.refresh_cost import LZO_SHARE
from snapcraft_compression_advisor.codecs import CODECS, SHIPPABLE
from snapcraft_compression_advisor.devices.apply_speeds import (
    CODED_S_PER_BYTE,
    DECODE_SPREAD,
    DECODE_START_S,
    MEASURED,
    READ_S_PER_BYTE,
    SIDE_BY_SIDE,
    WAIT_S,
    WRITTEN_S_PER_BYTE,
)

ROWS = of_rounds(read_table())
FIT = [row for row in ROWS if row["set"] == "fit"]
FITTED = fit(FIT)


def test_speeds_are_fitted_to_the_table() -> None:
    for codec, cost in FITTED.pack.items():
        assert cost.raw_s_per_byte.mid == pytest.approx(
            MEASURED.pack[codec].raw_s_per_byte.mid, rel=0.01
        )
    for codec, cost in FITTED.unpack.items():
        assert cost.raw_s_per_byte.high == pytest.approx(
            MEASURED.unpack[codec].raw_s_per_byte.high, rel=0.01
        )
    for name in ("rebuild_s_per_byte", "patch_s_per_byte", "digest_s_per_byte"):
        one, other = (getattr(each, name).mid for each in (MEASURED, FITTED))
        assert one == pytest.approx(other, rel=0.01)


def test_search_costs_are_fitted_to_the_table() -> None:
    for codec in SHIPPABLE:
        assert CODECS[codec].pack_search == pytest.approx(
            fit_packing(codec, ROWS), rel=0.01
        )


def test_decoding_is_fitted_to_the_table() -> None:
    costs, ends = fit_decoding(on_both(ROWS, of_rounds(read_table(OTHER_TABLE))))
    known = [DECODE_START_S, WRITTEN_S_PER_BYTE, READ_S_PER_BYTE, CODED_S_PER_BYTE]
    assert costs == pytest.approx(known, rel=0.01)
    assert (DECODE_SPREAD.low, DECODE_SPREAD.high) == pytest.approx(ends, abs=0.01)


def test_time_on_two_processors_is_fitted_to_the_table() -> None:
    other = of_rounds(read_table(OTHER_TABLE))
    factor, wait_s = fit_side_by_side(other)
    assert factor == pytest.approx(SIDE_BY_SIDE, abs=0.005)
    assert wait_s == pytest.approx(WAIT_S, abs=0.0005)


@pytest.mark.parametrize("delta_format", ["xdelta3", "snap-1-1-xdelta3"])
def test_times_are_predicted_for_pairs_drawn_by_lot_on_another_machine(
    delta_format: str,
) -> None:
    errors = [
        abs(predicted / measured - 1)
        for measured, predicted in (
            other_times_s(row)
            for row in of_rounds(read_table(OTHER_TABLE))
            if row["set"] in DRAWN_SETS and row["format"] == delta_format
        )
    ]
    assert len(errors) == 2 * 2 * 12
    assert statistics.median(errors) <= 0.1
    assert sum(error <= 0.2 for error in errors) >= 0.9 * len(errors)
    assert max(errors) <= 0.3


@pytest.mark.parametrize("line", [*summary()])
def test_line_of_the_summary_is_on_the_page(line: str) -> None:
    page = (ROOT / "docs/method.md").read_text(encoding="utf-8")
    assert line in page


def test_shares_of_plain_deltas_are_those_of_the_table() -> None:
    shares: dict[str, dict[str, float]] = {}
    for row in read_rows(PAIRS):
        if row.format == "xdelta3":
            share = row.delta_bytes / row.new_image_bytes
            shares.setdefault(row.pair, {})[row.codec] = share
    ratios = [each["lzo"] / each["xz"] for each in shares.values()]
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    assert (min(ratios), mean, max(ratios)) == pytest.approx(
        (LZO_SHARE.low, LZO_SHARE.mid, LZO_SHARE.high), abs=0.005
    )

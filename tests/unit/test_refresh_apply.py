"""The speeds of applying deltas are those of the table, and predict its other pairs."""

from __future__ import annotations

import math
import statistics

import pytest

from doc_commands import ROOT
from refresh_apply_fit import PAIRS, fit, fit_decoding, predicted_s, read_table, summary
from refresh_packing import fit as fit_packing
from refresh_packing import packed, read_blocks
from refresh_packing import predicted_s as packing_s
from refresh_pairs import read_rows
from snapcraft_compression_advisor.advice.refresh_cost import LZO_SHARE
from snapcraft_compression_advisor.codecs import CODECS
from snapcraft_compression_advisor.core.units import KIB
from snapcraft_compression_advisor.devices.apply_speeds import (
    CODED_S_PER_BYTE,
    DECODE_SPREAD,
    MEASURED,
    WRITTEN_S_PER_BYTE,
)

ROWS = read_table()
FITTED = fit([row for row in ROWS if row["set"] == "fit"])


def test_speeds_are_fitted_to_the_table() -> None:
    for codec, cost in FITTED.pack.items():
        assert cost.raw_s_per_byte.mid == pytest.approx(
            MEASURED.pack[codec].raw_s_per_byte.mid, rel=0.01
        )
    for codec, cost in FITTED.unpack.items():
        assert cost.raw_s_per_byte.high == pytest.approx(
            MEASURED.unpack[codec].raw_s_per_byte.high, rel=0.01
        )
    for name in ("rebuild_s_per_byte", "patch_s_per_byte"):
        one, other = (getattr(each, name).mid for each in (MEASURED, FITTED))
        assert one == pytest.approx(other, rel=0.01)


def test_packing_with_xz_is_predicted_for_pairs_that_were_not_fitted() -> None:
    errors = [
        predicted_s(row, MEASURED, int(row["processors"])) / float(row["seconds"]) - 1
        for row in ROWS
        if (row["set"], row["codec"], row["format"])
        == ("check", "xz", "snap-1-1-xdelta3")
    ]
    assert len(errors) == 4
    assert max(map(abs, errors)) <= 0.2


def test_search_costs_are_fitted_to_the_tables() -> None:
    known = CODECS["lzo"].pack_search
    assert known is not None
    costs, ends = fit_packing("lzo", read_blocks(), ROWS)
    raw, search, step = (costs * [1e6 * KIB, 1e9, 1e9]).tolist()
    assert (known.raw_us_per_kib, known.search_ns, known.step_ns) == pytest.approx(
        (raw, search, step), rel=0.01
    )
    assert (known.least, known.greatest) == pytest.approx(ends, abs=0.01)


def test_decoding_is_fitted_to_the_table() -> None:
    written, coded, least, greatest = fit_decoding(
        [row for row in ROWS if row["set"] == "fit"]
    )
    assert pytest.approx(written, rel=0.02) == WRITTEN_S_PER_BYTE
    assert pytest.approx(coded, rel=0.02) == CODED_S_PER_BYTE
    assert (DECODE_SPREAD.low, DECODE_SPREAD.high) == pytest.approx(
        (least, greatest), abs=0.02
    )


def test_packing_with_lzo_is_predicted_for_pairs_that_were_not_fitted() -> None:
    costs, _ = fit_packing("lzo", read_blocks(), ROWS)
    errors: dict[str, list[float]] = {}
    for row in packed(ROWS, "lzo"):
        if row["set"] != "fit":
            error = packing_s(row, costs) / float(row["mksquashfs_s"]) - 1
            errors.setdefault(row["pair"], []).append(error)
    medians = [abs(statistics.median(some)) for some in errors.values()]
    assert len(medians) >= 6
    assert statistics.median(medians) <= 0.15
    assert max(medians) <= 0.25


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

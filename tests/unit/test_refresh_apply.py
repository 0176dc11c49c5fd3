"""The speeds of applying deltas are those of the table, and predict its other pairs."""

from __future__ import annotations

import math

import pytest

from refresh_apply import fit, predicted_s, read_table
from snapcraft_compression_advisor.advice.refresh_cost import LZO_SHARE
from snapcraft_compression_advisor.devices.apply_speeds import MEASURED

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


def test_shares_of_plain_deltas_are_those_of_the_table() -> None:
    shares: dict[str, dict[str, float]] = {}
    for row in ROWS:
        if row["format"] == "xdelta3":
            share = float(row["delta_bytes"]) / float(row["new_image_bytes"])
            shares.setdefault(row["pair"], {})[row["codec"]] = share
    ratios = [each["lzo"] / each["xz"] for each in shares.values() if "lzo" in each]
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    assert (min(ratios), mean, max(ratios)) == pytest.approx(
        (LZO_SHARE.low, LZO_SHARE.mid, LZO_SHARE.high), abs=0.01
    )

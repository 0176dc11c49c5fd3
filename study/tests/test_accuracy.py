"""Launches predicted and measured, from the data that the repo keeps."""

from __future__ import annotations

from pathlib import Path

import pytest

import accuracy
from accuracy_data import CODECS, Launches, read_launches
from accuracy_model import Prediction, factors, predict
from snapcraft_compression_advisor.codecs import CODECS as KNOWN
from snapcraft_compression_advisor.core.units import Interval
from snapcraft_compression_advisor.launch.model import BlockSums

DOCS = Path(__file__).parents[2] / "docs"


def made_up(name: str, *, xz_s: float, runs: int = 4) -> Launches:
    """Return launches of one second and what xz adds; others add a tenth of it."""
    seconds = dict.fromkeys(CODECS, 1 + xz_s / 10) | {"none": 1.0, "xz": 1 + xz_s}
    sums = BlockSums(
        compressed_blocks=1000,
        compressed_raw_bytes=131_072_000,
        compressed_stored_bytes=43_000_000,
    )
    return Launches(
        name=name,
        cold_s={
            codec: tuple(value + 0.01 * run for run in range(runs))
            for codec, value in seconds.items()
        },
        sums=dict.fromkeys(CODECS, sums) | {"none": BlockSums(blocks=1000)},
        runs=10,
        waited_share=1.0,
        image_bytes={"xz": 100e6, "lzo": 130e6},
    )


def test_page_is_what_the_data_give() -> None:
    page = "\n".join([*accuracy.page(read_launches()), ""])
    assert page == (DOCS / "study/accuracy.md").read_text(encoding="utf-8")


def test_models_factors_are_those_fitted_to_all_launches() -> None:
    for codec, factor in factors(read_launches()).items():
        kept = KNOWN[codec].in_launch
        for end in ("low", "mid", "high"):
            assert getattr(kept, end) == pytest.approx(getattr(factor, end), abs=0.006)


def test_application_is_predicted_from_the_others_alone() -> None:
    others = [made_up(f"app{n}", xz_s=3.0) for n in range(4)]
    odd = made_up("odd", xz_s=6.0)
    predicted = {each.codec: each for each in predict(odd, others)}
    same = {each.codec: each for each in predict(made_up("even", xz_s=3.0), others)}
    assert predicted["xz"].added_s.mid == pytest.approx(same["xz"].added_s.mid)
    assert predicted["xz"].error == pytest.approx(-0.5, abs=0.01)


def test_codec_that_adds_too_little_everywhere_has_the_factor_of_all() -> None:
    few = [made_up(f"app{n}", xz_s=0.5) for n in range(4)]
    assert factors(few)["lz4"] == factors(few)["zstd"]


def test_what_a_round_has_in_common_falls_out() -> None:
    launches = made_up("app", xz_s=2.0)
    assert launches.differences_s("xz", "none") == pytest.approx([2.0] * 4)


@pytest.mark.parametrize(("measured_s", "held"), [(1.0, True), (2.1, False)])
def test_prediction_holds_what_its_interval_holds(
    measured_s: float, *, held: bool
) -> None:
    prediction = Prediction(
        application="app",
        codec="xz",
        added_s=Interval(low=0.9, mid=1.5, high=2.0),
        measured_s=measured_s,
        telling=True,
    )
    assert prediction.held is held

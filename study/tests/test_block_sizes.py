"""The block model that the package has is fitted to the study's data."""

from __future__ import annotations

import csv
import json
from importlib.resources import files
from typing import Any

import pytest

import block_sizes


def test_file_is_what_the_study_fits_to_its_data() -> None:
    with block_sizes.DATA.open(newline="") as file:
        fitted: Any = block_sizes.fit_all(list(csv.DictReader(file)))
    kept = json.loads(
        files("snapcraft_compression_advisor.trial")
        .joinpath("block_model.json")
        .read_text()
    )
    assert {**fitted, "fitted_at": kept["fitted_at"]}.keys() == kept.keys()
    for known, models in fitted["models"].items():
        assert models["columns"] == kept["models"][known]["columns"]
        for codec, model in models["codecs"].items():
            same = kept["models"][known]["codecs"][codec]
            assert model["scatter"] == pytest.approx(same["scatter"], abs=2e-4)
            assert model["bias"] == pytest.approx(same["bias"], abs=2e-4)
            assert model["coefficients"] == pytest.approx(
                same["coefficients"], rel=1e-3, abs=1e-3
            )

"""The table of timed blocks, and that the built-in profiles follow from it."""

from __future__ import annotations

import pytest

from kernel_blocks import (
    APPLICATIONS,
    TABLE,
    left_out_errors,
    read_table,
)
from snapcraft_compression_advisor.capture.cost_fit import fit_costs
from snapcraft_compression_advisor.codecs import CODECS
from snapcraft_compression_advisor.devices.builtin_devices import (
    MEASURED_FILL,
    MEASURED_SHAPES,
    usual_block_s,
)


def test_every_application_is_there_with_every_codec() -> None:
    blocks = read_table(TABLE)
    assert {(block.group, block.codec) for block in blocks} == {
        (application, codec) for application in APPLICATIONS for codec in CODECS
    }
    assert 600 <= len(blocks) / len(CODECS) <= 800


def test_built_in_shapes_are_those_of_the_table() -> None:
    costs = fit_costs(read_table(TABLE))
    fitted = {"fill": costs.fill, **costs.decompress}
    for name, shape in {"fill": MEASURED_FILL, **MEASURED_SHAPES}.items():
        usual = usual_block_s(fitted[name])
        assert usual_block_s(shape) == pytest.approx(usual, rel=0.01), name
        for part in ("block_s", "raw_s_per_byte", "stored_s_per_byte"):
            amount = {"block_s": 1, "raw_s_per_byte": 131072}.get(part, 43691)
            known, again = (getattr(each, part).mid for each in (shape, fitted[name]))
            assert known * amount == pytest.approx(again * amount, abs=0.01 * usual)


@pytest.mark.parametrize(
    ("codec", "worst"), [("xz", 0.105), ("lzo", 0.05), ("none", 0.03)]
)
def test_application_left_out_is_predicted(codec: str, worst: float) -> None:
    errors = left_out_errors(read_table(TABLE), codec)
    assert set(errors) == set(APPLICATIONS)
    assert max(abs(error) for error in errors.values()) < worst

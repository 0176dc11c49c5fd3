"""The table of timed blocks, and that the built-in profiles follow from it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kernel_blocks import (
    APPLICATIONS,
    TABLE,
    left_out_errors,
    read_table,
    table,
)
from snapcraft_compression_advisor.capture.block_timing import Timings
from snapcraft_compression_advisor.capture.cost_fit import fit_costs
from snapcraft_compression_advisor.codecs import CODECS
from snapcraft_compression_advisor.devices.builtin_devices import (
    MEASURED_FILL,
    MEASURED_SHAPES,
    usual_block_s,
)
from timed_blocks import make_blocks

if TYPE_CHECKING:
    from pathlib import Path


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


def test_table_is_read_back_as_it_was_written(tmp_path: Path) -> None:
    blocks = tuple(make_blocks(groups=2, count=3))
    nothing = dict.fromkeys(("xz", "lzo", "none"), 0.01)
    timings = Timings(blocks=blocks, spread=nothing, error=nothing)
    path = tmp_path / "table.csv"
    text = table(timings, "the command")
    path.write_text(text)
    assert text.startswith("# Cold read of one page")
    assert "the command" in text.splitlines()[0]
    again = read_table(path)
    assert [(b.group, b.codec, b.raw_bytes, b.stored_bytes) for b in again] == [
        (b.group, b.codec, b.raw_bytes, b.stored_bytes) for b in blocks
    ]
    for known, read in zip(blocks, again, strict=True):
        assert read.median_s == pytest.approx(known.median_s, abs=1e-7)

"""Measurements over several mounts as text and as JSON."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import jsonschema
import pytest

from snapcraft_compression_advisor.capture.measure_stack import (
    MeasuredCombination,
    MeasuredLayer,
    StackMeasurement,
)
from snapcraft_compression_advisor.capture.samples import Sample
from snapcraft_compression_advisor.report.document import schema_text
from snapcraft_compression_advisor.report.measure_stack import stack_json, stack_page
from snapcraft_compression_advisor.report.text_printer import print_text

GOLDEN = Path(__file__).parent / "golden"
ADDED_S = (1.5, 0.5, 0.25)
"""What xz adds over lzo in app, content and base."""


def make_measurement(*, runs: int = 4, codecs: int = 2) -> StackMeasurement:
    names = ("xz", "lzo")[:codecs]
    layers = zip(("app", "content", "base"), ("hello", "gnome", "core24"), strict=True)
    return StackMeasurement(
        layers=tuple(
            MeasuredLayer(
                role=role,  # type: ignore[arg-type] # a role, as the names are
                snap=snap,
                image_bytes=dict.fromkeys(names, 44_100_000),
            )
            for role, snap in layers
        ),
        combinations=tuple(
            MeasuredCombination(
                codecs=each,
                cold_s=Sample(
                    runs_s=tuple(cold_s(each) + n / 100 for n in range(runs))
                ),
                warm_s=Sample(runs_s=(0.3,) * runs),
            )
            for each in itertools.product(names, repeat=3)
        ),
        method="launch",
        storage="memory",
        read_ahead_kb=128,
        runs=runs,
        kernel="6.8.0-31-generic",
        processor="Some Processor (4 in use)",
    )


def cold_s(codecs: tuple[str, ...]) -> float:
    added = zip(codecs, ADDED_S, strict=True)
    return 0.8 + sum(seconds for codec, seconds in added if codec == "xz")


def test_text_is_the_golden_one() -> None:
    text = print_text(stack_page(make_measurement()))
    assert text == (GOLDEN / "measure-stack.txt").read_text(encoding="utf-8")
    assert max(map(len, text.splitlines())) <= 80


def test_each_snaps_saving_is_told_from_those_of_the_others() -> None:
    report = json.loads(stack_json(make_measurement()))
    saved = [layer["difference"]["saved_s"]["mid"] for layer in report["layers"]]
    assert saved == pytest.approx(ADDED_S)
    assert [layer["difference"]["rounds"] for layer in report["layers"]] == [16] * 3


@pytest.mark.parametrize(("runs", "codecs"), [(1, 2), (4, 1)])
def test_no_saving_is_told_from_one_launch_or_one_codec(runs: int, codecs: int) -> None:
    measurement = make_measurement(runs=runs, codecs=codecs)
    report = json.loads(stack_json(measurement))
    assert all(layer["difference"] is None for layer in report["layers"])
    assert "instead of" not in print_text(stack_page(measurement))


def test_json_fits_the_schema() -> None:
    text = stack_json(make_measurement())
    schema = json.loads(schema_text("measure-stack"))
    jsonschema.validate(json.loads(text), schema)
    assert [len(each["codecs"]) for each in json.loads(text)["combinations"]] == [3] * 8

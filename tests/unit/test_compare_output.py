"""A guess, and how it compares, as text and JSON."""

from __future__ import annotations

import json

import jsonschema

from snapcraft_compression_advisor.core.units import Interval
from snapcraft_compression_advisor.launch.comparison import (
    Comparison,
    FileDifference,
)
from snapcraft_compression_advisor.launch.launch_set import LaunchFile, LaunchSet
from snapcraft_compression_advisor.payload.linkage import Unresolved
from snapcraft_compression_advisor.report.compare import (
    LISTED_FILES,
    render_comparison_json,
    render_comparison_text,
    render_guess_text,
)
from snapcraft_compression_advisor.report.document import schema_text

BLOCK = 128 * 1024
COMPARISON = Comparison(
    read_bytes=1000,
    named_bytes=800,
    hit_bytes=600,
    expected_bytes=500.0,
    files=(
        FileDifference(path="bin/\x1bx", missed_bytes=300, vain_bytes=0),
        FileDifference(path="lib/y", missed_bytes=100, vain_bytes=200),
    ),
    gone=("old",),
)


def guess(files: int) -> LaunchSet:
    share = Interval(low=0.5, mid=1.0, high=2.0)
    return LaunchSet(
        app="hello",
        source="static",
        files=tuple(
            LaunchFile(
                path=f"f{number:02}",
                size_bytes=2 * BLOCK,
                blocks=((0, 1),),
                shares=(0.5,),
            )
            for number in range(files)
        ),
        read_share=share,
        seek_share=share,
        unresolved=(Unresolved(name="liba", needed_by="f00", supplier="base"),),
    )


def test_comparison_says_recall_and_precision_and_lists_files_largest_first() -> None:
    text = render_comparison_text(COMPARISON)
    assert "recall      60.0%" in text
    assert "precision   75.0%" in text
    assert "2.00  bytes for each byte expected" in text
    assert "read, but not named: 400 B\n    300 B bin/\\x1bx\n    100 B lib/y\n" in text
    assert "named, but not read: 200 B\n    200 B lib/y\n" in text
    assert "not in this payload: old" in text


def test_guess_lists_its_largest_files_and_sums_up_the_others() -> None:
    text = render_guess_text(guess(LISTED_FILES + 2))
    assert " 131.1 kB f00\n" in text
    assert " 262.1 kB in 2 more\n" in text
    assert "  liba: base, needed by f00\n" in text


def test_guess_says_that_it_is_one_and_how_far_it_may_be_off() -> None:
    text = render_guess_text(guess(1))
    assert "guessed from files: 1 file, 131.1 kB expected to be" in text
    assert "65.5\N{EN DASH}262.1 kB in nine of ten launches" in text


def test_text_fits_a_terminal() -> None:
    for text in (render_comparison_text(COMPARISON), render_guess_text(guess(30))):
        assert max(map(len, text.splitlines())) <= 80


def test_comparison_as_json_keeps_to_its_schema() -> None:
    document = json.loads(render_comparison_json(COMPARISON, app="hello"))
    jsonschema.validate(document, json.loads(schema_text("launch-set-comparison")))
    assert document["recall"] == 0.6
    assert document["files"][0] == {
        "path": "bin/\\x1bx",
        "missed_bytes": 300,
        "vain_bytes": 0,
    }

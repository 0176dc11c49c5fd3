"""What reports know of files and of where launches go."""

from __future__ import annotations

from dataclasses import replace

import pytest

from reports import COMPRESSED_SHARE, make_full_analysis, make_stored
from snapcraft_compression_advisor.launch.model import estimate_launch
from snapcraft_compression_advisor.payload.layout import make_layout
from snapcraft_compression_advisor.report.advise_details import blocks_known
from snapcraft_compression_advisor.report.files import (
    file_kinds,
    heavy_files,
    largest_shares,
)


def test_largest_files_make_up_a_share_of_the_payload() -> None:
    layout = make_layout([(f"f{number}", 10_000 - number) for number in range(120)])
    shares = largest_shares(layout)
    assert shares[10] == pytest.approx(99_955 / (1_200_000 - 7_140))
    assert largest_shares(make_layout([("one", 7)])) == {1: 1.0, 10: 1.0}
    assert largest_shares(make_layout([])) == {}


def test_kinds_are_summed_by_codec() -> None:
    kinds = {each.kind: each for each in file_kinds(make_stored())}
    libraries = kinds["other libraries"]
    assert (libraries.files, libraries.raw_bytes) == (2, 11_000_000)
    for codec in ("xz", "lzo"):
        stored = libraries.stored_bytes[codec]
        assert stored.mid == pytest.approx(11_000_000 * COMPRESSED_SHARE[codec])
    assert kinds["calc"].stored_bytes["xz"].mid == pytest.approx(700_000, rel=0.01)


def test_holes_are_no_part_of_a_kind() -> None:
    stored = make_stored()
    stored.layout.holes[:] = True
    assert {each.raw_bytes for each in file_kinds(stored)} == {0}


def test_heaviest_file_comes_first_with_what_it_costs_alone() -> None:
    analysis = make_full_analysis()
    heavy = heavy_files(analysis, analysis.launches[0].launch_set)
    assert heavy[0].path == "usr/lib/libbig.so"
    launch_set = analysis.launches[0].launch_set
    alone = replace(
        launch_set,
        files=tuple(f for f in launch_set.files if f.path == heavy[0].path),
        read_share=launch_set.read_share.map(lambda share: min(1.0, share)),
        seek_share=launch_set.seek_share.map(lambda share: min(1.0, share)),
    )
    device = analysis.devices[0]
    expected = estimate_launch(alone, analysis.trial.codecs["lzo"], device).added_s
    told = heavy[0].added_s[device.name]["lzo"]
    assert (told.low, told.mid, told.high) == (
        expected.low,
        expected.mid,
        expected.high,
    )


def test_sample_is_told_by_the_blocks_whose_size_is_known() -> None:
    stored = make_stored()
    stored.codecs["xz"].errors[3:] = 5.0
    analysis = make_full_analysis()
    trial = replace(analysis.trial, stored=stored)
    known = blocks_known(replace(analysis, trial=trial))
    assert known["xz"] == 3
    assert known["lzo"] == stored.layout.block_count

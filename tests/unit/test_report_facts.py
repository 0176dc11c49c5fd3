"""What reports know of files and of where launches go."""

from __future__ import annotations

from dataclasses import replace

import pytest

from reports import COMPRESSED_SHARE, make_full_analysis, make_stored
from snapcraft_compression_advisor.core.units import KIB
from snapcraft_compression_advisor.launch.launch_set import LaunchFile
from snapcraft_compression_advisor.launch.model import estimate_launch
from snapcraft_compression_advisor.payload.layout import make_layout
from snapcraft_compression_advisor.report.advise_details import blocks_known
from snapcraft_compression_advisor.report.launch_files import (
    LISTED_DIRECTORIES,
    heavy_files,
    launch_directories,
)
from snapcraft_compression_advisor.report.payload_files import (
    file_kinds,
    file_sizes,
    incompressible,
)


def test_largest_files_are_told_with_what_they_make_up() -> None:
    layout = make_layout([(f"f{number}", 10_000 - number) for number in range(120)])
    sizes = file_sizes(layout)
    shares = {top.files: top.share for top in sizes.top}
    assert [file.path for file in sizes.largest] == [f"f{n}" for n in range(10)]
    assert shares[10] == pytest.approx(99_955 / (1_200_000 - 7_140))
    assert shares[120] == 1.0
    assert list(shares) == sorted(shares)


def test_every_file_is_in_one_class_of_size() -> None:
    sizes = [1, 4 * KIB, 4 * KIB + 1, 128 * KIB, 200_000_000]
    report = file_sizes(make_layout([(str(each), each) for each in sizes]))
    by_end = {each.up_to_bytes: each.files for each in report.classes}
    assert by_end[4 * KIB] == 2
    assert by_end[16 * KIB] == 1
    assert by_end[128 * KIB] == 1
    assert by_end[None] == 1
    assert sum(each.raw_bytes for each in report.classes) == report.raw_bytes


def test_payload_without_contents_has_no_shares() -> None:
    sizes = file_sizes(make_layout([]))
    assert (sizes.files, sizes.raw_bytes, sizes.top, sizes.largest) == (0, 0, (), ())


def test_kinds_are_summed_by_codec() -> None:
    kinds = {each.kind: each for each in file_kinds(make_stored(), ())}
    libraries = kinds["shared libraries"]
    assert (libraries.files, libraries.raw_bytes) == (2, 11_000_000)
    for codec in ("xz", "lzo"):
        stored = libraries.stored_bytes[codec]
        assert stored.mid == pytest.approx(11_000_000 * COMPRESSED_SHARE[codec])
    assert kinds["sound and video"].stored_bytes["xz"].mid == 700_000


def test_holes_are_no_part_of_a_kind() -> None:
    stored = make_stored()
    stored.layout.holes[:] = True
    assert {each.raw_bytes for each in file_kinds(stored, ())} == {0}


def test_what_does_not_compress_is_named() -> None:
    found = incompressible(make_stored(), "xz")
    assert found is not None
    assert found.stored_bytes.mid == 700_000
    assert [file.path for file in found.largest] == ["usr/share/calc/sound.ogg"]
    assert incompressible(make_stored(), "lz4") is None


def launch_file(path: str, blocks: int) -> LaunchFile:
    return LaunchFile(
        path=path, size_bytes=blocks * 128 * KIB, blocks=((0, blocks - 1),)
    )


def directories_of(*files: LaunchFile) -> dict[str, tuple[int, float]]:
    launch_set = make_full_analysis().launches[0].launch_set
    found = launch_directories(replace(launch_set, files=files))
    return {each.path: (each.files, each.blocks) for each in found}


def test_directories_are_told_with_their_own_files() -> None:
    files = (launch_file("a/x", 2), launch_file("a/b/y", 3), launch_file("z", 1))
    assert directories_of(*files) == {"a/b": (1, 3), "a": (1, 2), ".": (1, 1)}


def test_too_many_directories_count_with_the_ones_that_they_lie_in() -> None:
    many = [launch_file(f"data/t{number:03}/x", 1) for number in range(200)]
    found = directories_of(*many, launch_file("bin/x", 9))
    assert len(found) <= LISTED_DIRECTORIES
    assert found["bin"] == (1, 9)
    assert sum(blocks for _, blocks in found.values()) == 209
    assert found["data"][0] > 180


def test_directory_counts_not_with_another_before_those_within_it() -> None:
    within = [launch_file(f"data/t{number:02}/x", 5) for number in range(20)]
    found = directories_of(*within, launch_file("data/x", 1), launch_file("b/x", 9))
    assert "." not in found
    assert sum(blocks for _, blocks in found.values()) == 110


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

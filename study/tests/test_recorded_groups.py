"""Groups of the files that recorded launches read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from snapcraft_compression_advisor.launch.launch_set import LaunchFile
from snapcraft_compression_advisor.report.launch_groups import launch_groups

RECORDED = sorted((Path(__file__).parents[1] / "data/launches").glob("*.json"))


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.stem)
def test_largest_part_of_a_recorded_launch_is_no_larger_than_its_largest_file(
    path: Path,
) -> None:
    files = [
        LaunchFile(
            path=each["path"],
            size_bytes=each["size"],
            blocks=tuple((first, last) for first, last in each["blocks"]),
        )
        for each in json.loads(path.read_text())["files"]
    ]
    groups = launch_groups(files)
    largest = max(
        (part for group in groups for part in group.parts),
        key=lambda part: part.blocks,
    )
    assert largest.blocks == max(each.expected_blocks for each in files)

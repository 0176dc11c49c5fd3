"""One line changes in a project file of any shape, and nothing else is read anew."""

from __future__ import annotations

from typing import Any

import pytest
import yaml as pyyaml  # as snapcraft reads its files
from ruamel.yaml import YAML

from project_shapes import NUMBER, shape
from snapcraft_compression_advisor.project.set_scalar import set_compression


def by_snapcraft(content: bytes) -> dict[str, Any]:
    loaded: dict[str, Any] = pyyaml.safe_load(content)
    return loaded


def by_ruamel(content: bytes) -> dict[str, Any]:
    reader = YAML(typ="safe", pure=True)
    reader.version = (1, 1)
    loaded: dict[str, Any] = reader.load(content.decode().removeprefix("\ufeff"))
    return loaded


def lines(content: bytes) -> list[bytes]:
    return content.splitlines(keepends=True)  # bytes: at \n, \r and \r\n alone


@pytest.mark.parametrize("compression", ["xz", "lzo"])
def test_one_line_changes_and_the_rest_reads_the_same(compression: str) -> None:
    for number in range(NUMBER):
        before = shape(number)
        after = set_compression(before, compression)
        for read in (by_snapcraft, by_ruamel):
            was, now = read(before), read(after)
            said = was.pop("compression", None)
            assert now.pop("compression") == compression
            assert now == was, number
            assert (before == after) == (said == compression)
        old, new = lines(before), lines(after)
        inserted = len(new) - len(old)
        assert inserted in {0, 1}
        assert before == after or any(
            old[:at] == new[:at] and old[at + 1 - inserted :] == new[at + 1 :]
            for at in range(len(new))
        )


def test_shapes_are_all_different_and_of_every_kind() -> None:
    shapes = [shape(number) for number in range(NUMBER)]
    assert len(set(shapes)) == NUMBER
    for mark in (b"\r\n", b"\xef\xbb\xbf", b"&a", b"<<:", b"\t", b"---", b"...", b"{"):
        assert sum(mark in each for each in shapes) >= 10, mark

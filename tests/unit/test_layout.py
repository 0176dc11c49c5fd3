"""Data blocks as mksquashfs would lay them out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from payloads import make_payload
from snapcraft_compression_advisor.payload.layout import (
    HEAD_BYTES,
    DataBlock,
    lay_out,
    make_layout,
)
from snapcraft_compression_advisor.payload.source import DirectoryPayload

if TYPE_CHECKING:
    from pathlib import Path

BLOCK = 128 * 1024


def test_file_is_a_run_of_full_blocks_and_a_tail() -> None:
    layout = make_layout([("a", 2 * BLOCK + 5), ("b", BLOCK)])
    assert [layout.block(number) for number in range(layout.block_count)] == [
        DataBlock(path="a", offset=0, raw_bytes=BLOCK),
        DataBlock(path="a", offset=BLOCK, raw_bytes=BLOCK),
        DataBlock(path="a", offset=2 * BLOCK, raw_bytes=5),
        DataBlock(path="b", offset=0, raw_bytes=BLOCK),
    ]
    assert layout.raw_bytes().tolist() == [BLOCK, BLOCK, 5, BLOCK]
    assert layout.blocks_of("b") == range(3, 4)


@given(st.lists(st.integers(min_value=1, max_value=5 * BLOCK), max_size=8))
def test_blocks_cover_every_file_once(sizes: list[int]) -> None:
    files = [(f"f{number}", size) for number, size in enumerate(sizes)]
    layout = make_layout(files)
    blocks = [layout.block(number) for number in range(layout.block_count)]
    for path, size in files:
        ranges = [(b.offset, b.offset + b.raw_bytes) for b in blocks if b.path == path]
        assert ranges[0][0] == 0
        assert ranges[-1][1] == size
        assert all(end == start for (_, end), (start, _) in zip(ranges, ranges[1:]))  # noqa: B905, RUF007 # neighbours, the last one has none
    assert [b.raw_bytes for b in blocks] == layout.raw_bytes().tolist()


def test_equal_contents_are_laid_out_once() -> None:
    head = b"h" * HEAD_BYTES
    layout = lay_out(
        make_payload(
            {
                "a": b"same",
                "b": b"same",
                "c": b"else",
                "d": head + b"one",
                "e": head + b"two",
                "f": head + b"one",
                "empty": b"",
                "empty-too": b"",
            }
        )
    )
    assert layout.paths == ("a", "c", "d", "e")
    assert layout.same_as == {"b": "a", "f": "d"}
    assert layout.blocks_of("f") == layout.blocks_of("d")
    assert layout.blocks_of("empty") == range(0)


def test_empty_payload_has_no_blocks() -> None:
    layout = make_layout([])
    assert layout.block_count == 0
    assert layout.raw_bytes().tolist() == []


def test_hard_links_share_their_blocks(tmp_path: Path) -> None:
    (tmp_path / "meta").mkdir()
    (tmp_path / "meta/snap.yaml").write_text("name: x")
    (tmp_path / "one").write_bytes(b"contents")
    (tmp_path / "two").hardlink_to(tmp_path / "one")
    layout = lay_out(DirectoryPayload(tmp_path))
    assert layout.same_as == {"two": "one"}


def test_holes_are_known_without_reading(tmp_path: Path) -> None:
    (tmp_path / "meta").mkdir()
    (tmp_path / "meta/snap.yaml").write_text("name: x")
    with (tmp_path / "sparse").open("wb") as file:
        file.seek(5 * BLOCK)
        file.write(b"x" * BLOCK)
        file.truncate(9 * BLOCK)
    layout = lay_out(DirectoryPayload(tmp_path))
    blocks = layout.blocks_of("sparse")
    assert [bool(layout.holes[number]) for number in blocks] == [
        *[True] * 5, False, *[True] * 3,
    ]  # fmt: skip

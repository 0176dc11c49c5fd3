"""What the blocks that a launch is expected to read come to."""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from snapcraft_compression_advisor.core.units import Interval
from snapcraft_compression_advisor.launch.launch_set import LaunchFile, LaunchSet
from snapcraft_compression_advisor.launch.model import (
    BlockSums,
    expect_blocks,
)
from snapcraft_compression_advisor.squashfs.entry import ImageBlock
from snapcraft_compression_advisor.trial.result import (
    blocks_of_files,
)
from stored_block import stored_block

SHARES = st.sampled_from([0.125, 0.5, 0.75, 1.0])
BLOCKS = st.builds(
    lambda raw, stored: stored_block(raw_bytes=raw, stored_bytes=min(raw, stored)),
    st.integers(1, 131_072),
    st.sampled_from([0, 1, 700, 131_072]),
)


@st.composite
def files(draw: st.DrawFn) -> tuple[LaunchFile, tuple[ImageBlock, ...]]:
    """Draw a file of some blocks, and ranges of them that may reach behind its end."""
    blocks = tuple(draw(st.lists(BLOCKS, max_size=8)))
    ends = draw(st.lists(st.integers(0, 9), unique=True, max_size=6).map(sorted))
    ranges = tuple(zip(ends[::2], ends[1::2], strict=False))
    return (
        LaunchFile(
            path="",
            size_bytes=sum(block.raw_bytes for block in blocks),
            blocks=ranges,
            shares=tuple(draw(SHARES) for _ in ranges),
        ),
        blocks,
    )


def reads(*read: LaunchFile) -> LaunchSet:
    certain = Interval.exactly(1)
    return LaunchSet(
        app="app",
        source="static",
        files=read,
        read_share=certain,
        seek_share=certain,
        waited_share=certain,
    )


def named(number: int, file: LaunchFile) -> LaunchFile:
    return LaunchFile(
        path=str(number),
        size_bytes=file.size_bytes,
        blocks=file.blocks,
        shares=file.shares,
    )


def one_by_one(
    pairs: list[tuple[LaunchFile, tuple[ImageBlock, ...]]],
) -> tuple[BlockSums, list[float]]:
    """Sum up block by block; what is stored of each file as well."""
    listed: list[tuple[ImageBlock, float, float]] = []
    by_file = []
    for file, blocks in pairs:
        before, end, first_of_file = 0.0, None, len(listed)
        for first, last, share in file.ranges():
            before = before if first == end else 0.0
            end = last + 1
            for block in blocks[first:end]:
                if block.stored_bytes:
                    listed.append((block, share, before))
                    before = share
        by_file.append(sum(s * b.stored_bytes for b, s, _ in listed[first_of_file:]))
    packed = [(block, share) for block, share, _ in listed if block.compressed]
    fewest = sum(max(0.0, share - before) for _, share, before in listed)
    most = sum(share * (1 - before) for _, share, before in listed)
    sums = BlockSums(
        runs=math.sqrt(fewest * most),
        blocks=sum(share for _, share, _ in listed),
        raw_bytes=sum(share * block.raw_bytes for block, share, _ in listed),
        stored_bytes=sum(by_file),
        compressed_blocks=sum(share for _, share in packed),
        compressed_raw_bytes=sum(share * block.raw_bytes for block, share in packed),
        compressed_stored_bytes=sum(
            share * block.stored_bytes for block, share in packed
        ),
    )
    return sums, by_file


@given(st.lists(files(), max_size=5))
def test_sums_are_those_of_the_blocks_one_by_one(
    drawn: list[tuple[LaunchFile, tuple[ImageBlock, ...]]],
) -> None:
    pairs = [(named(number, file), each) for number, (file, each) in enumerate(drawn)]
    blocks = blocks_of_files({file.path: each for file, each in pairs})
    expected = expect_blocks(reads(*(file for file, _ in pairs)), blocks.places)
    sums, by_file = one_by_one(pairs)
    assert expected.sums(blocks) == sums
    assert expected.stored_bytes_by_file(blocks) == by_file


def test_files_that_are_not_there_have_no_blocks() -> None:
    launch_set = reads(LaunchFile(path="lost", size_bytes=9, blocks=((0, 3),)))
    expected = expect_blocks(launch_set, blocks_of_files({}).places)
    assert expected.sums(blocks_of_files({})) == BlockSums()
    assert expected.stored_bytes_by_file(blocks_of_files({})) == [0.0]


BLOCK = stored_block(raw_bytes=9, stored_bytes=7)

"""Blocks that are in no image: stored ones, timed ones, and censuses of many."""

import random

import numpy as np
from numpy.typing import NDArray

from snapcraft_compression_advisor.capture.block_timing import TimedBlock
from snapcraft_compression_advisor.core.units import KIB
from snapcraft_compression_advisor.squashfs.entry import ImageBlock
from snapcraft_compression_advisor.trial.census import Phase, Sample
from snapcraft_compression_advisor.trial.result import StoredBlocks


def stored_block(*, raw_bytes: int, stored_bytes: int) -> ImageBlock:
    """Return a block, which is compressed if it takes fewer bytes than it has."""
    stored = stored_bytes >= raw_bytes
    return ImageBlock(
        position=0, stored_bytes=stored_bytes, raw_bytes=raw_bytes, is_stored=stored
    )


def sizes_of_file(blocks: StoredBlocks, path: str) -> list[int]:
    """Return what each block of a file takes."""
    places = blocks.places(path)
    return [int(size) for size in blocks.stored_bytes[places.start : places.stop]]


FILL_S = (48e-6, 0.45e-6 / KIB)
XZ_S = (20e-6, 4e-6 / KIB, 50e-6 / KIB)
LZO_S = (2e-6, 0.2e-6 / KIB, 1e-6 / KIB)
COSTS_S = {"xz": XZ_S, "lzo": LZO_S}


def make_blocks(
    *,
    groups: int = 5,
    count: int = 30,
    noise: float = 0.0,
    group_error: float = 0.0,
    stored_share: float = 0.0,
) -> list[TimedBlock]:
    """Return blocks with xz, lzo and none.

    :param count: blocks in each group, the same ones with every codec.
    :param noise: relative standard deviation of each time.
    :param group_error: how far the codecs' costs differ between groups, relative.
    :param stored_share: of blocks that no codec makes smaller.
    """
    chance = random.Random(2)
    blocks = []
    for number in range(groups):
        factor = 1 + group_error * (2 * number / max(1, groups - 1) - 1)
        for _ in range(count):
            raw_bytes = chance.randrange(1000, 128 * KIB + 1)
            ratio = 1.0 if chance.random() < stored_share else chance.uniform(0.1, 0.9)
            for codec in ("xz", "lzo", "none"):
                stored_bytes = raw_bytes if codec == "none" else int(raw_bytes * ratio)
                seconds = FILL_S[0] + FILL_S[1] * raw_bytes
                if stored_bytes < raw_bytes:
                    block_s, raw_s, stored_s = COSTS_S[codec]
                    seconds += factor * (
                        block_s + raw_s * raw_bytes + stored_s * stored_bytes
                    )
                blocks.append(
                    TimedBlock(
                        group=f"group-{number}",
                        codec=codec,
                        raw_bytes=raw_bytes,
                        stored_bytes=stored_bytes,
                        median_s=seconds * max(0.1, chance.gauss(1, noise)),
                    )
                )
    return blocks


BLOCK = 128 * 1024


def make_census(count: int, *, seed: int = 0) -> tuple[Phase, NDArray[np.float64]]:
    """Return a census of all blocks and what a slow codec makes of them.

    Two kinds of contents lie in runs, as in files; short tails are among the blocks;
    the slow codec does better than the fast one, by an amount that varies.
    """
    rng = np.random.default_rng(seed)
    tails = rng.random(count) < 0.4
    raw = np.where(tails, rng.integers(200, BLOCK, count), BLOCK).astype(np.float64)
    kind = np.repeat(rng.random(count // 20 + 1) < 0.5, 20)[:count]
    ratio = np.clip(np.where(kind, 0.3, 0.7) + rng.normal(0, 0.1, count), 0.05, 1.0)
    slow = np.clip(ratio * (0.75 + rng.normal(0, 0.08, count)), 0.01, 1.0)
    census = Phase(
        members=np.arange(count),
        raw_bytes=raw,
        shares=np.ones(count),
        weights=np.ones(count),
        ratios=ratio[:, None],
        zeros=np.zeros(count, dtype=np.bool_),
        lots=some_lots(count),
    )
    return census, slow * raw


def some_lots(count: int, *, seed: int = 0) -> NDArray[np.float64]:
    """Return lots that follow from nothing but a seed."""
    return np.random.default_rng([seed, 1]).random(count)


def whole(phase: Phase) -> Sample:
    """Return all blocks of a phase."""
    return Sample(members=phase.members, shares=np.ones(len(phase.members)))


def part_of(
    phase: Phase, members: NDArray[np.int64], weights: NDArray[np.float64]
) -> Phase:
    """Return a phase of some of another one's blocks, drawn from file to file."""
    return Phase(
        members=members,
        raw_bytes=phase.raw_bytes[members],
        shares=1 / weights,
        weights=weights,
        ratios=phase.ratios[members],
        zeros=phase.zeros[members],
        lots=np.minimum(1.0, phase.lots[members] * weights),
    )


def names_alone(phase: Phase) -> Phase:
    """Return what is known of a phase's blocks before any is read: their lengths."""
    count = len(phase.members)
    return Phase(
        members=phase.members,
        raw_bytes=phase.raw_bytes,
        shares=np.ones(count),
        weights=np.ones(count),
        ratios=np.zeros((count, 0)),
        latest=0,
        zeros=np.zeros(count, dtype=np.bool_),
        lots=phase.lots,
    )

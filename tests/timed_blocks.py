"""Timed blocks made from known costs, for tests of the fit."""

from __future__ import annotations

import random

from snapcraft_compression_advisor.capture.block_timing import TimedBlock
from snapcraft_compression_advisor.core.units import KIB

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

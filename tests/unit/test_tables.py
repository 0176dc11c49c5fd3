"""Tables of some entries stand for those of all."""

from __future__ import annotations

import random

import numpy as np
import pytest

from payloads import make_inventory
from snapcraft_compression_advisor.codecs import CODECS
from snapcraft_compression_advisor.payload.inventory import Inventory
from snapcraft_compression_advisor.payload.layout import make_layout
from snapcraft_compression_advisor.trial.partial import TABLE_ERROR
from snapcraft_compression_advisor.trial.result import StoredBlocks
from snapcraft_compression_advisor.trial.tables import (
    build_tables,
    sample_tables,
    table_bytes,
)


def made(files: int) -> tuple[Inventory, StoredBlocks]:
    """Return directories of all sizes, links of both kinds, and names of all kinds."""
    chance = random.Random(files)
    sizes = {
        f"lib/{number % 97:03}/näme{number // 800}/file{number}.so": int(
            chance.lognormvariate(8, 3)
        )
        for number in range(files)
    } | {f"share/long/{number}": number for number in range(700)}
    links = {f"bin/link{number}": f"../lib/{number}/ü" for number in range(900)}
    listed = make_inventory(sizes, links)
    names = sorted(sizes)
    entries = dict(listed.entries)
    for first, second in zip(names[::40], names[1::40], strict=False):
        entries[second] = entries[first]._replace(path=second)
    inventory = Inventory.of(entries.values())
    layout = make_layout([(e.path, e.size_bytes) for e in inventory.files()])
    raw_bytes = layout.raw_bytes()
    shares = np.random.default_rng(files).uniform(0.2, 0.9, len(raw_bytes))
    stored_bytes = np.ceil(raw_bytes * shares)
    blocks = StoredBlocks(
        places=layout,
        raw_bytes=raw_bytes,
        stored_bytes=stored_bytes,
        compressed=stored_bytes < raw_bytes,
    )
    return inventory, blocks


@pytest.mark.parametrize("codec", ["xz", "lzo", "lz4"])
@pytest.mark.parametrize("files", [6_000, 20_000, 30_000])
def test_some_entries_stand_for_all(files: int, codec: str) -> None:
    inventory, blocks = made(files)
    sampled, every = (
        build(inventory, blocks) for build in (sample_tables, build_tables)
    )
    assert sampled.lengths == every.lengths
    assert len(sampled.inodes) < len(every.inodes) / 1.5
    truth = table_bytes(every, CODECS[codec], tried_blocks=10_000)
    assert table_bytes(sampled, CODECS[codec]) == pytest.approx(truth, rel=TABLE_ERROR)


def test_few_entries_are_all_there() -> None:
    inventory, blocks = made(100)
    assert sample_tables(inventory, blocks) == build_tables(inventory, blocks)

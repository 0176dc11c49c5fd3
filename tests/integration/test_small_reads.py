"""Small reads from an image, which decompress blocks in part."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from real_payloads import snap_pack
from snapcraft_compression_advisor.payload.source import open_payload

if TYPE_CHECKING:
    from pathlib import Path

READS = 400


@pytest.mark.parametrize("compression", ["xz", "lzo"])
def test_small_reads_in_any_order_give_the_files_bytes(
    small_prime: Path, tmp_path: Path, compression: str
) -> None:
    snap = snap_pack(small_prime, tmp_path / "packed", compression=compression)
    chance = random.Random(5)
    names = ["usr/bin/sample", "usr/share/data/text", "usr/share/data/sparse"]
    files = {name: (small_prime / name).read_bytes() for name in names}
    with open_payload(snap) as payload:
        for _ in range(READS):
            name = chance.choice(names)
            offset = chance.randrange(len(files[name]) + 10)
            length = chance.choice([1, 64, 4096, 70_000, 300_000])
            assert (
                payload.read(name, offset=offset, length=length)
                == (files[name][offset : offset + length])
            )

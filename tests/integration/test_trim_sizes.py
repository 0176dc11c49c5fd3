"""What ``trim`` predicts an image to shrink by, against images that are packed."""

from __future__ import annotations

import json
import random
import shutil
from pathlib import Path

import pytest

from real_launches import fill_launchable
from real_payloads import advisor, snap_pack
from snapcraft_compression_advisor.squashfs.superblock import (
    SUPERBLOCK_BYTES,
    parse_superblock,
)
from snapcraft_compression_advisor.trial.tables import PADDING_BYTES

SHARE = 0.02


def used_bytes(prime: Path, directory: Path) -> int:
    """Return the bytes that a packed image uses, without the padding at its end."""
    raw = snap_pack(prime, directory, compression="xz").read_bytes()
    superblock = parse_superblock(
        raw[:SUPERBLOCK_BYTES], image_bytes=len(raw), where=str(directory)
    )
    return superblock.used_bytes


@pytest.mark.skipif(shutil.which("snap") is None, reason="needs snap, of snapd")
def test_predicted_saving_is_that_of_packed_images(tmp_path: Path) -> None:
    prime = fill_launchable(tmp_path / "prime")
    chance = random.Random(1)
    words = [chance.randbytes(4).hex() for _ in range(2000)]
    for number in range(700):
        page = prime / f"usr/share/doc/package-{number}/changelog"
        page.parent.mkdir(parents=True)
        page.write_text(" ".join(chance.choices(words, k=chance.randrange(2000))))
    before = used_bytes(prime, tmp_path / "before")
    ran = advisor("trim", prime, "--format", "json")
    assert ran.returncode == 0, ran.stderr
    predicted = json.loads(ran.stdout)["sure_bytes"]
    # All blocks were compressed; what isn't known is how the file is padded.
    for end in ("low", "high"):
        assert abs(predicted[end] - predicted["mid"]) == PADDING_BYTES
    shutil.rmtree(prime / "usr")
    packed = before - used_bytes(prime, tmp_path / "after")
    assert predicted["mid"] == pytest.approx(packed, rel=SHARE)

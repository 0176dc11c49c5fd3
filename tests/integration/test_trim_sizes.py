"""What ``trim`` predicts an image to shrink by, against images that are packed."""

import json
import random
import shutil
from pathlib import Path

import pytest

from image_sources import mksquashfs
from real_launches import fill_launchable
from real_payloads import advisor, snap_pack
from snapcraft_compression_advisor.squashfs.entry import SUPERBLOCK_BYTES
from snapcraft_compression_advisor.squashfs.superblock import parse_superblock
from snapcraft_compression_advisor.trial.result import PADDING_BYTES
from trees import fill

pytestmark = pytest.mark.slow

SHARE = 0.02


def packed_bytes(prime: Path, directory: Path) -> tuple[int, int]:
    """Return a packed image's bytes without the padding at its end, and with it."""
    raw = snap_pack(prime, directory, compression="xz").read_bytes()
    superblock = parse_superblock(
        raw[:SUPERBLOCK_BYTES], image_bytes=len(raw), where=str(directory)
    )
    return superblock.used_bytes, len(raw)


@pytest.mark.skipif(shutil.which("snap") is None, reason="needs snap, of snapd")
@pytest.mark.parametrize("pages", [700, 20])
def test_predicted_saving_is_that_of_packed_images(tmp_path: Path, pages: int) -> None:
    prime = fill_launchable(tmp_path / "prime")
    chance = random.Random(1)
    words = [chance.randbytes(4).hex() for _ in range(2000)]
    for number in range(pages):
        text = " ".join(chance.choices(words, k=chance.randrange(2000)))
        fill(prime, {f"usr/share/doc/package-{number}/changelog": text})
    used_before, before = packed_bytes(prime, tmp_path / "before")
    ran = advisor("trim", prime, "--format", "json", status=0)
    predicted = json.loads(ran.stdout)
    shutil.rmtree(prime / "usr")
    used_after, after = packed_bytes(prime, tmp_path / "after")
    packed = used_before - used_after
    docs, whole = predicted["groups"][0]["image_bytes"], predicted["sure_bytes"]
    assert docs["mid"] == pytest.approx(packed, rel=SHARE)
    assert whole["low"] <= before - after <= whole["high"]
    assert whole["mid"] == docs["mid"]
    assert whole["low"] == docs["low"] - PADDING_BYTES
    assert whole["high"] <= docs["high"] + PADDING_BYTES


@pytest.mark.parametrize("command", ["trim", "advise", "lint"])
def test_an_image_of_the_legacy_codec_has_a_report(
    command: str, tmp_path: Path
) -> None:
    prime, image = fill_launchable(tmp_path / "prime"), tmp_path / "x.snap"
    fill(prime, {"usr/share/doc/package/changelog": "text\n" * 2000})
    mksquashfs(prime, image, "-comp", "lzma", "-no-fragments", "-all-root")
    ran = advisor(command, image, "--format", "json")
    assert ran.returncode in {0, 1}, ran.stderr
    assert json.loads(ran.stdout)

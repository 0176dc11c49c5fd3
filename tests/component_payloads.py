"""Components, as directories and as images."""

from __future__ import annotations

import random
import subprocess
from pathlib import Path

from snapcraft_compression_advisor.squashfs.entry import MINIMUM_IMAGE_BYTES
from snapcraft_compression_advisor.squashfs.mksquashfs import (
    owner_options,
    pack_options,
)
from trees import fill


def fill_component(folder: Path, *, name: str = "sample+texts") -> Path:
    """Fill a component's directory: one file that compresses and one that doesn't."""
    text = f"component: {name}\ntype: standard\nversion: '1.0'\n"
    files: dict[str, str | bytes] = {
        "meta/component.yaml": text,
        "text": "".join(f"line {number}\n" for number in range(90_000)),
        "noise": random.Random(3).randbytes(100_000),
    }
    return fill(folder, files)


def pack_component(folder: Path, image: Path, *, compression: str) -> Path:
    """Pack a directory as newer versions of ``snap pack`` pack components."""
    options = (*pack_options(compression), *owner_options("app"))
    subprocess.run(
        ["mksquashfs", ".", image.absolute(), *options],
        cwd=folder,
        check=True,
        capture_output=True,
    )
    with image.open("ab") as file:
        file.truncate(max(file.tell(), MINIMUM_IMAGE_BYTES))
    return image

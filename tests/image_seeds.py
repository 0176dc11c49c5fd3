"""Small right images of every codec, which mutations start from."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from image_sources import MODIFIED_S, VARIANTS, mksquashfs, noise, text

if TYPE_CHECKING:
    from pathlib import Path

_WAYS = {
    "": ("-no-fragments", "-b", "128K"),
    "-fragments": ("-b", "4K", "-always-use-fragments"),
}
_YAML = b"name: x\nversion: '1'\nbase: core24\napps: {x: {command: text}}\n"
_SAME = ("-nopad", "-all-root", "-mkfs-time", str(MODIFIED_S), "-processors", "1")
"""What makes mksquashfs write the same image each time, and a short one."""


def write_small_tree(root: Path) -> None:
    """Write a handful of files, with a block of every kind and tails."""
    for name, contents in {
        "meta/snap.yaml": _YAML,
        "copy": text(300),
        "noise": noise(5000, 1),
        "text": text(300),
    }.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(contents)
    with (root / "sparse").open("wb") as file:
        file.truncate(20_000)
        file.seek(9000)
        file.write(b"island")
    (root / "link").symlink_to("text")
    (root / "name").hardlink_to(root / "noise")
    os.mkfifo(root / "fifo")
    for path in (root, *root.rglob("*")):
        os.utime(path, (MODIFIED_S, MODIFIED_S), follow_symlinks=False)


def small_images(scratch: Path) -> dict[str, bytes]:
    """Return a small image for each codec, with and without fragments.

    :param scratch: a directory to build them in.
    """
    root = scratch / "tree"
    write_small_tree(root)
    images = {}
    for variant, options in VARIANTS.items():
        for way, more in _WAYS.items():
            path = scratch / f"{variant}{way}"
            mksquashfs(root, path, *options, *more, *_SAME)
            images[path.name] = path.read_bytes()
    return images

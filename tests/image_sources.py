"""Trees to pack into images, and how to pack them."""

import os
import shutil
import stat
import subprocess
from collections.abc import Mapping
from hashlib import shake_128
from pathlib import Path

import pytest

needs_mksquashfs = pytest.mark.skipif(
    shutil.which("mksquashfs") is None, reason="squashfs-tools isn't installed"
)
CODECS = ("gzip", "lzo", "xz", "zstd", "lz4")
VARIANTS: Mapping[str, tuple[str, ...]] = {
    **{codec: ("-comp", codec) for codec in (*CODECS, "lzma")},
    "none": ("-noI", "-noD", "-noF", "-noX"),
}
"""Ways to pack, by name: every codec that squashfs ever had, and none at all."""
MODIFIED_S = 1_700_000_000


def noise(length: int, seed: int) -> bytes:
    """Return bytes that no codec makes smaller, always the same."""
    return shake_128(seed.to_bytes(2, "big")).digest(length)


def text(lines: int) -> bytes:
    """Return bytes that every codec makes smaller."""
    return b"".join(b"line %d of some text\n" % number for number in range(lines))


def write_files(root: Path) -> None:
    """Write files of all sizes and kinds of blocks below a directory."""
    files = {
        "empty": b"",
        "short": b"tail",
        "text": text(60_000),
        "noise": noise(300_000, 1),
        "mixed": text(9000) + noise(400_000, 2) + bytes(400_000) + text(100),
        "full block": noise(131_072, 3),
        "two blocks": text(20_000)[:262_144],
        "copies/one": text(8000),
        "copies/two": text(8000),
    }
    for name, contents in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(contents)
    with (root / "sparse").open("wb") as file:
        file.truncate(3_000_000)
        file.seek(1_500_000)
        file.write(b"island")


def write_tree(root: Path) -> None:
    """Write a tree with every kind of entry that needs no privilege."""
    write_files(root)
    many = root / "many"
    many.mkdir()
    for number in range(700):
        (many / f"a name of some length, number {number:04}").touch()
    (root / os.fsdecode(b"caf\xe9")).write_bytes(b"not UTF-8")
    (root / "link").symlink_to("copies/one")
    (root / "dangling").symlink_to("x/" * 150 + "x")
    (root / "hard link").hardlink_to(root / "text")
    (root / "deep/er/still").mkdir(parents=True)
    (root / "program").write_bytes(b"#!/bin/sh\n")
    (root / "program").chmod(0o4755)
    os.mkfifo(root / "fifo", 0o600)
    os.mknod(root / "socket", 0o755 | stat.S_IFSOCK)
    for path in (root, *root.rglob("*")):
        os.utime(path, (MODIFIED_S, MODIFIED_S), follow_symlinks=False)


def mksquashfs(root: Path, image: Path, *options: str) -> Path:
    """Pack a directory's contents, onto an image that may be there already."""
    command = ["mksquashfs", os.fspath(root), os.fspath(image), "-no-progress"]
    subprocess.run([*command, *options], check=True, capture_output=True)
    return image


def pack_as_snap(root: Path, image: Path, *, codec: str = "xz") -> Path:
    """Pack a directory as ``snap pack`` does, in the place of another image."""
    options = ("-noappend", "-no-fragments", "-all-root", "-no-xattrs")
    return mksquashfs(root, image, *options, "-comp", codec)

"""Images to mount, and what is left of mounts, for tests that need root."""

import os
import random
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from snapcraft_compression_advisor.squashfs import mksquashfs

BLOCK = 128 * 1024


def fill_tree(directory: Path) -> Path:
    """Fill a directory with files of known numbers of blocks."""
    (directory / "lib").mkdir(parents=True)
    noise = random.Random(5)
    (directory / "lib/large").write_bytes(noise.randbytes(20 * BLOCK + 70_000))
    (directory / "lib/two").write_bytes(noise.randbytes(BLOCK + 1))
    (directory / "lib/one").write_bytes(noise.randbytes(5000))
    (directory / "lib/empty").touch()
    os.link(directory / "lib/one", directory / "another-name")
    (directory / "link").symlink_to("lib/one")
    os.mkfifo(directory / "fifo")
    return directory


def make_image(source: Path, image: Path, *, codec: str = "none") -> Path:
    """Pack a directory as ``snap pack`` does."""
    excludes = image.with_suffix(".excludes")
    excludes.touch()
    mksquashfs.pack(source, image, codec=codec, snap_type="app", exclude_file=excludes)
    return image


def is_in_memory(directory: Path) -> bool:
    """Return whether a directory's file system is in memory, whatever is dropped."""
    command = ["stat", "--file-system", "--format=%T", str(directory)]
    kind = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return kind.strip() in {"tmpfs", "ramfs"}


@contextmanager
def small_disk(place: Path, options: str) -> Iterator[Path]:
    """Have a directory be a file system in memory, with options of tmpfs(5)."""
    place.mkdir(exist_ok=True)
    mount = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(place)]
    subprocess.run(mount, check=True)
    try:
        yield place
    finally:
        subprocess.run(["umount", str(place)], check=True)


def mount_points_below(directory: Path) -> list[str]:
    """Return where something is mounted in a directory."""
    table = Path("/proc/self/mounts").read_text(encoding="utf-8")
    points = [line.split()[1] for line in table.splitlines()]
    return [point for point in points if Path(point).is_relative_to(directory)]


def loop_devices_of(directory: Path) -> list[str]:
    """Return the loop devices of files in a directory, deleted ones too."""
    found = []
    for device in Path("/sys/block").glob("loop*"):
        try:
            backing = (device / "loop/backing_file").read_text(encoding="utf-8")
        except OSError:  # free, or freed as we look
            continue
        if backing.startswith(f"{directory}/"):
            found.append(device.name)
    return found

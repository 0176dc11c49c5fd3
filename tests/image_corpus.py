"""The corpus of hostile images, built the same each time.

It isn't kept in the repository: it takes seconds to build, a thousand images would
weigh more than all code, and a change of the script shows what changed in it.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from random import Random

from image_bombs import bombs
from image_mutation import NUMBERS, mutate_image
from image_parts import SUPERBLOCK
from image_sources import MODIFIED_S, VARIANTS, mksquashfs, noise, text

_FLIPS, _CUTS, _MUTATIONS = 8, 8, 40


def corpus(scratch: Path) -> Iterator[tuple[str, bytes]]:
    """Yield every image with a name for messages.

    :param scratch: a directory to build the right ones in.
    """
    yield from bombs()
    for name, raw in small_images(scratch).items():
        yield f"{name}-right", raw
        yield from _damaged(name, raw)
        yield from _lying(name, raw)


def _damaged(name: str, raw: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield an image with a bit flipped, truncated, or changed in its tables."""
    for number in range(_FLIPS):
        flipped = bytearray(raw)
        position = number * len(raw) // _FLIPS + 5 * number % 96
        flipped[position % len(raw)] ^= 1 << number
        yield f"{name}-flip{number}", bytes(flipped)
    for number in range(_CUTS):
        yield f"{name}-cut{number}", raw[: number * len(raw) // _CUTS]
    for number in range(_MUTATIONS):
        random = Random(f"{name} {number}")
        changed = raw
        for _ in range(1 + number % 3):
            changed = mutate_image(changed, random)
        yield f"{name}-table{number}", changed


def _lying(name: str, raw: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield an image with an absurd number in each field of its superblock."""
    fields = SUPERBLOCK.unpack_from(raw)
    random = Random(name)
    for number in range(1, len(fields)):
        changed = list(fields)
        top = 1 << 8 * (4 if number < 5 else 2 if number < 11 else 8)
        changed[number] = random.choice(NUMBERS) % top
        yield (
            f"{name}-field{number}",
            SUPERBLOCK.pack(*changed) + raw[SUPERBLOCK.size :],
        )


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

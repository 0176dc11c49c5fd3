"""Payloads that a lot draws, built and packed once, with what was measured of them.

The lot is drawn from the applications of ``study/data/drawn.csv`` whose launches were
recorded, by a seed: so many of each size (:data:`CLASSES`), and so many of the blind
set, of which nothing but the name is used. ``study/prime_from_debs.py`` builds them
from this machine's Debian release, so those that it hasn't aren't drawn.
"""

from __future__ import annotations

import csv
import hashlib
import json
import random
import shutil
import subprocess
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from debian_payloads import STUDY, note, pack

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Mapping

    Row = Mapping[str, float]
    Limits = tuple[float, float]

sys.path.insert(0, str(STUDY))
from snap_metadata import snap_name

PACKAGE = Path(__file__).parents[1] / "snapcraft_compression_advisor"
LOT = STUDY / "data" / "drawn.csv"
MB = 1e6
CLASSES = {(400 * MB, 1300 * MB): 4, (120 * MB, 400 * MB): 3, (50 * MB, 120 * MB): 3}
"""Bytes of a payload, from and below, and how many are drawn of such."""
BLIND = 3
"""How many of them are of the blind set, at most."""


def draw(arguments: argparse.Namespace) -> dict[str, Path]:
    """Return the payloads of the lot; it is kept, since it takes long."""
    kept = arguments.work / f"lot-{arguments.seed}.json"
    if not kept.exists():
        lot = draw_anew(arguments)
        write_json(kept, {name: str(tree) for name, tree in lot.items()})
    return {name: Path(tree) for name, tree in json.loads(kept.read_text()).items()}


def draw_anew(arguments: argparse.Namespace) -> dict[str, Path]:
    """Draw the lot: applications in a random order, as long as their size is wanted.

    At most :data:`BLIND` of the blind set are drawn, before the others.
    """
    with LOT.open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["outcome"] == "recorded"]
    lot = random.Random(f"benchmark {arguments.seed}")  # noqa: S311 # no secret
    lot.shuffle(rows)
    left = dict(CLASSES)
    drawn: dict[str, Path] = {}
    for row in sorted(rows, key=lambda row: row["set"] != "blind"):
        full = row["set"] == "blind" and len(drawn) == BLIND
        if any(left.values()) and not full:
            name = snap_name(row["package"])
            prime = arguments.work / "primes" / name
            limits = take(row["package"], prime, left, arguments)
            if limits:
                left[limits] -= 1
                drawn[name] = prime.resolve()
    if any(left.values()):
        sys.exit("This machine's release has too few: run 'apt-get update' as root.")
    return drawn


def take(
    package: str, prime: Path, left: Mapping[Limits, int], arguments: argparse.Namespace
) -> Limits | None:
    """Have a payload's tree where one of its size is wanted, and nowhere else.

    Sizes are kept, so none is built again only to be deleted.
    """
    file = arguments.work / "sizes.json"
    sizes = json.loads(file.read_text()) if file.exists() else {}
    limits = wanted(sizes.get(package, 0), left)
    if package not in sizes or (limits and not prime.is_dir()):
        if not prime.is_dir() and not build(package, prime, arguments.cache):
            return None
        size = tree_bytes(prime)
        limits = wanted(size, left)
        note(package, f"{size / MB:.0f} MB, {'drawn' if limits else 'not wanted'}")
        if limits is None:
            delete(prime)
        write_json(file, {**sizes, package: size})
    return limits


def delete(prime: Path) -> None:
    """Delete a tree; one that is deleted in part, as by a signal, has another place."""
    scratch = Path(tempfile.mkdtemp(prefix=".", dir=prime.parent))
    prime.rename(scratch / "prime")
    shutil.rmtree(scratch)


def wanted(size: float, left: Mapping[Limits, int]) -> Limits | None:
    """Return the class of a size, if one of it is still wanted."""
    found = (limits for limits, count in left.items() if count)
    return next((limits for limits in found if limits[0] <= size < limits[1]), None)


def build(package: str, prime: Path, cache: Path) -> bool:
    """Build a payload; return whether this machine's release has all its packages.

    :raises SystemExit: if it can't be built for another reason, as without a network;
        the lot would be another one without it.
    """
    command = [sys.executable, str(STUDY / "prime_from_debs.py"), package]
    options = ["--output", str(prime), "--cache", str(cache)]
    note(package, "building")
    if subprocess.run([*command, *options], check=False).returncode == 0:
        return True
    resolving = [*command, "--print-packages"]
    if subprocess.run(resolving, check=False, stdout=subprocess.DEVNULL).returncode:
        note(package, "not in this release")
        return False
    sys.exit(f"{package} couldn't be built, so the draw stops. Start it again.")


def tree_bytes(tree: Path) -> int:
    """Return the length of a directory's files, hard links counted once."""
    found = (
        path.lstat()
        for path in tree.rglob("*")
        if path.is_file() and not path.is_symlink()
    )
    return sum({status.st_ino: status.st_size for status in found}.values())


def kept(file: Path, make: Callable[[], Row]) -> Row:
    """Return what a file holds, made where it isn't there."""
    if not file.exists():
        write_json(file, make())
    row: Row = json.loads(file.read_text())
    return row


def write_json(file: Path, content: object) -> None:
    """Write a file, whole or not at all."""
    file.parent.mkdir(parents=True, exist_ok=True)
    part = file.with_suffix(".part")
    part.write_text(json.dumps(content))
    part.replace(file)


def pack_once(name: str, tree: Path, image: Path, codec: str) -> Row:
    """Pack a payload and keep the image."""
    note(name, f"packing with {codec}")
    image.parent.mkdir(parents=True, exist_ok=True)
    image.unlink(missing_ok=True)
    return {**asdict(pack(tree, image, codec)), "image_bytes": image.stat().st_size}


def code_digest() -> str:
    """Return a digest of the advisor's code and data."""
    digest = hashlib.blake2b(digest_size=8)
    for path in sorted(PACKAGE.rglob("*")):
        if path.suffix in (".py", ".json", ".yaml"):
            digest.update(path.read_bytes())
    return digest.hexdigest()

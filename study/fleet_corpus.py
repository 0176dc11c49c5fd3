#!/usr/bin/env python3
"""Pack the corpus' applications with xz and lzo, and make a fleet's data set of them.

    .venv/bin/python study/fleet_corpus.py --trees TREES [--trees DRAWN/SET] \
        --scratch DIR -o DATASET [--largest MB]

Each tree (see ``launch_corpus.py``, ``launch_drawn.py``) is packed as ``snap pack``
does, once with xz and once with lzo, the smallest trees first. ``fleet`` adds both
images to the data set, and they are removed. Times in the images are zero, so the same
tree gives the same rows. The script can be stopped and started again: trees whose rows
are there are left out. Packing takes about 0.3 s of a processor for each MB and codec.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from prime_error import note
from snapcraft_compression_advisor.core.errors import AdvisorError
from snapcraft_compression_advisor.fleet.dataset import part_files
from snapcraft_compression_advisor.fleet.table import decode
from snapcraft_compression_advisor.payload.inventory import exclude_file_text
from snapcraft_compression_advisor.payload.source import is_prime_directory
from snapcraft_compression_advisor.squashfs.mksquashfs import pack

CODECS = ("xz", "lzo")
_MB = 1_000_000


def main(arguments: Sequence[str] | None = None) -> int:
    """Pack and analyse every tree that isn't in the data set yet."""
    args = _parse(arguments)
    os.environ["SOURCE_DATE_EPOCH"] = "0"
    dataset, scratch = args.output.absolute(), args.scratch.absolute()
    scratch.mkdir(parents=True, exist_ok=True)
    there = _there(dataset)
    for size_bytes, tree in sorted(_trees(map(Path.absolute, args.trees))):
        if size_bytes <= args.largest * _MB and tree.name not in there:
            note(f"{tree.name}: {size_bytes / _MB:.0f} MB")
            _add(tree, scratch, dataset)
    return 0


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--trees", type=Path, action="append", required=True)
    parser.add_argument("--scratch", type=Path, required=True)
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--largest", type=float, default=1e6, metavar="MB")
    return parser.parse_args(arguments)


def _there(dataset: Path) -> frozenset[str]:
    """Return the trees both of whose images have a row."""
    try:
        files = part_files(dataset)
    except AdvisorError:
        return frozenset()
    paths = {row["path"] for file in files for row in decode(file, ["path"])[0]}
    names = {path.rpartition("_")[0] for path in paths}
    return frozenset(
        name for name in names if all(f"{name}_{c}.snap" in paths for c in CODECS)
    )


def _trees(folders: Iterable[Path]) -> Iterator[tuple[int, Path]]:
    seen: set[str] = set()
    for folder in folders:
        for tree in sorted(folder.iterdir()):
            if is_prime_directory(tree) and tree.name not in seen:
                seen.add(tree.name)
                yield _length(tree), tree


def _length(tree: Path) -> int:
    return sum(
        os.lstat(Path(folder, name)).st_size
        for folder, _, names in os.walk(tree)
        for name in names
    )


def _add(tree: Path, scratch: Path, dataset: Path) -> None:
    """Pack a tree with each codec, add the rows, remove the images."""
    excludes = scratch / "excludes"
    excludes.write_text(exclude_file_text())
    images = [scratch / f"{tree.name}_{codec}.snap" for codec in CODECS]
    try:
        for image, codec in zip(images, CODECS, strict=True):
            pack(tree, image, codec=codec, snap_type="app", exclude_file=excludes)
            os.utime(image, (0, 0))
        names = [image.name for image in images]
        command = [sys.executable, "-m", "snapcraft_compression_advisor", "fleet"]
        command += [*names, "-o", str(dataset), "--processes", "1"]
        # There, so that paths of this machine don't become rows.
        subprocess.run(command, cwd=scratch, check=True)
    finally:
        for image in images:
            image.unlink(missing_ok=True)


if __name__ == "__main__":
    sys.exit(main())

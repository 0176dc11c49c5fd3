#!/usr/bin/env python3
"""Pack the corpus' applications with xz and lzo, and make a fleet's data set of them.

    .venv/bin/python study/fleet_corpus.py --trees TREES [--trees DRAWN/SET] \
        --scratch DIR -o DATASET [--largest MB] [--count N] [--seed SEED]

Trees (see ``launch_corpus.py``, ``launch_drawn.py``) that have a recorded launch are
drawn by lot, of those up to the largest length. Each is packed as ``snap pack`` does,
once with xz and once with lzo. ``fleet`` adds both images to the data set, and they are
removed. Times in the images are zero, so the same tree gives the same rows. The script
can be stopped and started again: trees whose rows are there are left out.

Packing takes a processor 0.3 s a MB with xz and 0.16 s with lzo. The trees have most of
their blocks in common, so each block is compressed once: ``kept_blocks.c`` keeps it in
DIR/blocks. That needs gcc and the headers of liblzma, liblzo2 and OpenSSL.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from operator import itemgetter
from pathlib import Path
from random import Random

from prime_error import note
from prime_tree import file_figures
from snapcraft_compression_advisor.core.errors import AdvisorError
from snapcraft_compression_advisor.core.files import replace_bytes
from snapcraft_compression_advisor.fleet.columns import decode, encode
from snapcraft_compression_advisor.fleet.dataset import SEEN_NAME, part_files
from snapcraft_compression_advisor.payload.scan import exclude_file_text
from snapcraft_compression_advisor.payload.source import is_prime_directory
from snapcraft_compression_advisor.squashfs.mksquashfs import pack

CODECS = ("xz", "lzo")
PROFILES = Path(__file__).resolve().parent / "data/launches"
_LIBRARIES = ("-llzma", "-llzo2", "-lcrypto", "-ldl")
_MB = 1_000_000
_MODE = 0o644


def main(arguments: Sequence[str] | None = None) -> int:
    """Pack and analyse every tree that isn't in the data set yet."""
    args = _parse(arguments)
    os.environ["SOURCE_DATE_EPOCH"] = "0"
    dataset, scratch = args.output.absolute(), args.scratch.absolute()
    scratch.mkdir(parents=True, exist_ok=True)
    library = _block_keeper(scratch)
    there = _there(dataset)
    trees = _trees(map(Path.absolute, args.trees))
    lot = (trees[name] for name in drawn(trees, args.seed))
    small = (tree for tree in lot if file_figures(tree)[1] <= args.largest * _MB)
    for number, tree in enumerate(islice(small, args.count), start=1):
        if tree.name not in there:
            note(f"{number}: {tree.name}")
            with _loaded(library, scratch / "blocks"):
                images = _pack(tree, scratch)
            _add(images, scratch, dataset)
    _join(dataset)
    return 0


def drawn(names: Iterable[str], seed: int) -> list[str]:
    """Return names in the order of a lot; more of them go on where fewer ended."""
    lot = sorted(names)
    Random(seed).shuffle(lot)  # noqa: S311 # a draw that can be made again
    return lot


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--trees", type=Path, action="append", required=True)
    parser.add_argument("--scratch", type=Path, required=True)
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--largest", type=float, default=1e6, metavar="MB")
    parser.add_argument("--count", type=int, metavar="N")
    parser.add_argument("--seed", type=int, default=1)
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


def _trees(folders: Iterable[Path]) -> dict[str, Path]:
    """Return the trees that have a recorded launch, by name; of two, the first."""
    found: dict[str, Path] = {}
    for folder in folders:
        for tree in folder.iterdir():
            recorded = (PROFILES / f"{tree.name}.json").exists()
            if recorded and is_prime_directory(tree):
                found.setdefault(tree.name, tree)
    return found


def _block_keeper(scratch: Path) -> Path:
    """Build the library that keeps compressed blocks."""
    (scratch / "blocks").mkdir(exist_ok=True)
    source, library = Path(__file__).with_name("kept_blocks.c"), scratch / "kept.so"
    command = ["gcc", "-O2", "-shared", "-fPIC", "-o", str(library), str(source)]
    subprocess.run([*command, *_LIBRARIES], check=True)
    return library


@contextmanager
def _loaded(library: Path, blocks: Path) -> Iterator[None]:
    os.environ.update(LD_PRELOAD=str(library), KEPT_BLOCKS=str(blocks))
    try:
        yield
    finally:
        del os.environ["LD_PRELOAD"], os.environ["KEPT_BLOCKS"]


def _pack(tree: Path, scratch: Path) -> list[Path]:
    """Pack a tree with each codec."""
    excludes = scratch / "excludes"
    excludes.write_text(exclude_file_text())
    images = [scratch / f"{tree.name}_{codec}.snap" for codec in CODECS]
    for image, codec in zip(images, CODECS, strict=True):
        pack(tree, image, codec=codec, snap_type="app", exclude_file=excludes)
        os.utime(image, (0, 0))
    return images


def _add(images: Sequence[Path], scratch: Path, dataset: Path) -> None:
    """Add the images' rows to the data set, and remove the images."""
    command = [sys.executable, "-m", "snapcraft_compression_advisor", "fleet"]
    command += [*(image.name for image in images), "-o", str(dataset)]
    command += ["--processes", "1", "--launch-profiles", str(PROFILES)]
    try:
        # There, so that paths of this machine don't become rows.
        subprocess.run(command, cwd=scratch, check=True)
    finally:
        for image in images:
            image.unlink()


def _join(dataset: Path) -> None:
    """Make one file of all rows, in an order that doesn't depend on the runs."""
    files = part_files(dataset)
    parts = [decode(file) for file in files]
    rows = sorted((row for part, _ in parts for row in part), key=itemgetter("path"))
    whole = files[0].with_name("part-all.parquet")
    replace_bytes(whole, encode(rows, parts[0][1]), mode=_MODE)
    for file in files:
        if file != whole:
            file.unlink()
    whole.with_name(SEEN_NAME).unlink(missing_ok=True)  # of this machine's files


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Fit what slow codecs make of a block to quick looks at it (``block_model.json``).

``sample`` draws blocks of applications' trees, looks at each as the product does and
has every codec compress it. A folder without meta/snap.yaml (``usr/lib/ruby``)
stands for a snap whose files are of few kinds. ``fit`` fits one model for each codec to
all blocks, by least squares weighted with their lengths, and tells how far it is off on
payloads that were left out: an eighth of them at a time, and every file of theirs that
another one has too. Kinds of files miss in different directions, which evens out in a
whole tree and not in a folder; a snap on a base lies between them.

usage: block_sizes.py sample TREE… | fit
"""

from __future__ import annotations

import argparse
import csv
import json
import math
import shutil
import sys
import tempfile
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from snapcraft_compression_advisor.codecs import CODECS
from snapcraft_compression_advisor.codecs.codec import DATA_BLOCK_BYTES
from snapcraft_compression_advisor.payload.layout import lay_out
from snapcraft_compression_advisor.payload.source import open_payload
from snapcraft_compression_advisor.trial.estimate import NOT_PACKED, model_columns
from snapcraft_compression_advisor.trial.look import (
    closer_look,
    read_block,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from snapcraft_compression_advisor.payload.layout import Layout
    from snapcraft_compression_advisor.payload.source import Payload

DATA = Path(__file__).parent / "data" / "block-sizes.csv"
MODELS = (
    Path(__file__).parents[1] / "snapcraft_compression_advisor/trial/block_model.json"
)
BLOCKS_EACH = 60
LEAST_BLOCKS = 20
"""Payloads of fewer tell no bias."""
FOLDER = "folder"
SNAP_YAML = "name: sample\nversion: '1'\nsummary: s\ndescription: d\nbase: core24\n"
FOLDS = 8
HALVINGS = 40
MOST = 0.8
MOST_CHI2 = 1.6424
"""The square of a standard normal variable is that at most in so many cases."""
RIDGE = 1e-4
"""Penalty on standardised coefficients: keeps the products, which say much the same,
from cancelling each other out."""
LOOKS = ("zstd 1", "xz by zstd", "lzo by zstd")
TARGETS = tuple(name for name in CODECS if name != "none")
FIELDS = ("payload", "kind", "file", "file_bytes", "raw_bytes", *LOOKS, *TARGETS)
COLUMNS = {
    NOT_PACKED: LOOKS,
    "xz": ("xz", "lzo by zstd"),
    "lzo": ("lzo", "xz by zstd"),
}
"""What is known of a block, by the codec that the payload is packed with."""


def main() -> None:
    """Sample or fit."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    sampling = commands.add_parser("sample", help="write a line a block")
    sampling.add_argument("trees", nargs="+", type=Path)
    commands.add_parser("fit", help=f"write {MODELS.name}")
    arguments = parser.parse_args()
    if arguments.command == "sample":
        writer = csv.writer(sys.stdout, lineterminator="\n")
        writer.writerow(FIELDS)
        for tree in arguments.trees:
            writer.writerows(sample_blocks(tree))
    else:
        with DATA.open(newline="") as file:
            document = fit_all(list(csv.DictReader(file)))
        MODELS.write_text(json.dumps(document, indent=1) + "\n")


def sample_blocks(tree: Path) -> Iterator[tuple[object, ...]]:
    """Yield what looks and codecs make of blocks spread evenly over a tree."""
    with payload_of(tree) as (kind, payload):
        layout = lay_out(payload)
        for number in spread(layout):
            block = layout.block(number)
            contents = read_block(payload, block)
            looks = closer_look().at(contents)
            if not all(looks):
                continue  # zeros
            size = int(layout.sizes[layout.file_numbers[block.path]])
            sizes = (len(CODECS[name].compress(contents)) for name in TARGETS)
            file = (Path(block.path).name, size, len(contents))
            yield tree.name, kind, *file, *map(round, looks), *sizes


def spread(layout: Layout) -> list[int]:
    """Return the numbers of blocks evenly along the sum of their lengths."""
    filled = np.flatnonzero(~layout.holes)
    ends = np.cumsum(layout.raw_bytes()[filled])
    points = (np.arange(BLOCKS_EACH) + 0.5) / BLOCKS_EACH * ends[-1]
    numbers: list[int] = filled[np.unique(np.searchsorted(ends, points))].tolist()
    return numbers


@contextmanager
def payload_of(tree: Path) -> Iterator[tuple[str, Payload]]:
    """Open an application's tree, or a copy of a folder that is made one."""
    if (tree / "meta/snap.yaml").exists():
        with open_payload(tree) as payload:
            yield "application", payload
        return
    with tempfile.TemporaryDirectory() as temporary:
        prime = Path(temporary)
        shutil.copytree(tree, prime / tree.name, symlinks=True)
        (prime / "meta").mkdir()
        (prime / "meta/snap.yaml").write_text(SNAP_YAML)
        with open_payload(prime) as payload:
            yield FOLDER, payload


def fit_all(rows: Sequence[Mapping[str, str]]) -> dict[str, object]:
    """Return the document of the models, with how they were made."""
    table, payloads = columns_of(rows)
    kinds = Counter(name.split()[0] for name in set(payloads.names.tolist()))
    return {
        "made_by": "study/block_sizes.py fit",
        "fitted_to": f"study/data/{DATA.name}",
        "fitted_at": date.today().isoformat(),  # noqa: DTZ011 # a day is enough
        "payloads": dict(sorted(kinds.items())),
        "blocks": len(rows),
        "models": {
            known: {
                "columns": [name.removesuffix(" 1") for name in columns],
                "codecs": {
                    target: fit_codec(table, columns, target, payloads)
                    for target in TARGETS
                    if target != known
                },
            }
            for known, columns in COLUMNS.items()
        },
    }


@dataclass(frozen=True)
class Payloads:
    """Where each block is from.

    :param contents: the same for blocks of a file that two payloads have.
    """

    names: NDArray[np.str_]
    contents: NDArray[np.str_]


def columns_of(
    rows: Sequence[Mapping[str, str]],
) -> tuple[dict[str, NDArray[np.float64]], Payloads]:
    """Return the numbers of the table by column, and the payload of each row."""
    table = {
        name: np.array([float(row[name]) for row in rows])
        for name in ("raw_bytes", *LOOKS, *TARGETS)
    }
    payloads = Payloads(
        names=np.array([f"{row['kind']} {row['payload']}" for row in rows]),
        contents=np.array([f"{row['file']} {row['file_bytes']}" for row in rows]),
    )
    return table, payloads


def fit_codec(
    table: Mapping[str, NDArray[np.float64]],
    columns: Sequence[str],
    target: str,
    payloads: Payloads,
) -> dict[str, object]:
    """Return a codec's model and its errors on payloads left out."""
    raw_bytes = table["raw_bytes"]
    ratios = np.column_stack([table[name] for name in columns]) / raw_bytes[:, None]
    x = model_columns(ratios, raw_bytes)
    y, weights = table[target] / raw_bytes, raw_bytes / DATA_BLOCK_BYTES
    missed = np.zeros(len(y))
    for part in folds(payloads.names):
        known = ~part & ~np.isin(payloads.contents, payloads.contents[part])
        coefficients = solve(x[known], y[known], weights[known])
        predicted = np.clip(x[part] @ coefficients, 0.0, 1.0)
        missed[part] = (y[part] - predicted) * weights[part]
    stored = y * weights
    return {
        "scatter": round(float(missed.std() / stored.mean()), 4),
        "bias": round(spread_of_payloads(missed, stored, payloads.names), 4),
        "coefficients": [float(f"{c:.7g}") for c in solve(x, y, weights)],
    }


def folds(names: NDArray[np.str_]) -> Iterator[NDArray[np.bool_]]:
    """Yield which blocks are of one part of the payloads."""
    numbers = {name: number for number, name in enumerate(sorted(set(names.tolist())))}
    of_blocks = np.array([numbers[name] for name in names.tolist()])
    for fold in range(FOLDS):
        yield of_blocks % FOLDS == fold


def solve(
    x: NDArray[np.float64], y: NDArray[np.float64], weights: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the coefficients of least squares with :data:`RIDGE`."""
    middle, spread_of = x.mean(axis=0), x.std(axis=0)
    middle[0], spread_of[0] = 0.0, 1.0
    standard = (x - middle) / spread_of
    penalty = np.full(x.shape[1], RIDGE * weights.sum())
    penalty[0] = 0.0
    weighted = standard * weights[:, None]
    found = np.linalg.solve(weighted.T @ standard + np.diag(penalty), weighted.T @ y)
    coefficients: NDArray[np.float64] = found / spread_of
    coefficients[0] -= float((middle * coefficients)[1:].sum())
    return coefficients


def spread_of_payloads(
    missed: NDArray[np.float64],
    stored: NDArray[np.float64],
    names: NDArray[np.str_],
) -> float:
    """Return by how much whole payloads are off, one standard deviation.

    What means of some blocks scatter more than these blocks' own scatter explains: that
    of a normal distribution with four fifths of the payloads as near. A few are off by
    far more, which the blocks that are tried show.
    """
    squares, by_chance = [], []
    for name in sorted(set(names.tolist())):
        own = names == name
        count = int(np.count_nonzero(own))
        if count >= LEAST_BLOCKS:
            shares = missed[own] / stored[own].mean()
            squares.append(float(shares.mean()) ** 2)
            by_chance.append(float(shares.var(ddof=1)) / count)
    low, high = 0.0, max(squares)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        ratios = np.array(squares) / (middle + np.array(by_chance))
        low, high = (
            (middle, high) if np.quantile(ratios, MOST) > MOST_CHI2 else (low, middle)
        )
    return math.sqrt(high)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Fit what slow codecs make of a block to quick looks at it (``block_model.json``).

``sample`` draws blocks of applications' trees, looks at each as the product does and
has every codec compress it. ``fit`` fits one model for each codec to them, by least
squares weighted with the blocks' lengths, and tells how far it is off on applications
that were left out: an eighth of them at a time, and every file of theirs that another
application has too.

usage: block_sizes.py sample TREE… | fit
"""

from __future__ import annotations

import argparse
import csv
import json
import sys
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from snapcraft_compression_advisor.codecs import CODECS
from snapcraft_compression_advisor.codecs.codec import DATA_BLOCK_BYTES
from snapcraft_compression_advisor.payload.layout import lay_out
from snapcraft_compression_advisor.payload.source import open_payload
from snapcraft_compression_advisor.trial.block_model import NOT_PACKED, model_columns
from snapcraft_compression_advisor.trial.census import spread
from snapcraft_compression_advisor.trial.look import (
    closer_look,
    fastest_look,
    read_block,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

DATA = Path(__file__).parent / "data" / "block-sizes.csv"
MODELS = (
    Path(__file__).parents[1] / "snapcraft_compression_advisor/trial/block_model.json"
)
BLOCKS_EACH = 40
FOLDS = 8
RIDGE = 1e-4
"""Penalty on standardised coefficients: keeps the products, which say much the same,
from cancelling each other out."""
LOOKS = ("zstd 1", "xz by zstd", "lzo by lzo", "lzo by zstd")
TARGETS = tuple(name for name in CODECS if name != "none")
FIELDS = ("application", "file", "file_bytes", "raw_bytes", *LOOKS, *TARGETS)
COLUMNS = {
    NOT_PACKED: LOOKS,
    "xz": ("xz", "lzo by lzo", "lzo by zstd"),
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
    with open_payload(tree) as payload:
        layout = lay_out(payload)
        drawn, _ = spread(layout.raw_bytes(), ~layout.holes, BLOCKS_EACH)
        for number in drawn.tolist():
            block = layout.block(number)
            contents = read_block(payload, block)
            looks = (*fastest_look().at(contents), *closer_look().at(contents))
            if not all(looks):
                continue  # zeros
            size = int(layout.sizes[layout.file_numbers[block.path]])
            sizes = (len(CODECS[name].compress(contents)) for name in TARGETS)
            name = Path(block.path).name
            yield tree.name, name, size, len(contents), *map(round, looks), *sizes


def fit_all(rows: Sequence[Mapping[str, str]]) -> dict[str, object]:
    """Return the document of the models, with how they were made."""
    table = {
        name: np.array([float(row[name]) for row in rows])
        for name in ("raw_bytes", *LOOKS, *TARGETS)
    }
    applications = [row["application"] for row in rows]
    contents = [f"{row['file']} {row['file_bytes']}" for row in rows]
    return {
        "made_by": "study/block_sizes.py fit",
        "fitted_to": f"study/data/{DATA.name}",
        "fitted_at": date.today().isoformat(),  # noqa: DTZ011 # a day is enough
        "applications": len(set(applications)),
        "blocks": len(rows),
        "models": {
            known: {
                "columns": [name.removesuffix(" 1") for name in columns],
                "codecs": {
                    target: fit_codec(table, columns, target, applications, contents)
                    for target in TARGETS
                    if target != known
                },
            }
            for known, columns in COLUMNS.items()
        },
    }


def fit_codec(
    table: Mapping[str, NDArray[np.float64]],
    columns: Sequence[str],
    target: str,
    applications: Sequence[str],
    contents: Sequence[str],
) -> dict[str, object]:
    """Return a codec's model and its errors on applications left out."""
    raw_bytes = table["raw_bytes"]
    ratios = np.column_stack([table[name] for name in columns]) / raw_bytes[:, None]
    x = model_columns(ratios, raw_bytes)
    y, weights = table[target] / raw_bytes, raw_bytes / DATA_BLOCK_BYTES
    names, files = np.array(applications), np.array(contents)
    missed = np.zeros(len(y))
    for part in folds(names):
        known = ~part & ~np.isin(files, files[part])
        coefficients = solve(x[known], y[known], weights[known])
        predicted = np.clip(x[part] @ coefficients, 0.0, 1.0)
        missed[part] = (y[part] - predicted) * weights[part]
    stored = y * weights
    return {
        "scatter": round(float(missed.std() / stored.mean()), 4),
        "bias": round(spread_of_applications(missed, stored, names), 4),
        "coefficients": [float(f"{c:.7g}") for c in solve(x, y, weights)],
    }


def folds(names: NDArray[np.str_]) -> Iterator[NDArray[np.bool_]]:
    """Yield which blocks are of one part of the applications."""
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


def spread_of_applications(
    missed: NDArray[np.float64],
    stored: NDArray[np.float64],
    names: NDArray[np.str_],
) -> float:
    """Return by how much whole applications are off, one standard deviation.

    What means of some blocks scatter more than these blocks' own scatter explains.
    """
    means, by_chance = [], []
    for name in sorted(set(names.tolist())):
        own = names == name
        count = int(np.count_nonzero(own))
        if count >= BLOCKS_EACH // 2:
            shares = missed[own] / stored[own].mean()
            means.append(float(shares.mean()))
            by_chance.append(float(shares.var(ddof=1)) / count)
    square = float(np.mean(np.square(means)) - np.mean(by_chance))
    return max(LEAST_BIAS, float(np.sqrt(max(0.0, square))))


LEAST_BIAS = 0.004
"""No application is taken to be known better: forty blocks of each don't show less, and
there are others than those that were sampled."""


if __name__ == "__main__":
    main()

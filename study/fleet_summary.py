#!/usr/bin/env python3
"""Print what the corpus' data set shows, as docs/study/fleet-data.md has it.

    .venv/bin/python study/fleet_summary.py study/data/fleet-corpus

Each application is there with xz and with lzo. What one image estimates of the other
codec's size is compared with the other image. Gains are those of the image with xz.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray

from snapcraft_compression_advisor.fleet.columns import COLUMNS, decode
from snapcraft_compression_advisor.fleet.dataset import part_files

_MB = 1e6
_PREDICTORS = {
    "data that the launch reads": "launch_bytes",
    "length of the image": "image_bytes",
    "length of all files": "raw_bytes",
    "number of files": "files",
    "what lzo adds to the image": "added_bytes_mid",
    "share of the largest file": "largest_share",
    "share of the ten largest files": "ten_largest_share",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """An application's rows."""

    xz: Mapping[str, Any]
    lzo: Mapping[str, Any]


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the summary of a data set."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("dataset", type=Path)
    print("\n".join(summary(parser.parse_args(arguments).dataset)))
    return 0


def summary(folder: Path) -> Iterator[str]:
    """Yield the summary's lines."""
    pairs = read_pairs(folder)
    yield from _overview(pairs)
    yield ""
    yield from _kinds(pairs)
    yield ""
    yield from _predictors(pairs)
    yield ""
    yield from _estimates(pairs)


def read_pairs(folder: Path) -> list[Pair]:
    """Return the applications that have a row with each codec, by name."""
    wanted = [column.name for column in COLUMNS if column.name != "report"]
    found: dict[str, dict[str, Mapping[str, Any]]] = defaultdict(dict)
    for file in part_files(folder):
        for row in decode(file, wanted)[0]:
            found[row["name"]][row["codec"]] = row
    both = sorted(each for each in found.items() if len(each[1]) > 1)
    return [Pair(xz=rows["xz"], lzo=rows["lzo"]) for _, rows in both]


def _overview(pairs: Sequence[Pair]) -> Iterator[str]:
    sizes = [pair.xz["image_bytes"] / _MB for pair in pairs]
    yield (
        f"- {len(pairs)} applications, so {2 * len(pairs)} images; with xz of "
        f"{min(sizes):.0f} to {max(sizes):.0f} MB, median {median(sizes):.0f} MB "
        "(measured)"
    )
    saved = [pair.xz["saved_s_mid"] for pair in pairs]
    added = [_added(pair) for pair in pairs]
    yield (
        f"- lzo saves {min(saved):.2f} to {max(saved):.2f} s per cold launch, median "
        f"{median(saved):.2f} s (estimated from recordings)"
    )
    yield (
        f"- lzo makes the image {min(added):.1%} to {max(added):.1%} larger, median "
        f"{median(added):.1%} (measured)"
    )
    for codec in ("xz", "lzo"):
        verdicts = Counter(getattr(pair, codec)["verdict"] for pair in pairs)
        told = ", ".join(f"{name} {count}" for name, count in verdicts.most_common())
        yield f"- verdicts on the images with {codec}: {told} (estimated)"
    shares = [pair.xz["ten_largest_share"] for pair in pairs]
    yield (
        f"- the ten largest files have {min(shares):.0%} to {max(shares):.0%} of all "
        f"bytes, median {median(shares):.0%} (measured)"
    )


def _added(pair: Pair) -> float:
    return float(pair.lzo["image_bytes"] / pair.xz["image_bytes"] - 1)


def _kinds(pairs: Sequence[Pair]) -> Iterator[str]:
    kinds: dict[str, list[Pair]] = defaultdict(list)
    for pair in pairs:
        kinds[pair.xz["kind"] or "none"].append(pair)
    heads = ("kind", "applications", "lzo saves, median", "smallest", "largest")
    yield f"| {' | '.join(heads)} | launch reads, median |"
    yield "|---|---|---|---|---|---|"
    for kind, each in sorted(kinds.items(), key=lambda item: -_middle(item[1])):
        saved = [pair.xz["saved_s_mid"] for pair in each]
        read_mb = median(pair.xz["launch_bytes"] for pair in each) / _MB
        yield (
            f"| {kind} | {len(each)} | {median(saved):.2f} s | {min(saved):.2f} s | "
            f"{max(saved):.2f} s | {read_mb:.0f} MB |"
        )


def _middle(pairs: Sequence[Pair]) -> float:
    return float(median(pair.xz["saved_s_mid"] for pair in pairs))


def _predictors(pairs: Sequence[Pair]) -> Iterator[str]:
    saved = np.array([pair.xz["saved_s_mid"] for pair in pairs])
    yield "| figure of an application | rank correlation with what lzo saves |"
    yield "|---|---|"
    for text, column in _PREDICTORS.items():
        values = np.array([pair.xz[column] for pair in pairs], dtype=np.float64)
        yield f"| {text} | {rank_correlation(values, saved):.2f} |"
    middles = np.array([_middle(_others(pair, pairs)) for pair in pairs])
    text = "median of the other applications of its kind"
    yield f"| {text} | {rank_correlation(middles, saved):.2f} |"


def _others(pair: Pair, pairs: Sequence[Pair]) -> Sequence[Pair]:
    """Return the other applications of a kind; all others if there are none."""
    others = [each for each in pairs if each is not pair]
    alike = [each for each in others if each.xz["kind"] == pair.xz["kind"]]
    return alike or others


def rank_correlation(
    first: np.ndarray[Any, Any], second: np.ndarray[Any, Any]
) -> float:
    """Return Spearman's coefficient; equal values have their mean rank."""
    return float(np.corrcoef(_ranks(first), _ranks(second))[0, 1])


def _ranks(values: NDArray[Any]) -> NDArray[Any]:
    _, places, counts = np.unique(values, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    return (ends - (counts - 1) / 2)[places]


def _estimates(pairs: Sequence[Pair]) -> Iterator[str]:
    for codec, of, by in (("lzo", "lzo", "xz"), ("xz", "xz", "lzo")):
        errors, inside = [], 0
        for pair in pairs:
            row, real = getattr(pair, by), getattr(pair, of)["image_bytes"]
            errors.append(abs(row[f"{codec}_bytes_mid"] / real - 1))
            inside += row[f"{codec}_bytes_low"] <= real <= row[f"{codec}_bytes_high"]
        yield (
            f"- the size with {codec}, estimated from the image with {by}: off by "
            f"{median(errors):.1%} in the median and {max(errors):.1%} at most; "
            f"{inside} of {len(pairs)} inside of their intervals"
        )
    apart = [abs(pair.xz["saved_s_mid"] - pair.lzo["saved_s_mid"]) for pair in pairs]
    yield (
        "- what lzo saves, estimated from either image: at most "
        f"{max(apart):.3f} s apart"
    )


if __name__ == "__main__":
    sys.exit(main())

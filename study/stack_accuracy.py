#!/usr/bin/env python3
"""Compare launches over several mounts with what the model says of them.

    .venv/bin/python study/stack_accuracy.py -o docs/study/stacks.md

The script takes what ``stacks.py`` measured: the sums of the blocks that a launch reads
of each mount, the machine's device profile, and the times. It also takes the guesses of
``stack_guess.py``. It needs no root, and the same data give the same page.
"""

from __future__ import annotations

import argparse
import itertools
import statistics
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from accuracy_model import MEDIAN_OVER_MEAN
from stack_data import CHOICES, Stacked, read_stacked
from stack_guess import guess_lines, read_guesses
from stack_launcher import UNCOMPRESSED
from stack_layers import ROLES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from stack_launcher import Combination

INTRODUCTION = """\
# Launches over several mounts

A launch reads from several squashfs mounts: the app's own, its base's, those of content
snaps. Each has a [codec](../glossary.md#codec). Here is measured what each of
them costs, and whether the advisor predicts it.

Applications of Debian 12 and 13, whole systems, were split into three payloads: the
*base* has the paths of a minimal system, the *content* those that the graphics driver,
icons and what these need add to it, the *app* all others. Each was packed with xz, with
lzo and uncompressed. The images were in memory, and so was the home directory. The
three mounts together were the root directory (overlayfs). The application was started
from all eight combinations of xz and lzo in turns, from the uncompressed images, and
with warm caches. Each cold launch had mounts of its own, of which nothing was cached:

    sudo .venv/bin/python study/stacks.py prepare --trees TREES --trees DRAWN \\
        --cache CACHE --work DIR
    sudo .venv/bin/python study/stacks.py count --work DIR
    sudo .venv/bin/python study/stacks.py measure --work DIR --minutes 20
    sudo .venv/bin/python study/stacks.py measure --work DIR --minutes 17 --more
    .venv/bin/python study/stack_accuracy.py -o docs/study/stacks.md
"""

MODEL = """\
## Predicted and measured

The prediction knows which blocks the launch reads of each mount (recorded), how many
metadata blocks it reads there (counted), how many processors a launch from uncompressed
images keeps busy, and what `calibrate` measured of the machine before the first round.
The rounds are of three runs, hours apart. The model was fitted to none of these
launches. The prediction is the sum of what the advisor says of each mount alone.

Seconds that a [cold launch](../glossary.md#cold-launch) adds to a warm one, median of
the rounds: predicted (interval) / measured, error. A combination names the codecs of
app, content and base.
"""

NAMES_ASKED = """\
The number follows from what an application looks up, not from what it reads: kmouth
asks the kernel for 58,000 names when it starts in a new home directory, 51,000 of which
don't exist; YUView asks for 2,200 (strace). Here overlayfs looks for a name in one
mount after the other. Under snapd each snap is mounted at a place of its own, and only
the mount of the path is asked.
"""

APART = """\
## Whether mounts decompress beside each other

Each mount has a decompressor of its own, so two mounts could decompress at the same
time. A launch that waits for one block after the other doesn't use that. Then xz costs
as many seconds in one mount whether the others have xz or lzo, and the parts add up.
The table shows what xz adds over lzo in one mount, median of the rounds, in seconds.
"""


def main() -> None:
    """Write the page."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("-o", "--output", type=Path)
    output = parser.parse_args().output
    text = "\n".join([*page(read_stacked()), ""])
    if output is None:
        print(text)
    else:
        output.write_text(text, encoding="utf-8")


def page(measured: Sequence[Stacked]) -> Iterator[str]:
    """Yield the page's lines."""
    yield INTRODUCTION
    if measured:
        yield from measured_lines(measured)
    yield from guess_lines(read_guesses())


def measured_lines(measured: Sequence[Stacked]) -> Iterator[str]:
    """Yield what was measured, and how it was predicted."""
    yield from read_table(measured)
    yield ""
    yield MODEL
    yield from prediction_table(measured)
    yield ""
    yield from figure_table(measured)
    yield ""
    yield from worst_lines(measured)
    yield APART
    yield from apart_table(measured)
    yield ""


def read_table(measured: Sequence[Stacked]) -> Iterator[str]:
    """Yield what each launch reads, and how long it takes."""
    yield (
        "| application | rounds | blocks read: "
        + " | ".join(ROLES)
        + " | metadata blocks | cold s, uncompressed | all lzo | all xz | warm s "
        "| processors busy |"
    )
    yield "|---" * (len(ROLES) + 8) + "|"
    for each in measured:
        blocks = (f"{each.sums[role, 'none'].blocks:,.0f}" for role in ROLES)
        cold = (
            f"{statistics.median(each.cold_s[combination]):.2f} "
            f"({statistics.stdev(each.cold_s[combination]):.2f})"
            for combination in (UNCOMPRESSED, ("lzo",) * 3, ("xz",) * 3)
        )
        metadata = f"{sum(each.metadata_blocks.values()):,}"
        yield (
            f"| {each.name} | {each.rounds} | "
            + " | ".join((*blocks, metadata, *cold))
            + f" | {statistics.median(each.warm_s):.2f} | {each.processors_busy:.2f} |"
        )


def prediction_table(measured: Sequence[Stacked]) -> Iterator[str]:
    """Yield what combinations add, predicted and measured."""
    yield "| application | " + " | ".join(map(_words, CHOICES)) + " |"
    yield "|---" * (len(CHOICES) + 1) + "|"
    for each in measured:
        cells = (_cell(each, combination) for combination in CHOICES)
        yield f"| {each.name} | " + " | ".join(cells) + " |"


def _words(combination: Combination) -> str:
    return ", ".join(combination)


def _cell(stacked: Stacked, combination: Combination) -> str:
    added = stacked.estimate(combination).added_s
    return (
        f"{added.mid:.2f} ({added.low:.2f} to {added.high:.2f}) / "
        f"{stacked.over_warm_s(combination):.2f}, {error_of(stacked, combination):+.0%}"
    )


def error_of(stacked: Stacked, combination: Combination) -> float:
    """Return how far the prediction of what is added to a warm launch is off."""
    predicted_s = stacked.estimate(combination).added_s.mid
    return predicted_s / stacked.over_warm_s(combination) - 1


def plain_error_of(stacked: Stacked, combination: Combination) -> float:
    """Return the same of what is added to a launch from uncompressed images."""
    plain_s = stacked.estimate(UNCOMPRESSED).added_s.mid
    predicted_s = stacked.estimate(combination).added_s.mid - plain_s
    return predicted_s / stacked.over_plain_s(combination) - 1


def figure_table(measured: Sequence[Stacked]) -> Iterator[str]:
    """Yield the figures asked for, beside their lines."""
    every = list(itertools.product(measured, CHOICES))
    yield "| figure | found | at least | aim |"
    yield "|---|---|---|---|"
    for what, error, least, aim in (
        ("added to a warm launch", error_of, "median ≤ 15 %, worst ≤ 40 %", "8 / 20 %"),
        ("added to one from uncompressed images", plain_error_of, "", ""),
    ):
        errors = [abs(error(*each)) for each in every]
        yield (
            f"| error of the seconds {what} | median {statistics.median(errors):.1%}, "
            f"worst {max(errors):.2%} ({len(errors)} figures) | {least} | {aim} |"
        )
    right, told = order_right(measured)
    yield (
        "| order of two combinations that differ by more than noise | right in "
        f"{right} of {told} | right | right |"
    )
    held = sum(_is_held(*each) for each in every)
    yield f"| measured inside the interval | {held} of {len(every)} | | |"


def worst_lines(measured: Sequence[Stacked]) -> Iterator[str]:
    """Yield which prediction is farthest off, and what metadata explain."""
    worst, combination = max(
        itertools.product(measured, CHOICES), key=lambda each: abs(error_of(*each))
    )
    most = max(measured, key=lambda each: sum(each.metadata_blocks.values()))
    without = replace(most, metadata_blocks=dict.fromkeys(most.metadata_blocks, 0))
    errors = [
        statistics.median(error_of(each, choice) for choice in CHOICES)
        for each in (without, most)
    ]
    yield (
        f"Farthest off is {worst.name} with {_words(combination)}: predicted "
        f"{error_of(worst, combination):+.0%}. The launch that reads most metadata "
        f"(inodes and directories, which each image packs with its codec) is that of "
        f"{most.name}: {sum(most.metadata_blocks.values()):,} blocks of 8 KiB. Without "
        f"these, its predictions would be off by {errors[0]:+.0%} (median of the "
        f"combinations); with them they are off by {errors[1]:+.0%}."
    )
    yield ""
    yield NAMES_ASKED


def _is_held(stacked: Stacked, combination: Combination) -> bool:
    added = stacked.estimate(combination).added_s
    return added.low <= stacked.over_warm_s(combination) <= added.high


def order_right(measured: Sequence[Stacked]) -> tuple[int, int]:
    """Return of how many pairs that noise leaves apart the order is right."""
    right = told = 0
    for each in measured:
        for one, other in itertools.combinations(CHOICES, 2):
            differences = each.differences_s(one, other)
            longer_s = statistics.median(differences)
            if abs(longer_s) <= noise_s(differences):
                continue
            told += 1
            predicted_s = each.estimate(one).added_s.mid
            right += (predicted_s > each.estimate(other).added_s.mid) == (longer_s > 0)
    return right, told


def noise_s(differences: Sequence[float]) -> float:
    """Return two standard errors of the median of the rounds' differences."""
    error_s = statistics.stdev(differences) / len(differences) ** 0.5
    result_s: float = 2 * MEDIAN_OVER_MEAN * error_s
    return result_s


def apart_table(measured: Sequence[Stacked]) -> Iterator[str]:
    """Yield what xz adds in one mount, beside lzo and beside xz in the others."""
    yield (
        "| application | mount | beside lzo, measured (two standard errors) "
        "| beside xz | predicted |"
    )
    yield "|---" * 5 + "|"
    ratios = []
    for each, number in itertools.product(measured, range(len(ROLES))):
        apart = [_of_one(each, number, beside) for beside in ("lzo", "xz")]
        medians = [statistics.median(differences) for differences in apart]
        cells = (
            f"{median:.2f} ({noise_s(differences):.2f})"
            for median, differences in zip(medians, apart, strict=True)
        )
        slow, fast = (_with(number, codec, "lzo") for codec in ("xz", "lzo"))
        added = [each.estimate(combination).added_s.mid for combination in (slow, fast)]
        yield (
            f"| {each.name} | {ROLES[number]} | "
            + " | ".join(cells)
            + f" | {added[0] - added[1]:.2f} |"
        )
        ratios.append(medians[1] / medians[0])
    yield ""
    yield (
        "Beside xz, xz adds "
        f"{statistics.median(ratios):.2f} times what it adds beside lzo (median; 1 "
        "where the parts add up, less where mounts decompress at the same time)."
    )


def _with(number: int, codec: str, beside: str) -> Combination:
    return tuple(codec if place == number else beside for place in range(len(ROLES)))


def _of_one(stacked: Stacked, number: int, beside: str) -> list[float]:
    return stacked.differences_s(
        _with(number, "xz", beside), _with(number, "lzo", beside)
    )


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Score the guess outside the app's own payload: over its base and content snaps.

    .venv/bin/python study/stack_guess.py --trees TREES --cache CACHE

For each recorded application, the script makes the guess with the counts of all others
(``static_fit.py``). What the launch read, and what was expected of it, is split by the
paths of the systems that the application was installed in (see ``stack_layers.py``).
The sums go to ``study/data/stack-guess.csv``; ``stack_accuracy.py`` makes a table.
"""

from __future__ import annotations

import argparse
import csv
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING

from snapcraft_compression_advisor.payload.inventory import block_bytes
from stack_layers import recorded_application, systems_of
from static_data import count, guessed_files
from static_fit import add_trees_argument, read_applications
from static_folds import make_folds

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from stack_layers import Role
    from static_folds import Fold

TABLE = Path(__file__).parent / "data/stack-guess.csv"
WIDE, NARROW = (0.6, 1.6), (0.75, 1.33)
LEAST_BYTES = 1_000_000
"""Of base and content snaps, below which a launch hardly reads them."""


@dataclass(frozen=True, kw_only=True)
class Guessed:
    """What a launch reads of one payload, and what was expected without it.

    :param expected_bytes: the middle of the guess's interval.
    """

    application: str
    kind: str
    role: str
    read_bytes: int
    expected_bytes: int


def main() -> None:
    """Guess, split, write."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    add_trees_argument(parser)
    parser.add_argument("--cache", type=Path, required=True)
    arguments = parser.parse_args()
    applications = read_applications(arguments.trees)
    folds = make_folds(applications, [count(each) for each in applications])
    with TABLE.open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(field.name for field in fields(Guessed))
        for fold in folds:
            table.writerows(astuple(each) for each in split(fold, arguments.cache))


def split(fold: Fold, cache: Path) -> Iterator[Guessed]:
    """Yield what was read and expected of each payload.

    :param cache: the systems that applications were installed in.
    """
    application = fold.application
    systems = systems_of(recorded_application(application.name), cache)
    read: dict[Role, int] = dict.fromkeys(("app", "content", "base"), 0)
    expected = dict.fromkeys(read, 0.0)
    for entry, numbers in application.read.values():
        read[systems.role_of(entry.path)] += sum(
            block_bytes(entry.size_bytes, number) for number in numbers
        )
    for candidate, file in guessed_files(application.counted, fold.priors):
        expected[systems.role_of(candidate.entry.path)] += sum(
            share * block_bytes(file.size_bytes, number)
            for first, last, share in file.ranges()
            for number in range(first, last + 1)
        )
    for role, read_bytes in read.items():
        yield Guessed(
            application=application.name,
            kind=application.kind,
            role=role,
            read_bytes=read_bytes,
            expected_bytes=round(expected[role] * fold.interval.mid),
        )


def read_guesses() -> tuple[Guessed, ...]:
    """Read the kept table."""
    with TABLE.open(newline="", encoding="utf-8") as file:
        return tuple(
            Guessed(
                application=row["application"],
                kind=row["kind"],
                role=row["role"],
                read_bytes=int(row["read_bytes"]),
                expected_bytes=int(row["expected_bytes"]),
            )
            for row in csv.DictReader(file)
        )


INTRODUCTION = f"""\
## The guess over base and content snaps

Where nothing was recorded, the advisor guesses from files which blocks a launch reads,
in base and content snaps too. The recorded applications are split as above. Each is
left out of the counts that its guess is made of:

    .venv/bin/python study/stack_guess.py --trees TREES --cache CACHE

The table shows bytes read ÷ expected, by payload, of the launches that read at least
{LEAST_BYTES // 1_000_000} MB of it.
"""


def guess_lines(guesses: Sequence[Guessed]) -> Iterator[str]:
    """Yield the section of the page."""
    yield INTRODUCTION
    yield (
        "| payload | applications | median | nine of ten from | to | 0.6 to 1.6 "
        "| 0.75 to 1.33 | at least | aim |"
    )
    yield "|---" * 9 + "|"
    lines = ("80 % within 0.6 to 1.6", "80 % within 0.75 to 1.33")
    for title, roles, wanted in (
        ("base and content together", ("base", "content"), lines),
        ("base", ("base",), ("", "")),
        ("content", ("content",), ("", "")),
        ("app", ("app",), ("", "")),
    ):
        cells = figures_of(ratios_of(guesses, roles))
        yield f"| {title} | " + " | ".join((*cells, *wanted)) + " |"


def ratios_of(guesses: Sequence[Guessed], roles: Sequence[str]) -> list[float]:
    """Return what launches read of some payloads, per byte expected, in order."""
    sums: dict[str, tuple[int, int]] = {}
    for each in guesses:
        if each.role in roles:
            read, expected = sums.get(each.application, (0, 0))
            sums[each.application] = (
                read + each.read_bytes,
                expected + each.expected_bytes,
            )
    return sorted(
        read / expected if expected else float("inf")
        for read, expected in sums.values()
        if read >= LEAST_BYTES
    )


def figures_of(ratios: Sequence[float]) -> Iterator[str]:
    """Yield how ratios spread, and how many lie within the lines."""
    count_ = len(ratios)
    yield str(count_)
    for share in (0.5, 0.05, 0.95):
        yield f"{ratios[min(count_ - 1, int(share * count_))]:.2f}"
    for low, high in (WIDE, NARROW):
        inside = sum(low <= ratio <= high for ratio in ratios)
        yield f"{inside} ({inside / count_:.0%})"


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Count what launches of vendor-built applications read of what Debian's don't have.

    .venv/bin/python study/vendor_counts.py --trees TREES

TREES holds the payloads that ``data/vendor-launches.csv`` names, laid out as snapcraft
does it; their launches were recorded from a mount (``record``) and are kept in
``data/vendor/``. What only they tell goes into ``data/vendor-counts.csv``, and from
there into the priors: ways and classes of blocks that no recorded launch of Debian's
applications has. So no guess of these changes. Each application counts for
:data:`MOST_OF_ONE` blocks of a class at most, however large it is.

The script also writes what each application read per byte expected by the counts of
the others. It runs after ``static_fit.py``, which leaves these counts out.
"""

from __future__ import annotations

import argparse
import csv
import re
from collections import defaultdict
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, TypeVar

from snapcraft_compression_advisor.core.units import Interval
from snapcraft_compression_advisor.launch.guess.priors import (
    FEWEST_WAITING,
    Counts,
    Priors,
    parse_priors,
)
from snapcraft_compression_advisor.launch.guess.priors_document import read_document
from snapcraft_compression_advisor.launch.guess.traits import TRAITS
from static_data import count, read_application, score
from static_fit import PRIORS, document_text, priors_document
from static_folds import of_new

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from static_data import Application

Value = TypeVar("Value")

DATA = Path(__file__).parent / "data"
LAUNCHES = DATA / "vendor"
COUNTS = DATA / "vendor-counts.csv"
TABLE = DATA / "vendor-launches.csv"

MOST_OF_ONE = 50
"""Files or blocks of a class that one application counts for."""

KINDS = frozenset((*TRAITS, "Flutter"))
"""Those that Debian's applications aren't told apart by."""

_COLUMNS = ("application", "source", "version", "kind", "read_blocks", "read_expected")
_SHARED = re.compile(
    r".* ((Go|Rust)( [<>=]+\d+)?|(node|libflutter_linux_gtk|libapp|libcef)( \d+)?)"
    r"|carried"
    r"|data(-first)? (java-linked-modules|flutter|web-engine|python-library|node-child)"
    r"\S*( \d+ of \d+)?"
)
"""Classes of blocks that several applications have, not those of one program."""


def main() -> None:
    """Count, write, and put into the priors."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--trees", type=Path, required=True)
    trees = parser.parse_args().trees
    document = read_document(PRIORS.read_bytes())
    debian = without_vendors(parse_priors(document))
    applications = [
        read_application(path.stem, trees / path.stem, LAUNCHES)
        for path in sorted(LAUNCHES.glob("*.json"))
    ]
    counted = {each.name: only_new(count(each), debian) for each in applications}
    write_counts(counted)
    ratios = {
        each.name: score(
            each,
            with_counts(
                debian, (c for name, c in counted.items() if name != each.name)
            ),
        ).ratio
        for each in applications
    }
    write_table(applications, ratios)
    PRIORS.write_text(
        document_text(priors_document(with_vendors(debian), document.fit)),
        encoding="utf-8",
    )


def only_new(counts: tuple[Counts, Counts], debian: Priors) -> tuple[Counts, Counts]:
    """Return what Debian's launches have no counts of, each for so many at most."""
    files, blocks = Counts(), Counts()
    for found, known, new in (
        (counts[0], debian.files, files),
        (counts[1], debian.blocks, blocks),
    ):
        for key, number in found.counted.items():
            if known.counted[key] or (new is blocks and not _SHARED.fullmatch(key)):
                continue
            most = min(number, MOST_OF_ONE)
            new.add(key, read=round(found.read[key] * most / number), counted=most)
    return files, blocks


def with_counts(priors: Priors, counts: Iterable[tuple[Counts, Counts]]) -> Priors:
    """Return priors with more counts."""
    files, blocks = (
        Counts(read=each.read.copy(), counted=each.counted.copy())
        for each in (priors.files, priors.blocks)
    )
    for more_files, more_blocks in counts:
        for kept, more in ((files, more_files), (blocks, more_blocks)):
            kept.read.update(more.read)
            kept.counted.update(more.counted)
    return replace(priors, files=files, blocks=blocks)


def with_vendors(priors: Priors) -> Priors:
    """Return priors of Debian's applications with what vendors' tell besides."""
    kinds: dict[str, tuple[tuple[str, float], ...]] = {}
    for row in _rows(TABLE):
        if row["kind"] in KINDS and row["read_expected"]:
            own = (row["application"], float(row["read_expected"]))
            kinds[row["kind"]] = (*kinds.get(row["kind"], ()), own)
    spreads = {
        kind: _spread(priors.read_share, [ratio for _, ratio in rows])
        for kind, rows in kinds.items()
    }
    return replace(
        with_counts(priors, kept_counts()),
        kinds={**priors.kinds, **kinds},
        kind_shares={**priors.kind_shares, **spreads},
    )


def _spread(share: Interval, ratios: list[float]) -> Interval:
    """Return what a kind reads per byte expected, by that of all others.

    A few recordings only widen it, as far as new applications need it wider; of one or
    two, half or twice as much may be read.
    """
    if len(ratios) < FEWEST_WAITING:
        return Interval(low=0.5, mid=1.0, high=2.0)
    own = of_new(Interval(low=min(ratios), mid=median(ratios), high=max(ratios)))
    low, high = min(share.low, own.low), max(share.high, own.high)
    return replace(share, low=round(low, 3), high=round(high, 3))


def without_vendors(priors: Priors) -> Priors:
    """Return priors without what the kept counts put in."""
    files, blocks = (
        Counts(read=each.read.copy(), counted=each.counted.copy())
        for each in (priors.files, priors.blocks)
    )
    for more_files, more_blocks in kept_counts():
        for kept, more in ((files, more_files), (blocks, more_blocks)):
            for key in more.counted:
                del kept.counted[key], kept.read[key]
    return replace(
        priors,
        files=files,
        blocks=blocks,
        kinds=_besides(priors.kinds),
        kind_shares=_besides(priors.kind_shares),
    )


def _besides(kinds: Mapping[str, Value]) -> dict[str, Value]:
    return {name: value for name, value in kinds.items() if name not in KINDS}


def kept_counts() -> Iterator[tuple[Counts, Counts]]:
    """Yield the counts of each application, of files and of blocks."""
    found: dict[str, tuple[Counts, Counts]] = defaultdict(lambda: (Counts(), Counts()))
    for row in _rows(COUNTS):
        place = ("files", "blocks").index(row["table"])
        read, counted = int(row["read"]), int(row["counted"])
        found[row["application"]][place].add(row["key"], read=read, counted=counted)
    yield from found.values()


def write_counts(counted: dict[str, tuple[Counts, Counts]]) -> None:
    """Write the counts that are kept."""
    with COUNTS.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("application", "table", "key", "read", "counted"))
        for name, tables in counted.items():
            for table, counts in zip(("files", "blocks"), tables, strict=True):
                for key in sorted(counts.counted):
                    row = (name, table, key, counts.read[key], counts.counted[key])
                    writer.writerow(row)


def write_table(applications: Iterable[Application], ratios: dict[str, float]) -> None:
    """Write what each application read per byte expected without it."""
    rows = {row["application"]: row for row in _rows(TABLE)}
    for each in applications:
        rows[each.name] |= {
            "kind": each.kind,
            "read_blocks": str(sum(len(numbers) for _, numbers in each.read.values())),
            "read_expected": f"{ratios[each.name]:.2f}",
        }
    with TABLE.open("w", newline="", encoding="utf-8") as file:
        names = (
            "application",
            "source",
            "version",
            "kind",
            "read_blocks",
            "read_expected",
        )
        writer = csv.DictWriter(file, names, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows.values())


def _rows(path: Path) -> list[dict[str, str]]:
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        return [*csv.DictReader(file)]


if __name__ == "__main__":
    main()

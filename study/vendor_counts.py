#!/usr/bin/env python3
"""Count what launches of vendor-built applications read of what Debian's don't have.

    .venv/bin/python study/vendor_counts.py --trees TREES

TREES holds payloads that ``data/vendor-launches.csv`` names, laid out as snapcraft
does it; their launches were recorded from a mount (``record``) and are kept in
``data/vendor/``, and those that an earlier draw scored in ``data/vendor-scored/``. What
has no tree there keeps its rows. Of some scored ones, the table has only the ratio of
their score, times their kind's share; of those whose interval was wider than their
kind's, none. The counts go into ``data/vendor-counts.csv``, and from there into the
priors, beside those of Debian's applications. Each application counts for
:data:`MOST_OF_ONE` blocks of a class at most, however large it is.

The script also writes what each application read per byte expected by the counts of
the others; the intervals of kinds come from these ratios and Debian's. It runs after
``static_fit.py``, which leaves these counts out.
"""

from __future__ import annotations

import argparse
import csv
import json
import re
from collections import Counter, defaultdict
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from snapcraft_compression_advisor.launch.guess.priors import (
    Counts,
    Priors,
    parse_priors,
)
from static_data import count, read_application, score, weighed
from static_fit import PRIORS, document_text, priors_document
from static_folds import OF_NEW, kind_spread, of_new
from vendor_draw import DATA, SETS, drawn_before, read_drawn

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from snapcraft_compression_advisor.core.units import Interval
    from static_data import Application

LAUNCHES = (SETS["fit"], SETS["scored"])
COUNTS = DATA / "vendor-counts.csv"
TABLE = DATA / "vendor-launches.csv"

MOST_OF_ONE = 50
"""Files or blocks of a class that one application counts for."""

FEW = 4
"""So few of a kind don't say that one of them is an exception."""

KIND_WEIGHT, OF_NEW_VENDOR = 2.0, 1.2
"""As those of :mod:`static_folds`, for kinds that vendors build. Kinds differ more in
their spread there. With these, of the 168 applications of three sets 151 (90 %) lie in
the interval that all others give them, its median width is 2.4; with Debian's 144
(86 %), and 2.2."""

OURS = " (vendor)"
"""Behind the names of applications that aren't Debian's, which has some, too."""

_COLUMNS = ("application", "source", "version", "kind", "read_blocks", "read_expected")
_SHARED = re.compile(
    r".* ((Go|Rust|Bun|Haskell|PyInstaller|\.NET)( module)?( \d+)?"
    r"|(node|bun|libflutter_linux_gtk|libapp|libcef|libscipy_openblas64_)( \d+)?)"
    r"|carried"
    r"|data(-first)? (java-(linked-)?modules(, no window)?|flutter|web-engine"
    r"|python-library|node-child)\S*( \d+ of \d+)?"
)
"""Classes of blocks that several applications have, not those of one program."""


def main() -> None:
    """Count, write, and put into the priors."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--trees", type=Path, required=True)
    trees = parser.parse_args().trees
    document = json.loads(PRIORS.read_bytes())
    debian = without_vendors(parse_priors(document))
    applications = [
        read_application(path.stem, trees / path.stem, folder)
        for folder in LAUNCHES
        for path in sorted(folder.glob("*.json"))
        if (trees / path.stem).is_dir()
    ]
    counted = kept_counts() | {
        each.name: limited(count(each), debian) for each in applications
    }
    write_counts(counted)
    ratios = {
        each.name: score(
            each,
            with_counts(
                debian, (c for name, c in counted.items() if name != each.name)
            ),
        ).sure_ratio
        for each in applications
    }
    write_table(applications, ratios)
    PRIORS.write_text(
        document_text(priors_document(with_vendors(debian), document["fit"])),
        encoding="utf-8",
    )


def limited(counts: tuple[Counts, Counts], debian: Priors) -> tuple[Counts, Counts]:
    """Return counts of one application, each for so many files or blocks at most.

    Classes of blocks count if Debian's applications or several of these have them.
    """
    files, blocks = Counts(), Counts()
    for found, kept in ((weighed(counts[0]), files), (counts[1], blocks)):
        for key, number in found.counted.items():
            known = kept is files or debian.blocks.counted[key]
            if known or _SHARED.fullmatch(key):
                most = min(number, MOST_OF_ONE)
                kept.add(key, read=round(found.read[key] * most / number), counted=most)
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


def with_vendors(priors: Priors, rows: Iterable[Mapping[str, str]] = ()) -> Priors:
    """Return priors of Debian's applications with what vendors' tell besides.

    :param rows: of the table, by default all.
    """
    kinds = {kind: list(recorded) for kind, recorded in priors.kinds.items()}
    own = set()
    for row in rows or _rows(TABLE):
        ratio = float(row["read_expected"] or 1)
        own.add(row["kind"])
        kinds.setdefault(row["kind"], []).append((row["application"] + OURS, ratio))
    debian = _not_of_new(priors.read_share)
    spreads = {
        kind: of_kind([ratio for _, ratio in kinds[kind]], debian) for kind in own
    }
    return replace(
        with_counts(priors, kept_counts().values()),
        kinds={kind: tuple(recorded) for kind, recorded in kinds.items()},
        kind_shares={**priors.kind_shares, **spreads},
    )


def of_kind(ratios: Sequence[float], others: Interval) -> Interval:
    """Return where the next application of a kind lies; of few, none lies outside."""
    found = of_new(kind_spread(ratios, others, KIND_WEIGHT), OF_NEW_VENDOR)
    if len(ratios) > FEW:
        return found
    return replace(found, low=min(found.low, *ratios), high=max(found.high, *ratios))


def _not_of_new(share: Interval) -> Interval:
    """Return a spread before ``of_new`` widened it."""
    low, high = (
        share.mid * (end / share.mid) ** (1 / OF_NEW) for end in (share.low, share.high)
    )
    return replace(share, low=low, high=high)


def without_vendors(priors: Priors) -> Priors:
    """Return priors without what the kept counts put in."""
    files, blocks = (
        Counts(read=each.read.copy(), counted=each.counted.copy())
        for each in (priors.files, priors.blocks)
    )
    for more_files, more_blocks in kept_counts().values():
        for kept, more in ((files, more_files), (blocks, more_blocks)):
            kept.read.subtract(more.read)
            kept.counted.subtract(more.counted)
    return replace(
        priors,
        files=_counted(files),
        blocks=_counted(blocks),
        kinds={
            kind: debian
            for kind, recorded in priors.kinds.items()
            if (debian := tuple(row for row in recorded if not row[0].endswith(OURS)))
        },
    )


def _counted(counts: Counts) -> Counts:
    """Return counts without what nothing was counted of."""
    found = {key: number for key, number in counts.counted.items() if number > 0}
    read = {key: counts.read[key] for key in found}
    return Counts(read=Counter(read), counted=Counter(found))


def kept_counts() -> dict[str, tuple[Counts, Counts]]:
    """Return the counts of each application, of files and of blocks."""
    found: dict[str, tuple[Counts, Counts]] = defaultdict(lambda: (Counts(), Counts()))
    for row in _rows(COUNTS):
        place = ("files", "blocks").index(row["table"])
        read, counted = int(row["read"]), int(row["counted"])
        found[row["application"]][place].add(row["key"], read=read, counted=counted)
    return dict(found)


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
    drawn = (row for row in (*drawn_before(), *read_drawn()) if row.version)
    versions = {row.source: row.version for row in drawn}
    for each in applications:
        name = each.name
        rows.setdefault(name, {"application": name})
        rows[name] |= {
            "source": rows[name].get("source") or versions.get(name, ""),
            "kind": each.kind,
            "read_blocks": str(sum(len(numbers) for _, numbers in each.read.values())),
            "read_expected": f"{ratios[each.name]:.2f}",
        }
    with TABLE.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, _COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows.values())


def _rows(path: Path) -> list[dict[str, str]]:
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        return [*csv.DictReader(file)]


if __name__ == "__main__":
    main()

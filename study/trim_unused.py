#!/usr/bin/env python3
"""Check libraries that nothing seems to link or name against recorded launches.

    .venv/bin/python study/trim_unused.py --trees TREES [--trees DRAWN] --limit 100

For each tree with a recording, in an order by a seed, the script counts the libraries
that ``trim`` lists as such, without knowing that recording, and those of them that the
launch read. It writes

    study/data/trim-unused.csv

an application at a time, and can be stopped and started again. Nothing is written to
the trees.
"""

from __future__ import annotations

import argparse
import csv
import random
from pathlib import Path

from prime_error import note
from snapcraft_compression_advisor.core.errors import AdvisorError
from snapcraft_compression_advisor.launch.profile import read_profile
from snapcraft_compression_advisor.payload.source import open_payload
from snapcraft_compression_advisor.payload.survey import take_survey
from snapcraft_compression_advisor.trim.find import find_unused_libraries
from trim_needed import DATA, recorded_trees

UNUSED = DATA / "trim-unused.csv"
FIELDS = ("application", "libraries", "bytes", "sure", "sure_bytes", "sure_and_read")

_SEED = 1


def main() -> None:
    """Check every tree that has a recording."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--trees", type=Path, action="append", required=True)
    parser.add_argument("--limit", type=int, help="trees, the first of the lot")
    parser.add_argument("-o", "--output", type=Path, default=UNUSED)
    arguments = parser.parse_args()
    rows = []
    if arguments.output.exists():
        with arguments.output.open(newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
    known = {row["application"] for row in rows}
    found = sorted(recorded_trees(arguments.trees))
    random.Random(_SEED).shuffle(found)  # noqa: S311 # a sample, not a secret
    for name, tree in found[: arguments.limit]:
        if name in known:
            continue
        note(name)
        try:
            rows.append(check(name, tree))
        except AdvisorError as error:
            note(f"{name}: {error}")
            continue
        with arguments.output.open("w", newline="", encoding="utf-8") as file:
            table = csv.DictWriter(file, FIELDS, lineterminator="\n")
            table.writeheader()
            table.writerows(sorted(rows, key=lambda row: row["application"]))


def check(name: str, tree: Path) -> dict[str, str]:
    """Return a tree's row."""
    profile = read_profile(DATA / "launches" / f"{name}.json")
    read = {file.path for file in profile.files}
    with open_payload(tree) as payload:
        found = tuple(find_unused_libraries(payload, take_survey(payload)))
    sure = [each for each in found if each.risk is None]
    figures = {
        "libraries": len(found),
        "bytes": sum(each.size_bytes for each in found),
        "sure": len(sure),
        "sure_bytes": sum(each.size_bytes for each in sure),
        "sure_and_read": sum(each.path in read for each in sure),
    }
    return {"application": name, **{key: str(value) for key, value in figures.items()}}


if __name__ == "__main__":
    main()

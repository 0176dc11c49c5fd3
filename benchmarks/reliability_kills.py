#!/usr/bin/env python3
"""Kill the commands that write a snapcraft.yaml, and check that the file is whole.

The script kills each way of writing (``set``, ``lint --fix``, ``advise --fix``, and
``write`` of the snapcraft plugin) with SIGKILL: at system calls spread over its whole
run, at each of the last ones, and after random delays. The file must then have the old
bytes or the new ones.

usage: reliability_kills.py [--kills N] [--scratch DIR] [set|fix|advise|write…]
"""

from __future__ import annotations

import argparse
import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import snapcraft_compression_advisor
from snapcraft_compression_advisor.cli.main import main as run_command_line
from snapcraft_compression_advisor.project.edit import apply_edit, plan_edit
from stopped_process import StoppedProcess, import_all

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

LAST_STOPS = 160
"""Of a run: from well before the new file is made to after it has its name."""

KINDS = ("delay", "last", "last", "any")
"""How the moment of a kill is chosen."""

TIMEOUT_S = 300.0
_HEAD = """\
name: sample   # compression: lzo
base: core24
"""
_TAIL = """\
parts:
  sample:
    plugin: nil
"""
_DECLARED = (f"{_HEAD}compression: xz # kept\n{_TAIL}").encode()
_CHANGED = (f"{_HEAD}compression: lzo # kept\n{_TAIL}").encode()
_SILENT = f"{_HEAD}{_TAIL}".encode()
_SAID = f"{_HEAD}compression: xz\n{_TAIL}".encode()
TEXTS = {
    "set": (_DECLARED, _CHANGED),
    "fix": (_SILENT, _SAID),
    "advise": (_DECLARED, _CHANGED),
    "write": (_DECLARED, _CHANGED),
}
"""What the file says before and after, by the way of writing."""

_SNAP_YAML = """\
name: sample
version: '1'
summary: A snap
description: A snap
architectures: [all]
apps:
  sample:
    command: program
"""


def main() -> None:
    """Kill, and print what was found."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("ways", nargs="*", metavar="WAY", default=[*TEXTS])
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--scratch", type=Path)
    arguments = parser.parse_args()
    print("| written by | kills | old file | new file | damaged | left beside it |")
    print("|---|---|---|---|---|---|")
    import_all(snapcraft_compression_advisor)
    damaged, each = 0, arguments.kills // len(arguments.ways)
    with tempfile.TemporaryDirectory(dir=arguments.scratch) as name:
        for way in arguments.ways:
            found = Counter(kill(way, Path(name), each))
            figures = [found[key] for key in ("old", "new", "damaged", "left")]
            row = [way, sum(figures[:3]), *figures]
            print("|", " | ".join(map(str, row)), "|", flush=True)
            damaged += found["damaged"]
    sys.exit(damaged > 0)


def kill(way: str, scratch: Path, kills: int) -> Iterator[str]:
    """Kill one way of writing again and again; yield what became of the file."""
    stops, free_s = _whole_run(way, scratch)
    chance = random.Random(kills)  # noqa: S311 # reproducible noise is wanted
    for number in range(kills):
        directory = scratch / f"{way}-{number}"
        run = _Run(way, directory)
        kind = KINDS[number % len(KINDS)]
        if kind == "delay":
            run.go_on()
            time.sleep(chance.random() * free_s)
        elif kind == "last":
            run.process.advance(stops - chance.randrange(min(LAST_STOPS, stops)))
        else:
            run.process.advance(chance.randrange(1, stops))
        run.process.kill()
        yield from (read(way, directory), *(["left"] if left_beside(directory) else []))
        shutil.rmtree(directory)


def _whole_run(way: str, scratch: Path) -> tuple[int, float]:
    """Return a run's stops, and the seconds that it takes without them.

    :raises SystemExit: if it doesn't write: kills would then say nothing.
    """
    stepped, free = scratch / f"{way}-stepped", scratch / f"{way}-free"
    stops = _Run(way, stepped).process.advance(sys.maxsize)
    run = _Run(way, free)
    started_s = time.monotonic()
    run.go_on()
    run.process.join(TIMEOUT_S)
    taken_s = time.monotonic() - started_s
    for directory in (stepped, free):
        if read(way, directory) != "new":
            sys.exit(f"{way} wrote nothing: {(directory / 'output').read_text()}")
    return stops, taken_s


class _Run:
    """One run on a project of its own, stopped before it begins."""

    def __init__(self, way: str, directory: Path) -> None:
        self.process = StoppedProcess(prepare(way, directory), directory / "output")

    def go_on(self) -> None:
        """Let it go on by itself."""
        self.process.release()


def prepare(way: str, directory: Path) -> Callable[[], int]:
    """Make a project and return what writes to its snapcraft.yaml."""
    project = directory / "project"
    prime = project / "prime"
    (prime / "meta").mkdir(parents=True)
    (prime / "meta/snap.yaml").write_text(_SNAP_YAML)
    shutil.copy(sys.executable, prime / "program")
    path = project / "snapcraft.yaml"
    path.write_bytes(TEXTS[way][0])
    if way == "write":
        return lambda: _write(path)
    words = {
        "set": ["set", str(project), "--compression", "lzo"],
        "fix": [
            *("lint", str(prime), "--project", str(project), "--select", "SCA103"),
            *("--fix", "--exit-zero"),
        ],
        "advise": [
            *(
                "advise",
                str(prime),
                "--min-saving",
                "0.000001",
                "--max-launches",
                "1000000000",
            ),
            *("--fix", "--project", str(project)),
        ],
    }[way]
    return lambda: run_command_line(words)


def read(way: str, directory: Path) -> str:
    """Return whether a project's file is old, new or damaged."""
    content = (directory / "project/snapcraft.yaml").read_bytes()
    old, new = TEXTS[way]
    return {old: "old", new: "new"}.get(content, "damaged")


def left_beside(directory: Path) -> list[str]:
    """Return names of temporary files beside the project file."""
    return [path.name for path in (directory / "project").glob(".snapcraft.yaml.*")]


def _write(path: Path) -> int:
    apply_edit(plan_edit(path, "lzo"))
    return 0


if __name__ == "__main__":
    main()

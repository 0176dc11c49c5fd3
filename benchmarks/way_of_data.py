#!/usr/bin/env python3
"""The way of the data through the code: files that one ``advise`` enters, in order."""

from __future__ import annotations

import argparse
import contextlib
import io
import sys
import tempfile
import threading
from collections import Counter
from inspect import CO_OPTIMIZED
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import snapcraft_compression_advisor
from snapcraft_compression_advisor.cli.main import main as advisor

if TYPE_CHECKING:
    from types import FrameType

PACKAGE = str(Path(snapcraft_compression_advisor.__file__).parent) + "/"
SNAP_YAML = """\
name: small
version: '1'
base: core24
summary: A script
description: A script.
grade: stable
confinement: strict
apps: {small: {command: bin/small}}
"""


class Way(threading.local):
    """The package's files in the order in which a thread's calls enter them.

    That the scheduler goes on with another thread is no change of file.
    """

    threads: ClassVar[list[list[str]]] = []

    def __init__(self) -> None:
        self.files: list[str] = []
        self._importing = 0
        self.threads.append(self.files)

    def follow(self, frame: FrameType, event: str, _argument: object) -> None:
        """Take a call of a function, as :func:`sys.setprofile` reports it.

        What modules call while they are imported is left out.
        """
        code = frame.f_code
        if code.co_name == "<module>":
            self._importing += {"call": 1, "return": -1}.get(event, 0)
        elif event == "call" and not self._importing and code.co_flags & CO_OPTIMIZED:
            path = code.co_filename
            name = path.removeprefix(PACKAGE)
            if name != path and self.files[-1:] != [name]:
                self.files.append(name)


def make_prime(directory: Path) -> Path:
    """Make a prime directory of a shell script and six files of text."""
    for name, text in {
        "meta/snap.yaml": SNAP_YAML,
        "bin/small": '#!/bin/sh\nexec cat "$SNAP/share/text0"\n',
        **{f"share/text{n}": f"line {n}\n" * 2_000 for n in range(6)},
    }.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (directory / "bin/small").chmod(0o755)
    return directory


def main() -> int:
    """Print the way, the files by visits, and how often the file changes."""
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("path", nargs="?", help="payload (default: a small one)")
    given = parser.parse_args().path
    with tempfile.TemporaryDirectory() as temp:
        payload = given or str(make_prime(Path(temp)))
        way = Way()
        threading.setprofile(way.follow)
        sys.setprofile(way.follow)
        sys.argv = ["compression-advisor", "advise", payload]
        with contextlib.redirect_stdout(io.StringIO()):
            status = advisor()
        sys.setprofile(None)
    files: dict[str, None] = {}
    for entered in way.threads:
        if new := {name: None for name in entered if name not in files}:
            print("A thread enters these files first, in this order:")
            print(*(f"  {name}" for name in new), sep="\n")
            files |= new
    print("Pairs of files between which most changes are:")
    changes = [each for files in way.threads for each in pairwise(files)]
    pairs = Counter(tuple(sorted(each)) for each in changes)
    for pair, count in pairs.most_common(12):
        print(f"  {count:6,} {' - '.join(pair)}")
    print(f"{len(files)} files; {len(changes):,} changes of file")
    return status


if __name__ == "__main__":
    sys.exit(main())

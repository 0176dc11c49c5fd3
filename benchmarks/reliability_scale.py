#!/usr/bin/env python3
"""Run lint and advise on extremely large payloads, and measure time and memory.

The payloads are a million files of some bytes, a file of 12 GB that is one hole except
for a few blocks, and 200 snaps in one call of lint. The files are sparse or small: the
million files take approximately 5 GB of disk or memory, in the directory ``--scratch``.

usage: reliability_scale.py [--files N] [--sparse-gb N] [--snaps N] [--scratch DIR]
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from measured_process import run_measured

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from measured_process import Measured

FILES_PER_DIRECTORY = 1000
ISLANDS = 64
"""Places of the sparse file that hold something."""

_BLOCK_BYTES = 131_072
_SNAP_YAML = """\
name: {name}
version: '1'
summary: A snap
description: A snap
base: core24
confinement: strict
grade: stable
architectures: [all]
apps:
  {name}:
    command: run
"""


def main() -> None:
    """Make each payload, run the commands on it, print a table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--files", type=int, default=1_000_000)
    parser.add_argument("--sparse-gb", type=int, default=12)
    parser.add_argument("--snaps", type=int, default=200)
    parser.add_argument("--scratch", type=Path)
    arguments = parser.parse_args()
    print("| payload | command | wall s | CPU s | peak MB |")
    print("|---|---|---|---|---|")
    with tempfile.TemporaryDirectory(dir=arguments.scratch) as name:
        for payload, command, took in measure(arguments, Path(name)):
            print(
                f"| {payload} | `{command}` | {took.wall_s:.1f} | {took.cpu_s:.1f} | "
                f"{took.peak_bytes / 1e6:.0f} |",
                flush=True,
            )


def measure(
    arguments: argparse.Namespace, scratch: Path
) -> Iterator[tuple[str, str, Measured]]:
    """Yield payload, command and what it took."""
    if arguments.files:
        prime = many_files(scratch / "many", arguments.files)
        for command in ("lint", "advise"):
            yield f"{arguments.files:,} files", command, run(command, [prime])
    if arguments.sparse_gb:
        prime = one_sparse_file(scratch / "sparse", arguments.sparse_gb * 10**9)
        for command in ("lint", "advise"):
            name = f"{arguments.sparse_gb} GB, sparse"
            yield name, command, run(command, [prime])
    if arguments.snaps:
        snaps = many_snaps(scratch / "snaps", arguments.snaps)
        yield f"{arguments.snaps} snaps", "lint", run("lint", snaps)


def run(command: str, payloads: Sequence[Path]) -> Measured:
    """Run one command on some payloads."""
    options = ["--exit-zero"] if command == "lint" else []
    program = [sys.executable, "-m", "snapcraft_compression_advisor", command]
    return run_measured([*program, *options, *map(str, payloads)])


def many_files(prime: Path, count: int) -> Path:
    """Fill a prime directory with small files, each different."""
    _describe(prime, "many")
    for number in range(count):
        directory = prime / f"{number // FILES_PER_DIRECTORY:04}"
        if number % FILES_PER_DIRECTORY == 0:
            directory.mkdir()
        (directory / f"file{number}.txt").write_text(f"This is file {number}.\n")
    return prime


def one_sparse_file(prime: Path, size: int) -> Path:
    """Fill a prime directory with one file of holes and some blocks of noise."""
    _describe(prime, "sparse")
    noise = random.Random(size)  # noqa: S311 # reproducible noise is wanted
    with (prime / "disk.img").open("wb") as file:
        file.truncate(size)
        for number in range(ISLANDS):
            file.seek(size // ISLANDS * number)
            file.write(noise.randbytes(_BLOCK_BYTES))
    return prime


def many_snaps(directory: Path, count: int) -> list[Path]:
    """Pack snaps of one small program each."""
    directory.mkdir()
    snaps = []
    for number in range(count):
        prime = directory / f"prime{number}"
        _describe(prime, f"snap{number}")
        (prime / "data").write_bytes(random.Random(number).randbytes(100_000))  # noqa: S311 # as above
        snaps.append(directory / f"snap{number}.snap")
        options = ("-noappend", "-comp", "xz", "-no-fragments", "-all-root", "-quiet")
        subprocess.run(
            ["mksquashfs", str(prime), str(snaps[-1]), *options, "-no-progress"],  # noqa: S607 # the tool of the machine
            check=True,
        )
    return snaps


def _describe(prime: Path, name: str) -> None:
    (prime / "meta").mkdir(parents=True)
    (prime / "meta/snap.yaml").write_text(_SNAP_YAML.format(name=name))
    (prime / "run").write_text("#!/bin/sh\nexec true\n")
    (prime / "run").chmod(0o755)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Time lint of built snaps against packing them with xz, and measure its memory.

mksquashfs packs each payload as ``snap pack`` calls it, with xz (timed) and with lzo.
Then the whole command ``compression-advisor lint`` runs on both images, and on the
prime directory.

usage: lint.py [--primes DIR] [--cache DIR] [-o FILE] [NAME…]
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from debian_payloads import build_prime, machine, note, pack
from measured_process import keep_bytecode, run_measured

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from measured_process import Measured

NAMES = ("python-app", "browser")
CODECS = ("xz", "lzo")
LINT_RUNS = 3
LIMIT_SHARE = 0.02
LIMIT_BYTES = 200_000_000

INTRODUCTION = """\
# What lint costs

The payloads are two applications from Debian 12 with their dependencies: NumPy, SciPy
and Matplotlib with Tk (python-app), and Chromium (browser). Each is measured as [prime
directory](../glossary.md#prime-directory) and as snaps packed with xz and lzo. The page
is made by

    .venv/bin/python benchmarks/lint.py -o docs/study/lint-benchmark.md

The time is that of the whole command `compression-advisor lint`, including the start of
Python. It is the median of three runs after one that isn't counted, so the files are in
the page cache, as after a build. It is compared with the time of `mksquashfs -comp xz`
on the same payload, as `snap pack` calls it, in the same run on the same machine. Times
differ from machine to machine. The ratios are what matters.
"""


@dataclass(frozen=True, kw_only=True)
class Row:
    """What was measured of one payload.

    :param kind: ``prime``, or the codec of a snap.
    """

    name: str
    kind: str
    payload_bytes: int
    lint: Measured
    xz_pack: Measured

    @property
    def share(self) -> float:
        """Time of lint as a share of the time of an xz pack."""
        return self.lint.wall_s / self.xz_pack.wall_s


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", default=[*NAMES])
    parser.add_argument("--primes", type=Path, default=Path(".cache/primes"))
    parser.add_argument("--cache", type=Path, default=Path(".cache/debs"))
    parser.add_argument("-o", "--output", type=Path)
    arguments = parser.parse_args()
    for name in arguments.names:
        build_prime(name, arguments.primes / name, arguments.cache)
    keep_bytecode(arguments.primes / ".bytecode")
    with tempfile.TemporaryDirectory() as scratch:
        rows = [
            row
            for name in arguments.names
            for row in measure(name, arguments.primes / name, Path(scratch))
        ]
    text = "\n".join([*report(rows), ""])
    if arguments.output:
        arguments.output.write_text(text)
    else:
        print(text)


def measure(name: str, prime: Path, scratch: Path) -> Iterator[Row]:
    """Measure one payload as directory and as snaps."""
    packs = {}
    images = {codec: scratch / f"{name}.{codec}.snap" for codec in CODECS}
    for codec, image in images.items():
        note(name, f"packing with {codec}")
        packs[codec] = pack(prime, image, codec)
    for kind, path in {**images, "prime": prime}.items():
        note(name, f"lint of {kind}")
        yield Row(
            name=name,
            kind=kind,
            payload_bytes=path.stat().st_size if path.is_file() else tree_bytes(prime),
            lint=lint(path, scratch / "report.json"),
            xz_pack=packs["xz"],
        )
    for image in images.values():
        image.unlink()


def lint(path: Path, report_file: Path) -> Measured:
    """Return the median of some runs, by wall time.

    One before them isn't counted: it has Python and the image read from the disk.
    """
    command = [
        sys.executable, "-m", "snapcraft_compression_advisor", "lint", str(path),
        "--exit-zero", "--format", "json", "--output", str(report_file),
    ]  # fmt: skip
    run_measured(command)
    runs = [run_measured(command) for _ in range(LINT_RUNS)]
    return sorted(runs, key=lambda run: run.wall_s)[LINT_RUNS // 2]


def tree_bytes(prime: Path) -> int:
    """Return the length of a directory's files, hard links counted once."""
    found = (path.lstat() for path in prime.rglob("*") if path.is_file())
    return sum({status.st_ino: status.st_size for status in found}.values())


def report(rows: Sequence[Row]) -> Iterator[str]:
    """Yield the table as Markdown, and the figures asked for."""
    yield INTRODUCTION
    yield machine()
    yield ""
    yield "| payload | as | MB | lint s | CPU s | peak MB | xz pack s | ÷ xz pack |"
    yield "|---|---|---|---|---|---|---|---|"
    for row in rows:
        yield (
            f"| {row.name} | {row.kind} | {row.payload_bytes / 1e6:.0f} | "
            f"{row.lint.wall_s:.1f} | {row.lint.cpu_s:.1f} | "
            f"{row.lint.peak_bytes / 1e6:.0f} | {row.xz_pack.wall_s:.1f} | "
            f"{row.share:.1%} |"
        )
    yield ""
    snaps = [row for row in rows if row.kind != "prime"]
    slowest = max(row.share for row in snaps)
    largest = max(row.lint.peak_bytes for row in rows)
    yield f"- lint of a snap ÷ one xz pack, at most: {slowest:.1%}" + _aim(
        f"{LIMIT_SHARE:.0%}", reached=slowest <= LIMIT_SHARE
    )
    yield f"- peak memory, at most: {largest / 1e6:.0f} MB" + _aim(
        f"{LIMIT_BYTES / 1e6:.0f} MB", reached=largest <= LIMIT_BYTES
    )


def _aim(limit: str, *, reached: bool) -> str:
    return f" (aim: {limit}, {'reached' if reached else 'missed'})"


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Time ``diff`` of two builds, and ``lint --resquash``, against packing with xz.

The script packs a payload with xz and with lzo, as it is and with some files changed,
added and removed. It runs the whole command ``compression-advisor diff`` on the two
builds, and ``lint --resquash`` on one, beside ``unsquashfs`` and ``mksquashfs``.

usage: build_diff.py [--primes DIR] [--cache DIR] [-o FILE]
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from debian_payloads import build_prime, machine, note, pack
from measured_process import run_measured

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from measured_process import Measured

NAME = "browser"
CODECS = ("xz", "lzo")
DIFF_RUNS = 3
CHANGED_EVERY = 7
REMOVED_EVERY = 9
LEAST_CHANGED_BYTES = 200_000
DIFF_LIMIT_SHARE = 0.03
RESQUASH_LIMIT = 1.15

INTRODUCTION = """\
# What comparing builds costs

The first build is Chromium from Debian 12 with its dependencies. In the second build,
every seventh library has some more bytes in its middle, and every ninth icon is
missing. The page is made by

    .venv/bin/python benchmarks/build_diff.py -o docs/study/diff-benchmark.md

Times are those of whole commands, including the start of Python. The time of `diff` is
the median of three runs after one that isn't counted, so the files are in the page
cache, as after a build. It is compared with the time of `mksquashfs -comp xz` on the
same payload, as `snap pack` calls it. The time of `lint --resquash`
([repack](../glossary.md#repack)) is compared with that of `unsquashfs` and `mksquashfs`
one after the other. All ran in the same run on the same machine. Times differ from
machine to machine. The ratios are what matters.
"""


@dataclass(frozen=True, kw_only=True)
class Compared:
    """Two builds of one codec."""

    codec: str
    image_bytes: int
    diff: Measured


@dataclass(frozen=True, kw_only=True)
class Repacked:
    """A repack by the tools themselves, and by ``lint --resquash``."""

    unsquashfs: Measured
    mksquashfs: Measured
    resquash: Measured

    @property
    def ratio(self) -> float:
        """Time of ``--resquash`` over that of the tools."""
        tools_s = self.unsquashfs.wall_s + self.mksquashfs.wall_s
        return self.resquash.wall_s / tools_s


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--primes", type=Path, default=Path(".cache/primes"))
    parser.add_argument("--cache", type=Path, default=Path(".cache/debs"))
    parser.add_argument("-o", "--output", type=Path)
    arguments = parser.parse_args()
    prime = arguments.primes / NAME
    build_prime(NAME, prime, arguments.cache)
    with tempfile.TemporaryDirectory(dir=arguments.primes) as scratch:
        text = "\n".join([*measure(prime, Path(scratch)), ""])
    if arguments.output:
        arguments.output.write_text(text)
    else:
        print(text)


def measure(prime: Path, scratch: Path) -> Iterator[str]:
    """Yield the table as Markdown, and the figures asked for."""
    later = scratch / "later"
    change(prime, later)
    packs = {}
    compared = []
    for codec in CODECS:
        images = []
        for build in (prime, later):
            note(NAME, f"packing {build.name} with {codec}")
            image = scratch / f"{build.name}.{codec}.snap"
            packs[image] = pack(build, image, codec)
            images.append(image)
        note(NAME, f"diff with {codec}")
        compared.append(
            Compared(
                codec=codec,
                image_bytes=images[0].stat().st_size,
                diff=diff(*images),
            )
        )
    first = scratch / f"{prime.name}.xz.snap"
    note(NAME, "packing again")
    yield from report(packs[first], compared, repack(first, scratch))


def change(prime: Path, later: Path) -> None:
    """Make the second build; files that don't change are linked to the first's."""
    shutil.copytree(prime, later, symlinks=True, copy_function=os.link)
    files = sorted(path for path in later.rglob("*") if path.is_file())
    libraries = [
        path
        for path in files
        if ".so" in path.name
        and not path.is_symlink()
        and path.stat().st_size > LEAST_CHANGED_BYTES
    ]
    for path in libraries[::CHANGED_EVERY]:
        contents, mode = path.read_bytes(), path.stat().st_mode
        middle = len(contents) // 2
        path.unlink()
        path.write_bytes(contents[:middle] + b"another build" + contents[middle:])
        path.chmod(mode)
    for path in [path for path in files if path.suffix == ".png"][::REMOVED_EVERY]:
        path.unlink()


def diff(old: Path, new: Path) -> Measured:
    """Return the median of some runs, by wall time, the first left out."""
    command = [
        sys.executable, "-m", "snapcraft_compression_advisor", "diff",
        str(old), str(new),
    ]  # fmt: skip
    run_measured(command)
    runs = [run_measured(command) for _ in range(DIFF_RUNS)]
    return sorted(runs, key=lambda run: run.wall_s)[DIFF_RUNS // 2]


def repack(image: Path, scratch: Path) -> Repacked:
    """Unpack and pack an image with the tools, then with ``lint --resquash``."""
    tree = scratch / "unpacked"
    unsquashed = run_measured(
        ["unsquashfs", "-no-progress", "-d", str(tree), str(image)]
    )
    squashed = pack(tree, scratch / "again.snap", "xz")
    shutil.rmtree(tree)
    command = [
        sys.executable, "-m", "snapcraft_compression_advisor", "lint", "--resquash",
        "--select", "SCA5", "--exit-zero", str(image),
    ]  # fmt: skip
    return Repacked(
        unsquashfs=unsquashed, mksquashfs=squashed, resquash=run_measured(command)
    )


def report(
    xz_pack: Measured, compared: Sequence[Compared], repacked: Repacked
) -> Iterator[str]:
    """Yield the page."""
    yield INTRODUCTION
    yield machine()
    yield ""
    yield f"One pack with xz: {xz_pack.wall_s:.1f} s."
    yield ""
    yield "| two snaps with | MB | diff s | CPU s | ÷ xz pack |"
    yield "|---|---|---|---|---|"
    for each in compared:
        yield (
            f"| {each.codec} | {each.image_bytes / 1e6:.0f} | {each.diff.wall_s:.1f} | "
            f"{each.diff.cpu_s:.1f} | {each.diff.wall_s / xz_pack.wall_s:.1%} |"
        )
    yield ""
    yield "| of the snap with xz | s |"
    yield "|---|---|"
    yield f"| unsquashfs | {repacked.unsquashfs.wall_s:.1f} |"
    yield f"| mksquashfs | {repacked.mksquashfs.wall_s:.1f} |"
    yield f"| lint --resquash | {repacked.resquash.wall_s:.1f} |"
    yield ""
    share = max(each.diff.wall_s for each in compared) / xz_pack.wall_s
    yield _line("diff ÷ one xz pack, at most", f"{share:.1%}", DIFF_LIMIT_SHARE, share)
    ratio = repacked.ratio
    yield _line("--resquash ÷ tools", f"{ratio:.2f}", RESQUASH_LIMIT, ratio)


def _line(what: str, value_text: str, limit: float, value: float) -> str:
    reached = "reached" if value <= limit else "missed"
    return f"- {what}: {value_text} (aim: {limit:g}, {reached})"


if __name__ == "__main__":
    main()

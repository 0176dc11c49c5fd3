#!/usr/bin/env python3
"""Time the sampled advice against packing, and check its sizes and intervals.

For each payload, in one run on one machine, the script measures the advice (the median
of three); the image packed with every codec by mksquashfs as ``snap pack`` calls it;
and the advice on the snap packed with lzo. With the true size of every block from these
images, it counts how often the interval holds over many draws. Two payloads together,
and an eighth of their files, show how time and memory grow.

usage: trial.py [--primes DIR] [--cache DIR] [--seeds N] [-o FILE] [NAME…]
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from unittest.mock import patch

import numpy as np

from measured_process import Measured, keep_bytecode, run_measured
from page_parts import replace_part
from snapcraft_compression_advisor.codecs import CODECS
from snapcraft_compression_advisor.payload.layout import lay_out
from snapcraft_compression_advisor.payload.scan import exclude_file_text
from snapcraft_compression_advisor.payload.source import open_payload
from snapcraft_compression_advisor.squashfs import mksquashfs
from snapcraft_compression_advisor.squashfs.image import Image
from snapcraft_compression_advisor.trial import census
from snapcraft_compression_advisor.trial.census import Ladder
from snapcraft_compression_advisor.trial.estimate import estimate_total
from snapcraft_compression_advisor.trial.look import look_at_blocks

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from snapcraft_compression_advisor.payload.layout import Layout
    from snapcraft_compression_advisor.payload.source import Payload
    from snapcraft_compression_advisor.trial.look import CloserLook, QuickLook

PAYLOADS = {
    "cli": ["jq"],
    "python-app": [
        "python3-numpy", "python3-matplotlib", "python3-scipy", "python3-tk",
    ],
    "browser": ["chromium"],
    "office": ["libreoffice-calc", "libreoffice-writer"],
    "game": ["supertuxkart"],
}  # fmt: skip
COMMANDS = {
    "browser": ("usr/bin/chromium", "--no-sandbox"),  # as root, it wants that
    "office": ("usr/bin/soffice", "--calc"),
    "game": ("usr/games/supertuxkart",),
}
"""Those that have windows, and how they are started."""
ADVICE_RUNS = 3
LARGE_PAYLOAD_BYTES = 500_000_000
LARGE_SNAP_BYTES = 250_000_000
ONE_IN = 8
PAIR = ("browser", "office")
STUDY = Path(__file__).parents[1] / "study"

INTRODUCTION = """\
The payloads are five applications from Debian 12 with their dependencies, without the
files that the base snap supplies: jq (cli), NumPy, SciPy and Matplotlib with Tk
(python-app), Chromium (browser), LibreOffice Calc and Writer (office), SuperTuxKart
(game). The three with windows start from these directories, which a test tries; here
they are only sized. The page is made by

    .venv/bin/python benchmarks/trial.py -o docs/study/trial-benchmark.md

The script builds the payloads (`study/prime_from_debs.py`), packs each six times with
mksquashfs as `snap pack` calls it, and compares. The time of the advice is that of the
whole command `compression-advisor advise` (its JSON would also have lint's findings).
It is the median of three runs after one that isn't counted, so the files are in the
page cache, as after a build.

The table of sizes has for each codec the error of the image's size, the half width of
its [interval](../glossary.md#interval), and the number of draws, of 20, in which the
interval of the [data blocks](../glossary.md#data-block) held the true size. The
product's own code draws and estimates the blocks. It starts with the number of
blocks of every [trial](../glossary.md#trial), and each draw takes other blocks.

Times differ from machine to machine and from run to run. The ratios are what matters.
"""


@dataclass(frozen=True, kw_only=True)
class Row:
    """What was measured of one payload."""

    name: str
    raw_bytes: int
    advice: Measured
    packs: Mapping[str, Measured]
    snap_bytes: int
    snap_advice: Measured
    errors: Mapping[str, float]
    half_widths: Mapping[str, float]
    held: Mapping[str, tuple[int, int]]

    @property
    def all_packs_s(self) -> float:
        """Seconds of all six packs."""
        return sum(pack.wall_s for pack in self.packs.values())


def main() -> None:
    """Measure and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", default=[*PAYLOADS])
    parser.add_argument("--primes", type=Path, default=Path(".cache/primes"))
    parser.add_argument("--cache", type=Path, default=Path(".cache/debs"))
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("-o", "--output", type=Path)
    arguments = parser.parse_args()
    for name in arguments.names:
        build_prime(name, arguments.primes / name, arguments.cache)
    keep_bytecode(arguments.primes / ".bytecode")
    with tempfile.TemporaryDirectory(dir=arguments.primes) as scratch:
        rows = [
            measure(name, arguments.primes / name, Path(scratch), arguments.seeds)
            for name in arguments.names
        ]
        growth = measure_growth(arguments.primes, Path(scratch))
    text = "\n".join(report(rows, growth))
    if arguments.output:
        replace_part(arguments.output, "five", text)
    else:
        print(text)


def build_prime(name: str, prime: Path, cache: Path) -> None:
    """Build a payload from Debian packages, unless it is there."""
    if not prime.is_dir():
        script = str(STUDY / "prime_from_debs.py")
        options = ["--name", name, "--output", str(prime), "--cache", str(cache)]
        if name in COMMANDS:
            options += ["--command", COMMANDS[name][0]]
        subprocess.run([sys.executable, script, *PAYLOADS[name], *options], check=True)


def measure(name: str, prime: Path, scratch: Path, seeds: int) -> Row:
    """Measure one payload."""
    note(name, "advice")
    report_file = scratch / f"{name}.json"
    advice = advise(prime, report_file)
    said = json.loads(report_file.read_text())["trial"]["codecs"]
    images = {}
    packs = {}
    for codec in CODECS:
        note(name, f"packing with {codec}")
        images[codec] = scratch / f"{name}.{codec}"
        packs[codec] = pack(prime, images[codec], codec)
    note(name, "advice on the snap")
    snap_advice = advise(images["lzo"], scratch / "snap.json")
    true_bytes = {codec: image.stat().st_size for codec, image in images.items()}
    sizes = {codec: each["image_bytes"] for codec, each in said.items()}
    note(name, f"{seeds} draws")
    row = Row(
        name=name,
        raw_bytes=json.loads(report_file.read_text())["payload"]["raw_bytes"],
        advice=advice,
        packs=packs,
        snap_bytes=true_bytes["lzo"],
        snap_advice=snap_advice,
        errors={c: sizes[c]["mid"] / true_bytes[c] - 1 for c in sizes},
        half_widths={
            c: (sizes[c]["high"] - sizes[c]["low"]) / 2 / sizes[c]["mid"] for c in sizes
        },
        held=intervals_held(prime, images, seeds),
    )
    for image in images.values():
        image.unlink()
    return row


def advise(path: Path, report_file: Path) -> Measured:
    """Return the median of some runs of the advice, by wall time.

    One before them isn't counted: it writes the sizes to a file, and has Python and the
    payload read from the disk.
    """
    command = [
        sys.executable, "-m", "snapcraft_compression_advisor", "advise", str(path),
    ]  # fmt: skip
    run_measured([*command, "--format", "json", "--output", str(report_file)])
    runs = [run_measured(command) for _ in range(ADVICE_RUNS)]
    return sorted(runs, key=lambda run: run.wall_s)[ADVICE_RUNS // 2]


def pack(prime: Path, image: Path, codec: str) -> Measured:
    """Pack as ``snap pack`` does, measured."""
    exclude_file = image.with_suffix(".excludes")
    exclude_file.write_text(exclude_file_text())
    command = [
        "mksquashfs", ".", str(image.absolute()), *mksquashfs.pack_options(codec),
        "-wildcards", "-ef", str(exclude_file.absolute()),
        *mksquashfs.owner_options("app"),
    ]  # fmt: skip
    return run_measured(command, cwd=prime)


def intervals_held(
    prime: Path, images: Mapping[str, Path], seeds: int
) -> dict[str, tuple[int, int]]:
    """Return for each codec in how many draws the interval held the true total.

    The draws and estimates are the product's own; only the blocks' sizes come from the
    images rather than from compressing them again.
    """
    with (
        open_payload(prime) as payload,
        patch.object(census, "look_at_blocks", Remembered()),
    ):
        layout = lay_out(payload)
        ladders = []
        for seed in range(seeds):
            ladder = Ladder(payload, layout, seed=seed)
            ladder.climb(scale=1)
            ladders.append(ladder)
    held = {}
    blocks = [layout.block(number) for number in range(layout.block_count)]
    for codec, image in images.items():
        if codec == "none":
            continue
        stored = dict(stored_sizes(image))
        true = np.array([stored[b.path, b.offset] for b in blocks], dtype=np.float64)
        hits = sum(holds(ladder, codec, true) for ladder in ladders)
        held[codec] = (hits, seeds)
    return held


class Remembered:
    """Looks at each block once, however many draws take it."""

    def __init__(self) -> None:
        self._rows: dict[tuple[type, int], NDArray[np.float64]] = {}

    def __call__(
        self,
        payload: Payload,
        layout: Layout,
        numbers: NDArray[np.int64],
        look: QuickLook | CloserLook,
    ) -> NDArray[np.float64]:
        """See :func:`look_at_blocks`."""
        keys = [(type(look), number) for number in numbers.tolist()]
        new = np.array([n for kind, n in keys if (kind, n) not in self._rows], np.int64)
        rows = look_at_blocks(payload, layout, new, look)
        self._rows.update(
            zip(((type(look), n) for n in new.tolist()), rows, strict=True)
        )
        found = np.array([self._rows[key] for key in keys], dtype=np.float64)
        return found.reshape(len(numbers), look.columns)


def holds(ladder: Ladder, codec: str, true: NDArray[np.float64]) -> bool:
    """Return whether the interval of one draw holds the sum of all blocks' sizes."""
    stored = true[ladder.sample.members]
    model = ladder.models.get(codec)
    found = estimate_total(ladder.phases, ladder.sample, stored, model)
    error = abs(found.total_bytes - float(true.sum()))
    return round(error) <= found.half_width_bytes


def tree_digest(tree: Path) -> str:
    """Return a digest of a directory's files; reading them puts them into the cache."""
    digest = hashlib.blake2b(digest_size=12)
    for path in sorted(tree.rglob("*")):
        digest.update(f"{path.relative_to(tree)}\0".encode(errors="surrogateescape"))
        if path.is_symlink():
            digest.update(os.fsencode(path.readlink()))
        elif path.is_file():
            with path.open("rb") as file:
                while part := file.read(1 << 20):
                    digest.update(part)
    return digest.hexdigest()


def stored_sizes(path: Path) -> Iterator[tuple[tuple[str, int], int]]:
    """Yield the stored size of every block of an image by file and offset."""
    with Image.open(path) as image:
        for entry in image.walk():
            offset = 0
            for block in entry.blocks or ():
                yield (entry.path, offset), block.stored_bytes
                offset += block.raw_bytes


def measure_growth(primes: Path, scratch: Path) -> tuple[Measured, Measured, int]:
    """Measure two payloads as one, and an eighth of the files of both."""
    if not all((primes / name).is_dir() for name in PAIR):
        nothing = Measured(wall_s=1.0, cpu_s=0.0, peak_bytes=0)
        return nothing, nothing, 0
    whole, part = scratch / "whole", scratch / "part"
    files = sorted(
        (path.stat().st_size, name, path)
        for name in PAIR
        for path in (primes / name).rglob("*")
        if path.is_file() and not path.is_symlink()
    )
    for number, (_, name, path) in enumerate(files):
        place = Path(name) / path.relative_to(primes / name)
        chosen = number % ONE_IN == ONE_IN // 2
        for root in (whole, part) if chosen else (whole,):
            (root / place).parent.mkdir(parents=True, exist_ok=True)
            os.link(path, root / place)
    for root in (whole, part):
        (root / "meta").mkdir()
        (root / "meta/snap.yaml").write_text("name: pair\nversion: '1'\nbase: core24\n")
    note("pair", "advice on both and on an eighth")
    total = sum({path.stat().st_ino: size for size, _, path in files}.values())
    return advise(whole, scratch / "w.json"), advise(part, scratch / "p.json"), total


def report(
    rows: Sequence[Row], growth: tuple[Measured, Measured, int]
) -> Iterator[str]:
    """Yield the tables as Markdown."""
    yield INTRODUCTION
    yield machine()
    yield ""
    yield "| payload | MB | advice s | CPU s | peak MB | xz pack s | ÷ xz pack |"
    yield "|---|---|---|---|---|---|---|"
    for row in rows:
        xz_s = row.packs["xz"].wall_s
        yield (
            f"| {row.name} | {row.raw_bytes / 1e6:.0f} | {row.advice.wall_s:.1f} | "
            f"{row.advice.cpu_s:.1f} | {row.advice.peak_bytes / 1e6:.0f} | "
            f"{xz_s:.1f} | {row.advice.wall_s / xz_s:.1%} |"
        )
    yield ""
    yield "| payload | six packs s | ÷ six packs | snap MB | advice s | ÷ xz pack |"
    yield "|---|---|---|---|---|---|"
    for row in rows:
        yield (
            f"| {row.name} | {row.all_packs_s:.1f} | "
            f"{row.advice.wall_s / row.all_packs_s:.1%} | {row.snap_bytes / 1e6:.0f} | "
            f"{row.snap_advice.wall_s:.1f} | "
            f"{row.snap_advice.wall_s / row.packs['xz'].wall_s:.1%} |"
        )
    yield ""
    yield from size_table(rows)
    yield ""
    yield from summary(rows, growth)


def size_table(rows: Sequence[Row]) -> Iterator[str]:
    """Yield errors of sizes, half widths, and how often the interval held."""
    codecs = [codec for codec in CODECS if codec != "none"]
    yield "| payload | " + " | ".join(codecs) + " |"
    yield "|---" * (len(codecs) + 1) + "|"
    for row in rows:
        cells = (
            f"{row.errors[c]:+.2%} ±{row.half_widths[c]:.2%}, "
            f"{row.held[c][0]}/{row.held[c][1]}"
            for c in codecs
        )
        yield f"| {row.name} | " + " | ".join(cells) + " |"


def summary(
    rows: Sequence[Row], growth: tuple[Measured, Measured, int]
) -> Iterator[str]:
    """Yield the figures asked for."""
    large = [row for row in rows if row.raw_bytes >= LARGE_PAYLOAD_BYTES]
    snaps = [row for row in rows if row.snap_bytes >= LARGE_SNAP_BYTES]
    hits = sum(hit for row in rows for hit, _ in row.held.values())
    draws = sum(count for row in rows for _, count in row.held.values())
    shippable = [abs(row.errors[c]) for row in rows for c in ("xz", "lzo")]
    other = [abs(row.errors[c]) for row in rows for c in ("gzip", "zstd", "lz4")]
    whole, part, pair_bytes = growth
    if large:
        ratio = statistics.median(r.advice.wall_s / r.packs["xz"].wall_s for r in large)
        yield f"- advice ÷ one xz pack, median at 500 MB and more: {ratio:.1%}"
    ratio = statistics.median(r.advice.wall_s / r.all_packs_s for r in rows)
    yield f"- advice ÷ all six packs, median: {ratio:.1%}"
    yield f"- largest size error, xz and lzo: {max(shippable):.2%}"
    yield f"- largest size error, gzip, zstd and lz4: {max(other):.2%}"
    yield f"- truth inside the 95 % interval: {hits} of {draws} ({hits / draws:.1%})"
    for row in snaps:
        share = row.snap_advice.wall_s / row.packs["xz"].wall_s
        yield f"- advice on the snap of {row.name} ÷ one xz pack: {share:.1%}"
    if pair_bytes:
        yield (
            f"- peak memory at {pair_bytes / 1e9:.2f} GB of payload: "
            f"{whole.peak_bytes / 1e6:.0f} MB"
        )
        yield f"- payload x 8: time x {whole.wall_s / part.wall_s:.2f}"


def machine() -> str:
    """Return what the figures were measured on and with, in a sentence."""
    return (
        f"{_processor()}, {os.cpu_count()} processors, {platform.machine()}, Python "
        f"{platform.python_version()}, mksquashfs {mksquashfs.mksquashfs_version()}."
    )


def _processor() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return "processor of unknown name"


def note(name: str, text: str) -> None:
    """Say what is being measured."""
    sys.stderr.write(f"{name}: {text}\n")


if __name__ == "__main__":
    main()

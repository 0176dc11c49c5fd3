#!/usr/bin/env python3
"""Measure the advisor on payloads that a lot has drawn, and write the page's part.

The lot is drawn from the applications of ``study/data/drawn.csv`` whose launches were
recorded, by a seed: so many of each size (:data:`CLASSES`), and so many of the blind
set, of which nothing but the name is used. ``study/prime_from_debs.py`` builds them
from this machine's Debian release, so those that it hasn't aren't drawn.

Every payload is packed with xz and lzo as ``snap pack`` calls mksquashfs; then advice
and lint run on it and on the snap with xz. Results stay in the folder WORK (some 3 GB),
so the script goes on where it was stopped, and packs nothing twice: packs are kept by
the digest of the payload's files, advice and lint by that and the advisor's code.

usage: drawn.py [--seed TEXT] --work WORK [--cache DIR] [--minutes N] [-o PAGE] [NAME…]
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from added_time import ADVICE
from lint import LINT_RUNS
from measured_process import Measured, keep_bytecode, run_measured
from page_parts import replace_part
from snapcraft_compression_advisor.core.result_store import VARIABLE
from trial import ADVICE_RUNS, STUDY, intervals_held, machine, note, pack, tree_digest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    Row = Mapping[str, float]
    Limits = tuple[float, float]

sys.path.insert(0, str(STUDY))
from snap_metadata import snap_name

PACKAGE = Path(__file__).parents[1] / "snapcraft_compression_advisor"
LOT = STUDY / "data" / "drawn.csv"
MB = 1e6
CLASSES = {(400 * MB, 1300 * MB): 4, (120 * MB, 400 * MB): 3, (50 * MB, 120 * MB): 3}
"""Bytes of a payload, from and below, and how many are drawn of such."""
BLIND = 3
"""How many of them are of the blind set, at most."""
LEAST_SHARE = 0.75
"""Of the processors' time, what packing has on a machine that does nothing else; with
less, its seconds are no measure, and the next run packs it again."""
SEEDS = 20
CODECS = ("xz", "lzo")
RATIOS = (
    ("advice ÷ xz pack", "advice_s", "xz_pack_s", "raw_bytes", 400 * MB),
    ("advice on a snap ÷ xz pack", "snap_advice_s", "xz_pack_s", "xz_bytes", 120 * MB),
    (
        "advice again, with kept results ÷ xz pack",
        *("again_s", "xz_pack_s", "raw_bytes", 400 * MB),
    ),
    ("lint of a snap ÷ xz pack", "snap_lint_s", "xz_pack_s", "xz_bytes", 120 * MB),
    (
        "added to a pack with xz, processor time",
        *("added_cpu_s", "xz_pack_cpu_s", "raw_bytes", 100 * MB),
    ),
)
"""Figures: what is divided by what, and which size is at least how large."""


def main() -> None:
    """Measure what isn't measured yet, and print or write the part."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help="only these of the lot"
    )
    parser.add_argument("--seed", default="0.1.0", help="the release's version")
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--cache", type=Path, default=Path(".cache/debs"))
    parser.add_argument("--minutes", type=float, default=float("inf"))
    parser.add_argument("-o", "--output", type=Path, metavar="PAGE")
    arguments = parser.parse_args()
    keep_bytecode(arguments.work / "bytecode")
    end = time.monotonic() + 60 * arguments.minutes
    drawn = draw(arguments)
    rows = {}
    for name, tree in drawn.items():
        if time.monotonic() < end and name in (arguments.names or drawn):
            rows[name] = measure(name, tree, arguments.work)
    text = "\n".join(report(rows, drawn, arguments.seed))
    if arguments.output:
        replace_part(arguments.output, "drawn", text)
    else:
        print(text)


def draw(arguments: argparse.Namespace) -> dict[str, Path]:
    """Return the payloads of the lot; it is kept, since it takes long."""
    kept = arguments.work / f"lot-{arguments.seed}.json"
    if not kept.exists():
        lot = draw_anew(arguments)
        write_json(kept, {name: str(tree) for name, tree in lot.items()})
    return {name: Path(tree) for name, tree in json.loads(kept.read_text()).items()}


def draw_anew(arguments: argparse.Namespace) -> dict[str, Path]:
    """Draw the lot: applications in a random order, as long as their size is wanted.

    At most :data:`BLIND` of the blind set are drawn, before the others.
    """
    with LOT.open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["outcome"] == "recorded"]
    lot = random.Random(f"benchmark {arguments.seed}")  # noqa: S311 # no secret
    lot.shuffle(rows)
    left = dict(CLASSES)
    drawn: dict[str, Path] = {}
    for row in sorted(rows, key=lambda row: row["set"] != "blind"):
        full = row["set"] == "blind" and len(drawn) == BLIND
        if any(left.values()) and not full:
            name = snap_name(row["package"])
            prime = arguments.work / "primes" / name
            limits = take(row["package"], prime, left, arguments)
            if limits:
                left[limits] -= 1
                drawn[name] = prime.resolve()
    if any(left.values()):
        sys.exit("This machine's release has too few: run 'apt-get update' as root.")
    return drawn


def take(
    package: str, prime: Path, left: Mapping[Limits, int], arguments: argparse.Namespace
) -> Limits | None:
    """Have a payload's tree where one of its size is wanted, and nowhere else.

    Sizes are kept, so none is built again only to be deleted.
    """
    file = arguments.work / "sizes.json"
    sizes = json.loads(file.read_text()) if file.exists() else {}
    limits = wanted(sizes.get(package, 0), left)
    if package not in sizes or (limits and not prime.is_dir()):
        if not prime.is_dir() and not build(package, prime, arguments.cache):
            return None
        size = tree_bytes(prime)
        limits = wanted(size, left)
        note(package, f"{size / MB:.0f} MB, {'drawn' if limits else 'not wanted'}")
        if limits is None:
            delete(prime)
        write_json(file, {**sizes, package: size})
    return limits


def delete(prime: Path) -> None:
    """Delete a tree; one that is deleted in part, as by a signal, has another place."""
    scratch = Path(tempfile.mkdtemp(prefix=".", dir=prime.parent))
    prime.rename(scratch / "prime")
    shutil.rmtree(scratch)


def wanted(size: float, left: Mapping[Limits, int]) -> Limits | None:
    """Return the class of a size, if one of it is still wanted."""
    found = (limits for limits, count in left.items() if count)
    return next((limits for limits in found if limits[0] <= size < limits[1]), None)


def build(package: str, prime: Path, cache: Path) -> bool:
    """Build a payload; return whether this machine's release has all its packages.

    :raises SystemExit: if it can't be built for another reason, as without a network;
        the lot would be another one without it.
    """
    command = [sys.executable, str(STUDY / "prime_from_debs.py"), package]
    options = ["--output", str(prime), "--cache", str(cache)]
    note(package, "building")
    if subprocess.run([*command, *options], check=False).returncode == 0:
        return True
    resolving = [*command, "--print-packages"]
    if subprocess.run(resolving, check=False, stdout=subprocess.DEVNULL).returncode:
        note(package, "not in this release")
        return False
    sys.exit(f"{package} couldn't be built, so the draw stops. Start it again.")


def tree_bytes(tree: Path) -> int:
    """Return the length of a directory's files, hard links counted once."""
    found = (
        path.lstat()
        for path in tree.rglob("*")
        if path.is_file() and not path.is_symlink()
    )
    return sum({status.st_ino: status.st_size for status in found}.values())


def measure(name: str, tree: Path, work: Path) -> Row:
    """Return what was measured of a payload, now or before."""
    note(name, "reading")
    digest = tree_digest(tree)
    packs = {}
    for codec in CODECS:
        image = work / "packs" / f"{digest}.{codec}"
        file = Path(f"{image}.json")
        if file.exists() and was_busy(json.loads(file.read_text())):
            file.unlink()
        packs[codec] = kept(file, partial(pack_once, name, tree, image, codec))
    state = f"{digest}-{code_digest()}"
    return kept(
        work / "rows" / f"{state}.json",
        partial(measure_advisor, name, tree, work / "packs" / digest, packs),
    )


def was_busy(pack: Row) -> bool:
    """Tell whether other programs took part of the machine while it was packed."""
    return pack["cpu_s"] < LEAST_SHARE * pack["wall_s"] * len(os.sched_getaffinity(0))


def kept(file: Path, make: Callable[[], Row]) -> Row:
    """Return what a file holds, made where it isn't there."""
    if not file.exists():
        write_json(file, make())
    row: Row = json.loads(file.read_text())
    return row


def write_json(file: Path, content: object) -> None:
    """Write a file, whole or not at all."""
    file.parent.mkdir(parents=True, exist_ok=True)
    part = file.with_suffix(".part")
    part.write_text(json.dumps(content))
    part.replace(file)


def pack_once(name: str, tree: Path, image: Path, codec: str) -> Row:
    """Pack a payload and keep the image."""
    note(name, f"packing with {codec}")
    image.parent.mkdir(parents=True, exist_ok=True)
    image.unlink(missing_ok=True)
    return {**asdict(pack(tree, image, codec)), "image_bytes": image.stat().st_size}


def measure_advisor(
    name: str, tree: Path, images: Path, packs: Mapping[str, Row]
) -> Row:
    """Run advice and lint on a payload and on the snap with xz."""
    image = images.with_name(f"{images.name}.xz")
    report_file = images.with_suffix(".report")
    command = [sys.executable, "-m", "snapcraft_compression_advisor"]
    advise, lint = [*command, "advise"], [*command, "lint", "--exit-zero"]
    results = images.with_suffix(".results")
    again = ["env", f"{VARIABLE}={results}", *advise]
    row: dict[str, float] = {"raw_bytes": tree_bytes(tree)}
    row |= {f"{codec}_pack_s": packs[codec]["wall_s"] for codec in CODECS}
    row |= {f"{codec}_pack_cpu_s": packs[codec]["cpu_s"] for codec in CODECS}
    row |= {f"{codec}_bytes": packs[codec]["image_bytes"] for codec in CODECS}
    runs = {
        "advice": ([*advise, str(tree)], ADVICE_RUNS),
        "again": ([*again, str(tree)], ADVICE_RUNS),
        "snap_advice": ([*advise, str(image)], ADVICE_RUNS),
        "snap_again": ([*again, str(image)], ADVICE_RUNS),
        "lint": ([*lint, str(tree)], LINT_RUNS),
        "snap_lint": ([*lint, str(image)], LINT_RUNS),
        "added": (
            [sys.executable, "-c", ADVICE, str(tree), str(images.parent)],
            ADVICE_RUNS,
        ),
    }
    for what, (words, count) in runs.items():
        note(name, what.replace("_", " of the "))
        measured = median_run(words, count)
        row |= {f"{what}_s": measured.wall_s, f"{what}_cpu_s": measured.cpu_s}
        row |= {f"{what}_peak_bytes": measured.peak_bytes}
    shutil.rmtree(results)
    run_measured([*advise, str(tree), "--format", "json", "--output", str(report_file)])
    said = json.loads(report_file.read_text())["trial"]["codecs"]
    report_file.unlink()
    note(name, f"{SEEDS} draws")
    held = intervals_held(
        tree, {codec: images.with_name(f"{images.name}.{codec}") for codec in CODECS},
        SEEDS,
    )  # fmt: skip
    for codec in CODECS:
        size = said[codec]["image_bytes"]
        row[f"{codec}_error"] = size["mid"] / packs[codec]["image_bytes"] - 1
        row[f"{codec}_half_width"] = (size["high"] - size["low"]) / 2 / size["mid"]
        row[f"{codec}_held"], row[f"{codec}_draws"] = held[codec]
    return row


def median_run(command: Sequence[str], count: int) -> Measured:
    """Return the median of some runs by wall time, after one that isn't counted."""
    run_measured(command)
    runs = [run_measured(command) for _ in range(count)]
    return sorted(runs, key=lambda run: run.wall_s)[count // 2]


def code_digest() -> str:
    """Return a digest of the advisor's code and data."""
    digest = hashlib.blake2b(digest_size=8)
    for path in sorted(PACKAGE.rglob("*")):
        if path.suffix in (".py", ".json", ".yaml"):
            digest.update(path.read_bytes())
    return digest.hexdigest()


def report(
    rows: Mapping[str, Row], drawn: Mapping[str, Path], seed: str
) -> Iterator[str]:
    """Yield the part of the page."""
    yield f"Lot of seed {seed!r}: {', '.join(drawn)}. {machine()}"
    lacking = [name for name in drawn if name not in rows]
    if lacking:
        yield f"Not measured in this run: {', '.join(lacking)}."
    yield ""
    yield (
        "| payload | MB | xz pack s | advice s | CPU s | peak MB | ÷ xz pack | "
        "again ÷ | snap MB | snap advice ÷ | again ÷ | snap lint ÷ | lint ÷ | "
        "added CPU ÷ | xz | lzo |"
    )
    yield "|---" * 16 + "|"
    for name, row in sorted(rows.items(), key=lambda item: -item[1]["raw_bytes"]):
        yield table_row(name, row)
    yield ""
    yield from figures([*rows.values()])


def table_row(name: str, row: Row) -> str:
    """Return one payload's row."""
    xz_s = row["xz_pack_s"]
    cells = [
        name,
        f"{row['raw_bytes'] / MB:.0f}",
        f"{xz_s:.1f}",
        f"{row['advice_s']:.1f}",
        f"{row['advice_cpu_s']:.1f}",
        f"{row['advice_peak_bytes'] / MB:.0f}",
        f"{row['advice_s'] / xz_s:.1%}",
        f"{row['again_s'] / xz_s:.1%}",
        f"{row['xz_bytes'] / MB:.0f}",
        *(
            f"{row[f'{what}_s'] / xz_s:.1%}"
            for what in ("snap_advice", "snap_again", "snap_lint", "lint")
        ),
        f"{row['added_cpu_s'] / row['xz_pack_cpu_s']:.1%}",
        *(
            f"{row[f'{c}_error']:+.2%} ±{row[f'{c}_half_width']:.2%}, "
            f"{row[f'{c}_held']:.0f}/{row[f'{c}_draws']:.0f}"
            for c in CODECS
        ),
    ]
    return f"| {' | '.join(cells)} |"


def figures(rows: Sequence[Row]) -> Iterator[str]:
    """Yield medians and worst cases."""
    for text, part, whole, size, least in RATIOS:
        found = [row[part] / row[whole] for row in rows if row[size] >= least]
        if found:
            middle, most = statistics.median(found), max(found)
            yield (
                f"- {text}, {least / MB:.0f} MB and more: median {middle:.1%}, "
                f"worst {most:.1%} of {len(found)}"
            )
    if rows:
        errors = [abs(row[f"{codec}_error"]) for row in rows for codec in CODECS]
        held = sum(row[f"{codec}_held"] for row in rows for codec in CODECS)
        draws = sum(row[f"{codec}_draws"] for row in rows for codec in CODECS)
        peak = max(row["advice_peak_bytes"] for row in rows)
        yield (
            f"- size error, xz and lzo: median {statistics.median(errors):.2%}, worst "
            f"{max(errors):.2%}"
        )
        yield (
            f"- truth inside the 95 % interval: {held:.0f} of {draws:.0f} "
            f"({held / draws:.1%})"
        )
        yield f"- peak memory: {peak / MB:.0f} MB"


if __name__ == "__main__":
    os.umask(0o022)
    main()

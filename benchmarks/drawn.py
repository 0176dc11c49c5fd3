#!/usr/bin/env python3
"""Measure the advisor on payloads that a lot has drawn, and write the page's part.

Every payload is packed with xz and lzo as ``snap pack`` calls mksquashfs; then advice
and lint run on it and on the snap with xz. Results stay in the folder WORK (some 3 GB),
so the script goes on where it was stopped, and packs nothing twice: packs are kept by
the digest of the payload's files, advice and lint by that and the advisor's code.

usage: drawn.py [--seed TEXT] --work WORK [--cache DIR] [--minutes N] [-o PAGE] [NAME…]
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import sys
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from debian_payloads import ADVICE_RUNS, machine, note, tree_digest
from drawn_sizes import CODECS, measure_sizes, size_cells, size_figures
from lint import LINT_RUNS
from lot import MB, code_digest, draw, kept, pack_once, tree_bytes
from measured_process import Measured, keep_bytecode, run_measured
from page_parts import replace_part
from snapcraft_compression_advisor.core.files import VARIABLE

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from lot import Row

HOST = "import craft_application, craft_cli, craft_parts"
"""What snapcraft has loaded before it packs."""

ADVICE = f"""
{HOST}
import sys
from pathlib import Path
from craft_cli import EmitterMode, emit
from snapcraft_compression_advisor_plugin import without_collector

with without_collector():
    from snapcraft_compression_advisor.host.advisor import Advisor
    from snapcraft_compression_advisor.host.decision import Artifact
    from snapcraft_compression_advisor.lint.rules import ALL_RULES
    from snapcraft_compression_advisor.lint.run import run_rules
    from snapcraft_compression_advisor.lint.run import make_selection

prime, project = map(Path, sys.argv[1:])
emit.init(EmitterMode.QUIET, "added-time", "added-time", log_filepath=project / "log")
advisor = Advisor(project_dir=project)
artifact = Artifact(prime_dir=prime, compression="xz")
advisor.before_pack(artifact)
context = advisor.context(artifact)
run_rules(context, ALL_RULES, make_selection(context.settings))
emit.ended_ok()
"""
"""The advice with the linter's findings, as inside snapcraft, which is loaded first:
what that takes by itself isn't added to a pack, so it's subtracted."""

LEAST_SHARE = 0.75
"""Of the processors' time, what packing has on a machine that does nothing else; with
less, its seconds are no measure, and the next run packs it again."""
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
    """Return whether other programs took part of the machine while it was packed."""
    return pack["cpu_s"] < LEAST_SHARE * pack["wall_s"] * len(os.sched_getaffinity(0))


def measure_advisor(
    name: str, tree: Path, images: Path, packs: Mapping[str, Row]
) -> Row:
    """Run advice and lint on a payload and on the snap with xz."""
    image = images.with_name(f"{images.name}.xz")
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
        "host": ([sys.executable, "-c", HOST], ADVICE_RUNS),
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
    row["added_cpu_s"] -= row["host_cpu_s"]
    return row | measure_sizes(name, tree, images, packs)


def median_run(command: Sequence[str], count: int) -> Measured:
    """Return the median of some runs by wall time, after one that isn't counted."""
    run_measured(command)
    runs = [run_measured(command) for _ in range(count)]
    return sorted(runs, key=lambda run: run.wall_s)[count // 2]


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
        *size_cells(row),
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
        yield from size_figures(rows)
        peak = max(row["advice_peak_bytes"] for row in rows)
        yield f"- peak memory: {peak / MB:.0f} MB"


if __name__ == "__main__":
    os.umask(0o022)
    main()

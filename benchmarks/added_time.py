#!/usr/bin/env python3
"""Time what the advisor adds to a pack, against the pack itself.

usage: added_time.py PRIME… [--runs N]

For each prime directory, the script runs in turns the advice with the linter's
findings, as inside snapcraft but in a process of its own with its imports, and the pack
with xz as ``snap pack`` runs it. It reads all files once before, so neither waits for
storage. It prints a table in Markdown: medians, minima and maxima.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from snapcraft_compression_advisor.core.units import format_bytes

ADVICE = """
import sys
from pathlib import Path
from craft_cli import EmitterMode, emit
from snapcraft_compression_advisor.host.advisor import Advisor
from snapcraft_compression_advisor.host.artifact import Artifact
from snapcraft_compression_advisor.lint.all_rules import ALL_RULES
from snapcraft_compression_advisor.lint.run import run_rules
from snapcraft_compression_advisor.lint.run import make_selection

prime, project = map(Path, sys.argv[1:])
emit.init(EmitterMode.QUIET, "added-time", "added-time", log_filepath=project / "log")
advisor = Advisor(find_project_dir=lambda: project, find_parts=dict)
artifact = Artifact(prime_dir=prime, compression="xz")
advisor.before_pack(artifact)
context = advisor.context(artifact)
run_rules(context, ALL_RULES, make_selection(context.policy))
emit.ended_ok()
"""


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("primes", metavar="PRIME", nargs="+", type=Path)
    parser.add_argument("--runs", type=int, default=3)
    arguments = parser.parse_args()
    print("| payload | size | advice and lint, s | xz pack, s | added |")
    print("|---|---|---|---|---|")
    for prime in arguments.primes:
        print(_row(prime.resolve(), arguments.runs), flush=True)


def _row(prime: Path, runs: int) -> str:
    size = _read_all(prime)
    advice, packs = [], []
    with tempfile.TemporaryDirectory() as scratch:
        for _ in range(runs):
            advice.append(_timed([sys.executable, "-c", ADVICE, str(prime), scratch]))
            packs.append(_timed(_pack_command(prime, Path(scratch) / "xz.snap")))
    share = statistics.median(advice) / statistics.median(packs)
    name = prime.parent.name if prime.name == "prime" else prime.name
    cells = (name, format_bytes(size), _spread(advice), _spread(packs))
    return f"| {' | '.join(cells)} | {share:.1%} |"


def _pack_command(prime: Path, image: Path) -> list[str]:
    return [
        *("mksquashfs", str(prime), str(image), "-noappend", "-comp", "xz"),
        *("-no-fragments", "-no-progress", "-all-root", "-no-xattrs"),
    ]


def _timed(command: list[str]) -> float:
    start = time.monotonic()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.monotonic() - start


def _read_all(prime: Path) -> int:
    """Read every file, and return their length together."""
    files = (path for path in prime.rglob("*") if path.is_file())
    return sum(len(path.read_bytes()) for path in files if not path.is_symlink())


def _spread(seconds: list[float]) -> str:
    middle = statistics.median(seconds)
    return f"{middle:.1f} ({min(seconds):.1f} to {max(seconds):.1f})"


if __name__ == "__main__":
    main()

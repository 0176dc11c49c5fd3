#!/usr/bin/env python3
"""Measure whether reading ahead makes launches faster, from memory and a slow disk.

    sudo .venv/bin/python study/prefetch_prove.py PRIME… --read-mb-s 60
    .venv/bin/python study/prefetch_prove.py PRIME… --starts 400
    .venv/bin/python study/prefetch_prove.py --table

For each prime directory (``prime_from_debs.py`` builds them), the script records the
launch of its first app and proves the prefetch as ``compression-advisor prefetch
--prove`` does: without, with, and with a wrong list, in turns drawn by lot. The image
is in memory. With ``--read-mb-s``, the kernel lets the mount read no more than that
from it, by the block I/O controller, as if it were on a disk. It writes

    study/data/prefetch-times.csv   every launch

``--starts`` writes nothing and prints what the program adds to one that does nothing,
with all cached. ``--table`` prints the figures of docs/study/reading-ahead.md from the
table, to which ``prefetch_kernel.py`` adds those of a kernel with several
decompressors.
"""

from __future__ import annotations

import argparse
import csv
import math
import os
import random
import statistics
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from operator import sub
from pathlib import Path

from prime_error import note
from snapcraft_compression_advisor.capture.paired import CONFIDENCE, difference, student
from snapcraft_compression_advisor.capture.payload_copy import payload_copy
from snapcraft_compression_advisor.capture.recordings import Told, recorded_profiles
from snapcraft_compression_advisor.capture.samples import Sample
from snapcraft_compression_advisor.payload.source import open_payload
from snapcraft_compression_advisor.prefetch.plan import plan_prefetch
from snapcraft_compression_advisor.prefetch.program import write_files
from snapcraft_compression_advisor.prefetch.prove import prove_prefetch
from snapcraft_compression_advisor.settings.policy_parts import Recording

TIMES = Path(__file__).parent / "data" / "prefetch-times.csv"
FIELDS = (
    *("application", "codec", "read_mb_s", "kernel", "decompressors", "processors"),
    *("blocks", "raw_bytes", "kind", "state", "round", "wall_s"),
)
BUDGET_BYTES = 100_000_000
_CONTROLLER = Path("/sys/fs/cgroup/blkio")
_GROUP = "prefetch-study"
_LOOP_MAJOR = 7
_MB = 1_000_000
_KINDS = ("without", "with", "wrong")
_LEAST_APPLICATIONS = 3
_MEMORY = Path("/dev/shm")  # noqa: S108 # for images; a private directory
_HEADS = (
    "| Linux | decompressors | application | read from | listed | cold s without | "
    "with | with a wrong list | ms added to a warm launch: median | "
    "95 % of the mean |\n"
    "|---|---|---|---|---|---|---|---|---|---|"
)
_PLACE = (
    *("kernel", "decompressors", "application", "codec", "read_mb_s", "raw_bytes"),
    "processors",
)
TOLD = Told(progress=lambda _: None, note=note, warn=note, debug=lambda _: None)


def main() -> None:
    """Measure, and add to the table; or print what is in it."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("primes", nargs="*", type=Path)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--codec", default="xz")
    parser.add_argument("--read-mb-s", type=int, default=0)
    parser.add_argument("--starts", type=int, default=0)
    parser.add_argument("--table", action="store_true")
    arguments = parser.parse_args()
    if arguments.table:
        print_table()
        return
    for prime in arguments.primes if arguments.starts else ():
        print_starts(prime, arguments.starts)
    for prime in () if arguments.starts else arguments.primes:
        note(f"{prime}, {arguments.read_mb_s or 'all'} MB/s")
        with slowed(arguments.read_mb_s):
            rows = list(
                measured(prime, arguments.codec, arguments.rounds, arguments.read_mb_s)
            )
        add_rows(rows)


def measured(
    prime: Path, codec: str, rounds: int, read_mb_s: int, *, until: str | None = None
) -> Iterator[dict[str, object]]:
    """Yield a row for every launch.

    :param until: what ends one, if it isn't a window or the like.
    """
    with open_payload(prime) as payload:
        app = next(iter(payload.snap.apps))
        wanted = Recording(app=app, required=True, until=until)
        (profile,) = recorded_profiles(payload, (wanted,), TOLD)
        plan = plan_prefetch(payload, profile, BUDGET_BYTES)
        proof = prove_prefetch(
            payload,
            plan,
            TOLD,
            codec=codec,
            rounds=rounds,
            until=until,
            scratch=_MEMORY,
        )
    whole = {
        "application": payload.snap.name,
        "codec": codec,
        "read_mb_s": read_mb_s or "",
        "kernel": proof.kernel,
        "decompressors": proof.modes.decompressors if proof.modes else "",
        "processors": proof.processors,
        "blocks": plan.blocks,
        "raw_bytes": plan.raw_bytes,
    }
    for state, by_kind in (("cold", proof.cold_s), ("warm", proof.warm_s)):
        for kind, sample in by_kind.items():
            for number, wall_s in enumerate(sample.runs_s, start=1):
                run = {"state": state, "kind": kind, "round": number}
                yield {**whole, **run, "wall_s": round(wall_s, 6)}


def print_starts(prime: Path, starts: int) -> None:
    """Print what the program adds if all that it looks at is cached."""
    with open_payload(prime) as payload, payload_copy(payload, _MEMORY) as tree:
        wanted = Recording(app=next(iter(payload.snap.apps)), required=True)
        (profile,) = recorded_profiles(payload, (wanted,), TOLD)
        plan = plan_prefetch(payload, profile, BUDGET_BYTES)
        program, _ = write_files(tree, plan, payload.snap)
        chance = random.Random(1)  # noqa: S311 # an order, not a secret
        times: dict[str, list[float]] = {"with": [], "without": []}
        for _round in range(starts):
            for kind in chance.sample(sorted(times), 2):
                before = [str(program)] if kind == "with" else []
                times[kind].append(started_s([*before, "/bin/true"]))
    added = sorted(map(sub, times["with"], times["without"]))
    print(
        f"{prime.parent.name}: median {1000 * statistics.median(added):.2f} ms, "
        f"19 of 20 below {1000 * added[len(added) * 19 // 20]:.2f} ms"
    )


def started_s(words: list[str]) -> float:
    """Return how long a program takes from its start to its end."""
    start_s = time.perf_counter()
    os.waitpid(os.posix_spawn(words[0], words, os.environ), 0)
    return time.perf_counter() - start_s


@contextmanager
def slowed(read_mb_s: int) -> Iterator[None]:
    """Let this process read no faster from loop devices; 0 for as fast as they are."""
    if not read_mb_s:
        yield
        return
    group, above = _CONTROLLER / _GROUP, _CONTROLLER / "cgroup.procs"
    group.mkdir(exist_ok=True)
    try:
        devices = (path.stat().st_rdev for path in Path("/dev").glob("loop[0-9]*"))
        for number in sorted(map(os.minor, devices)):
            limit = f"{_LOOP_MAJOR}:{number} {read_mb_s * _MB}\n"
            (group / "blkio.throttle.read_bps_device").write_text(limit)
        (group / "cgroup.procs").write_text(str(os.getpid()))
        yield
    finally:
        above.write_text(str(os.getpid()))
        group.rmdir()


def read_rows() -> list[dict[str, str]]:
    """Return the rows of the table."""
    if not TIMES.exists():
        return []
    with TIMES.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def add_rows(rows: list[dict[str, object]]) -> None:
    """Replace the rows of an application under the same circumstances."""
    same = ("application", "codec", "read_mb_s", "kernel", "decompressors")
    new = {tuple(str(row[key]) for key in same) for row in rows}
    kept = [row for row in read_rows() if tuple(row[key] for key in same) not in new]
    with TIMES.open("w", newline="", encoding="utf-8") as file:
        table = csv.DictWriter(file, FIELDS, lineterminator="\n")
        table.writeheader()
        table.writerows([*kept, *rows])


def print_table() -> None:
    """Print the figures of docs/study/reading-ahead.md."""
    print(_HEADS)
    runs: dict[tuple[str, ...], dict[tuple[str, str], list[float]]] = {}
    for row in read_rows():
        times = runs.setdefault(tuple(row[key] for key in _PLACE), defaultdict(list))
        times[row["state"], row["kind"]].append(float(row["wall_s"]))
    for place, times in sorted(runs.items()):
        kernel, decompressors, name, codec, speed, raw_bytes, _ = place
        samples = {key: Sample(runs_s=tuple(each)) for key, each in times.items()}
        cold = [samples["cold", kind] for kind in _KINDS]
        added = difference(samples["warm", "with"], samples["warm", "without"])
        cells = [
            kernel,
            decompressors,
            f"{name}, {codec}",
            f"{speed} MB/s" if speed else "memory",
            f"{int(raw_bytes) / _MB:.1f} MB",
            f"{cold[0].mean:.3f}",
            *(_change(cold[0], other) for other in cold[1:]),
            f"{1000 * statistics.median(_differences(samples)):.1f}",
            f"{_ms(added.saved_s.low)} to {_ms(added.saved_s.high)}" if added else "",
        ]
        print("| " + " | ".join(cells) + " |")
    print_overall(runs)


def print_overall(
    runs: dict[tuple[str, ...], dict[tuple[str, str], list[float]]],
) -> None:
    """Print the mean change if several applications ran, and what percpu adds."""
    ratios: dict[tuple[str, ...], list[list[float]]] = defaultdict(list)
    for place, times in runs.items():
        logs = [list(map(math.log, times["cold", kind])) for kind in _KINDS]
        means = list(map(statistics.fmean, logs))
        ratios[place[:2]].append([mean - means[0] for mean in means[1:]])
    for (kernel, decompressors), found in ratios.items():
        if len(found) < _LEAST_APPLICATIONS:
            continue
        changes = [_mean_change(each) for each in zip(*found, strict=True)]
        print(f"{kernel}, {decompressors}, {len(found)}: {', '.join(changes)}")
    for place, times in sorted(runs.items()):
        if place[1] == "percpu":
            other = (place[0], "single", *place[2:])
            both = (runs[other], times)
            cold = [Sample(runs_s=tuple(each["cold", "with"])) for each in both]
            print(f"{place[2]}, with, percpu beside single: {_change(*cold)}")


def _mean_change(logs: Sequence[float]) -> str:
    """Return the geometric mean of some applications' ratios with its interval."""
    spread = student(CONFIDENCE, len(logs) - 1) * statistics.stdev(logs)
    reach = spread / math.sqrt(len(logs))
    low, mid, high = (
        math.exp(statistics.fmean(logs) + it) for it in (-reach, 0, reach)
    )
    return f"{mid - 1:+.1%} ({low - 1:+.1%} to {high - 1:+.1%})"


def _change(without: Sample, other: Sample) -> str:
    found = difference(without, other)
    if found is None or found.times_faster is None:
        return ""
    ends = (1 / found.times_faster.high - 1, 1 / found.times_faster.low - 1)
    middle = 1 / found.times_faster.mid - 1
    return f"{middle:+.1%} ({ends[0]:+.1%} to {ends[1]:+.1%})"


def _differences(samples: dict[tuple[str, str], Sample]) -> Iterator[float]:
    for ahead, without in zip(
        samples["warm", "with"].runs_s, samples["warm", "without"].runs_s, strict=True
    ):
        yield ahead - without


def _ms(seconds: float) -> str:
    return f"{1000 * seconds:.1f}"


if __name__ == "__main__":
    main()

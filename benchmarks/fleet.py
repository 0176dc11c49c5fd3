#!/usr/bin/env python3
"""Measure what a fleet's analysis costs.

    benchmarks/fleet.py speed SNAPS     snaps a core-hour, memory, two workers to one
    benchmarks/fleet.py remote SNAP     bytes of a snap that come over the network
    benchmarks/fleet.py many --count N  N snaps made by script: a first and later runs
    benchmarks/fleet.py kills           workers killed 30 times at random
    benchmarks/fleet.py scaling SNAPS   a simulation of more workers than processors

``--count`` also sets the kills of ``kills``.

SNAPS is a directory of built snaps. Processor seconds are those of the worker
processes. Nothing else should run meanwhile; ``speed`` on two processors takes three
times as long as one worker takes for all snaps.
"""

from __future__ import annotations

import argparse
import heapq
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from random import Random

from snapcraft_compression_advisor.cli.settings_options import read_settings
from snapcraft_compression_advisor.fleet.bounded import Limits, Pool
from snapcraft_compression_advisor.fleet.columns import decode
from snapcraft_compression_advisor.fleet.dataset import part_files
from snapcraft_compression_advisor.fleet.sources import Snap, find_snaps
from snapcraft_compression_advisor.fleet.task import FleetRequest
from snapcraft_compression_advisor.lint.lint import LintRequest
from snapcraft_compression_advisor.settings.settings import Settings

_HOUR_S = 3600
_MB = 1e6
_REPEATS = 50
_HANDED_OUT_S = 0.015
"""What the client of a cluster is taken to need for a task (measured with Dask)."""
_PACKED_AT = 8
"""In the superblock: the time of packing (squashfs_fs.h, mkfs_time), 4 bytes."""
_CHANGED, _LARGE_EACH, _MANY = 10, 100, 100
_SETTLED_S = 3
"""So long after they were made, files are known by their times; snaps mostly are."""
_DONE = re.compile(r"([\d,]+) of ([\d,]+) snaps")
_KILLS, _KILL_SHARE, _SNAPS_PER_KILL = 30, 0.3, 5


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure what is asked for, and print it."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    chosen = parser.add_subparsers(dest="what", required=True)
    chosen.add_parser("speed").add_argument("snaps")
    chosen.add_parser("scaling").add_argument("snaps")
    chosen.add_parser("remote").add_argument("snap", type=Path)
    kills = chosen.add_parser("kills")
    kills.add_argument("--count", type=int, default=_KILLS)
    many = chosen.add_parser("many")
    many.add_argument("--count", type=int, default=10_000)
    args = parser.parse_args(arguments)
    request = FleetRequest(lint=LintRequest(loaded=read_settings(None, Settings())))
    run: Mapping[str, Callable[[], None]] = {
        "speed": lambda: _speed(request, args.snaps),
        "scaling": lambda: _scaling(request, args.snaps),
        "remote": lambda: _remote(request, args.snap),
        "kills": lambda: _kills(request, args.count),
        "many": lambda: _many(args.count),
    }
    run[args.what]()
    return 0


def _speed(request: FleetRequest, folder: str) -> None:
    snaps = find_snaps([folder])
    [*Pool(request, Limits(), workers=1).rows(snaps)]  # into the page cache
    times = {}
    for workers in (1, 2):
        before = _processor_s()
        start = time.monotonic()
        rows = [*Pool(request, Limits(), workers=workers).rows(snaps)]
        times[workers] = time.monotonic() - start
        spent_s = _processor_s() - before
        failed = sum(row.get("error") is not None for row in rows)
        print(
            f"{workers} workers: {len(rows)} snaps ({failed} failed), "
            f"{times[workers]:.1f} s, {spent_s:.1f} processor seconds: "
            f"{len(rows) / spent_s * _HOUR_S:,.0f} snaps a core-hour"
        )
    peak_mb = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024 / _MB
    print(
        f"2 workers to 1: {times[1] / times[2]:.2f}; a worker's peak: {peak_mb:.0f} MB"
    )


def _processor_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _scaling(request: FleetRequest, folder: str) -> None:
    """Simulate more workers: measured times of tasks, a scheduler that is a queue.

    What it leaves out: workers that share memory bandwidth, a disk or a network.
    """
    snaps = find_snaps([folder])
    [*Pool(request, Limits(), workers=1).rows(snaps)]  # into the page cache
    ends = [time.monotonic() for _ in Pool(request, Limits(), workers=1).rows(snaps)]
    tasks = [end - start for start, end in pairwise(ends)] * _REPEATS
    alone_s = simulated_s(tasks, 1)
    print(f"Simulation with {len(tasks)} tasks, times of {len(snaps) - 1} measured:")
    for workers in (1, 2, 4, 8, 16, 32, 64, 128):
        print(f"{workers} workers: {alone_s / simulated_s(tasks, workers):.1f} times")


def simulated_s(tasks: Sequence[float], workers: int) -> float:
    """Return the seconds until all tasks are done, each by the worker free first.

    The client hands one out at a time, which takes :data:`_HANDED_OUT_S`.
    """
    free = [0.0] * workers
    client = 0.0
    for seconds in tasks:
        client = max(client, heapq.heappop(free)) + _HANDED_OUT_S
        heapq.heappush(free, client + seconds)
    return max(free)


def _remote(request: FleetRequest, snap: Path) -> None:
    sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
    from stores import serving  # noqa: PLC0415 # of the tests

    with serving(snap) as address:
        (row,) = Pool(request, Limits(), workers=1).rows([Snap(path=address)])
    length = snap.stat().st_size
    read = row.get("read_bytes")
    print(f"{snap.name}: {length / _MB:.1f} MB; error: {row.get('error')}")
    if isinstance(read, int):
        print(f"read: {read / _MB:.2f} MB ({read / length:.1%})")


def _many(count: int) -> None:
    """Run the command itself: what a second run takes is for a good part its start."""
    with tempfile.TemporaryDirectory() as folder:
        snaps = Path(folder, "snaps")
        snaps.mkdir()
        files = [Path(snap.path) for snap in make_snaps(snaps, count)]
        command = [sys.executable, "-m", "snapcraft_compression_advisor", "fleet"]
        command += [str(snaps), "-o", str(Path(folder, "data"))]
        command += ["--processes", "2"]
        time.sleep(_SETTLED_S)
        first_s = _command_s(command)
        print(f"{count:,} snaps: {first_s:.1f} s")
        later = {
            f"{_CHANGED} drawn by lot": Random(1).sample(files, _CHANGED),  # noqa: S311 # the same each time
            "nothing": [],
            f"{_CHANGED} of the large ones": files[::_LARGE_EACH][:_CHANGED],
        }
        for version, (what, changed) in enumerate(later.items(), start=2):
            for file in changed:
                file.unlink()
            make_snaps(snaps, count, version=version)
            took_s = _command_s(command)
            print(
                f"{what} changed: {took_s:.2f} s, {took_s / first_s:.2%} of the first"
            )
        parts = part_files(Path(folder, "data"))
        rows = [row for part in parts for row in decode(part, ["digest", "error"])[0]]
    failed = sum(row["error"] is not None for row in rows)
    print(f"{len(rows):,} rows, {len({row['digest'] for row in rows}):,} digests, ")
    print(f"{failed} with an error")


def _command_s(command: Sequence[str]) -> float:
    """Return the seconds of a run, and print how its process's memory grows."""
    start = time.monotonic()
    with subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    ) as process:
        for line in process.stderr or ():
            said = _DONE.search(line)
            if said is None:
                continue
            done, count = (int(each.replace(",", "")) for each in said.groups())
            if count >= _MANY and done % (count // 10) == 0:
                memory_mb = _memory_mb(process.pid)
                print(f"  after {done:,}: the run's process has {memory_mb:.0f} MB")
    if process.returncode:
        sys.exit(f"{command} fails")
    return time.monotonic() - start


def _memory_mb(pid: int) -> float:
    pages = int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1])
    return pages * resource.getpagesize() / _MB


def _kills(request: FleetRequest, count: int) -> None:
    """Kill a worker now and then, and count the rows and those with an error."""
    draw, killed = Random(1), 0  # noqa: S311 # the same kills each time
    with tempfile.TemporaryDirectory() as folder:
        snaps = make_snaps(Path(folder), count * _SNAPS_PER_KILL)
        pool = Pool(request, Limits(), workers=2)
        paths, failed = Counter[object](), 0
        for row in pool.rows(snaps):
            paths[row["path"]] += 1
            failed += row.get("error") is not None
            if killed < count and draw.random() < _KILL_SHARE:
                killed += draw.choice(pool.workers).kill()
    print(f"{killed} workers killed; {len(snaps)} snaps, {len(paths)} with a row, ")
    print(f"{sum(paths.values()) - len(paths)} with two, {failed} with an error")


def make_snaps(folder: Path, count: int, *, version: int = 1) -> list[Snap]:
    """Make snaps that aren't there yet; every hundredth has 2 MB, others some KB.

    They are two snaps, each with as many times of packing as are wanted.
    """
    contents = [_made(folder, kb=kb) for kb in (20, 2000)]
    paths = [folder / f"s{number}.snap" for number in range(count)]
    for number, path in enumerate(paths):
        if not path.exists():
            image = bytearray(contents[number % _LARGE_EACH == 0])
            packed_s = version * count + number
            image[_PACKED_AT : _PACKED_AT + 4] = packed_s.to_bytes(4, "little")
            path.write_bytes(image)
    return find_snaps(map(str, paths))


def _made(folder: Path, *, kb: int) -> bytes:
    """Return the image of a snap with a script of so many KB."""
    tree, image = folder / f"tree{kb}", folder / f"{kb}.image"
    if not image.exists():
        (tree / "meta").mkdir(parents=True)
        (tree / "meta/snap.yaml").write_text(
            f"name: s{kb}\nversion: '1'\nbase: core24\n"
            f"apps: {{s{kb}: {{command: run}}}}\n"
        )
        (tree / "run").write_text("#!/bin/sh\n" + f"echo {kb}\n" * kb * 120)
        (tree / "run").chmod(0o755)
        command = ["mksquashfs", str(tree), str(image), "-noappend", "-comp", "xz"]
        command += ["-no-fragments", "-all-root", "-no-xattrs", "-processors", "1"]
        subprocess.run([*command, "-quiet", "-no-progress"], check=True)
    return image.read_bytes()


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Measure squashfs on the kernels that users run, as user-mode Linux.

``build`` makes kernels of Debian's source packages. It needs flex, bison, bc, gcc and
about five minutes of processor time a version. ``images`` packs what is read: blocks
of some applications (``--sample``), and trees of others as their recorded launches read
them (``--launches``); it needs root. ``measure`` runs ``kernel_inside.py`` in each
kernel and in that of this machine, one after the other in each pass, so that what slows
down the machine meets all of them. ``pairs`` times two readers in the kernels that have
two processors; ``--made-of`` says of which trees ``images --sample`` took the files.
``report`` prints the tables of docs/study/kernels.md from the kept data.

usage: kernels.py build --work DIR [--jobs N] [--versions VERSION…]
       kernels.py images --work DIR --sample TREE… --launches TREE…
       kernels.py measure --work DIR [--passes N] [--rounds N] [--only NAME…]
                          [--do times|launches…]
       kernels.py pairs --work DIR --made-of NAME… [--passes N]
       kernels.py report
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import platform
import shlex
import statistics
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

from kernel_builds import (
    PROCESSORS,
    SUITES,
    KernelBuild,
    build_all,
    builds,
    has_processors,
)
from kernel_reads import PARTS
from snapcraft_compression_advisor.capture.measure import processor_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

DATA = Path(__file__).parent / "data"
TIMES = DATA / "kernel-modes.csv"
LAUNCHES = DATA / "kernel-launches.csv"
PAIRS = DATA / "kernel-pairs.csv"
PAIR_RUNS = DATA / "kernel-pair-runs.csv"
INSIDE = Path(__file__).parent / "kernel_inside.py"
MEMORY = "1200M"
HOST = "host"
MODE = ("kernel", "file_mode", "decompressors")
_TIMEOUT_S = 900
_USER_MODE = "User-mode Linux"

Lines = dict[str, list[dict[str, object]]]


def main() -> None:
    """Run one of the steps."""
    parser = argparse.ArgumentParser(description=__doc__)
    steps = parser.add_subparsers(dest="step", required=True)
    for name in STEPS:
        step = steps.add_parser(name)
        if name != "report":
            step.add_argument("--work", type=Path, required=True)
        if name == "build":
            step.add_argument("--jobs", type=int, default=2)
            step.add_argument("--versions", nargs="+", default=tuple(SUITES))
        if name == "images":
            step.add_argument("--sample", type=Path, nargs="*", default=())
            step.add_argument("--launches", type=Path, nargs="*", default=())
        if name == "measure":
            step.add_argument("--only", nargs="*", default=())
            step.add_argument("--passes", type=int, default=3)
            step.add_argument("--rounds", type=int, default=4)
            step.add_argument("--do", nargs="+", default=[*WRITTEN], choices=WRITTEN)
        if name == "pairs":
            step.add_argument("--made-of", nargs="+", required=True)
            step.add_argument("--passes", type=int, default=3)
    arguments = parser.parse_args()
    STEPS[arguments.step](arguments)


def _build(arguments: argparse.Namespace) -> None:
    arguments.work.mkdir(parents=True, exist_ok=True)
    build_all(arguments.work.resolve(), arguments.versions, jobs=arguments.jobs)


def _images(arguments: argparse.Namespace) -> None:
    from kernel_images import write_launch, write_sample  # noqa: PLC0415 # not inside

    if arguments.sample:
        write_sample(arguments.sample, arguments.work)
    for tree in arguments.launches:
        write_launch(tree.resolve(), arguments.work)


def _measure(arguments: argparse.Namespace) -> None:
    lines: Lines = defaultdict(list)
    words = ["--rounds", str(arguments.rounds), "--do", *arguments.do]
    for number in range(arguments.passes):
        for name, found in _run_all(arguments, words):
            lines[name] += found
        print(f"pass {number + 1} of {arguments.passes}", file=sys.stderr, flush=True)
        runs = arguments.work / "-".join(("runs", *arguments.do))
        runs.with_suffix(".json").write_text(json.dumps(lines), encoding="utf-8")
    what = " ".join(arguments.do)
    source = _source(
        f"kernels.py measure --passes {arguments.passes} --rounds {arguments.rounds} "
        f"--do {what}"
    )
    for kind in arguments.do:
        path, about, columns, rows = WRITTEN[kind]
        _write(
            path,
            f"{about}; in user-mode Linux or on the host, measured. {source}",
            (*MODE, *columns),
            (row for name, each in lines.items() for row in rows(_mode(name), each)),
        )


def _run_all(
    arguments: argparse.Namespace, words: Sequence[str]
) -> Iterator[tuple[str, list[dict[str, object]]]]:
    """Run the measurement in each kernel that was built, and on this machine's."""
    work = arguments.work.resolve()
    output = work / "lines.json"
    options = ["--work", str(work), "--output", str(output), *words]
    for kernel in builds(work):
        wanted = not arguments.only or kernel.name in arguments.only
        if wanted and kernel.path.exists():
            output.unlink(missing_ok=True)
            threads = ["--threads", kernel.threads] if kernel.threads else []
            run_first(kernel, work, INSIDE, [*options, *threads])
            yield kernel.name, _read(output)
    if not arguments.only or HOST in arguments.only:
        options = ["--work", str(work), "--output", str(output), *words]
        subprocess.run([sys.executable, str(INSIDE), *options], check=True)
        yield HOST, _read(output)


def _pairs(arguments: argparse.Namespace) -> None:
    """Time two readers, each kernel and its decompressors in turn in each pass."""
    work = arguments.work.resolve()
    output = work / "lines.json"
    lines: Lines = defaultdict(list)
    for number in range(arguments.passes):
        for kernel in builds(work):
            if has_processors(kernel.version) and kernel.path.exists():
                options = ["--work", str(work), "--output", str(output), "--do"]
                threads = ["--threads", kernel.threads]
                run_first(kernel, work, INSIDE, [*options, "pairs", *threads])
                lines[kernel.name] += _read(output)
        print(f"pass {number + 1} of {arguments.passes}", file=sys.stderr, flush=True)
    about = (
        f"# {_USER_MODE}, {PROCESSORS} processors; files of "
        f"{', '.join(arguments.made_of)} (Debian 12). "
        f"{_source(f'kernels.py pairs --passes {arguments.passes}')}"
    )
    _write(
        PAIR_RUNS,
        about.removeprefix("# "),
        (*MODE, "codec", "mounts", "round", "seconds"),
        (
            (*_mode(name), *(line[key] for key in ("codec", "mounts", "round")),
             f"{line['seconds']:.6f}")
            for name, each in lines.items() for line in each
        ),
    )  # fmt: skip
    new = tuple(",".join(_mode(name)) for name in lines)
    head, columns, *rows = (
        line
        for line in PAIRS.read_text(encoding="utf-8").splitlines()
        if not line.startswith((f"# {_USER_MODE}", *new))
    )
    with PAIRS.open("w", encoding="utf-8", newline="") as file:
        file.write("\n".join((head, about, columns, *rows)) + "\n")
        for name, each in lines.items():
            csv.writer(file, lineterminator="\n").writerows(
                _pair_rows(_mode(name), each)
            )


def run_first(
    kernel: KernelBuild, work: Path, program: Path, options: Sequence[str]
) -> None:
    """Run a Python program as the first process of a kernel.

    Several processors need ``seccomp=on`` (``os_early_checks`` in
    ``arch/um/os-Linux/start_up.c``).
    """
    words = [sys.executable, str(program.resolve()), *options]
    said, script = work / "said.txt", work / "first.sh"
    script.write_text(
        f"PYTHONPATH={Path(__file__).resolve().parents[1]}; export PYTHONPATH\n"
        f"exec {shlex.join(words)} >{shlex.quote(str(said))} 2>&1\n",
        encoding="utf-8",
    )
    more = (f"ncpus={PROCESSORS}", "seccomp=on")
    command = [
        str(kernel.path),
        f"mem={MEMORY}",
        *(more if has_processors(kernel.version) else ()),
        *("rootfstype=hostfs", "root=/dev/root", "rw", "quiet", "con=null"),
        *("init=/bin/sh", "--", str(script)),
    ]
    said.write_text("the kernel didn't start it\n", encoding="utf-8")
    subprocess.run(
        command,
        env={**os.environ, "TMPDIR": str(work)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        check=False,
        timeout=_TIMEOUT_S,
    )
    if complaint := said.read_text(encoding="utf-8", errors="replace"):
        message = f"{kernel.name} failed:\n{complaint}"
        raise SystemExit(message)


def _read(output: Path) -> list[dict[str, object]]:
    return [
        json.loads(line) for line in output.read_text(encoding="utf-8").splitlines()
    ]


def _mode(name: str) -> tuple[str, ...]:
    if name == HOST:
        return platform.release().partition("-")[0], "cache", "single"
    return tuple(name.split("-"))


def _source(command: str) -> str:
    return f"{processor_name()}; host Linux {platform.release()}. {command}"


def _write(
    path: Path,
    about: str,
    columns: Sequence[str],
    rows: Iterator[tuple[object, ...]],
) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write(f"# {about}\n")
        table = csv.writer(file, lineterminator="\n")
        table.writerow(columns)
        table.writerows(rows)


def _grouped(
    lines: Sequence[Mapping[str, object]], kind: str, key: Sequence[str]
) -> Iterator[tuple[tuple[object, ...], list[Mapping[str, object]]]]:
    groups: dict[tuple[object, ...], list[Mapping[str, object]]] = defaultdict(list)
    for line in lines:
        if line["kind"] == kind:
            groups[tuple(line[each] for each in key)].append(line)
    yield from groups.items()


def _time_rows(
    mode: tuple[str, ...], lines: Sequence[Mapping[str, object]]
) -> Iterator[tuple[object, ...]]:
    """Yield a row for each block: the least of the passes."""
    columns = ("codec", "block", "raw_bytes", "stored_bytes")
    for key, each in _grouped(lines, "time", columns):
        least = (min(float(str(line[f"{part}_us"])) for line in each) for part in PARTS)
        yield (*mode, *key, *(f"{each_us:.1f}" for each_us in least))


def _launch_rows(
    mode: tuple[str, ...], lines: Sequence[Mapping[str, object]]
) -> Iterator[tuple[object, ...]]:
    """Yield a row for each launch and codec: the lower quartile, cold less warm.

    What system calls take in user-mode Linux differs by up to five times between runs,
    so each run is compared with itself. A machine that is slow meanwhile adds to a
    difference, and slow warm reads take away from it: the least of them, or the
    difference of the least, was off by up to three times.
    """
    for key, each in _grouped(lines, "launch", ("application", "codec")):
        runs = [(float(str(run["cold_s"])), float(str(run["warm_s"]))) for run in each]
        added_s = sorted(cold_s - warm_s for cold_s, warm_s in runs)
        warm_s = statistics.median(warm_s for _, warm_s in runs)
        found = (added_s[(len(runs) - 1) // 4], added_s[0], added_s[-1], warm_s)
        seconds = (f"{value:.4f}" for value in found)
        yield (*mode, *key, len(each), *seconds, each[0]["read_bytes"])


def _pair_rows(
    mode: tuple[str, ...], lines: Sequence[Mapping[str, object]]
) -> Iterator[tuple[object, ...]]:
    for key, each in _grouped(lines, "pair", ("codec", "mounts")):
        seconds = [float(str(line["seconds"])) for line in each]
        yield (*mode, *key, len(each), f"{statistics.median(seconds):.4f}")


def _report(_: argparse.Namespace) -> None:
    from kernel_tables import report_lines  # noqa: PLC0415 # only here

    print("\n".join(report_lines()))


WRITTEN = {
    "times": (
        TIMES,
        (
            "Cold reads of a page of a block, image in memory; the least of all rounds "
            "and passes"
        ),
        ("codec", "block", "raw_bytes", "stored_bytes", *(f"{p}_us" for p in PARTS)),
        _time_rows,
    ),
    "launches": (
        LAUNCHES,
        (
            "What the blocks of a recorded launch add when a page of each is read: the "
            "lower quartile of the runs, each cold less warm, image in memory"
        ),
        (
            *("application", "codec", "runs", "added_s", "least_added_s"),
            *("greatest_added_s", "warm_s", "read_bytes"),
        ),
        _launch_rows,
    ),
}
"""What ``measure`` keeps of each kind: where, what it is, columns, rows."""


STEPS = {
    "build": _build,
    "images": _images,
    "measure": _measure,
    "pairs": _pairs,
    "report": _report,
}


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Time how long a device takes to apply a delta, with the tools as snapd calls them.

``prepare`` packs two versions of an application with each codec and makes both deltas,
as ``snap/squashfs/delta.go`` of snapd (commit bee548f) does. ``measure`` applies them
on one processor and on two, from memory, and checks that the image is the new one.
``report`` compares the times with the predictions of
:mod:`snapcraft_compression_advisor.devices.apply`.

usage: refresh_apply.py prepare NAME OLD NEW --work DIR [--codecs CODEC…]
       refresh_apply.py measure --work DIR [--set NAME] [--rounds N]
       refresh_apply.py report
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import os
import platform
import shutil
import struct
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from refresh_apply_fit import report
from refresh_apply_rows import COLUMNS, TABLE
from snapcraft_compression_advisor.capture.measure import processor_name

if TYPE_CHECKING:
    from collections.abc import Sequence

HEADER_BYTES = 32
PACK = ("-noappend", "-no-fragments", "-no-progress", "-all-root", "-no-xattrs")
_QUIET = subprocess.DEVNULL


@dataclass(frozen=True, slots=True, kw_only=True)
class Applied:
    """One application of a delta.

    :param seconds: until the new image was there.
    :param processor_s: by program, user and system time.
    :param memory_kib: by program, its largest resident set.
    """

    seconds: float
    processor_s: dict[str, float]
    memory_kib: dict[str, int]


def main() -> None:
    """Prepare, measure or report."""
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    prepare_ = commands.add_parser("prepare")
    prepare_.add_argument("name")
    prepare_.add_argument("old", type=Path, help="a prime directory")
    prepare_.add_argument("new", type=Path, help="the next version's")
    prepare_.add_argument("--codecs", nargs="+", default=["xz", "lzo"])
    measure_ = commands.add_parser("measure")
    measure_.add_argument("--set", default="fit", help="fit or check")
    measure_.add_argument("--rounds", type=int, default=1)
    measure_.add_argument("--pairs", nargs="+", help="default: all in DIR")
    for each in (prepare_, measure_):
        each.add_argument("--work", type=Path, required=True, help="in memory")
    commands.add_parser("report")
    arguments = parser.parse_args()
    if arguments.command == "prepare":
        for codec in arguments.codecs:
            prepare(arguments, codec)
    elif arguments.command == "measure":
        measure(arguments)
    else:
        print("\n".join(report()))


def prepare(arguments: argparse.Namespace, codec: str) -> None:
    """Pack both versions, and make both deltas."""
    folder = arguments.work / arguments.name / codec
    folder.mkdir(parents=True, exist_ok=True)
    for name, source in (("old", arguments.old), ("new", arguments.new)):
        image = str(folder / f"{name}.snap")
        run("mksquashfs", str(source), image, *PACK, "-comp", codec)
    old, new = str(folder / "old.snap"), str(folder / "new.snap")
    run("xdelta3", "-3", "-f", "-e", "-s", old, new, str(folder / "xdelta3"))
    pipes = make_pipes(folder, "old.pf", "new.pf")
    unpack = ("unsquashfs", "-da", "128", "-fr", "128", "-no-progress")
    tools = [
        subprocess.Popen(
            (*unpack, "-pf", pipe, snap),
            stdout=_QUIET,
            stderr=_QUIET,
        )
        for pipe, snap in zip(pipes, (old, new), strict=True)
    ]
    with (folder / "snap-1-1-xdelta3").open("wb") as delta:
        delta.write(bytes(HEADER_BYTES))
        delta.flush()
        command = ("xdelta3", "-7", "-e", "-f", "-A", "-s", *pipes)
        subprocess.run(command, stdout=delta, check=True)
    for tool in tools:
        tool.wait()
    for pipe in pipes:
        Path(pipe).unlink()
    for name in ("old", "new"):
        size = pseudo_bytes(folder / f"{name}.snap")
        (folder / f"{name}.raw").write_text(str(size), encoding="ascii")


def pseudo_bytes(image: Path) -> int:
    """Return how long an image's pseudo-file is."""
    command = ("unsquashfs", "-no-progress", "-pf", "-", str(image))
    with subprocess.Popen(command, stdout=subprocess.PIPE) as tool:
        if tool.stdout is None:
            return 0
        return sum(map(len, iter(partial(tool.stdout.read, 1 << 20), b"")))


def measure(arguments: argparse.Namespace) -> None:
    """Apply the deltas, and append to the table."""
    pairs = arguments.pairs or sorted(each.name for each in arguments.work.iterdir())
    rows = []
    for number in range(arguments.rounds):
        for pair in pairs:
            for folder in sorted((arguments.work / pair).iterdir()):
                for processors in (2, 1):
                    for form in ("xdelta3", "snap-1-1-xdelta3"):
                        row = measure_one(folder, form, processors)
                        row |= {"set": arguments.set, "pair": pair, "round": number}
                        rows.append(row)
                        print(row, flush=True)
    append(rows, f"refresh_apply.py measure --set {arguments.set}")


def measure_one(folder: Path, form: str, processors: int) -> dict[str, object]:
    """Apply a delta on some processors; the result must be the new image."""
    os.sched_setaffinity(0, set(range(processors)))
    target = folder / "target.snap"
    target.unlink(missing_ok=True)
    apply = apply_plain if form == "xdelta3" else apply_snap
    applied = apply(folder, target)
    if digest(target) != digest(folder / "new.snap"):
        print(f"{folder} {form}: not the new image", file=sys.stderr)
    target.unlink()
    return {
        "codec": folder.name,
        "format": form,
        "processors": processors,
        "old_raw_bytes": int((folder / "old.raw").read_text()),
        "new_raw_bytes": int((folder / "new.raw").read_text()),
        "old_image_bytes": (folder / "old.snap").stat().st_size,
        "new_image_bytes": (folder / "new.snap").stat().st_size,
        "delta_bytes": (folder / form).stat().st_size,
        "seconds": round(applied.seconds, 3),
        **{f"{each}_s": round(s, 3) for each, s in applied.processor_s.items()},
        **{f"{each}_kib": kib for each, kib in applied.memory_kib.items()},
    }


def apply_plain(folder: Path, target: Path) -> Applied:
    """Apply a plain delta, as ``applyPlainXdelta3Delta`` does."""
    started = time.monotonic()
    old, delta = str(folder / "old.snap"), str(folder / "xdelta3")
    command = ("xdelta3", "-f", "-d", "-s", old, delta, str(target))
    return waited(started, {"xdelta3": subprocess.Popen(command)})


def apply_snap(folder: Path, target: Path) -> Applied:
    """Apply a snap-aware delta, as ``applyXdelta3Delta`` does."""
    source, delta = make_pipes(folder, "src", "delta")
    seconds = modified_s(folder / "new.snap")
    started = time.monotonic()
    old = str(folder / "old.snap")
    unpack = ("unsquashfs", "-no-progress", "-pf", source, old)
    unsquashfs = subprocess.Popen(unpack, stdout=_QUIET, stderr=_QUIET)
    decode = ("xdelta3", "-d", "-f", "-s", source, delta)
    xdelta3 = subprocess.Popen(decode, stdout=subprocess.PIPE)
    pack = ("mksquashfs", "-", str(target), "-pf", "-", "-noappend", "-quiet")
    options = ("-comp", folder.name, "-no-fragments", "-exports", "-no-xattrs")
    mksquashfs = subprocess.Popen(
        (*pack, *options, "-mkfs-time", str(seconds)),
        stdin=xdelta3.stdout,
        stdout=_QUIET,
        stderr=_QUIET,
    )
    writer = threading.Thread(
        target=write_delta, args=(folder / "snap-1-1-xdelta3", delta)
    )
    writer.start()
    tools = {"unsquashfs": unsquashfs, "xdelta3": xdelta3, "mksquashfs": mksquashfs}
    applied = waited(started, tools)
    writer.join()
    for pipe in (source, delta):
        Path(pipe).unlink()
    return applied


def write_delta(delta: Path, pipe: str) -> None:
    """Feed what stands behind the header."""
    with delta.open("rb") as file, Path(pipe).open("wb") as out:
        file.seek(HEADER_BYTES)
        shutil.copyfileobj(file, out, 1 << 20)


def waited(started: float, tools: dict[str, subprocess.Popen[bytes]]) -> Applied:
    """Wait for programs, and return what they took."""
    processor_s, memory_kib = {}, {}
    for name, tool in tools.items():
        _, status, usage = os.wait4(tool.pid, 0)
        tool.returncode = os.waitstatus_to_exitcode(status)
        processor_s[name] = usage.ru_utime + usage.ru_stime
        memory_kib[name] = usage.ru_maxrss
    return Applied(
        seconds=time.monotonic() - started,
        processor_s=processor_s,
        memory_kib=memory_kib,
    )


def modified_s(image: Path) -> int:
    """Return the time in an image's superblock."""
    with image.open("rb") as file:
        return int(struct.unpack("<3I", file.read(12))[2])


def make_pipes(folder: Path, *names: str) -> list[str]:
    """Make named pipes."""
    pipes = [folder / name for name in names]
    for pipe in pipes:
        pipe.unlink(missing_ok=True)
        os.mkfifo(pipe)
    return [str(pipe) for pipe in pipes]


def digest(path: Path) -> str:
    """Return a file's digest, as snapd checks the new image."""
    sha3 = hashlib.sha3_384()
    with path.open("rb") as file:
        # Little at once: a program that this one starts counts as its largest set, too.
        for part in iter(partial(file.read, 1 << 20), b""):
            sha3.update(part)
    return sha3.hexdigest()


def run(*command: str) -> None:
    """Run a program."""
    subprocess.run(command, check=True, stdout=_QUIET, stderr=_QUIET)


def append(rows: Sequence[dict[str, object]], command: str) -> None:
    """Add rows to the table, with the command and the machine before them."""
    there = TABLE.exists()
    with TABLE.open("a", encoding="utf-8", newline="") as file:
        machine = f"Linux {platform.release()}, {processor_name()}"
        file.write(f"# Measured. {machine}. {command}\n")
        writer = csv.DictWriter(file, COLUMNS, restval="", lineterminator="\n")
        if not there:
            writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()

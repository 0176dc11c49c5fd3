#!/usr/bin/env python3
"""Interrupt the advisor's commands, and look for what they leave behind.

The script stops each command at system calls spread over its whole run, sends SIGINT,
SIGTERM or SIGHUP, and lets it continue. When the command has ended, no mount, no loop
device, no temporary file or directory and no process of it may be left, and it may have
printed no traceback. ``--kill`` sends SIGKILL; then the script checks what the next run
leaves, except an app's own children.

Mounts need root.

usage: reliability_signals.py [--moments N] [--kill] [--delays] [COMMAND…]
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from contextlib import suppress
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import snapcraft_compression_advisor
from snapcraft_compression_advisor.cli.main import main as run_command_line
from snapcraft_compression_advisor.core.scratch import remove_leftovers
from snapcraft_compression_advisor.squashfs import mksquashfs
from stopped_process import StoppedProcess, import_all

if TYPE_CHECKING:
    from collections.abc import Iterator

    Signals: TypeAlias = tuple[signal.Signals, ...]

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
MARK = "COMPRESSION_ADVISOR_TRIAL"
"""Variable that all processes of one run inherit."""

TIMEOUT_S = 300.0
GONE_S = 60.0
"""For the kernel to free a loop device, and for processes to be gone. A mount
namespace that another program makes meanwhile copies all mounts, until it ends."""

FIRST_STOPS = 8
"""Until the program has taken the signals, they end it as they end any other."""

_APPS_CHILD = "process of the app "
"""Begins what is said of one. It dies with the app only if the app sees to that, and
may be frozen right after the fork, still under the app's name."""

_POLL_S = 0.02
_SNAP_YAML = """\
name: sample
version: '1'
summary: A snap
description: A snap
architectures: [all]
apps:
  sample:
    command: run
"""


def commands(scratch: Path) -> dict[str, list[str]]:
    """Return what is interrupted, on a payload that is made for it."""
    prime, snap = scratch / "prime", scratch / "sample.snap"
    (prime / "meta").mkdir(parents=True)
    (prime / "meta/snap.yaml").write_text(_SNAP_YAML)
    (prime / "run").write_text("#!/bin/sh\necho ready\nsleep 60 & wait\n")
    (prime / "run").chmod(0o755)
    noise = random.Random(1)  # noqa: S311 # reproducible noise is wanted
    (prime / "noise").write_bytes(noise.randbytes(300_000))
    (scratch / "sample").mkdir()
    (scratch / "sample/noise").write_bytes(noise.randbytes(5_000_000))
    excludes = scratch / "excludes"
    excludes.touch()
    mksquashfs.pack(prime, snap, codec="xz", snap_type="app", exclude_file=excludes)
    ready = ["--until", "output:ready"]
    return {
        "advise": ["advise", str(prime), "-o", str(scratch / "out/advice")],
        "exact": ["advise", str(snap), "--exact"],
        "lint": ["lint", str(snap), "--exit-zero"],
        "resquash": ["lint", str(snap), "--resquash", "--exit-zero"],
        "record": [
            *("record", str(prime), "--app", "sample", *ready),
            *("-o", str(scratch / "out/profile")),
        ],
        "measure": [
            *("measure", str(prime), "--codec", "lzo"),
            *("--runs", "1", *ready, "--", "run"),
        ],
        "calibrate": [
            *("calibrate", "--blocks", "32", "--rounds", "1"),
            *("--sample", str(scratch / "sample")),
            *("--storage", str(scratch / "tmp"), "-o", str(scratch / "out/device")),
        ],
    }


def main() -> None:
    """Interrupt, and print what was left."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="COMMAND")
    parser.add_argument("--moments", type=int, default=300)
    parser.add_argument("--kill", action="store_true", help="SIGKILL instead")
    parser.add_argument("--delays", action="store_true", help="by time, not by calls")
    arguments = parser.parse_args()
    numbers = (signal.SIGKILL,) if arguments.kill else SIGNALS
    import_all(snapcraft_compression_advisor)
    interrupt = interrupted_later if arguments.delays else interrupted
    chance = random.Random(arguments.moments)  # noqa: S311 # reproducible noise
    left = 0
    print("| command | moments | ended by the signal | had ended | left behind |")
    print("|---|---|---|---|---|", flush=True)
    with tempfile.TemporaryDirectory() as name:
        every = commands(Path(name))
        chosen = arguments.names or list(every)
        for command in chosen:
            moments = max(1, arguments.moments // len(chosen))
            # One moment of each stretch of the run, so that none is left out.
            shares = [(each + chance.random()) / moments for each in range(moments)]
            found = list(interrupt(every[command], Path(name), shares, numbers))
            faults = [fault for _, faults in found for fault in faults]
            ended = sum(status != 0 for status, _ in found)
            print(f"| {command} | {moments} | {ended} | {moments - ended} | "
                  f"{len(faults)} |", flush=True)  # fmt: skip
            for fault in faults:
                print(f"  {fault}", file=sys.stderr)
            left += len(faults)
    sys.exit(left > 0)


def interrupted(
    words: list[str], scratch: Path, moments: list[float], numbers: Signals
) -> Iterator[tuple[int | None, list[str]]]:
    """Interrupt a command at some moments; yield its status and what it left.

    :param moments: shares of the run's system calls, 0 to 1.
    """
    process = _start(words, scratch / "tmp")
    stops = process.advance(sys.maxsize)
    _check_end(process, words, scratch)
    for moment, number in zip(moments, cycle(numbers), strict=False):
        at = max(int(moment * stops), FIRST_STOPS)
        process = _start(words, scratch / "tmp")
        process.advance(at)
        process.release(number)
        yield _outcome(process, number, f"at {at} of {stops}", words, scratch)


def interrupted_later(
    words: list[str], scratch: Path, moments: list[float], numbers: Signals
) -> Iterator[tuple[int | None, list[str]]]:
    """Do the same, but after shares of the seconds that the whole run takes."""
    started_s = time.monotonic()
    process = _start(words, scratch / "tmp")
    process.release()
    process.join(TIMEOUT_S)
    taken_s = time.monotonic() - started_s
    _check_end(process, words, scratch)
    for moment, number in zip(moments, cycle(numbers), strict=False):
        process = _start(words, scratch / "tmp")
        process.advance(FIRST_STOPS)
        process.release()
        if process.join(moment * taken_s) is None:
            os.kill(process.pid, number)
        yield _outcome(process, number, f"after {moment:.0%}", words, scratch)


def _check_end(process: StoppedProcess, words: list[str], scratch: Path) -> None:
    if process.status != 0:
        sys.exit(f"{words}: {(scratch / 'output').read_text()}")


def _outcome(
    process: StoppedProcess,
    number: signal.Signals,
    when: str,
    words: list[str],
    scratch: Path,
) -> tuple[int | None, list[str]]:
    status = process.join(TIMEOUT_S)
    if status is None:
        process.kill()
    if number is signal.SIGKILL:
        _remove_leftovers(scratch / "tmp")
    found = [
        f"{words[0]}, {number.name} {when}: {each}"
        for each in _ours(faults(scratch, status), number)
    ]
    _clear(scratch / "tmp")
    return status, found


def _remove_leftovers(place: Path) -> None:
    """Do what the next run does, once the killed one's children have ended too.

    One that was forked and hasn't become its program yet still holds the locks.
    """
    deadline_s = time.monotonic() + GONE_S
    remove_leftovers(place)
    while any(place.iterdir()) and time.monotonic() < deadline_s:
        time.sleep(_POLL_S)
        remove_leftovers(place)


def faults(scratch: Path, status: int | None) -> list[str]:
    """Return what a run has left behind, or done wrong."""
    found = ["it didn't end"] if status is None else []
    if "Traceback" in (output := (scratch / "output").read_text()):
        found.append(output)
    deadline_s = time.monotonic() + GONE_S
    while (left := leftovers(scratch)) and time.monotonic() < deadline_s:
        time.sleep(_POLL_S)
    return found + left


def leftovers(scratch: Path) -> list[str]:
    """Return mounts, loop devices, files and processes that are left."""
    inside = str(scratch)
    mounts = Path("/proc/self/mounts").read_text().splitlines()
    loops = Path("/sys/block").glob("loop*/loop/backing_file")
    return [
        *(f"mount {line}" for line in mounts if inside in line),
        *(f"loop device {path}" for path in loops if inside in _text(path)),
        *(f"file {path}" for path in (scratch / "tmp").iterdir()),
        *(f"file {path}" for path in (scratch / "out").glob(".*")),
        *(f"{_kind(pid)}{pid}: {name}" for pid, name in marked_processes(scratch)),
    ]


def _ours(found: list[str], number: signal.Signals) -> list[str]:
    """Leave out what a killed run can't help leaving.

    That is what the app has started in turn, and the mount's loop device as long as
    such a process has a file open there.
    """
    if number is not signal.SIGKILL:
        return found
    beyond_us = [_APPS_CHILD]
    if any(each.startswith(_APPS_CHILD) for each in found):
        beyond_us.append("loop device ")
    return [each for each in found if not each.startswith(tuple(beyond_us))]


def _kind(pid: int) -> str:
    """Tell what the app forked from the app itself, which leads a session."""
    with suppress(ProcessLookupError):
        if os.getsid(pid) not in (pid, os.getsid(0)):
            return _APPS_CHILD
    return "process "


def marked_processes(scratch: Path) -> Iterator[tuple[int, str]]:
    """Yield processes that inherited the mark."""
    mark = f"{MARK}={scratch}".encode()
    for directory in Path("/proc").glob("[0-9]*"):
        if int(directory.name) == os.getpid():
            continue
        try:
            if mark in (directory / "environ").read_bytes():
                yield int(directory.name), _text(directory / "cmdline")
        except OSError:
            continue


def _start(words: list[str], place: Path) -> StoppedProcess:
    for directory in (place, place.parent / "out", place.parent / "log"):
        directory.mkdir(exist_ok=True)

    def call() -> int:
        tempfile.tempdir = str(place)
        sys.argv[1:] = words
        return run_command_line()

    # Of a process that execs, /proc shows the environment that it was given.
    os.environ |= {MARK: str(place.parent), "XDG_STATE_HOME": str(place.parent / "log")}
    return StoppedProcess(call, place.parent / "output")


def _clear(place: Path) -> None:
    """Make room for the next run, whatever this one left."""
    for pid, _ in marked_processes(place.parent):
        os.kill(pid, signal.SIGKILL)
    for path in place.iterdir():
        if not any(str(path) in line for line in open("/proc/self/mounts")):  # noqa: SIM115, PTH123 # a few lines
            shutil.rmtree(path) if path.is_dir() else path.unlink()


def _text(path: Path) -> str:
    try:
        return path.read_text(errors="replace").replace("\0", " ")
    except OSError:
        return ""


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Time what the running kernel reads of squashfs images.

``kernels.py`` starts this as the first process of a user-mode Linux whose root is the
host's, and as an ordinary one on the host's own kernel. It writes JSON lines.

usage: kernel_inside.py --work DIR --output FILE [--rounds N] [--threads MODE]
                        [--do times|launches|pairs …]
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import shutil
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from kernel_reads import launches, mount, pairs, times

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from kernel_reads import Line

_BIND = 4096
_POWER_OFF = 0x4321FEDC  # LINUX_REBOOT_CMD_POWER_OFF
_SHARED = Path("/mnt")
LAUNCH_ROUNDS = {"xz": 1, "lzo": 4}
"""With lzo, a launch takes a tenth of the time, and varies as much."""
PAIR_ROUNDS = 8


def main() -> None:
    """Take the options, and measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", default="", help="mount option; none by default")
    parser.add_argument("--do", nargs="+", default=["times"], choices=tuple(WORKS))
    arguments = parser.parse_args()
    run(arguments, measure)


def run(
    arguments: argparse.Namespace, measure: Callable[[argparse.Namespace], None]
) -> None:
    """Measure, and write the lines; as a system's first process, then power off.

    :param arguments: ``work`` and ``output`` are where the host shows them.
    """
    if os.getpid() != 1:
        measure(arguments)
        return
    try:
        _set_up(arguments)
        measure(arguments)
    except BaseException as error:  # noqa: BLE001 # the kernel panics if this ends
        print(f"kernel_inside: {error!r}", file=sys.stderr, flush=True)
    os.sync()
    ctypes.CDLL(None).reboot(_POWER_OFF)


def _set_up(arguments: argparse.Namespace) -> None:
    """Mount what a system has, and find the work directory again beneath it."""
    mount("none", "/proc", "proc")
    mount("none", "/sys", "sysfs")
    mount(str(arguments.work), str(_SHARED), "", flags=_BIND)
    mount("none", "/tmp", "tmpfs", options="size=80%")  # noqa: S108 # the kernel's own
    mount("none", "/dev", "devtmpfs")
    arguments.output = _SHARED / arguments.output.relative_to(arguments.work)
    arguments.work = _SHARED
    os.environ["TMPDIR"] = "/tmp"  # noqa: S108


def measure(arguments: argparse.Namespace) -> None:
    """Write the lines."""
    with arguments.output.open("w", encoding="utf-8") as output:
        for kind in arguments.do:
            for line in WORKS[kind](arguments):
                output.write(json.dumps(line) + "\n")
                output.flush()


def _times(arguments: argparse.Namespace) -> Iterator[Line]:
    with _in_memory(arguments.work / "blocks") as images:
        yield from times(images, arguments.threads, arguments.rounds)


def _launches(arguments: argparse.Namespace) -> Iterator[Line]:
    for plan in sorted((arguments.work / "launches").glob("*.json")):
        with _in_memory(plan.with_suffix("")) as images:
            yield from launches(plan, images, arguments.threads, LAUNCH_ROUNDS)


def _pairs(arguments: argparse.Namespace) -> Iterator[Line]:
    with _in_memory(arguments.work / "readers") as images:
        yield from pairs(images, arguments.threads, PAIR_ROUNDS)


WORKS = {"times": _times, "launches": _launches, "pairs": _pairs}


@contextmanager
def _in_memory(directory: Path) -> Iterator[dict[str, Path]]:
    """Copy the images of a directory into memory, by their codec."""
    parent = "/tmp" if os.getpid() == 1 else "/dev/shm"  # noqa: S108 # a tmpfs each
    with tempfile.TemporaryDirectory(dir=parent) as memory:
        yield {
            path.stem: Path(shutil.copy(path, memory))
            for path in sorted(directory.glob("*.squashfs"))
        }


if __name__ == "__main__":
    main()

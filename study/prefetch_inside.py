#!/usr/bin/env python3
"""Time launches that are read ahead of, on a user-mode kernel with two processors.

``prefetch_kernel.py`` starts this as the first process of such a kernel, whose root is
the host's. Each launch is of a new mount, so nothing of it is cached; its image is in
memory. It writes a JSON line for each launch.

usage: prefetch_inside.py --work DIR --output FILE [--first N] [--rounds N]
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import time
from contextlib import suppress
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, cast

from kernel_inside import run
from kernel_reads import mounted
from snapcraft_compression_advisor.capture.home import launch_home
from snapcraft_compression_advisor.capture.page_cache import replay
from snapcraft_compression_advisor.capture.snap_environment import SnapApp
from snapcraft_compression_advisor.capture.start import Command, start_request
from snapcraft_compression_advisor.launch.launch_set import LaunchFile

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

THREADS = ("single", "percpu")
"""What mounts are asked for: one decompressor, and one for each processor."""
_SEED = 24
_TIMEOUT_S = 60
_MEMORY = Path("/tmp")  # noqa: S108 # a tmpfs of the kernel's own


def main() -> None:
    """Take the options, and measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--first", type=int, default=1, help="number of a round")
    parser.add_argument("--rounds", type=int, default=8)
    run(parser.parse_args(), _measure)


def _measure(arguments: argparse.Namespace) -> None:
    with arguments.output.open("w", encoding="utf-8") as output:
        for line in launches(arguments.work, arguments.first, arguments.rounds):
            output.write(json.dumps(line) + "\n")
            output.flush()


def launches(work: Path, first: int, rounds: int) -> Iterator[dict[str, object]]:
    """Yield every launch: of each mount and way in turn, in an order drawn by lot.

    One that isn't timed goes before, since an app sets up its home once only, and what
    is the host's is then cached.
    """
    plan = json.loads((work / "launch.json").read_text(encoding="utf-8"))
    image = Path(shutil.copy(work / "launch.squashfs", _MEMORY))
    listed = [
        LaunchFile(path=path, size_bytes=0, blocks=((first, last),))
        for path, first, last in plan["listed"]
    ]
    chance = random.Random(_SEED + first)  # noqa: S311 # an order, not a secret
    ways = list(product(THREADS, plan["before"]))
    with launch_home(None) as home:
        with mounted(image, THREADS[0]) as (root, _):
            _launch_s(root, plan, "without", home)
        for number in range(first, first + rounds):
            for threads, kind in chance.sample(ways, len(ways)):
                whole = {"decompressors": threads, "kind": kind, "round": number}
                with mounted(image, threads) as (root, _):
                    wall_s = _launch_s(root, plan, kind, home)
                    yield {**whole, "state": "cold", "wall_s": wall_s}
                    replay(root, listed)
                    wall_s = _launch_s(root, plan, kind, home)
                    yield {**whole, "state": "warm", "wall_s": wall_s}


def _launch_s(root: Path, plan: dict[str, object], kind: str, home: Path) -> float:
    """Return how long a launch takes to its end, which ends all that it started."""
    before = cast("dict[str, Sequence[str]]", plan["before"])[kind]
    command = Command(
        words=(*before, *cast("Sequence[str]", plan["words"])),
        environment=cast("dict[str, str]", plan["environment"]),
        app=SnapApp(snap=str(plan["name"])),
        expands=True,
    )
    request = start_request(command, root, home=home, display=None)
    start_s = time.perf_counter()
    subprocess.run(
        request.words,
        env=request.environment,
        cwd=request.directory,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        check=True,
        timeout=_TIMEOUT_S,
    )
    wall_s = time.perf_counter() - start_s
    _end_others()
    return wall_s


def _end_others() -> None:
    """End every other process: the first one is the parent of all that are left."""
    if os.getpid() != 1:
        return
    with suppress(ProcessLookupError):
        os.kill(-1, signal.SIGKILL)
    with suppress(ChildProcessError):
        while True:
            os.wait()


if __name__ == "__main__":
    main()

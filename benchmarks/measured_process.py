"""One process, with the time, processor time and memory that the kernel counted."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from snapcraft_compression_advisor.core.result_store import OFF, VARIABLE

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


@dataclass(frozen=True, kw_only=True)
class Measured:
    """What a process took.

    :param wall_s: seconds from start to end.
    :param cpu_s: processor seconds, its children's included.
    :param peak_bytes: largest resident set of the process or one of its children.
    """

    wall_s: float
    cpu_s: float
    peak_bytes: int


def keep_bytecode(folder: Path) -> None:
    """Have the processes that are started keep compiled code, as installations do.

    Some environments forbid it; then each run would compile the whole program anew.
    """
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    os.environ["PYTHONPYCACHEPREFIX"] = str(folder.absolute())


def run_measured(command: Sequence[str], *, cwd: Path | None = None) -> Measured:
    """Run a command and measure it; its output is dropped.

    It has no results of earlier runs, unless the environment names a place for them.

    :raises SystemExit: where it fails, with what it said.
    """
    start = time.perf_counter()
    process = subprocess.Popen(
        command,
        cwd=cwd,
        env={VARIABLE: OFF, **os.environ},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    assert process.stderr is not None  # noqa: S101 # a pipe was asked for
    with process.stderr:
        said = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    wall_s = time.perf_counter() - start
    if process.returncode:
        sys.exit(f"{command[0]} failed: {said.decode(errors='replace')}")
    return Measured(
        wall_s=wall_s,
        cpu_s=usage.ru_utime + usage.ru_stime,
        peak_bytes=usage.ru_maxrss * 1024,
    )

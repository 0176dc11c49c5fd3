"""One process, with the time, processor time and memory that the kernel counted."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from snapcraft_compression_advisor.core.files import OFF, VARIABLE

if TYPE_CHECKING:
    from collections.abc import Sequence

_CHILD = Path(__file__).with_name("peak_child.py")


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

    :raises SystemExit: if it fails, with what it said.
    """
    ran = subprocess.run(
        [sys.executable, "-I", "-S", str(_CHILD), *command],
        check=False,
        capture_output=True,
        cwd=cwd,
        env={VARIABLE: OFF, **os.environ},
    )
    if ran.returncode:
        sys.exit(f"{command[0]} failed: {ran.stderr.decode(errors='replace')}")
    return Measured(**json.loads(ran.stdout))

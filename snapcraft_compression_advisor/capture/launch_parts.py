"""The parts of an installed snap's launch: snapd's programs, then the app's own.

``snap run`` becomes ``snap-confine``, which makes or joins the mount namespace and
becomes ``snap-exec``; that becomes the first program of the command-chain, and so on to
the app's command. All of that is one process (snapd ``cmd/snapd/cli/cmd_run.go``,
``cmd/snap-confine``, ``cmd/snapctl/tool/snap-exec``). The kernel's trace event of
execve(2) has the path that was given and the process.
"""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from ..launch.profile import LaunchPart, RecordedPart
from ..payload.snap_yaml import App

EXEC_EVENT = "sched/sched_process_exec"

_INITIAL_PID_NAMESPACE = 0xEFFFFFFC
"""``PROC_PID_INIT_INO`` of Linux's ``include/linux/proc_ns.h``."""
_EXEC = re.compile(
    r" (?P<at>\d+\.\d+): sched_process_exec: "
    r"filename=(?P<program>.*) pid=(?P<pid>\d+) old_pid=\d+$",
    re.MULTILINE,
)
_SNAPD: dict[str, LaunchPart] = {
    "snap": "snap-run",
    "snap-confine": "snap-confine",
    "snap-exec": "snap-exec",
}


@dataclass(frozen=True, slots=True)
class Exec:
    """A process becomes another program.

    :param at_s: on the monotonic clock.
    """

    pid: int
    program: str
    at_s: float


def exec_events(text: str | None) -> tuple[Exec, ...]:
    """Return which process became what, in order, from the kernel's trace if any."""
    return tuple(
        Exec(int(each["pid"]), each["program"], float(each["at"]))
        for each in _EXEC.finditer(text or "")
    )


def names_our_processes(namespace: Path = Path("/proc/self/ns/pid")) -> bool:
    """Return whether the kernel's events have the process ids that this process sees.

    A container has ids of its own, and the events have those outside of it.

    :param namespace: of this process's ids.
    """
    return namespace.stat().st_ino == _INITIAL_PID_NAMESPACE


def launch_parts(
    execs: Iterable[Exec], *, pid: int, started_s: float, app: App
) -> tuple[RecordedPart, ...]:
    """Return the parts of a launch by their beginning.

    :param execs: of any processes, in order.
    :param pid: of ``snap run``.
    :param started_s: when that was started, on the monotonic clock.
    :return: those that were seen, none if nothing was.
    """
    found: dict[LaunchPart, RecordedPart] = {}
    launched = (each for each in execs if each.at_s >= started_s)
    for each, part in _parts(launched, pid, app):
        # Starting the first program is its part too.
        start_s = round(each.at_s - started_s, 4) if found else 0.0
        found.setdefault(
            part, RecordedPart(part=part, program=each.program, start_s=start_s)
        )
    return tuple(found.values())


def _parts(
    execs: Iterable[Exec], pid: int, app: App
) -> Iterator[tuple[Exec, LaunchPart]]:
    """Yield who begins what; a command-chain may start the app as another process."""
    is_sandboxed = False
    for each in execs:
        part = _SNAPD.get(posixpath.basename(each.program))
        if part is not None and each.pid == pid and not is_sandboxed:
            is_sandboxed = part == "snap-exec"
            yield each, part
        elif is_sandboxed and _is_one_of(each.program, app.command_chain):
            yield each, "command-chain"
        elif is_sandboxed and _is_one_of(each.program, _program(app)):
            yield each, "app"


def _program(app: App) -> list[str]:
    with suppress(ValueError):
        return shlex.split(app.command or "")[:1]
    return []


def _is_one_of(program: str, paths: Iterable[str]) -> bool:
    """Return whether a program has one of the paths relative to its snap."""
    own = (path.removeprefix("$SNAP/").lstrip("/") for path in paths)
    return any(program.endswith(f"/{path}") for path in own)

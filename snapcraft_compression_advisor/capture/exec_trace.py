"""Which programs processes become, and when they end: from the kernel's trace events.

The event ``sched:sched_process_exec`` has the path that execve(2) was given and the
process, ``sched_process_exit`` its end.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from .kernel_trace import PLACES, KernelTrace, kernel_trace

_EVENTS = ("sched/sched_process_exec", "sched/sched_process_exit")
_INITIAL_PID_NAMESPACE = 0xEFFFFFFC
"""``PROC_PID_INIT_INO`` of Linux's ``include/linux/proc_ns.h``."""
_EXIT = re.compile(
    r" (?P<at>\d+\.\d+): sched_process_exit: comm=.* pid=(?P<pid>\d+) prio=",
)
_EXEC = re.compile(
    r" (?P<at>\d+\.\d+): sched_process_exec: "
    r"filename=(?P<program>.*) pid=(?P<pid>\d+) old_pid=\d+$",
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class Exec:
    """A process becomes another program.

    :param at_s: on the monotonic clock.
    """

    pid: int
    program: str
    at_s: float


@dataclass(frozen=True, slots=True)
class Exit:
    """A process, or one thread of it, has ended.

    :param at_s: on the monotonic clock.
    """

    pid: int
    at_s: float


class ExecTrace:
    """Programs that were started, and that ended, since the trace began.

    :param trace: of the events; nothing comes of one that the kernel doesn't make.
    """

    def __init__(self, trace: KernelTrace) -> None:
        self._trace = trace

    def events(self) -> tuple[Exec, ...]:
        """Return who became what so far, in order; nothing without a trace."""
        return tuple(
            Exec(int(each["pid"]), each["program"], float(each["at"]))
            for each in _EXEC.finditer(self._text())
        )

    def exits(self) -> tuple[Exit, ...]:
        """Return who has ended so far, in order; nothing without a trace."""
        return tuple(
            Exit(int(each["pid"]), float(each["at"]))
            for each in _EXIT.finditer(self._text())
        )

    def _text(self) -> str:
        return self._trace.text() or ""


def names_our_processes(namespace: Path = Path("/proc/self/ns/pid")) -> bool:
    """Return whether the kernel's events have the process ids that this process sees.

    A container has ids of its own, and the events have those outside of it.

    :param namespace: of this process's ids.
    """
    return namespace.stat().st_ino == _INITIAL_PID_NAMESPACE


@contextmanager
def exec_trace(places: tuple[Path, ...] = PLACES) -> Iterator[ExecTrace]:
    """Trace which programs are started, as root and where the kernel does that.

    It covers all of the system's processes, and names them as the kernel does:
    see :func:`names_our_processes`.

    :param places: where tracefs may be mounted; else it is, for the time.
    """
    with kernel_trace(dict.fromkeys(_EVENTS, ""), places=places) as trace:
        yield ExecTrace(trace)

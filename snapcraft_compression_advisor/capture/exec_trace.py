"""Which programs processes become, and when they end: from the kernel's trace events.

The event ``sched:sched_process_exec`` has the path that execve(2) was given and the
process, ``sched_process_exit`` its end, both in a buffer of our own (``instances`` of
tracefs; Linux's ``Documentation/trace/ftrace.rst``). They cost a microsecond each.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from ..core.deferred_signals import deferred_signals
from ..core.errors import StorageError
from ..core.scratch import PREFIX, unmount
from .mount import mount_point, virtual_mount

_PLACES = (Path("/sys/kernel/tracing"), Path("/sys/kernel/debug/tracing"))
_EVENTS = ("sched_process_exec", "sched_process_exit")
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

    :param instance: the directory of its buffer; ``None`` where the kernel doesn't
        trace for us.
    """

    def __init__(self, instance: Path | None) -> None:
        self._instance = instance

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
        if self._instance is None:
            return ""
        return (self._instance / "trace").read_text(errors="replace")


def names_our_processes(namespace: Path = Path("/proc/self/ns/pid")) -> bool:
    """Tell whether the kernel's events have the process ids that this process sees.

    A container has ids of its own, and the events have those outside of it.

    :param namespace: of this process's ids.
    """
    return namespace.stat().st_ino == _INITIAL_PID_NAMESPACE


@contextmanager
def exec_trace(places: tuple[Path, ...] = _PLACES) -> Iterator[ExecTrace]:
    """Trace which programs are started, as root and where the kernel does that.

    It covers all of the system's processes, and names them as the kernel does:
    see :func:`names_our_processes`.

    :param places: where tracefs may be mounted; else it is, for the time.
    """
    with ExitStack() as stack:
        signals = stack.enter_context(deferred_signals())
        instance = None
        with suppress(OSError, StorageError):
            instance = _started(stack, places)
        with signals.delivered():
            yield ExecTrace(instance)


def _started(stack: ExitStack, places: tuple[Path, ...]) -> Path:
    """Begin a trace that ends with a stack.

    :raises OSError: where this process may not, or the kernel can't.
    """
    root = next((each for each in places if (each / "instances").is_dir()), None)
    if root is None:
        root = stack.enter_context(mount_point())
        virtual_mount("tracefs", root)
        stack.callback(unmount, str(root))
    instance = Path(tempfile.mkdtemp(prefix=PREFIX, dir=root / "instances"))
    stack.callback(_remove, instance)
    (instance / "trace_clock").write_text("mono")
    for event in _EVENTS:
        (instance / f"events/sched/{event}/enable").write_text("1")
    return instance


def _remove(instance: Path) -> None:
    """End a trace; the kernel switches its events off."""
    with suppress(OSError):
        instance.rmdir()

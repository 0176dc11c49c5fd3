"""Processes and threads, as ``/proc`` and a control group of the kernel show them.

A control group (cgroup v2) holds every process of a launch whatever becomes of parents
and sessions, freezes all of them at once, and adds up their processor time to the
microsecond. Making one needs root or a delegated group; where none can be made,
``/proc`` (proc(5)) and signals have to do.
"""

from __future__ import annotations

import os
import select
import tempfile
import time
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import reduce
from operator import sub
from pathlib import Path

from ..core.frozen import frozen
from ..core.scratch import PREFIX

PROC = Path("/proc")
TICK_S = 1 / os.sysconf("SC_CLK_TCK")
"""Unit of the processor times in ``stat`` files, seconds."""

_NANOSECOND_S = 1e-9
# Fields of stat, counted from the one after the name (proc(5) counts from 1 and has
# two before it).
_STATE, _PARENT, _SESSION, _MAJOR_FAULTS, _CHILD_FAULTS = 0, 1, 3, 9, 10
_USER, _SYSTEM, _CHILD_USER, _CHILD_SYSTEM = 11, 12, 13, 14

ENDED = "(ended)"
"""Stands for the name of threads and child processes that are gone by now."""

_STATE_TIMEOUT_S = 5.0
"""A thread that waits for storage freezes or ends once that has answered."""

_MOST_GROUPS = 10_000
"""Of an application; one makes a group for each of its programs, if any at all."""

_MICROSECOND_S = 1e-6


@frozen
class Process:
    """One process, from its ``stat``.

    :param state: one letter; ``Z`` has ended and waits for its parent to notice.
    :param user_s: processor time of all its threads and of the children that it
        has waited for, in whole ticks.
    """

    pid: int
    name: str
    state: str
    parent: int
    session: int
    user_s: float
    system_s: float
    major_faults: int


@frozen
class ThreadFigures:
    """What one thread has done so far, or several of one name.

    :param cpu_s: processor time, user and system.
    :param read_bytes: that it had storage read for it.
    :param major_faults: page faults that had to wait for storage.
    """

    name: str
    cpu_s: float
    read_bytes: int
    major_faults: int

    def __add__(self, other: ThreadFigures) -> ThreadFigures:
        return ThreadFigures(
            name=self.name,
            cpu_s=self.cpu_s + other.cpu_s,
            read_bytes=self.read_bytes + other.read_bytes,
            major_faults=self.major_faults + other.major_faults,
        )

    def __sub__(self, part: ThreadFigures) -> ThreadFigures:
        """Return what is left without a part, never below 0."""
        return ThreadFigures(
            name=self.name,
            cpu_s=max(0.0, self.cpu_s - part.cpu_s),
            read_bytes=max(0, self.read_bytes - part.read_bytes),
            major_faults=max(0, self.major_faults - part.major_faults),
        )


def list_processes(*, proc: Path = PROC) -> dict[int, Process]:
    """Return all processes by id; those that end meanwhile may be missing."""
    pids = (int(path.name) for path in proc.iterdir() if path.name.isdecimal())
    found = (read_process(pid, proc=proc) for pid in pids)
    return {process.pid: process for process in found if process is not None}


def read_process(pid: int, *, proc: Path = PROC) -> Process | None:
    """Return a process, ``None`` where it is gone."""
    stat = _read_stat(proc / str(pid) / "stat")
    if stat is None:
        return None
    name, fields = stat
    return Process(
        pid=pid,
        name=name,
        state=fields[_STATE],
        parent=int(fields[_PARENT]),
        session=int(fields[_SESSION]),
        user_s=(int(fields[_USER]) + int(fields[_CHILD_USER])) * TICK_S,
        system_s=(int(fields[_SYSTEM]) + int(fields[_CHILD_SYSTEM])) * TICK_S,
        major_faults=int(fields[_MAJOR_FAULTS]) + int(fields[_CHILD_FAULTS]),
    )


def tasks_of(user: int, *, proc: Path = PROC) -> int:
    """Return how many processes and threads a user has, which limits count."""
    tasks = 0
    for path in proc.iterdir():
        with suppress(OSError):  # gone meanwhile
            if path.name.isdecimal() and path.stat().st_uid == user:
                tasks += len(os.listdir(path / "task"))  # noqa: PTH208 # names alone
    return tasks


def thread_states(pid: int, *, proc: Path = PROC) -> set[str]:
    """Return the states that threads of a process are in, by their letters."""
    return {fields[_STATE] for _, _, fields in _read_threads(proc / str(pid))}


def is_standing_still(pid: int, *, proc: Path = PROC) -> bool:
    """Tell whether no thread of a process runs: all are stopped or have ended.

    A traced thread stops for its tracer (``t``).
    """
    return thread_states(pid, proc=proc) <= set("TtZXx")


def descendants(processes: Mapping[int, Process], roots: Iterable[int]) -> set[int]:
    """Return the roots that are there and all that descends from them."""
    children: dict[int, list[int]] = {}
    for process in processes.values():
        children.setdefault(process.parent, []).append(process.pid)
    found: set[int] = set()
    pending = [root for root in roots if root in processes]
    while pending:
        pid = pending.pop()
        if pid not in found:
            found.add(pid)
            pending.extend(children.get(pid, ()))
    return found


def thread_figures(
    pids: Collection[int], *, proc: Path = PROC
) -> dict[int, ThreadFigures]:
    """Return the figures of all threads of some processes, by thread id.

    What a process has on top of its threads comes from threads that have ended and
    from children that it has waited for; it stands under minus the process's id.
    What can't be read (gone meanwhile, somebody else's) counts as nothing.
    """
    found = {}
    for pid in pids:
        threads = {
            int(task.name): ThreadFigures(
                name=name,
                cpu_s=_scheduled_s(task, fields),
                read_bytes=_read_bytes(task),
                major_faults=int(fields[_MAJOR_FAULTS]),
            )
            for task, name, fields in _read_threads(proc / str(pid))
        }
        found.update(threads)
        process = read_process(pid, proc=proc)
        if process is not None:
            whole = ThreadFigures(
                name=ENDED,
                cpu_s=process.user_s + process.system_s,
                read_bytes=_read_bytes(proc / str(pid)),
                major_faults=process.major_faults,
            )
            found[-pid] = reduce(sub, threads.values(), whole)
    return found


def merge_threads(figures: Iterable[ThreadFigures]) -> tuple[ThreadFigures, ...]:
    """Add up threads of one name; those that read most come first, idle ones go."""
    merged: dict[str, ThreadFigures] = {}
    for item in figures:
        known = merged.get(item.name)
        merged[item.name] = item if known is None else known + item
    items = sorted(merged.values(), key=lambda item: (-item.cpu_s, item.name))
    items.sort(key=lambda item: -item.read_bytes)
    return tuple(i for i in items if i.cpu_s or i.read_bytes or i.major_faults)


def _read_threads(process: Path) -> Iterator[tuple[Path, str, list[str]]]:
    """Yield directory, name and fields of a process's threads."""
    with suppress(OSError):
        for task in (process / "task").iterdir():
            stat = _read_stat(task / "stat")
            if stat is not None:
                yield task, *stat


def _scheduled_s(task: Path, fields: list[str]) -> float:
    """Return a thread's time on a processor, which schedstat has in nanoseconds."""
    try:
        return int((task / "schedstat").read_text().split()[0]) * _NANOSECOND_S
    except (OSError, ValueError, IndexError):
        return (int(fields[_USER]) + int(fields[_SYSTEM])) * TICK_S


def read_bytes_of(pid: int, *, proc: Path = PROC) -> int:
    """Return what a process and children it has waited for read.

    What storage delivered for them, and what system calls did.
    """
    counters = _counters(proc / str(pid))
    return counters.get("rchar", 0) + counters.get("read_bytes", 0)


def _read_bytes(task: Path) -> int:
    return _counters(task).get("read_bytes", 0)


def _counters(task: Path) -> dict[str, int]:
    """Return the figures of a process or thread in ``io``, none if it is gone."""
    try:
        lines = (task / "io").read_text().splitlines()
    except OSError:
        return {}
    return {name: int(value) for name, _, value in (x.partition(":") for x in lines)}


def _read_stat(path: Path) -> tuple[str, list[str]] | None:
    try:
        text = path.read_bytes().decode(errors="replace")
    except OSError:
        return None
    # The name stands in parentheses and may itself hold some, and spaces.
    name = text.partition("(")[2].rpartition(")")[0]
    fields = text.rpartition(")")[2].split()
    return (name, fields) if len(fields) > _CHILD_SYSTEM else None


class ControlGroup:
    """One group."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    @classmethod
    def create(cls) -> ControlGroup | None:
        """Make a group below our own, ``None`` where that isn't possible."""
        with suppress(OSError):
            for parent in _own_group():
                group = cls(Path(tempfile.mkdtemp(prefix=PREFIX, dir=parent)))
                if os.access(group.directory / "cgroup.freeze", os.W_OK):
                    return group
                group.remove()
        return None

    def process_ids(self) -> set[int]:
        """Return its processes; those that have ended don't count."""
        found: set[int] = set()
        for directory in (self.directory, *self._below()):
            with suppress(OSError):
                found.update(map(int, (directory / "cgroup.procs").read_text().split()))
        return found

    def freeze(self) -> None:
        """Stop all of its processes, and wait until they stand still."""
        (self.directory / "cgroup.freeze").write_text("1")
        self._wait_until("frozen 1")

    def thaw(self) -> None:
        """Let its processes go on."""
        (self.directory / "cgroup.freeze").write_text("0")

    def cpu_s(self) -> tuple[float, float] | None:
        """Return processor time in user and system mode, ``None`` where unknown."""
        try:
            lines = (self.directory / "cpu.stat").read_text().splitlines()
            values = dict(line.split() for line in lines)
            return (
                int(values["user_usec"]) * _MICROSECOND_S,
                int(values["system_usec"]) * _MICROSECOND_S,
            )
        except (OSError, ValueError, KeyError):
            return None

    def remove(self) -> None:
        """Remove the group, whose processes have to be ended.

        One that isn't empty stays: a directory in a virtual file system.
        """
        with suppress(OSError):
            # The kernel counts a process for a moment longer than it can be seen.
            self._wait_until("populated 0")
            for directory in (*self._below(), self.directory):
                directory.rmdir()

    def _wait_until(self, state: str) -> None:
        """Wait until the group's events show a state, or too much time is gone."""
        with (self.directory / "cgroup.events").open() as events:
            poll = select.poll()
            poll.register(events, select.POLLPRI)
            deadline = time.monotonic() + _STATE_TIMEOUT_S
            while state not in events.read():
                left_s = deadline - time.monotonic()
                if left_s <= 0:
                    return
                poll.poll(left_s * 1000)
                events.seek(0)

    def _below(self) -> list[Path]:
        """Return groups that the application made, the innermost first."""
        found: list[Path] = []
        pending = [self.directory]
        while pending and len(found) < _MOST_GROUPS:
            with suppress(OSError), os.scandir(pending.pop()) as entries:
                below = [Path(each) for each in entries if each.is_dir()]
                found += below
                pending += below
        return sorted(found, key=lambda path: -len(path.parts))


def _own_group() -> list[Path]:
    """Return the directory of this process's group, nothing without cgroup v2."""
    mounts = Path("/proc/self/mounts").read_text().splitlines()
    places = [line.split(" ")[1] for line in mounts if line.split(" ")[2] == "cgroup2"]
    groups = Path("/proc/self/cgroup").read_text().splitlines()
    return [
        Path(place, line.removeprefix("0::/"))
        for line in groups
        if line.startswith("0::/")
        for place in places[:1]
    ]

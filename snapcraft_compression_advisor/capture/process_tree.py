"""A started command with all that it starts in turn, up to the end of the last."""

from __future__ import annotations

import contextlib
import ctypes
import os
import select
import signal
import time
from collections.abc import Iterable, Iterator, Mapping
from functools import reduce
from operator import sub

from ..core.deferred_signals import deferred_signals
from ..core.errors import ToolError
from .prepared_process import PreparedProcess, StartRequest, launch_keeper
from .processes import (
    ControlGroup,
    Process,
    ThreadFigures,
    descendants,
    is_standing_still,
    list_processes,
    merge_threads,
    read_bytes_of,
    read_process,
    thread_figures,
    thread_states,
)

GRACE_S = 2.0
"""What the processes get to end by themselves before they are killed."""

GONE_TIMEOUT_S = 10.0
"""After SIGKILL; only a process that waits for broken storage needs longer."""

STOP_TIMEOUT_S = 5.0
_STOP_POLL_S = 0.0005

_SET_CHILD_SUBREAPER = 36  # PR_SET_CHILD_SUBREAPER of linux/prctl.h
_GET_CHILD_SUBREAPER = 37
_INPUT_UNIT_BYTES = 512
"""Unit of ``ru_inblock`` (``task_io_get_inblock`` of the kernel)."""


@contextlib.contextmanager
def process_tree(request: StartRequest) -> Iterator[ProcessTree]:
    """Prepare a command; :meth:`PreparedProcess.go` starts it.

    On the way out the command and all its descendants are ended, whatever happens.

    :raises ToolError: where it can't be prepared.
    """
    with deferred_signals() as signals, contextlib.ExitStack() as resources:
        group = None if request.leaves_group else ControlGroup.create()
        if group is not None:
            resources.callback(group.remove)
        resources.callback(_set_subreaper, on=_set_subreaper(on=True))
        information = (
            resources.enter_context(launch_keeper()) if request.isolated else None
        )
        tree = ProcessTree(request, group, information)
        resources.callback(tree.process.close)
        resources.callback(tree.end)
        tree.make_ready()
        with signals.delivered():
            yield tree


class ProcessTree:
    """A command and its descendants.

    Descendants that lose their parent become our children (prctl(2),
    ``PR_SET_CHILD_SUBREAPER``), so a daemon is found as well. Where a control group
    can be made, it tells who belongs to the tree; else parents and sessions do.

    :ivar process: becomes the command at :meth:`PreparedProcess.go`.
    :ivar exit_status: of the command, once :meth:`notice_exit` has seen its end:
        minus a signal's number where that ended it, as in :mod:`subprocess`.
    """

    def __init__(
        self,
        request: StartRequest,
        group: ControlGroup | None,
        information: int | None,
    ) -> None:
        self._group = group
        self._own_session = os.getsid(0)
        self._strangers = {
            process.pid
            for process in list_processes().values()
            if process.parent == os.getpid()
        }
        self.process = PreparedProcess(
            request,
            processes_file=group.directory / "cgroup.procs" if group else None,
            information=information,
        )
        self._reaped: list[ThreadFigures] = []
        self._reaped_cpu_s = (0.0, 0.0)
        self._before: tuple[float, float] = (0.0, 0.0)
        self._threads_before: dict[int, ThreadFigures] = {}
        self.exit_status: int | None = None

    def make_ready(self) -> None:
        """Do all that comes before the start; figures count from here on.

        :raises ToolError: where that isn't possible.
        """
        self.process.make_ready()
        self._threads_before = thread_figures([self.process.pid])
        self._before = self._total_cpu_s()

    def process_ids(self) -> set[int]:
        """Return the tree's processes that haven't ended."""
        if self._group is not None:
            return self._group.process_ids()
        processes = list_processes()
        found = descendants(processes, {self.process.pid, *self._orphans(processes)})
        return {pid for pid in found if processes[pid].state not in "ZX"}

    def freeze(self) -> None:
        """Stop every process where it is."""
        if self._group is not None:
            self._group.freeze()
            return
        stopped: set[int] = set()
        # What one forked before it stopped is found in the next round.
        while new := self.process_ids() - stopped:
            self._signal(new, signal.SIGSTOP)
            _wait_until_stopped(new)
            stopped |= new

    def thaw(self) -> None:
        """Let every process go on."""
        if self._group is not None:
            self._group.thaw()
        else:
            self._signal(self.process_ids(), signal.SIGCONT)

    def cpu_s(self) -> tuple[float, float]:
        """Return processor time since the start, in user and system mode.

        Of processes that have ended as well.
        """
        user_s, system_s = self._total_cpu_s()
        return max(0.0, user_s - self._before[0]), max(0.0, system_s - self._before[1])

    def read_bytes(self) -> int:
        """Return what processes that haven't ended have read, with their children.

        From storage, and by system calls: what is read ahead comes in longer strides.
        """
        return sum(map(read_bytes_of, self.process_ids()))

    def waits_for_storage(self) -> bool:
        """Tell whether a thread does."""
        return any("D" in thread_states(pid) for pid in self.process_ids())

    def threads(self) -> tuple[ThreadFigures, ...]:
        """Return what the threads did since the start, those of one name as one."""
        self._notice_orphans()  # the first process of an isolated launch is one
        figures = thread_figures(self.process_ids())
        for thread, before in self._threads_before.items():
            if thread in figures:
                figures[thread] -= before
        return merge_threads([*figures.values(), *self._reaped])

    def notice_exit(self) -> None:
        """Set ``exit_status`` where the command has ended."""
        if self.exit_status is None:
            self.exit_status = self._reap(self.process.pid)
            self.process.has_ended(self.exit_status)

    def end(self) -> None:
        """End all processes: politely, then not.

        :raises ToolError: where one doesn't even end when it is killed.
        """
        try:
            self.thaw()
            self._signal(self.process_ids(), signal.SIGTERM)
            self._wait_for_end(GRACE_S)
        finally:
            self._kill()

    def _kill(self) -> None:
        deadline = time.monotonic() + GONE_TIMEOUT_S
        while pids := self.process_ids():
            self._signal(pids, signal.SIGKILL)
            if not self._wait_for_end(max(0.0, deadline - time.monotonic())):
                left = filter(None, map(read_process, self.process_ids()))
                names = ", ".join(sorted({process.name for process in left}))
                message = f"Processes of the launch are still running: {names}"
                raise ToolError(
                    message, resolution="Use 'ps' to see what they are waiting for."
                )
        self._notice_orphans()
        self.notice_exit()

    def _wait_for_end(self, timeout_s: float) -> bool:
        """Wait until all processes have ended, and tell whether they have."""
        deadline = time.monotonic() + timeout_s
        while pids := self.process_ids():
            with _descriptors(pids) as descriptors:
                for descriptor in descriptors:
                    poll = select.poll()
                    poll.register(descriptor, select.POLLIN)
                    if not poll.poll(max(0.0, deadline - time.monotonic()) * 1000):
                        return False
        return True

    def _signal(self, pids: Iterable[int], number: signal.Signals) -> None:
        with _descriptors(pids) as descriptors:
            for descriptor in descriptors:
                # Gone, or changed to a user that we can't signal.
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    signal.pidfd_send_signal(descriptor, number)

    def _orphans(self, processes: Mapping[int, Process]) -> set[int]:
        """Return descendants that have become our children.

        Children that we had before aren't, nor those that we start meanwhile: these
        are in our session, which nobody can join.
        """
        return {
            process.pid
            for process in processes.values()
            if process.parent == os.getpid()
            and process.pid not in self._strangers
            and process.pid != self.process.pid
            and process.session != self._own_session
        }

    def _notice_orphans(self) -> None:
        """Reap those that have ended: nobody else does."""
        processes = list_processes()
        for pid in self._orphans(processes):
            if processes[pid].state == "Z":
                self._reap(pid)

    def _reap(self, pid: int) -> int | None:
        process = read_process(pid)
        try:
            ended, status, usage = os.wait4(pid, os.WNOHANG)
        except ChildProcessError:
            return None
        if not ended:
            return None
        figures = ThreadFigures(
            name=process.name if process else "",
            cpu_s=usage.ru_utime + usage.ru_stime,
            read_bytes=usage.ru_inblock * _INPUT_UNIT_BYTES,
            major_faults=usage.ru_majflt,
        )
        before = [item for key, item in self._threads_before.items() if abs(key) == pid]
        self._reaped.append(reduce(sub, before, figures))
        self._reaped_cpu_s = (
            self._reaped_cpu_s[0] + usage.ru_utime,
            self._reaped_cpu_s[1] + usage.ru_stime,
        )
        return os.waitstatus_to_exitcode(status)

    def _total_cpu_s(self) -> tuple[float, float]:
        grouped = self._group.cpu_s() if self._group is not None else None
        if grouped is not None:
            return grouped
        self._notice_orphans()
        user_s, system_s = self._reaped_cpu_s
        for process in filter(None, map(read_process, self.process_ids())):
            user_s += process.user_s
            system_s += process.system_s
        return user_s, system_s


@contextlib.contextmanager
def _descriptors(pids: Iterable[int]) -> Iterator[list[int]]:
    """Open a descriptor (pidfd_open(2)) of each process that is still there."""
    with contextlib.ExitStack() as opened:
        descriptors = []
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                descriptor = os.pidfd_open(pid)
                opened.callback(os.close, descriptor)
                descriptors.append(descriptor)
        yield descriptors


def _wait_until_stopped(pids: Iterable[int]) -> None:
    """Wait until processes that were told to stop stand still.

    Nothing shows it but ``/proc``. A thread that waits for storage stops once
    that has answered; it does nothing till then.
    """
    deadline = time.monotonic() + STOP_TIMEOUT_S
    for pid in pids:
        while not is_standing_still(pid) and time.monotonic() < deadline:
            time.sleep(_STOP_POLL_S)


def _set_subreaper(*, on: bool) -> bool:
    """Adopt orphaned descendants or not, and tell what was set before."""
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    before = ctypes.c_int()
    prctl(_GET_CHILD_SUBREAPER, ctypes.byref(before), 0, 0, 0)
    prctl(_SET_CHILD_SUBREAPER, int(on), 0, 0, 0)
    return bool(before.value)

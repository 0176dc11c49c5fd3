"""A started command with all that it starts in turn, up to the end of the last."""

from __future__ import annotations

import contextlib
import ctypes
import os
import select
import signal
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

import psutil

from ..core.child import deferred_signals
from ..core.errors import ToolError
from .prepared_process import PreparedProcess, StartRequest, launch_keeper

GRACE_S = 2.0
"""What the processes get to end by themselves before they are killed."""

GONE_TIMEOUT_S = 10.0
"""After SIGKILL; only a process that waits for broken storage needs longer."""

STOP_TIMEOUT_S = 5.0
_STOP_POLL_S = 0.0005

_SET_CHILD_SUBREAPER = 36  # PR_SET_CHILD_SUBREAPER of linux/prctl.h
_GET_CHILD_SUBREAPER = 37


@contextlib.contextmanager
def process_tree(request: StartRequest) -> Iterator[ProcessTree]:
    """Prepare a command; :meth:`PreparedProcess.go` starts it.

    On the way out the command and all its descendants are ended in any case.

    :raises ToolError: if it can't be prepared.
    """
    with deferred_signals() as signals, contextlib.ExitStack() as resources:
        resources.callback(_set_subreaper, on=_set_subreaper(on=True))
        information = (
            resources.enter_context(launch_keeper()) if request.isolated else None
        )
        tree = ProcessTree(request, information)
        resources.callback(tree.process.close)
        resources.callback(tree.end)
        tree.make_ready()
        with signals.delivered():
            yield tree


class ProcessTree:
    """A command and its descendants.

    Descendants that lose their parent become our children (prctl(2),
    ``PR_SET_CHILD_SUBREAPER``), so a daemon is found as well.

    :ivar process: becomes the command at :meth:`PreparedProcess.go`.
    :ivar exit_status: of the command, once :meth:`notice_exit` has seen its end:
        minus a signal's number where that ended it, as in :mod:`subprocess`.
    """

    def __init__(self, request: StartRequest, information: int | None) -> None:
        self._own_session = os.getsid(0)
        self._strangers = {child.pid for child in psutil.Process().children()}
        self.process = PreparedProcess(request, information=information)
        self._reaped_cpu_s = (0.0, 0.0)
        self._before: tuple[float, float] = (0.0, 0.0)
        self.exit_status: int | None = None

    def make_ready(self) -> None:
        """Do all that comes before the start; figures count from here on."""
        self.process.make_ready()
        self._before = self._total_cpu_s()

    def process_ids(self) -> set[int]:
        """Return the tree's processes that haven't ended."""
        return {each.pid for each in self._living()}

    def _living(self) -> list[psutil.Process]:
        """Return the tree's processes; those of them that have ended are reaped."""
        found: dict[int, psutil.Process] = {}
        parents = {os.getpid()}
        for each in psutil.Process().children(recursive=True):  # parents come first
            with contextlib.suppress(psutil.NoSuchProcess), each.oneshot():
                is_child = each.ppid() == os.getpid()
                if each.ppid() not in parents or (is_child and self._is_other(each)):
                    continue
                parents.add(each.pid)
                if each.status() != psutil.STATUS_ZOMBIE:
                    found[each.pid] = each
                elif is_child and each.pid != self.process.pid:
                    self._reap(each.pid)  # nobody else does
        return list(found.values())

    def _is_other(self, child: psutil.Process) -> bool:
        """Return whether we had a child before, or have started it ourselves meanwhile.

        These are in our session, which nobody can join.
        """
        if child.pid == self.process.pid:
            return False
        if child.pid in self._strangers:
            return True
        with contextlib.suppress(ProcessLookupError):
            return os.getsid(child.pid) == self._own_session
        return True

    def freeze(self) -> None:
        """Stop every process where it is."""
        stopped: set[int] = set()
        # What one forked before it stopped is found in the next round.
        while new := self.process_ids() - stopped:
            self._signal(new, signal.SIGSTOP)
            _wait_until_stopped(new)
            stopped |= new

    def cpu_s(self) -> tuple[float, float]:
        """Return processor time since the start, in user and system mode.

        Of processes that have ended as well.
        """
        user_s, system_s = self._total_cpu_s()
        return max(0.0, user_s - self._before[0]), max(0.0, system_s - self._before[1])

    def read_bytes(self) -> int:
        """Return the reads of processes that haven't ended, with their children.

        From storage, and by system calls: what is read ahead comes in longer strides.
        """
        total = 0
        for each in self._living():
            with contextlib.suppress(psutil.Error):
                counters = each.io_counters()
                total += counters.read_bytes + counters.read_chars
        return total

    def waits_for_storage(self) -> bool:
        """Return whether a thread does."""
        return any("D" in thread_states(pid) for pid in self.process_ids())

    def notice_exit(self) -> None:
        """Set ``exit_status`` if the command has ended."""
        if self.exit_status is None:
            self.exit_status = self._reap(self.process.pid)
            self.process.has_ended(self.exit_status)

    def end(self) -> None:
        """End all processes: politely, then not.

        :raises ToolError: if one doesn't even end when it is killed.
        """
        try:
            self._signal(self.process_ids(), signal.SIGCONT)
            self._signal(self.process_ids(), signal.SIGTERM)
            self._wait_for_end(GRACE_S)
        finally:
            self._kill()

    def _kill(self) -> None:
        deadline = time.monotonic() + GONE_TIMEOUT_S
        while pids := self.process_ids():
            self._signal(pids, signal.SIGKILL)
            if not self._wait_for_end(max(0.0, deadline - time.monotonic())):
                names = ", ".join(sorted({each.name() for each in self._living()}))
                message = f"Processes of the launch are still running: {names}"
                raise ToolError(
                    message, resolution="Use 'ps' to see what they are waiting for."
                )
        self.notice_exit()

    def _wait_for_end(self, timeout_s: float) -> bool:
        """Wait until all processes have ended, and return whether they have."""
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

    def _reap(self, pid: int) -> int | None:
        try:
            ended, status, usage = os.wait4(pid, os.WNOHANG)
        except ChildProcessError:
            return None
        if not ended:
            return None
        user_s, system_s = self._reaped_cpu_s
        self._reaped_cpu_s = user_s + usage.ru_utime, system_s + usage.ru_stime
        return os.waitstatus_to_exitcode(status)

    def _total_cpu_s(self) -> tuple[float, float]:
        living = self._living()  # first: it reaps those that have ended
        user_s, system_s = self._reaped_cpu_s
        for each in living:
            with contextlib.suppress(psutil.Error):
                times = each.cpu_times()
                user_s += times.user + times.children_user
                system_s += times.system + times.children_system
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
    """Wait until processes that are to stop stand still.

    Nothing shows it but ``/proc``. A thread that waits for storage stops once
    that has answered; it does nothing till then.
    """
    deadline = time.monotonic() + STOP_TIMEOUT_S
    for pid in pids:
        # A traced thread stops for its tracer (``t``).
        while not thread_states(pid) <= set("TtZXx") and time.monotonic() < deadline:
            time.sleep(_STOP_POLL_S)


def thread_states(pid: int) -> set[str]:
    """Return the states that threads of a process are in, by their letters (proc(5)).

    psutil has that of a process's first thread only.
    """
    found = set()
    for stat in Path(f"/proc/{pid}/task").glob("*/stat"):
        with contextlib.suppress(OSError):
            found.add(stat.read_bytes().rpartition(b")")[2].split()[0].decode())
    return found


def _set_subreaper(*, on: bool) -> bool:
    """Adopt orphaned descendants or not, and return what was set before."""
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    before = ctypes.c_int()
    prctl(_GET_CHILD_SUBREAPER, ctypes.byref(before), 0, 0, 0)
    prctl(_SET_CHILD_SUBREAPER, int(on), 0, 0, 0)
    return bool(before.value)

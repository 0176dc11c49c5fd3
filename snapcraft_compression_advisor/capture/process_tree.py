"""A command, ready to be started, and all that it starts in turn, to the last end."""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

import psutil

from ..core.child import deferred_signals
from ..core.errors import ToolError
from .call_notices import CallFilter, CallNotices

READY_TIMEOUT_S = 30.0
"""For preparing a start; a fraction of a second is usual."""

_NANOSECOND_S = 1e-9

GRACE_S = 2.0
"""What the processes get to end by themselves before they are killed."""

GONE_TIMEOUT_S = 10.0
"""After SIGKILL; only a process that waits for broken storage needs longer."""

STOP_TIMEOUT_S = 5.0
_STOP_POLL_S = 0.0005
_END_POLL_S = 0.01

_SET_CHILD_SUBREAPER = 36  # PR_SET_CHILD_SUBREAPER of linux/prctl.h
_GET_CHILD_SUBREAPER = 37


@dataclass(frozen=True, slots=True, kw_only=True)
class StartRequest:
    """What to start.

    :param words: program and arguments; a program without a slash is looked up in
        the environment's ``PATH``.
    :param directory: to start in, as the command sees it.
    :param new_root: a system tree to take as root directory; needs root.
    :param shared_as: for a new root: a directory of the host, and where to show it.
    :param user: whom bubblewrap is to start the command as, if this one is root.
    :param shown: files that this user is shown, by number.
    :param limits: of resources, by their names in :mod:`resource`.
    :param call_filter: what holds system calls until they were taken note of.
    :param isolated: whether bubblewrap starts it.
    """

    words: tuple[str, ...]
    environment: Mapping[str, str]
    directory: str
    new_root: Path | None = None
    shared_as: tuple[Path, str] | None = None
    user: int | None = None
    shown: tuple[str, ...] = ()
    limits: Mapping[str, int] = field(default_factory=dict)
    call_filter: CallFilter | None = None
    isolated: bool = False


class PreparedProcess:
    """A process that becomes the command at :meth:`go`.

    It is in a session of its own. Its standard input is empty; standard output and
    error come out of one descriptor, which doesn't block.

    :param information: descriptor on which bubblewrap reports the launch.
    :raises ToolError: if not even the advisor's own interpreter starts.
    """

    def __init__(self, request: StartRequest, *, information: int | None) -> None:
        self._request = request
        self._channel, channel_end = socket.socketpair()
        self._channel.settimeout(READY_TIMEOUT_S)
        ends = [channel_end.fileno(), *([] if information is None else [information])]
        try:
            self._process = _run_starter(ends, output=subprocess.PIPE)
        except ToolError:
            self._channel.close()
            raise
        finally:
            channel_end.close()
        self.pid = self._process.pid
        self.exit_descriptor = os.pidfd_open(self.pid)
        assert self._process.stdout is not None  # noqa: S101 # a pipe was asked for
        self.output_descriptor = self._process.stdout.fileno()
        os.set_blocking(self.output_descriptor, False)

    def make_ready(self) -> None:
        """Do all that comes before the start.

        :raises ToolError: if that isn't possible.
        """
        self._send(json.dumps(asdict(self._request), default=str).encode() + b"\n")
        report = self._next_report()
        if report != "ready":
            raise self._not_started(report)

    def go(self, notices: CallNotices | None = None) -> float:
        """Start the command.

        :param notices: takes the calls that the request's filter holds.
        :returns: the monotonic clock right before, in seconds.
        :raises ToolError: if there is no such program or it can't be run.
        """
        self._send(b"go\n")
        read = b""
        if notices is not None and self._request.call_filter is not None:
            with contextlib.suppress(OSError):  # its report says why
                read, listeners, _, _ = socket.recv_fds(self._channel, 1, 1)
                for listener in listeners:
                    notices.listen(listener)
        started, failure = self._next_report(read.strip(b"+")), self._next_report()
        if failure or not started.isdecimal():
            raise self._not_started(failure or started)
        return int(started) * _NANOSECOND_S

    def has_ended(self, status: int | None) -> None:
        """Take note that the process was waited for; None if it goes on."""
        self._process.returncode = status

    def close(self) -> None:
        """Close all descriptors."""
        assert self._process.stdout is not None  # noqa: S101 # a pipe was asked for
        self._process.stdout.close()
        self._channel.close()
        os.close(self.exit_descriptor)

    def _send(self, text: bytes) -> None:
        with contextlib.suppress(BrokenPipeError):  # its report says why
            self._channel.sendall(text)

    def _next_report(self, line: bytes = b"") -> str:
        """Return the starter's next line, of which some was read; "" if it has gone."""
        while not line.endswith(b"\n"):
            try:
                byte = self._channel.recv(1)
            except TimeoutError:
                return f"no answer within {READY_TIMEOUT_S:g} s"
            except ConnectionResetError:
                break
            if not byte:
                break
            line += byte
        return line.decode(errors="replace").rstrip("\n")

    def _not_started(self, report: str) -> ToolError:
        reason = report.removeprefix("error ") or "it ended before it started"
        return not_started(self._request.words[0], reason)


@contextlib.contextmanager
def launch_keeper() -> Iterator[int]:
    """Have an isolated launch killed as soon as this process is.

    :returns: the descriptor on which bubblewrap reports the launch.
    :raises ToolError: if the advisor's own interpreter doesn't start.
    """
    information, information_end = os.pipe()
    advisor, advisor_end = os.pipe()
    ends = [information, advisor]
    try:
        process = _run_starter(ends, "keep", output=subprocess.DEVNULL)
        try:
            yield information_end
        finally:
            process.kill()
            process.wait()
    finally:
        for end in (*ends, information_end, advisor_end):
            os.close(end)


def _run_starter(
    ends: Sequence[int], *words: str, output: int
) -> subprocess.Popen[bytes]:
    """Start :mod:`starter` in a session of its own, with descriptors."""
    script = str(Path(__file__).with_name("starter.py"))
    words = ("-I", "-S", "-X", "utf8", script, *words)
    try:
        return subprocess.Popen(
            [sys.executable, *words, *map(str, ends)],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            pass_fds=ends,
            start_new_session=True,
            cwd="/",
        )
    except OSError as error:
        message = f"Cannot run {sys.executable!r}: {error.strerror}"
        raise ToolError(message, resolution="Check the Python installation.") from error


def not_started(program: str, reason: str) -> ToolError:
    """Return the error of a program that can't be started."""
    message = f"Cannot start {program!r}: {reason}"
    return ToolError(
        message,
        resolution="Check that the payload contains the program and its interpreter, "
        "and that the program is executable.",
    )


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
        minus a signal's number if that ended it, as in :mod:`subprocess`.
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
        stopped: set[psutil.Process] = set()
        # What one forked before it stopped is found in the next round.
        while new := {*self._living()} - stopped:
            self._signal(new, signal.SIGSTOP)
            _wait_until_stopped(each.pid for each in new)
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
            self._signal(self._living(), signal.SIGTERM)
            # What stands still, or was stopped meanwhile, can't end.
            self._signal_until_end(signal.SIGCONT, GRACE_S)
        finally:
            if left := self._signal_until_end(signal.SIGKILL, GONE_TIMEOUT_S):
                names = ", ".join(sorted({each.name() for each in left}))
                message = f"Processes of the launch are still running: {names}"
                raise ToolError(
                    message, resolution="Use 'ps' to see what they are waiting for."
                )
            self.notice_exit()

    def _signal_until_end(
        self, number: signal.Signals, timeout_s: float
    ) -> list[psutil.Process]:
        """Signal all processes until they have ended; return those that haven't."""
        deadline = time.monotonic() + timeout_s
        while living := self._living():
            self._signal(living, number)
            if time.monotonic() >= deadline:
                break
            time.sleep(_END_POLL_S)
        return living

    def _signal(
        self, processes: Iterable[psutil.Process], number: signal.Signals
    ) -> None:
        for each in processes:
            # Gone, or changed to a user that we can't signal.
            with contextlib.suppress(psutil.Error):
                each.send_signal(number)

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

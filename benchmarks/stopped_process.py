"""A call in a process of its own, stopped at one of its system calls (ptrace(2)).

Random delays hit the same few moments again and again. Counted system calls reach each
moment at which a process can change anything outside itself, and the same one each
time. Only the main thread is stopped; others continue.
"""

from __future__ import annotations

import ctypes
import importlib
import os
import pkgutil
import signal
import sys
import time
import traceback
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from types import ModuleType

_TRACEME, _SYSCALL, _DETACH = 0, 24, 17  # linux/ptrace.h
_POLL_S = 0.01
_LIBC = ctypes.CDLL(None, use_errno=True)


def import_all(package: ModuleType) -> None:
    """Import all modules of a package, so that a copy of this process needn't.

    What is stopped is then what it does, not the thousands of calls of its imports.
    """
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        if not module.name.endswith("__main__"):
            with suppress(ImportError):  # needs snapcraft itself
                importlib.import_module(module.name)


class StoppedProcess:
    """A process that goes on from one entry or exit of a system call to the next.

    :param call: run there; its result is the exit status.
    :param output: takes what is written to standard output and error.
    """

    def __init__(self, call: Callable[[], int], output: Path) -> None:
        self.status: int | None = None
        self.pid = os.fork()
        if self.pid == 0:
            _become(call, output)
        self._wait()

    def advance(self, stops: int) -> int:
        """Go on by some stops, and return how many there were before the end."""
        for done in range(stops):
            if self.status is not None:
                return done
            self._request(_SYSCALL, self._due)
            self._wait()
        return stops if self.status is None else stops - 1

    def kill(self) -> None:
        """End it where it is, stopped or not."""
        if self.status is None:
            os.kill(self.pid, signal.SIGKILL)
        while self.status is None:
            self._wait()

    def release(self, number: signal.Signals | None = None) -> None:
        """Let it go on by itself, a signal first of all where one is given."""
        if self.status is None:
            if number is not None:
                os.kill(self.pid, number)
            self._request(_DETACH, self._due)

    def join(self, timeout_s: float) -> int | None:
        """Wait for its end; ``None`` if it doesn't come to one in time."""
        deadline_s = time.monotonic() + timeout_s
        while self.status is None and time.monotonic() < deadline_s:
            ended, status = os.waitpid(self.pid, os.WNOHANG)
            if ended:
                self._take(status)
            else:
                time.sleep(_POLL_S)
        return self.status

    def _request(self, request: int, number: int) -> None:
        _LIBC.ptrace(request, self.pid, None, ctypes.c_void_p(number))

    def _wait(self) -> None:
        _, status = os.waitpid(self.pid, 0)
        self._take(status)

    def _take(self, status: int) -> None:
        self._due = 0
        if not os.WIFSTOPPED(status):
            self.status = os.waitstatus_to_exitcode(status)
        elif os.WSTOPSIG(status) not in {signal.SIGTRAP, signal.SIGSTOP}:
            self._due = os.WSTOPSIG(status)  # a signal of its own, to be passed on


def _become(call: Callable[[], int], output: Path) -> None:
    """Be the process; never return, or it would go on as a copy of this one."""
    status = os.EX_SOFTWARE
    try:
        try:
            _redirect(output)
            # A shell has what it starts in the background ignore these.
            signal.signal(signal.SIGINT, signal.default_int_handler)
            signal.signal(signal.SIGHUP, signal.SIG_DFL)
            _LIBC.ptrace(_TRACEME, 0, None, None)
            os.kill(os.getpid(), signal.SIGSTOP)
            status = call()
        except BaseException:  # noqa: BLE001 # it ends here, whatever it is
            traceback.print_exc()
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit(status)


def _redirect(output: Path) -> None:
    descriptor = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    for standard in (1, 2):
        os.dup2(descriptor, standard)
    os.close(descriptor)
    sys.stdout = os.fdopen(1, "w", closefd=False)
    sys.stderr = os.fdopen(2, "w", closefd=False)

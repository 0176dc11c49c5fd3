"""Programs that never outlive us, and the signals that end a run."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import Any

HELD_BACK = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""What users, service managers and a closed terminal end a run with."""


class DeferredSignals:
    """Signals held back; those that came are delivered later, in order."""

    def __init__(self) -> None:
        self._came: list[int] = []
        # Only the main thread is ever interrupted by a signal.
        concerned = threading.current_thread() is threading.main_thread()
        self._handlers = {
            number: signal.getsignal(number)
            for number in (HELD_BACK if concerned else ())
        }

    @contextmanager
    def delivered(self) -> Iterator[None]:
        """Deliver signals within, those that came first of all.

        On leaving they are held back again, so that what takes things down after
        an interruption isn't interrupted itself.
        """
        try:
            self.release()
            yield
        finally:
            self.hold()

    def hold(self) -> None:
        """Hold signals back from here on."""
        for number in self._handlers:
            signal.signal(number, self._take)

    def release(self) -> None:
        """Let signals through again, and deliver those that came."""
        for number, handler in self._handlers.items():
            # ``None``: a handler that wasn't set from Python, and can't be again.
            signal.signal(number, signal.SIG_DFL if handler is None else handler)
        came, self._came = self._came, []
        for signal_number in came:
            signal.raise_signal(signal_number)

    def _take(self, number: int, _frame: FrameType | None) -> None:
        self._came.append(number)


@contextmanager
def deferred_signals() -> Iterator[DeferredSignals]:
    """Hold what ends a run back until the end, or :meth:`DeferredSignals.delivered`.

    ::

        with deferred_signals() as signals:
            set_up()
            try:
                with signals.delivered():
                    yield
            finally:
                take_down()
    """
    signals = DeferredSignals()
    signals.hold()
    try:
        yield signals
    finally:
        signals.release()


END_S = 5.0
"""For a program to end after SIGTERM."""


def ending_with_us(
    command: Sequence[str], number: signal.Signals = signal.SIGKILL
) -> tuple[str, ...]:
    """Return a command that the kernel signals when the thread that starts it ends.

    So it ends even where we are killed. A script that becomes the program
    (:mod:`bound_start`) sets that up, which takes some hundredths of a second.
    """
    if shutil.which(command[0]) is None:
        return tuple(command)  # for Popen to say so
    script = str(Path(__file__).with_name("bound_start.py"))
    interpreter = (sys.executable, "-I", "-S", "-X", "utf8")
    return (*interpreter, script, str(os.getpid()), str(int(number)), *command)


def run_child(  # noqa: PLR0913 # keywords with defaults, one command
    command: Sequence[str],
    *,
    directory: Path | None = None,
    environment: Mapping[str, str] | None = None,
    umask: int = -1,
    limit_s: float | None = None,
    inherited: Sequence[int] = (),
) -> subprocess.CompletedProcess[str]:
    """Run a program to its end and return its output; interrupted, end it first.

    :param umask: -1 for that of this process.
    :param inherited: descriptors that it may use.
    :raises OSError: if it can't be started.
    :raises subprocess.TimeoutExpired: if it takes longer than the limit.
    """
    with deferred_signals() as signals:
        process = subprocess.Popen(
            ending_with_us(command),
            cwd=directory,
            env=environment,
            umask=umask,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            pass_fds=inherited,
            text=True,
            errors="replace",
            start_new_session=True,  # Ctrl-C is for us, who then end it
        )
        try:
            with signals.delivered():
                output, errors = process.communicate(timeout=limit_s)
        finally:
            end_child(process)
    return subprocess.CompletedProcess(command, process.returncode, output, errors)


def end_child(process: subprocess.Popen[Any]) -> None:
    """End a program that leads a session, if it still runs, and its session."""
    if process.poll() is None:
        for number in (signal.SIGTERM, signal.SIGKILL):
            with suppress(ProcessLookupError):
                os.killpg(process.pid, number)
            with suppress(subprocess.TimeoutExpired):
                process.wait(END_S)
                break
        with suppress(ProcessLookupError):  # what it left behind
            os.killpg(process.pid, signal.SIGKILL)
    for stream in (process.stdout, process.stderr):
        if stream is not None:
            stream.close()

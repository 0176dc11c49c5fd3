"""Signals that end a run, held back while something is set up or taken down."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

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

"""Signals held back while something is set up or taken down."""

from __future__ import annotations

import signal
import threading
from typing import TYPE_CHECKING

import pytest

from snapcraft_compression_advisor.core.deferred_signals import (
    HELD_BACK,
    deferred_signals,
)

if TYPE_CHECKING:
    from collections.abc import Iterator


class TerminatedError(BaseException):
    pass


def terminate(_signal: int, _frame: object) -> None:
    raise TerminatedError


@pytest.fixture(autouse=True)
def handlers_are_put_back() -> Iterator[None]:
    before = signal.signal(signal.SIGTERM, terminate)
    handlers = [signal.getsignal(number) for number in HELD_BACK]
    yield
    assert [signal.getsignal(number) for number in HELD_BACK] == handlers
    signal.signal(signal.SIGTERM, before)


@pytest.mark.parametrize(
    ("number", "error"),
    [(signal.SIGINT, KeyboardInterrupt), (signal.SIGTERM, TerminatedError)],
)
def test_signal_is_delivered_at_the_end(
    number: signal.Signals, error: type[BaseException]
) -> None:
    steps = []
    with pytest.raises(error), deferred_signals():  # noqa: PT012 # the order of these steps is what is tried
        signal.raise_signal(number)
        steps.append("set up")
    assert steps == ["set up"]


def test_signal_that_came_first_ends_the_part_that_may_be_interrupted() -> None:
    steps = []
    with pytest.raises(KeyboardInterrupt), deferred_signals() as signals:  # noqa: PT012 # the order of these steps is what is tried
        signal.raise_signal(signal.SIGINT)
        try:
            with signals.delivered():
                steps.append("not reached")
        finally:
            signal.raise_signal(signal.SIGINT)
            steps.append("taken down")
    assert steps == ["taken down"]


def test_taking_down_after_an_interruption_is_not_interrupted() -> None:
    steps = []
    with pytest.raises(TerminatedError), deferred_signals() as signals:  # noqa: PT012 # the order of these steps is what is tried
        try:
            with signals.delivered():
                signal.raise_signal(signal.SIGINT)
        finally:
            signal.raise_signal(signal.SIGTERM)
            steps.append("taken down")
    assert steps == ["taken down"]


def test_nested_parts_deliver_within_both() -> None:
    with (
        pytest.raises(KeyboardInterrupt),
        deferred_signals() as outer,
        outer.delivered(),
        deferred_signals() as inner,
        inner.delivered(),
    ):
        signal.raise_signal(signal.SIGINT)


def test_other_threads_leave_the_handlers_alone() -> None:
    found = []

    def look() -> None:
        with deferred_signals() as signals, signals.delivered():
            found.append(signal.getsignal(signal.SIGTERM))

    thread = threading.Thread(target=look)
    thread.start()
    thread.join()
    assert found == [terminate]

"""The standard streams, where they were closed before or are closed meanwhile."""

from __future__ import annotations

import os
import select
import sys

_STREAMS = (("stdin", os.O_RDONLY), ("stdout", os.O_RDONLY), ("stderr", os.O_WRONLY))
"""Of ``/dev/null``: what stands in for a stream that is closed.

The standard output can't be written either then, since a report that goes nowhere is an
error. Progress and messages that go nowhere are none.
"""


def open_standard_streams() -> None:
    """Put ``/dev/null`` in the place of standard streams that are closed (``>&-``).

    Else the next file that is opened would get the number of one, and programs that are
    started would write into it.
    """
    for number, (name, mode) in enumerate(_STREAMS):
        if getattr(sys, name) is not None:
            continue
        descriptor = os.open(os.devnull, mode)  # the lowest that is free: the number
        if descriptor == number:
            os.set_inheritable(descriptor, True)  # noqa: FBT003 # takes no keyword
        direction = "r" if name == "stdin" else "w"
        stream = open(descriptor, direction, encoding="utf-8")  # noqa: SIM115, PTH123 # to the end
        setattr(sys, name, stream)


def discard_broken_pipes() -> None:
    """Write no more into pipes that nobody reads, not even while the process ends."""
    for stream in (sys.stdout, sys.stderr):
        poll = select.poll()
        poll.register(stream.fileno(), 0)
        if any(event & select.POLLERR for _, event in poll.poll(0)):
            descriptor = os.open(os.devnull, os.O_WRONLY)
            os.dup2(descriptor, stream.fileno())
            os.close(descriptor)

"""Reports some system calls of a launch before they are made: no root, no tracer.

A seccomp filter holds a process that makes such a call until it was taken note of
(seccomp_unotify(2)). It costs tens of microseconds, passes on to all that the process
starts, and doesn't hinder programs that trace others. If the kernel or a container
refuses it, the launch goes on without.
"""

from __future__ import annotations

import errno
import fcntl
import os
import platform
import select
import struct
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal

from .mount import kernel_release

CallName = Literal["read", "pread64", "execve", "execveat", "exit_group"]

_GENERIC: Mapping[CallName, int] = {
    "read": 63, "pread64": 67, "exit_group": 94, "execve": 221, "execveat": 281,
}  # fmt: skip
_ARCHITECTURES: Mapping[str, tuple[int, int, Mapping[CallName, int]]] = {
    "x86_64": (0xC000003E, 317, {
        "read": 0, "pread64": 17, "execve": 59, "exit_group": 231, "execveat": 322,
    }),
    "aarch64": (0xC00000B7, 277, _GENERIC),
    "riscv64": (0xC00000F3, 277, _GENERIC),
}  # fmt: skip
"""Of linux/audit.h and asm/unistd.h: the architecture, seccomp(2), the calls."""

_CAN_CONTINUE = (5, 5)
"""The release from which a call can be let go on."""

# linux/bpf_common.h, linux/seccomp.h
_LOAD, _EQUAL, _RETURN = 0x20, 0x15, 0x06
_ALLOW, _NOTIFY = 0x7FFF0000, 0x7FC00000
_NUMBER_AT, _ARCHITECTURE_AT = 0, 4
_RECEIVE, _SEND, _CONTINUE = 0xC0502100, 0xC0182101, 1
_NOTICE = struct.Struct("=QIIiIQ6Q")
_ANSWER = struct.Struct("=QqiI")

Instruction = tuple[int, int, int, int]


@dataclass(frozen=True, slots=True)
class HeldCall:
    """A system call that is held until it was noted.

    :param thread: that makes it, by its id.
    :param arguments: all six, also of calls that have fewer.
    """

    name: CallName
    thread: int
    arguments: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CallFilter:
    """The number of seccomp(2), and instructions of the kernel's packet filter."""

    seccomp: int
    program: tuple[Instruction, ...]


def call_filter(
    machine: str | None = None, release: str | None = None
) -> CallFilter | None:
    """Return the filter for a machine, this one by default; None if it can't be."""
    found = _ARCHITECTURES.get(machine or platform.machine())
    if found is None or kernel_release(release) < _CAN_CONTINUE:
        return None
    architecture, seccomp, calls = found
    count = len(calls)
    program = [
        (_LOAD, 0, 0, _ARCHITECTURE_AT),
        (_EQUAL, 0, count + 1, architecture),
        (_LOAD, 0, 0, _NUMBER_AT),
        *(
            (_EQUAL, count - at, 0, number)
            for at, number in enumerate(sorted(calls.values()))
        ),
        (_RETURN, 0, 0, _ALLOW),
        (_RETURN, 0, 0, _NOTIFY),
    ]
    return CallFilter(seccomp=seccomp, program=tuple(program))


class CallNotices:
    """Passes held calls on, in a thread, and lets them go.

    :param noticed: called with each; an ``OSError`` of it is ignored, as the process
        may be gone.
    """

    def __init__(self, noticed: Callable[[HeldCall], object]) -> None:
        self.filter = call_filter()
        self._noticed = noticed
        _, _, calls = _ARCHITECTURES.get(platform.machine(), (0, 0, _GENERIC))
        self._names = {number: name for name, number in calls.items()}
        self._end, self._ending = os.pipe()
        self._thread: threading.Thread | None = None

    def listen(self, listener: int) -> None:
        """Begin with the calls of one filter, whose descriptor is closed in the end."""
        self._thread = threading.Thread(
            target=self._serve, args=(listener,), daemon=True
        )
        self._thread.start()

    def close(self) -> None:
        """Stop listening; calls that still wait fail."""
        os.close(self._ending)
        if self._thread is not None:
            self._thread.join()
        os.close(self._end)

    def _serve(self, listener: int) -> None:
        poll = select.poll()
        poll.register(listener, select.POLLIN)
        poll.register(self._end, select.POLLIN)
        try:
            while dict(poll.poll()) == {listener: select.POLLIN}:
                self._take(listener)
        finally:
            os.close(listener)

    def _take(self, listener: int) -> None:
        notice = bytearray(_NOTICE.size)
        try:
            fcntl.ioctl(listener, _RECEIVE, notice)
        except OSError as error:
            if error.errno in {errno.ENOENT, errno.EINTR}:  # it was killed meanwhile
                return
            raise
        key, thread, _, number, _, _, *arguments = _NOTICE.unpack(notice)
        try:
            with suppress(OSError):
                self._noticed(HeldCall(self._names[number], thread, tuple(arguments)))
        finally:
            with suppress(OSError):
                answer = _ANSWER.pack(key, 0, 0, _CONTINUE)
                fcntl.ioctl(listener, _SEND, answer)

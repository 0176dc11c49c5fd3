"""A process that is ready to become the command that is launched."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from ..core.errors import ToolError
from .call_notices import CallFilter, CallNotices

READY_TIMEOUT_S = 30.0
"""For preparing a start; a fraction of a second is usual."""

_NANOSECOND_S = 1e-9


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

"""One run of unsquashfs or mksquashfs: watched, and ended with us."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from ..core.child import end_child, ending_with_us
from ..core.deferred_signals import deferred_signals
from ..core.errors import StorageError, ToolError

_POLL_S = 0.5
_NO_SPACE = "No space left on device"
_LAST_LINES = 8
_EPOCH = "SOURCE_DATE_EPOCH"
"""mksquashfs refuses a time on the command line where this is set."""


def run_tool(
    command: Sequence[str],
    *,
    watch: Callable[[int], None],
    accepted: Sequence[int] = (0,),
) -> int:
    """Run a program to its end; one that is interrupted is ended first.

    :param watch: told now and then how many bytes the program has written.
    :param accepted: exit statuses that are no failure.
    :returns: the exit status.
    :raises ToolError: where the program is missing or fails.
    :raises StorageError: where the disk is full.
    """
    with deferred_signals() as signals:
        process = _start(command)
        try:
            with signals.delivered():
                output = _watched(process, watch)
        finally:
            end_child(process)
    if process.returncode not in accepted:
        raise _failure(command, process.returncode, output)
    return process.returncode


def _start(command: Sequence[str]) -> subprocess.Popen[str]:
    environment = {key: text for key, text in os.environ.items() if key != _EPOCH}
    try:
        return subprocess.Popen(  # closed by end_child
            ending_with_us(command),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            env=environment,
            umask=0,  # modes as they are in the image, as the store's review does
            start_new_session=True,
        )
    except FileNotFoundError as error:
        message = f"{command[0]} is not installed"
        raise ToolError(
            message,
            resolution="Install squashfs-tools, for instance with 'sudo apt install "
            "squashfs-tools'.",
        ) from error
    except OSError as error:
        message = f"Cannot run {command[0]}: {error.strerror}"
        raise ToolError(
            message, resolution="Check the installation of squashfs-tools."
        ) from error


def _watched(process: subprocess.Popen[str], watch: Callable[[int], None]) -> str:
    """Return what the program said."""
    while (said := _said(process)) is None:
        watch(_written_bytes(process.pid))
    return said


def _said(process: subprocess.Popen[str]) -> str | None:
    """Return what the program said; ``None`` where it still runs."""
    try:
        return process.communicate(timeout=_POLL_S)[0]
    except subprocess.TimeoutExpired:
        return None


def _written_bytes(pid: int) -> int:
    """Return what a process has written so far; 0 where it can't be known."""
    with suppress(OSError, ValueError):
        for line in Path(f"/proc/{pid}/io").read_text(encoding="ascii").splitlines():
            if line.startswith("wchar: "):
                return int(line.partition(" ")[2])
    return 0


def _failure(
    command: Sequence[str], status: int, output: str
) -> StorageError | ToolError:
    details = "\n".join(output.splitlines()[-_LAST_LINES:])
    if _NO_SPACE in output:
        return StorageError(
            f"The disk is full: {command[0]} could not write its output",
            details=details,
            resolution="Free some space, or set TMPDIR to a directory on a larger "
            "disk.",
        )
    how = f"by signal {-status}" if status < 0 else f"with exit status {status}"
    return ToolError(
        f"{command[0]} ended {how}",
        details=details,
        resolution=f"The command was: {' '.join(command)}",
    )

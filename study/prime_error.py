"""How the scripts that build trees end: with a message and a status of sysexits.h."""

from __future__ import annotations

import argparse
import errno
import os
import signal
import sys
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType


class PrimeError(Exception):
    """What is wrong, where, and what to do.

    :param message: the sentences that the user reads.
    :param exit_status: a status of sysexits.h, ``os.EX_…``.
    """

    def __init__(self, message: str, *, exit_status: int) -> None:
        super().__init__(message)
        self.exit_status = exit_status


class UsageParser(argparse.ArgumentParser):
    """Reads a script's arguments; wrong ones end it with the status of sysexits.h."""

    def error(self, message: str) -> NoReturn:
        """Say what is wrong, and end."""
        self.print_usage(sys.stderr)
        self.exit(os.EX_USAGE, f"{self.prog}: {message}\n")


def note(line: str) -> None:
    """Print a progress line to standard error."""
    print(line, file=sys.stderr, flush=True)


def run_script(name: str, work: Callable[[], None]) -> int:
    """Do a script's work; print why it fails.

    :param name: the script's, before its messages.
    :returns: the exit status.
    """
    try:
        work()
    except PrimeError as error:
        note(f"{name}: {error}")
        return error.exit_status
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        hint = "; free some space" if error.errno == errno.ENOSPC else ""
        note(f"{name}: {where}{error.strerror}{hint}.")
        return os.EX_IOERR
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    return os.EX_OK


def end_by_sigterm() -> None:
    """Let SIGTERM end the script as an exception does, so that it cleans up."""
    signal.signal(signal.SIGTERM, _stop)


def _stop(signal_number: int, _frame: FrameType | None) -> None:
    raise SystemExit(128 + signal_number)

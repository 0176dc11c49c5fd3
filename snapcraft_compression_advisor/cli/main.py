"""The console script: sets up the terminal, runs a command, ends in a status."""

from __future__ import annotations

import io
import os
import signal
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from craft_cli import (
    ArgumentParsingError,
    CraftError,
    Dispatcher,
    EmitterMode,
    GlobalArgument,
    ProvideHelpException,
    emit,
)

from snapcraft_compression_advisor import __version__
from snapcraft_compression_advisor.cli.commands import command_groups
from snapcraft_compression_advisor.cli.split_command import split_command
from snapcraft_compression_advisor.errors import AdvisorError, StorageError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import FrameType

APP_NAME = "compression-advisor"
SUMMARY = (
    "Advises which compression suits a snap, with evidence: the image's size with "
    "every codec, what a cold launch reads, and what that costs."
)
GLOBAL_ARGUMENTS = [
    GlobalArgument("version", "flag", "-V", "--version", "Show the version and exit"),
]

_SIGNAL_STATUS = 128
"""What shells add to a signal's number in the exit status."""


class _TerminatedError(BaseException):
    """SIGTERM, as an exception so that everything is cleaned up."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit status (sysexits.h).

    :param arguments: without the program's name; those of the process by default.
    """
    signal.signal(signal.SIGTERM, _terminate)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # a terminal that isn't UTF-8
    _start_emitter()
    try:
        status = _dispatch(sys.argv[1:] if arguments is None else list(arguments))
        sys.stdout.flush()
    except ArgumentParsingError as error:
        sys.stderr.write(f"{error}\n")
        status = os.EX_USAGE
    except KeyboardInterrupt:
        return _end(_InterruptedError("Interrupted"), _SIGNAL_STATUS + signal.SIGINT)
    except _TerminatedError:
        return _end(_InterruptedError("Terminated"), _SIGNAL_STATUS + signal.SIGTERM)
    except BrokenPipeError:
        _discard_stdout()
        status = _SIGNAL_STATUS + signal.SIGPIPE
    except CraftError as error:
        return _end(error, error.retcode)
    except OSError as error:
        wrapped = StorageError(str(error), resolution="Check the disk and try again.")
        return _end(wrapped, wrapped.retcode)
    except Exception as error:  # noqa: BLE001 # the last resort: no traceback to users
        return _end(_internal(error), os.EX_SOFTWARE)
    emit.ended_ok()
    return status


class _InterruptedError(AdvisorError):
    """The user or the system ended the run."""


def _dispatch(arguments: list[str]) -> int:
    dispatcher = Dispatcher(
        APP_NAME,
        command_groups(arguments),
        summary=SUMMARY,
        extra_global_args=GLOBAL_ARGUMENTS,
    )
    try:
        if arguments in (["-V"], ["--version"]):
            sys.stdout.write(f"{APP_NAME} {__version__}\n")
            return os.EX_OK
        dispatcher.pre_parse_args(
            split_command(arguments, command_names=("measure", "record"))
        )
        dispatcher.load_command(arguments)
    except ProvideHelpException as text:
        sys.stdout.write(f"{text}\n")
        return os.EX_OK
    return dispatcher.run() or os.EX_OK


def _start_emitter() -> None:
    """Start the terminal's writer; without a log where none can be written."""
    greeting = f"{APP_NAME} {__version__}"
    try:
        emit.init(EmitterMode.BRIEF, APP_NAME, greeting)
    except OSError:
        with tempfile.NamedTemporaryFile(delete=False) as log:
            pass
        emit.init(EmitterMode.BRIEF, APP_NAME, greeting, log_filepath=Path(log.name))


def _end(error: CraftError, status: int) -> int:
    emit.error(error)
    return status


def _internal(error: Exception) -> CraftError:
    wrapped = CraftError(
        f"Internal error: {type(error).__name__}: {error}",
        resolution="Please report it, with the log named below.",
        retcode=os.EX_SOFTWARE,
    )
    wrapped.__cause__ = error
    return wrapped


def _terminate(_signal: int, _frame: FrameType | None) -> NoReturn:
    raise _TerminatedError


def _discard_stdout() -> None:
    """Keep the interpreter from flushing into a closed pipe as it exits."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())

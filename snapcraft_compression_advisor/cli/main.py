"""The command line: sets up the terminal, runs a command, ends in a status."""

from __future__ import annotations

import atexit
import errno
import io
import os
import signal
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from traceback import walk_stack
from types import FrameType
from typing import NoReturn

from craft_cli import (
    ArgumentParsingError,
    CraftError,
    EmitterMode,
    ProvideHelpException,
)

from .. import __version__
from ..core.child import HELD_BACK, DeferredSignals
from ..core.errors import AdvisorError, StorageError
from ..core.files import OFF, VARIABLE, keeping_results
from ..core.terminal import emit
from .commands import APP_NAME, command_named, make_dispatcher, split_command
from .write import (
    discard_broken_pipes,
    open_standard_streams,
    write_error,
    write_output,
)

_NO_MEMORY = ("can't start new thread", "failed to map", "Cannot allocate memory")
"""Of Python for a thread's stack, of the dynamic linker, of the C library."""

_WHILE_IMPORTED = {"PYDANTIC_DISABLE_PLUGINS": "__all__", "OPENBLAS_NUM_THREADS": "1"}
"""Environment variables that libraries read while they are imported."""

_SIGNAL_STATUS = 128
"""What shells add to a signal's number in the exit status."""

_DEL_S = 0.01
"""After what time a signal that came in a ``__del__`` is sent again."""


class _TerminatedError(BaseException):
    """SIGTERM or SIGHUP by number, an exception so that everything is cleaned up."""


def run() -> NoReturn:
    """Run the command line and end the process: the console script.

    To free the run's objects one by one would take as long as a tenth of a lint.
    """
    status = main()
    atexit._run_exitfuncs()  # noqa: SLF001 # what others asked for; nothing else runs it
    with suppress(OSError, ValueError):  # closed meanwhile, or never open
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(status)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit status (sysexits.h).

    :param arguments: without the program's name; those of the process by default.
    """
    before = {number: signal.getsignal(number) for number in HELD_BACK}
    _take_signals()
    signals = DeferredSignals()
    try:
        signals.hold()
        return _run(sys.argv[1:] if arguments is None else list(arguments), signals)
    finally:
        # A caller goes on; a process of our own is about to end.
        if arguments is not None:
            for number, handler in before.items():
                signal.signal(number, handler)


def _run(arguments: list[str], signals: DeferredSignals) -> int:
    open_standard_streams()
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # a terminal that isn't UTF-8
    _start_emitter()
    try:
        return _work(arguments, signals)
    except BrokenPipeError:
        discard_broken_pipes()
        emit.ended_ok()
        return _SIGNAL_STATUS + signal.SIGPIPE


def _work(arguments: list[str], signals: DeferredSignals) -> int:
    """Do the work, the only thing that a signal interrupts, and report its end."""
    try:
        with signals.delivered():
            status = _dispatch(arguments)
            sys.stdout.flush()
    except ArgumentParsingError as error:
        write_error(str(error))
        status = os.EX_USAGE
    except KeyboardInterrupt:
        return _end(AdvisorError("Interrupted"), _SIGNAL_STATUS + signal.SIGINT)
    except _TerminatedError as error:
        return _end(AdvisorError("Terminated"), _SIGNAL_STATUS + int(error.args[0]))
    except BrokenPipeError:
        raise
    except CraftError as error:
        return _end(error)
    except Exception as error:  # noqa: BLE001 # the last resort: no traceback to users
        return _end(_as_craft_error(error))
    emit.ended_ok()
    return status


@contextmanager
def _quick_imports() -> Iterator[None]:
    """Keep pydantic from looking for plugins in every package, and numpy from threads.

    That takes some hundredths of a second and a tenth. What the run starts later gets
    the environment as it was.
    """
    added = {name: it for name, it in _WHILE_IMPORTED.items() if name not in os.environ}
    os.environ.update(added)
    try:
        yield
    finally:
        for name in added:
            del os.environ[name]


def _dispatch(arguments: list[str]) -> int:
    arguments = split_command(arguments)
    if not arguments:
        raise ArgumentParsingError(_help([], ""))
    with _quick_imports():
        dispatcher = make_dispatcher(command_named(arguments))
    try:
        if {"-V", "--version"} & {*arguments}:
            write_output(f"{APP_NAME} {__version__}\n", None)
            return os.EX_OK
        options = dispatcher.pre_parse_args(arguments)
        dispatcher.load_command(arguments)
    except ProvideHelpException as text:
        write_output(_help(arguments, f"{text}\n"), None)
        return os.EX_OK
    if options["no_cache"]:
        os.environ[VARIABLE] = OFF  # also for the processes that a fleet starts
    with keeping_results():
        return dispatcher.run() or os.EX_OK


def _help(arguments: list[str], other: str) -> str:
    from .command_texts import help_text  # noqa: PLC0415 # most runs need none

    return help_text(arguments) or other


def _start_emitter() -> None:
    """Start the terminal's writer; without a log if none can be written."""
    greeting = f"{APP_NAME} {__version__}"
    try:
        emit.init(EmitterMode.BRIEF, APP_NAME, greeting)
    except OSError:
        with tempfile.NamedTemporaryFile(delete=False) as log:
            pass
        emit.init(EmitterMode.BRIEF, APP_NAME, greeting, log_filepath=Path(log.name))


def _end(error: CraftError, status: int | None = None) -> int:
    try:
        emit.error(error)
    except (MemoryError, SystemError):  # too little memory for its traceback
        write_error(str(error))
    return error.retcode if status is None else status


def _as_craft_error(error: Exception) -> CraftError:
    """Return an error of the system, or of the program itself, as users see it."""
    is_memory = isinstance(error, MemoryError) or (
        error.errno == errno.ENOMEM
        if isinstance(error, OSError)
        else any(map(str(error).__contains__, _NO_MEMORY))
    )
    if is_memory:
        shown = AdvisorError(
            "Not enough memory",
            details=str(error) or None,
            resolution="Close other programs, or raise the limit ('ulimit -v').",
        )
        shown.retcode = os.EX_OSERR
        return shown
    if isinstance(error, OSError):
        return StorageError(str(error), resolution="Check the disk and try again.")
    wrapped = CraftError(
        f"Internal error: {type(error).__name__}: {error}",
        resolution="Please report it, with the log named below.",
        retcode=os.EX_SOFTWARE,
    )
    wrapped.__cause__ = error
    return wrapped


def _take_signals() -> None:
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:  # as nohup has it
            signal.signal(number, _terminate)


def _terminate(number: int, frame: FrameType | None) -> None:
    """Raise the error; in a ``__del__``, where it would be ignored, come again."""
    if any(each.f_code.co_name == "__del__" for each, _ in walk_stack(frame)):
        signal.signal(signal.SIGALRM, lambda *_: signal.raise_signal(number))
        signal.setitimer(signal.ITIMER_REAL, _DEL_S)
        return
    raise _TerminatedError(number)

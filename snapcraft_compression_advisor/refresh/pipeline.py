"""Programs that run at once and feed one another; all end where one fails."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from typing import IO, Any, NamedTuple

from ..core.child import beginning, end_child, ending_with_us
from ..core.deferred_signals import deferred_signals
from ..core.errors import ToolError

_POLL_S = 0.05


class Stage(NamedTuple):
    """A program of a pipeline.

    :param feeds_next: whether the next one reads what it writes to its standard output.
    :param inherited: descriptors that it reads from as well.
    """

    command: tuple[str, ...]
    feeds_next: bool = False
    inherited: tuple[int, ...] = ()


def without_options() -> dict[str, str]:
    """Return the environment without the options that xdelta3 would take from it."""
    return {name: text for name, text in os.environ.items() if name != "XDELTA"}


def run_stages(stages: Sequence[Stage]) -> None:
    """Run programs at once to their ends; where one fails, the others are ended.

    :raises ToolError: if one is missing or fails.
    """
    with ExitStack() as until, deferred_signals() as signals:
        processes: list[subprocess.Popen[bytes]] = []
        said = []
        feed: IO[bytes] | int = subprocess.DEVNULL
        for stage in stages:
            errors = until.enter_context(tempfile.TemporaryFile())
            said.append(errors)
            process = _started(stage, feed, errors)
            until.callback(end_child, process)
            if not isinstance(feed, int):
                feed.close()  # else its writer wouldn't see the reader end
            feed = subprocess.DEVNULL
            if stage.feeds_next and process.stdout is not None:
                feed = process.stdout
            processes.append(process)
        with signals.delivered():
            _wait_for(stages, processes, said)


def _started(
    stage: Stage, feed: IO[bytes] | int, errors: IO[bytes]
) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(
            ending_with_us(stage.command),
            stdin=feed,
            stdout=subprocess.PIPE if stage.feeds_next else subprocess.DEVNULL,
            stderr=errors,
            env=without_options(),
            pass_fds=stage.inherited,
            start_new_session=True,
        )
    except OSError as error:
        message = f"Cannot run {stage.command[0]}: {error.strerror}"
        raise ToolError(message, resolution="Check that it is installed.") from error


def _wait_for(
    stages: Sequence[Stage],
    processes: Sequence[subprocess.Popen[bytes]],
    said: Sequence[IO[Any]],
) -> None:
    """Wait until all have ended well, or one has failed."""
    running = list(range(len(stages)))
    while running:
        with suppress(subprocess.TimeoutExpired):
            processes[running[0]].wait(_POLL_S)
        for number in list(running):
            status = processes[number].poll()
            if status is None:
                continue
            if status != 0:
                text = beginning(said[number])
                message = f"{stages[number].command[0]} failed with status {status}"
                if text:
                    message += f": {text.splitlines()[0]}"
                raise ToolError(
                    message,
                    details=text,
                    resolution=f"The command was: {' '.join(stages[number].command)}",
                )
            running.remove(number)

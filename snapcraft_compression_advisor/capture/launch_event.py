"""When an application counts as launched."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    from snapcraft_compression_advisor.capture.x11 import WindowSight


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchState:
    """How far a launch has come.

    :param elapsed_s: since the start.
    :param lines: that it has printed since the last look.
    :param exit_status: of the command, ``None`` while it runs.
    :param process_ids: asks for the processes that belong to the launch.
    """

    elapsed_s: float
    lines: tuple[str, ...]
    exit_status: int | None
    process_ids: Callable[[], set[int]]


class Watch(Protocol):
    """Looks out for an event during one launch."""

    @property
    def name(self) -> str:
        """What has happened, as ``--until`` takes it."""

    @property
    def descriptor(self) -> int | None:
        """Becomes readable when there is news, where there is such a thing."""

    @property
    def due_s(self) -> float | None:
        """When it happens by itself, in seconds from the start."""

    def has_happened(self, state: LaunchState) -> bool:
        """Tell whether the event has happened, now that there may be news."""


class LaunchEvent(Protocol):
    """What ends a launch."""

    @property
    def name(self) -> str:
        """As ``--until`` takes it."""

    @property
    def missed(self) -> str:
        """What the command didn't do where the event doesn't happen."""

    @property
    def display(self) -> str | None:
        """The X display that the command shall use, if any in particular."""

    def watching(self) -> AbstractContextManager[Watch]:
        """Begin to look out; to be called before the start.

        :raises AdvisorError: where that isn't possible.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowMapped:
    """A new top-level window of the application is on the screen.

    :param display: as in ``DISPLAY``; that variable's by default.
    """

    display: str | None = None
    name = "window"
    missed = "showed no window"

    @contextmanager
    def watching(self) -> Iterator[Watch]:
        """Connect to the display.

        :raises UsageError: where none is named.
        :raises ToolError: where it can't be opened.
        """
        # Takes longer to import than most of the advisor, and few runs need it.
        from snapcraft_compression_advisor.capture.x11 import (  # noqa: PLC0415 # see above
            WindowSight,
            open_display,
        )

        with open_display(self.display) as connection:
            yield _WindowWatch(WindowSight(connection))


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowOrExit:
    """A window is on the screen, or the command has ended with status 0.

    For an app of which nobody knows whether it has windows: what happens first counts.

    :param display: as :class:`WindowMapped`.
    """

    display: str | None = None
    name = "window or exit"
    missed = "neither ended nor showed a window"

    @contextmanager
    def watching(self) -> Iterator[Watch]:
        """Connect to the display; see :meth:`WindowMapped.watching`."""
        with WindowMapped(display=self.display).watching() as window:
            yield _FirstWatch(window)


@dataclass(frozen=True, slots=True, kw_only=True)
class Exited:
    """The command has ended with status 0."""

    name = "exit"
    missed = "didn't end"
    display = None

    @contextmanager
    def watching(self) -> Iterator[Watch]:
        """Wait for the end, which every launch is watched for."""
        yield _Watch(self.name, has_exited)


@dataclass(frozen=True, slots=True, kw_only=True)
class Elapsed:
    """Some time has passed.

    :param seconds: from the start.
    """

    seconds: float
    missed = "didn't run that long"
    display = None

    @property
    def name(self) -> str:
        """As ``--until`` takes it."""
        return f"seconds:{self.seconds:g}"

    @contextmanager
    def watching(self) -> Iterator[Watch]:
        """Wait for the time to pass."""
        yield _Watch(
            self.name,
            lambda state: state.elapsed_s >= self.seconds,
            due_s=self.seconds,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputLine:
    """The command has printed a line that holds a text.

    A program that writes to a pipe may keep its output back until some kilobytes
    have come together; such a one has to be told to print lines at once.

    :param text: to find in its standard output or error.
    """

    text: str
    display = None

    @property
    def name(self) -> str:
        """As ``--until`` takes it."""
        return f"output:{self.text}"

    @property
    def missed(self) -> str:
        """What the command didn't do."""
        return f"printed no line with {self.text!r}"

    @contextmanager
    def watching(self) -> Iterator[Watch]:
        """Look at each line."""
        yield _Watch(
            self.name, lambda state: any(self.text in line for line in state.lines)
        )


def has_exited(state: LaunchState) -> bool:
    """Tell whether the command has ended with status 0."""
    return state.exit_status == 0


@dataclass(frozen=True, slots=True)
class _Watch:
    """A condition on the state alone."""

    name: str
    has_happened: Callable[[LaunchState], bool]
    due_s: float | None = None
    descriptor = None


class _FirstWatch:
    due_s = None

    def __init__(self, window: Watch) -> None:
        self._window = window
        self.name = Exited.name

    @property
    def descriptor(self) -> int | None:
        """The connection to the display."""
        return self._window.descriptor

    def has_happened(self, state: LaunchState) -> bool:
        """Look for windows, then whether the command runs."""
        if self._window.has_happened(state):
            self.name = self._window.name
            return True
        return has_exited(state)


class _WindowWatch:
    name = WindowMapped.name
    due_s = None

    def __init__(self, sight: WindowSight) -> None:
        self._sight = sight

    @property
    def descriptor(self) -> int:
        """The connection to the display."""
        return self._sight.descriptor

    def has_happened(self, state: LaunchState) -> bool:
        """Look at the windows that have changed."""
        return self._sight.has_window_of(state.process_ids)

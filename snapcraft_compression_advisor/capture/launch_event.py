"""When an application counts as launched."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from ..core.frozen import frozen
from ..settings.quantities import parse_event

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from .x11 import WindowSight

_WINDOW, _EXIT = "window", "exit"


@frozen
class LaunchState:
    """How far a launch has come.

    :param lines: that it has printed since the last look.
    :param exit_status: of the command, ``None`` while it runs.
    :param process_ids: asks for the processes that belong to the launch.
    """

    elapsed_s: float
    lines: tuple[str, ...]
    exit_status: int | None
    process_ids: Callable[[], set[int]]


@frozen
class LaunchEvent:
    """What ends a launch; where several things can, the first one does.

    :param name: as ``--until`` takes it.
    :param missed: what the command didn't do where the event doesn't happen.
    :param window: whether a new top-level window of the command on the screen ends it.
    :param exits: whether the command's end with status 0 does.
    :param due_s: seconds from the start that do.
    :param text: in a line of standard output or error that does. A program that writes
        to a pipe may keep its output back until some kilobytes have come together; such
        a one has to be told to print lines at once.
    :param display: the X display that the command shall use; by default ``DISPLAY``.
    """

    name: str
    missed: str
    window: bool = False
    exits: bool = False
    due_s: float | None = None
    text: str | None = None
    display: str | None = None

    @contextmanager
    def watching(self) -> Iterator[Watch]:
        """Begin to look out; to be called before the start.

        :raises UsageError: where a window is waited for and no display is named.
        :raises ToolError: where that display can't be opened.
        """
        if not self.window:
            yield Watch(self)
            return
        # Takes longer to import than most of the advisor, and few runs need it.
        from .x11 import WindowSight, open_display  # noqa: PLC0415 # see above

        with open_display(self.display) as connection:
            yield Watch(self, WindowSight(connection))


class Watch:
    """Looks out for an event during one launch.

    ``name`` says what has happened, as ``--until`` takes it.
    """

    def __init__(self, event: LaunchEvent, sight: WindowSight | None = None) -> None:
        self._event = event
        self._sight = sight
        self.name = event.name
        self.due_s = event.due_s

    @property
    def descriptor(self) -> int | None:
        """Becomes readable when there is news, where there is such a thing."""
        return self._sight.descriptor if self._sight is not None else None

    def has_happened(self, state: LaunchState) -> bool:
        """Tell whether the event has happened, now that there may be news."""
        event = self._event
        if self._sight is not None and self._sight.has_window_of(state.process_ids):
            self.name = _WINDOW
            return True
        if event.exits and state.exit_status == 0:
            self.name = _EXIT
            return True
        if event.due_s is not None and state.elapsed_s >= event.due_s:
            return True
        return event.text is not None and any(
            event.text in line for line in state.lines
        )


EXITED = LaunchEvent(name=_EXIT, missed="didn't end", exits=True)
"""The command has ended with status 0."""


def event_named(text: str, display: str | None = None) -> LaunchEvent:
    """Return the event that ``--until`` names.

    :raises ValueError: where it names none.
    """
    kind, value = parse_event(text)
    if kind == "window":
        return window_mapped(display)
    if isinstance(value, float):
        return elapsed(value)
    return EXITED if value is None else output_line(value)


def usual_event(
    *, has_desktop_file: bool, has_display: bool, display: str | None = None
) -> LaunchEvent:
    """Return the event of an app for which none is named."""
    if has_desktop_file:
        return window_mapped(display)
    return window_or_exit(display) if has_display else EXITED


def window_mapped(display: str | None = None) -> LaunchEvent:
    """Return the event of a window of the application on the screen."""
    return LaunchEvent(
        name=_WINDOW, missed="showed no window", window=True, display=display
    )


def window_or_exit(display: str | None = None) -> LaunchEvent:
    """Return the event for an app of which nobody knows whether it has windows."""
    return LaunchEvent(
        name="window or exit",
        missed="neither ended nor showed a window",
        window=True,
        exits=True,
        display=display,
    )


def elapsed(seconds: float) -> LaunchEvent:
    """Return the event of some time passed since the start."""
    return LaunchEvent(
        name=f"seconds:{seconds:g}", missed="didn't run that long", due_s=seconds
    )


def output_line(text: str) -> LaunchEvent:
    """Return the event of a printed line that holds a text."""
    return LaunchEvent(
        name=f"output:{text}", missed=f"printed no line with {text!r}", text=text
    )

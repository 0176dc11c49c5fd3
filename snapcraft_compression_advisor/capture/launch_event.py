"""When an application counts as launched."""

from __future__ import annotations

import math
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..codecs.codec import DATA_BLOCK_BYTES
from ..launch.launch_set import WindowEnd
from ..settings.quantities import parse_event

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .process_tree import ProcessTree
    from .x11 import Sight, WindowSight

_WINDOW, _EXIT = "window", "exit"

LOOK_S = 0.05
"""Between two looks at what a launch reads while it has a window."""
LASTING_S = 0.2
"""Content that lasts so long counts. A window that grows can have two colors for a
moment; a cursor that blinks stays on for longer (GTK: 0.8 s, Qt: 0.5 s)."""
PAUSE_S = 0.5
"""An app that has drawn its window, and reads less than a data block in this time, is
launched. Ten looks; what is read later comes with what a user does."""
READING_MAX_S = 10.0
"""The longest wait for such a pause from the first content on: one that loads
documents or updates for minutes isn't starting any more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchState:
    """How far a launch has come.

    :param lines: that it has printed since the last look.
    :param exit_status: of the command, None while it runs.
    :param is_last: whether the time limit has been reached.
    """

    elapsed_s: float
    lines: tuple[str, ...]
    exit_status: int | None
    tree: ProcessTree
    is_last: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchEvent:
    """What ends a launch; if several things can, the first one does.

    :param name: as ``--until`` takes it.
    :param missed: what the command didn't do if the event doesn't happen.
    :param window: whether a new top-level window of the command that has content ends
        it, and a pause in reading after that; at the time limit, a blank one does.
    :param exits: whether the command's end with status 0 does.
    :param due_s: seconds from the start that do.
    :param text: in a line of standard output or error that does. A program that writes
        to a pipe may keep its output back until some kilobytes have come together; such
        a one needs an option to print lines at once.
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

        :raises UsageError: if a window is waited for and no display is named.
        :raises ToolError: if that display can't be opened.
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

    :ivar name: says what has happened, as ``--until`` takes it.
    :ivar window: what the window showed, if one ended the launch.
    :ivar cpu_s: user and system time at its end, if a window did.
    """

    def __init__(self, event: LaunchEvent, sight: WindowSight | None = None) -> None:
        self._event = event
        self._sight = sight
        self._seen: Sight = "none"
        self._lasts = False
        self._drawn_s = self._settled_s = 0.0
        self._read_bytes = 0
        self.name = event.name
        self.window: WindowEnd | None = None
        self.cpu_s: tuple[float, float] | None = None

    @property
    def descriptor(self) -> int | None:
        """Becomes readable when there is news, if there is such a thing."""
        return self._sight.descriptor if self._sight is not None else None

    @property
    def missed(self) -> str:
        """What the command didn't do."""
        if self._seen == "none":
            return self._event.missed
        return "showed a window that stayed blank"

    def happened_s(self, state: LaunchState) -> float | None:
        """Return when the event happened, in seconds from the start, if it has."""
        event = self._event
        if self._sight is not None:
            self._look(self._sight, state)
            if self.window is not None:
                self.name = _WINDOW
                return self._settled_s
        if event.exits and state.exit_status == 0:
            self.name = _EXIT
            return state.elapsed_s
        if event.due_s is not None and state.elapsed_s >= event.due_s:
            return state.elapsed_s
        if event.text is not None and any(event.text in line for line in state.lines):
            return state.elapsed_s
        return None

    def next_look_s(self, elapsed_s: float) -> float:
        """Return the time of the next look in any case, in seconds from the start."""
        due_s = math.inf if self._event.due_s is None else self._event.due_s
        return due_s if self._seen == "none" else min(due_s, elapsed_s + LOOK_S)

    def _look(self, sight: WindowSight, state: LaunchState) -> None:
        """Look at windows, and at what was read meanwhile."""
        seen = self._seen
        if self._lasts:
            sight.ignore()
        else:
            seen = sight.look(state.tree.process_ids)
            is_old = state.elapsed_s - self._drawn_s >= LASTING_S
            self._lasts = seen == self._seen == "drawn" and is_old
        read_bytes = 0 if seen == "none" else state.tree.read_bytes()
        if seen == "drawn" != self._seen:
            self._drawn_s = state.elapsed_s
        # It is less if a process has ended that nobody waited for.
        if seen != self._seen or abs(read_bytes - self._read_bytes) >= DATA_BLOCK_BYTES:
            self._settled_s, self._read_bytes = state.elapsed_s, read_bytes
            self.cpu_s = state.tree.cpu_s()
        self._seen = seen
        self.window = self._shown(state)

    def _shown(self, state: LaunchState) -> WindowEnd | None:
        """Return the content of the window that ends the launch, if it is over."""
        if self._seen != "drawn":
            return "blank" if state.is_last and self._seen == "blank" else None
        now_s, tree = state.elapsed_s, state.tree
        has_ended = state.exit_status is not None and not tree.process_ids()
        has_paused = now_s - self._settled_s >= PAUSE_S and not tree.waits_for_storage()
        if state.exit_status or has_ended or has_paused:
            return "drawn"
        if state.is_last or now_s - self._drawn_s >= READING_MAX_S:
            return "reading"
        return None


EXITED = LaunchEvent(name=_EXIT, missed="didn't end", exits=True)
"""The command has ended with status 0."""


def event_named(text: str, display: str | None = None) -> LaunchEvent:
    """Return the event that ``--until`` names.

    :raises ValueError: if it names none.
    """
    kind, value = parse_event(text)
    if kind == "window":
        return window_mapped(display)
    if isinstance(value, float):
        return LaunchEvent(
            name=f"seconds:{value:g}", missed="didn't run that long", due_s=value
        )
    if value is None:
        return EXITED
    missed = f"printed no line with {value!r}"
    return LaunchEvent(name=f"output:{value}", missed=missed, text=value)


def usual_event(
    *, has_desktop_file: bool, has_display: bool, display: str | None = None
) -> LaunchEvent:
    """Return the event of an app for which none is named."""
    if has_desktop_file:
        return window_mapped(display)
    if not has_display:
        return EXITED
    return LaunchEvent(
        name="window or exit",
        missed="neither ended nor showed a window",
        window=True,
        exits=True,
        display=display,
    )


def window_mapped(display: str | None = None) -> LaunchEvent:
    """Return the event of a window of the application that has content."""
    return LaunchEvent(
        name=_WINDOW, missed="showed no window", window=True, display=display
    )


_DOUBTS: dict[WindowEnd, str] = {
    "early": (
        "The app had read far less than its files suggest when it drew its first "
        "window, which may be a splash screen (--until seconds:TIME waits longer), or "
        "a dialog of the first run (answer it in a home directory, DIR/user, and "
        "record with --home DIR)"
    ),
    "reading": (
        f"The app went on reading for {READING_MAX_S:g} s after it had drawn its "
        "window; what it read later doesn't count (--until seconds:TIME ends a launch "
        "later)"
    ),
    "blank": (
        "The app's window stayed blank, of one color, up to the time limit "
        "(--until seconds:TIME or output:TEXT ends a launch sooner)"
    ),
}


def window_doubt(window: WindowEnd | None) -> str | None:
    """Return the doubt that a recording ended by a window leaves, in words."""
    return None if window is None else _DOUBTS.get(window)

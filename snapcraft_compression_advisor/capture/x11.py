"""Windows on an X display.

python-xlib speaks the X protocol in Python alone, so nothing has to be compiled and
neither a window manager nor a tool like xdotool has to be there; and it brings the
extensions X-Resource, with which the server itself tells whose a window is, and DAMAGE,
with which it tells when something was drawn.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from typing import Literal

import numpy as np
from Xlib import X
from Xlib.display import Display
from Xlib.error import ConnectionClosedError, DisplayError, XauthError, XError
from Xlib.ext.damage import DamageReportNonEmpty
from Xlib.ext.res import LocalClientPIDMask
from Xlib.protocol.request import GetGeometry
from Xlib.protocol.rq import Event
from Xlib.xobject.drawable import Window

from ..core.errors import ToolError, UsageError

RESET_TIMEOUT_S = 5.0
"""For a server to begin anew; some tenths of a second are usual."""

_RETRY_S = 0.05

_BAND_ROWS = 64
"""Of a window, looked at together: most windows show something in the first ones."""

_COLOR_BYTES = 3
"""Of a pixel; a fourth is alpha, or nothing."""

_PAUSE_SHARE = 10
"""Between two looks at windows, the time of a look so many times."""
_PAUSE_MAX_S = 0.1

Sight = Literal["none", "blank", "drawn"]
"""Whether a window is there, and whether it has content: more than one color."""

_ADVICE = (
    "Run the command in a graphical session, choose a display with --display, or unset "
    "DISPLAY and install xvfb, which provides a virtual one."
)


@contextmanager
def open_display(name: str | None) -> Iterator[Display]:
    """Connect to a display.

    :param name: as in ``DISPLAY``, which is the default.
    :raises UsageError: if neither names one.
    :raises ToolError: if it can't be opened.
    """
    name = name or os.environ.get("DISPLAY")
    if not name:
        message = "No X display to watch for windows"
        raise UsageError(message, resolution=_ADVICE)
    try:
        connection = _connect(name)
    except (DisplayError, XauthError, ConnectionClosedError, OSError) as error:
        message = f"Cannot open the X display {name!r}"
        raise ToolError(message, details=str(error), resolution=_ADVICE) from error
    with closing(connection):
        yield connection


def _connect(name: str) -> Display:
    """Connect to a display, again if it closes the connection.

    A server without ``-noreset``, as xvfb-run starts it, begins anew when its last
    client has gone, and turns away those that come meanwhile.
    """
    deadline = time.monotonic() + RESET_TIMEOUT_S
    while True:
        try:
            return Display(name)
        except (ConnectionClosedError, ConnectionResetError):  # noqa: PERF203 # rare
            if time.monotonic() >= deadline:
                raise
            time.sleep(_RETRY_S)


class WindowSight:
    """Sees new top-level windows, and what is drawn in them, from its creation on."""

    def __init__(self, display: Display) -> None:
        self._display = display
        self._new: dict[int, Window] = {}
        self._sight: Sight = "none"
        self._is_stale = False
        self._due_s = 0.0
        display.set_error_handler(lambda *_: None)  # of windows that are gone again
        for number in range(display.screen_count()):
            root = display.screen(number).root
            root.change_attributes(event_mask=X.SubstructureNotifyMask)
        self._damage: int | None = None
        if display.has_extension("DAMAGE"):
            display.damage_query_version()  # else the server refuses the others
            self._damage = display.extension_event.DamageNotify
        self._splash = display.intern_atom("_NET_WM_WINDOW_TYPE_SPLASH")
        self._type = display.intern_atom("_NET_WM_WINDOW_TYPE")
        display.sync()

    @property
    def descriptor(self) -> int:
        """The connection, readable when the server has sent something."""
        return int(self._display.fileno())

    def look(self, process_ids: Callable[[], set[int]]) -> Sight:
        """Return the content of new windows of some processes.

        A window counts that is viewable and larger than one pixel, is neither a menu
        or tooltip (override-redirect) nor a splash screen, and whose client is one of
        the processes. A client that the server can't identify, one over the network,
        is taken for one of them.

        :raises ToolError: if the server is gone.
        """
        try:
            # A look at windows may bring further events along.
            while self._has_news():
                self._is_stale = False
                began_s = time.monotonic()
                self._sight = self._seen_of(process_ids)
                ended_s = time.monotonic()
                if self._sight != "none":
                    pause_s = min(_PAUSE_SHARE * (ended_s - began_s), _PAUSE_MAX_S)
                    self._due_s = ended_s + pause_s
        except (ConnectionClosedError, OSError) as error:
            message = "The connection to the X server was lost"
            raise ToolError(message, details=str(error), resolution=_ADVICE) from error
        return self._sight

    def _has_news(self) -> bool:
        while self._display.pending_events():
            self._note(self._display.next_event())
            self._is_stale = True
        self._display.flush()
        is_unknown = self._sight != "none" and self._damage is None
        return (self._is_stale or is_unknown) and time.monotonic() >= self._due_s

    def ignore(self) -> None:
        """Take what the server has sent, without a look."""
        while self._display.pending_events():
            self._display.next_event()

    def _note(self, event: Event) -> None:
        if event.type == X.CreateNotify and not event.override:
            # A window manager moves it into a frame, out of sight of the root.
            event.window.change_attributes(event_mask=X.StructureNotifyMask)
            if self._damage is not None:
                event.window.damage_create(DamageReportNonEmpty)
            self._new[event.window.id] = event.window
        elif event.type == X.DestroyNotify:
            self._new.pop(event.window.id, None)
        elif event.type == self._damage:
            self._display.damage_subtract(event.damage)  # it reports the next one then

    def _seen_of(self, process_ids: Callable[[], set[int]]) -> Sight:
        found: Sight = "none"
        for window, geometry in self._seen():
            with suppress(XError):  # it is gone again
                if self._counts(window, process_ids):
                    if not self._is_blank(window, geometry):
                        return "drawn"
                    found = "blank"
        return found

    def _seen(self) -> Iterator[tuple[Window, GetGeometry]]:
        for window in tuple(self._new.values()):
            with suppress(XError):  # it is gone again
                attributes = window.get_attributes()
                geometry = window.get_geometry()
                if (
                    attributes.map_state == X.IsViewable
                    and attributes.win_class == X.InputOutput
                    and not attributes.override_redirect
                    and min(geometry.width, geometry.height) > 1
                ):
                    yield window, geometry

    def _is_blank(self, window: Window, geometry: GetGeometry) -> bool:
        """Return whether all of a window that is on the screen has one color."""
        screen = geometry.root.get_geometry()
        place = geometry.root.translate_coords(window, 0, 0)
        left, top = max(0, -place.x), max(0, -place.y)
        width = min(geometry.width, screen.width - place.x) - left
        bottom = min(geometry.height, screen.height - place.y)
        first = None
        for start in range(top, bottom, _BAND_ROWS) if width > 0 else ():
            rows = min(_BAND_ROWS, bottom - start)
            image = window.get_image(left, start, width, rows, X.ZPixmap, 0xFFFFFFFF)
            bits = next(
                each.bits_per_pixel
                for each in self._display.display.info.pixmap_formats
                if each.depth == image.depth
            )
            lines = np.frombuffer(image.data, np.uint8).reshape(rows, -1)
            whole = lines[:, : width * bits // 8].reshape(rows * width, -1)
            pixels = whole[:, :_COLOR_BYTES]
            first = pixels[0] if first is None else first
            if (pixels != first).any():
                return False
        return True

    def _counts(self, window: Window, process_ids: Callable[[], set[int]]) -> bool:
        kinds = window.get_full_property(self._type, X.AnyPropertyType)
        if kinds is not None and self._splash in kinds.value:
            return False
        client = self._client(window)
        return client is None or client in process_ids()

    def _client(self, window: Window) -> int | None:
        """Return the process that a window belongs to, if that can be known."""
        if not self._display.has_extension("X-Resource"):
            return None
        specification = {"client": window.id, "mask": LocalClientPIDMask}
        reply = self._display.res_query_client_ids([specification])
        return next((int(item.value[0]) for item in reply.ids if item.value), None)

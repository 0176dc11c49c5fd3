"""Windows on an X display.

python-xlib speaks the X protocol in Python alone, so nothing has to be compiled and
neither a window manager nor a tool like xdotool has to be there; and it brings the
X-Resource extension, with which the server itself tells whose a window is.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress

from Xlib import X
from Xlib.display import Display
from Xlib.error import ConnectionClosedError, DisplayError, XauthError, XError
from Xlib.ext.res import LocalClientPIDMask
from Xlib.protocol.rq import Event
from Xlib.xobject.drawable import Window

from ..core.errors import ToolError, UsageError

_RESOURCE = "X-Resource"
_IDENTIFIES_CLIENTS = (1, 2)
"""The version of X-Resource from which on it tells process ids."""

RESET_TIMEOUT_S = 5.0
"""For a server to begin anew; some tenths of a second are usual."""

_RETRY_S = 0.05

_ADVICE = (
    "Run the command in a graphical session, choose a display with --display, or unset "
    "DISPLAY and install xvfb, which provides a virtual one."
)


@contextmanager
def open_display(name: str | None) -> Iterator[Display]:
    """Connect to a display.

    :param name: as in ``DISPLAY``, which is the default.
    :raises UsageError: where neither names one.
    :raises ToolError: where it can't be opened.
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
    """Connect to a display, again where it closes the connection.

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
    """Sees new top-level windows from its creation on."""

    def __init__(self, display: Display) -> None:
        self._display = display
        self._new: dict[int, Window] = {}
        display.set_error_handler(lambda *_: None)  # of windows that are gone again
        for number in range(display.screen_count()):
            root = display.screen(number).root
            root.change_attributes(event_mask=X.SubstructureNotifyMask)
        self._identifies = self._can_identify()
        self._splash = display.intern_atom("_NET_WM_WINDOW_TYPE_SPLASH")
        self._type = display.intern_atom("_NET_WM_WINDOW_TYPE")
        self._pid = display.intern_atom("_NET_WM_PID")
        display.sync()

    @property
    def descriptor(self) -> int:
        """The connection, readable when the server has sent something."""
        return int(self._display.fileno())

    def has_window_of(self, process_ids: Callable[[], set[int]]) -> bool:
        """Tell whether a new window of some processes is to be seen.

        One that can be seen (viewable, larger than one pixel), is neither a menu or
        tooltip (override-redirect) nor a splash screen, and whose client is one of
        the processes. A client that the server can't identify, one over the network,
        is taken for one of them.

        :raises ToolError: where the server is gone.
        """
        try:
            # Asking the server may bring further events along.
            while self._display.pending_events():
                while self._display.pending_events():
                    self._note(self._display.next_event())
                if any(self._counts(window, process_ids) for window in self._seen()):
                    return True
        except (ConnectionClosedError, OSError) as error:
            message = "The connection to the X server was lost"
            raise ToolError(message, details=str(error), resolution=_ADVICE) from error
        return False

    def _note(self, event: Event) -> None:
        if event.type == X.CreateNotify and not event.override:
            # A window manager moves it into a frame, out of sight of the root.
            event.window.change_attributes(event_mask=X.StructureNotifyMask)
            self._new[event.window.id] = event.window
        elif event.type == X.DestroyNotify:
            self._new.pop(event.window.id, None)

    def _seen(self) -> Iterator[Window]:
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
                    yield window

    def _counts(self, window: Window, process_ids: Callable[[], set[int]]) -> bool:
        with suppress(XError):
            kinds = window.get_full_property(self._type, X.AnyPropertyType)
            if kinds is not None and self._splash in kinds.value:
                return False
            client = self._client(window)
            return client is None or client in process_ids()
        return False

    def _client(self, window: Window) -> int | None:
        """Return the process that a window belongs to, where that can be known."""
        if self._identifies:
            specification = {"client": window.id, "mask": LocalClientPIDMask}
            reply = self._display.res_query_client_ids([specification])
            for item in reply.ids:
                if item.value:
                    return int(item.value[0])
            return None
        named = window.get_full_property(self._pid, X.AnyPropertyType)
        return int(named.value[0]) if named is not None and named.value else None

    def _can_identify(self) -> bool:
        if not self._display.has_extension(_RESOURCE):
            return False
        version = self._display.res_query_version()
        found = (version.server_major, version.server_minor)
        return found >= _IDENTIFIES_CLIENTS

"""Waits for the event that ends a launch, and says why it doesn't happen."""

from __future__ import annotations

import math
import os
import re
import selectors
import shutil
import signal
import time
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path

from ..core.errors import ToolError
from ..core.units import format_bytes
from .launch_event import LaunchEvent, LaunchState, Watch
from .process_tree import ProcessTree, not_started
from .servers import DBUS_DAEMON
from .snap_environment import HOME_BYTES, HOME_FILES, HomeQuota

KEPT_LINES = 20
"""Last lines of output that an error shows."""

_QUOTA_S = 0.05
"""Between two looks at what a launch has written."""
_LOOK_S = 0.02
"""Between two looks at the processes of a launch that is watched."""
_LOOK_SHARE = 0.05
"""The same at first, as a share of the time since the start."""

_START_ADVICE = (
    "Check whether it starts on its own. Allow more time (--timeout), or wait for "
    "another event (--until). If it needs arguments, give them: 'record PATH -o FILE "
    "-- PROGRAM ARGUMENT…', then 'advise PATH --launch-profile FILE'."
)
_SIGNALS = {int(each): each.name for each in signal.Signals}
_BY_SIGNAL = 128
"""Plus the number of a signal: the status of a shell or bubblewrap whose program was
ended by it (bash(1), EXIT STATUS)."""

_NO_NETWORK = re.compile(
    r"network is (?:unreachable|down)|name resolution|name or service not known|"
    r"could not resolve|\bENETUNREACH|\bEAI_AGAIN|\bENOTFOUND|no such host",
    re.IGNORECASE,
)
_NO_BUS = re.compile(r"D-?Bus|session bus", re.IGNORECASE)
_NOT_STARTED = re.compile(r"bwrap: execvp .*: (?P<reason>[^:]+)")
_READ_ONLY = re.compile(r"read-only file system|EROFS", re.IGNORECASE)
_ABSOLUTE_PATH = re.compile(r"(?<![\w/])/(?:[\w.+-]+/)+[\w.+-]+")

_READ_BYTES = 65536
_LINE_MAX_BYTES = 65536
"""Output without a line end is cut here; it would have to be kept else."""


class Observer:
    """Waits for one launch's event, reading the output on the way.

    :param name: of the command, for errors.
    :param watched: called with the ids of all processes, again and again.
    :param root: the payload's directory or mount.
    :param quota: of the home, if the command is isolated: it has no network then, and
        a read-only payload.
    """

    def __init__(  # noqa: PLR0913 # four say what of, two how
        self,
        tree: ProcessTree,
        watch: Watch,
        event: LaunchEvent,
        name: str,
        *,
        watched: Callable[[set[int]], object] | None,
        root: Path,
        quota: HomeQuota | None = None,
    ) -> None:
        self._tree = tree
        self._watch = watch
        self._event = event
        self._watched = watched
        self._root = root
        self._quota = quota
        self._looked_s = 0.0
        self._name = name
        self._last_lines: deque[str] = deque(maxlen=KEPT_LINES)
        self._unfinished = b""

    def wait(self, started_s: float, *, timeout_s: float) -> float:
        """Return when the event happened, in seconds from the start.

        :raises ToolError: if it doesn't.
        """
        with selectors.DefaultSelector() as selector:
            self._register(selector)
            while True:
                now_s = time.monotonic()
                self._tree.notice_exit()
                state = LaunchState(
                    elapsed_s=now_s - started_s,
                    lines=self._new_lines(selector),
                    exit_status=self._tree.exit_status,
                    tree=self._tree,
                    is_last=now_s - started_s >= timeout_s,
                )
                self._check_quota()
                happened_s = self._watch.happened_s(state)
                if happened_s is not None:
                    return happened_s
                self._check_exit(selector)
                if state.is_last:
                    message = (
                        f"{self._name!r} {self._watch.missed} within {timeout_s:g} s"
                    )
                    if self._tree.exit_status is not None:
                        message += ", and went on in the background"
                    raise self._failed(message)
                due_s = min(timeout_s, self._watch.next_look_s(state.elapsed_s))
                due_s = min(due_s, self._next_look_s(started_s))
                if self._quota is not None:
                    due_s = min(due_s, state.elapsed_s + _QUOTA_S)
                selector.select(max(0.0, started_s + due_s - time.monotonic()))

    def _check_quota(self) -> None:
        """End a launch that has written too much."""
        if self._quota is not None and self._quota.is_exceeded():
            message = (
                f"More than {format_bytes(HOME_BYTES)} or {HOME_FILES:,} files were "
                f"written while {self._name!r} was started"
            )
            raise ToolError(
                message,
                resolution="Have the app write less, or end other programs that write "
                "to the same disk.",
            )

    def _next_look_s(self, started_s: float) -> float:
        """Have the processes looked at if it is time; return when next, from the start.

        Often at first, when a short launch may be over before the second look; never
        for more than half of the time.
        """
        if self._watched is None:
            return math.inf
        now_s = time.monotonic()
        if now_s >= self._looked_s:
            self._watched(self._tree.process_ids())
            began_s, now_s = now_s, time.monotonic()
            pause_s = min(_LOOK_S, (now_s - started_s) * _LOOK_SHARE)
            pause_s = max(pause_s, now_s - began_s)
            self._looked_s = now_s + pause_s
        return self._looked_s - started_s

    def _register(self, selector: selectors.BaseSelector) -> None:
        selector.register(self._tree.process.exit_descriptor, selectors.EVENT_READ)
        selector.register(self._tree.process.output_descriptor, selectors.EVENT_READ)
        if self._watch.descriptor is not None:
            selector.register(self._watch.descriptor, selectors.EVENT_READ)

    def _new_lines(self, selector: selectors.BaseSelector) -> tuple[str, ...]:
        """Return the lines printed since the last call, the last of all without end."""
        text = self._unfinished
        descriptor = self._tree.process.output_descriptor
        while descriptor in selector.get_map():
            try:
                read = os.read(descriptor, _READ_BYTES)
            except BlockingIOError:
                break
            if not read:
                selector.unregister(descriptor)
            text += read
        *whole, self._unfinished = text.split(b"\n")
        if descriptor not in selector.get_map() or len(text) > _LINE_MAX_BYTES:
            whole, self._unfinished = [*whole, self._unfinished], b""
        lines = tuple(line.decode(errors="replace") for line in whole if line)
        self._last_lines.extend(lines)
        return lines

    def _check_exit(self, selector: selectors.BaseSelector) -> None:
        """Take the command's end for a failure, unless others of it go on."""
        status = self._tree.exit_status
        if status is None:
            return
        if self._tree.process.exit_descriptor in selector.get_map():
            selector.unregister(self._tree.process.exit_descriptor)
        if status == 0 and self._tree.process_ids():
            return
        lines = "".join(self._last_lines)
        if self._quota is not None and (refused := _NOT_STARTED.fullmatch(lines)):
            raise not_started(self._name, refused["reason"])
        if status < 0:
            how = f"was ended by {_SIGNALS.get(-status, f'signal {-status}')}"
        else:
            how = f"ended with status {status}"
            if name := _SIGNALS.get(status - _BY_SIGNAL):
                how += f" ({_BY_SIGNAL} + {name})"
        message = f"{self._name!r} {how}"
        if not self._event.exits:
            message += f" and {self._watch.missed}"
        raise self._failed(message)

    def _failed(self, message: str) -> ToolError:
        lines = [*self._last_lines, self._unfinished.decode(errors="replace")]
        kept = [line for line in lines if line]
        return ToolError(
            message,
            details="\n".join(kept).expandtabs() or "It printed nothing.",
            resolution=_advice(kept, self._root, is_isolated=self._quota is not None),
        )


def _advice(lines: Sequence[str], root: Path, *, is_isolated: bool) -> str:
    """Return advice on the output of a launch."""
    text = "\n".join(lines)
    for path in _ABSOLUTE_PATH.findall(text):
        if not os.path.lexists(path) and os.path.lexists(f"{root}{path}"):
            return (
                f"The app looks for {path!r}, which is in the payload only. Add a "
                "layout to snapcraft.yaml that puts it there, and record without "
                "--unconfined: an isolated launch follows layouts."
            )
    if is_isolated and _NO_BUS.search(text) and shutil.which(DBUS_DAEMON) is None:
        return (
            "The app wants a D-Bus session bus, and an isolated launch doesn't see "
            f"yours. Install {DBUS_DAEMON} ('sudo apt-get install {DBUS_DAEMON}'): "
            "then each launch has one of its own."
        )
    if is_isolated and _NO_NETWORK.search(text):
        return (
            "An isolated launch has no network. Have the app start without one, or "
            "record it with your network and as your own program: 'record "
            "--unconfined', then use --launch-profile."
        )
    if is_isolated and _READ_ONLY.search(text):
        return (
            "The app wants to write where an installed snap can't. Its payload is "
            "read-only: have it write below $SNAP_DATA, $SNAP_USER_DATA or $HOME."
        )
    return _START_ADVICE

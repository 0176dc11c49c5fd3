"""The kernel's trace events, in a buffer of our own.

Buffers are ``instances`` of tracefs (Linux's ``Documentation/trace/ftrace.rst``). An
event costs a microsecond.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from ..core.deferred_signals import deferred_signals
from ..core.errors import StorageError
from ..core.scratch import PREFIX, unmount
from .mount import mount_point, virtual_mount

PLACES = (Path("/sys/kernel/tracing"), Path("/sys/kernel/debug/tracing"))
"""Where tracefs may be mounted."""

_LOST = re.compile(r"^# entries-in-buffer/entries-written: (\d+)/(\d+)", re.MULTILINE)


class KernelTrace:
    """What the kernel wrote of its events since the trace began.

    :param instance: the directory of its buffer; ``None`` if the kernel doesn't
        trace for us.
    """

    def __init__(self, instance: Path | None) -> None:
        self._instance = instance

    def text(self) -> str | None:
        """Return all lines, in order; ``None`` without a trace."""
        if self._instance is None:
            return None
        return (self._instance / "trace").read_text(errors="replace")

    def whole_text(self) -> str | None:
        """Return the same, but ``None`` too where the buffer was too small."""
        text = self.text()
        counts = _LOST.search(text) if text is not None else None
        return text if counts and counts[1] == counts[2] else None


@contextmanager
def kernel_trace(
    events: Mapping[str, str],
    *,
    places: tuple[Path, ...] = PLACES,
    buffer_kb: int | None = None,
) -> Iterator[KernelTrace]:
    """Trace events of all of the system, as root and where the kernel does that.

    :param events: with their groups (``sched/sched_process_exit``), and a filter of
        each, which may be empty.
    :param places: where tracefs may be mounted; else it is, for the time.
    :param buffer_kb: room for events of each processor, else the kernel's own choice.
    """
    with ExitStack() as stack:
        signals = stack.enter_context(deferred_signals())
        instance = None
        with suppress(OSError, StorageError):
            instance = _started(stack, events, places, buffer_kb)
        with signals.delivered():
            yield KernelTrace(instance)


def _started(
    stack: ExitStack,
    events: Mapping[str, str],
    places: tuple[Path, ...],
    buffer_kb: int | None,
) -> Path:
    """Begin a trace that ends with a stack.

    :raises OSError: if this process may not, or the kernel can't.
    """
    root = next((each for each in places if (each / "instances").is_dir()), None)
    if root is None:
        root = stack.enter_context(mount_point())
        virtual_mount("tracefs", root)
        stack.callback(unmount, str(root))
    instance = Path(tempfile.mkdtemp(prefix=PREFIX, dir=root / "instances"))
    stack.callback(_remove, instance)
    (instance / "trace_clock").write_text("mono")
    if buffer_kb is not None:
        (instance / "buffer_size_kb").write_text(str(buffer_kb))
    for event, chosen in events.items():
        if chosen:
            (instance / f"events/{event}/filter").write_text(chosen)
        (instance / f"events/{event}/enable").write_text("1")
    return instance


def _remove(instance: Path) -> None:
    """End a trace; the kernel switches its events off."""
    with suppress(OSError):
        instance.rmdir()

"""A control group of the kernel (cgroup v2) for one launch.

It holds every process of the launch whatever becomes of parents and sessions,
freezes all of them at once, and adds up their processor time to the microsecond.
Making one needs root or a delegated group; where none can be made, ``/proc`` and
signals have to do.
"""

from __future__ import annotations

import os
import select
import tempfile
import time
from contextlib import suppress
from pathlib import Path

_STATE_TIMEOUT_S = 5.0
"""A thread that waits for storage freezes or ends once that has answered."""

_MICROSECOND_S = 1e-6


class ControlGroup:
    """One group.

    :param directory: of the group in the cgroup file system.
    """

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    @classmethod
    def create(cls) -> ControlGroup | None:
        """Make a group below our own, ``None`` where that isn't possible."""
        try:
            parent = _own_group()
            if parent is None:
                return None
            directory = Path(
                tempfile.mkdtemp(prefix="compression-advisor-", dir=parent)
            )
        except OSError:
            return None
        group = cls(directory)
        if not os.access(directory / "cgroup.freeze", os.W_OK):
            group.remove()
            return None
        return group

    def process_ids(self) -> set[int]:
        """Return its processes; those that have ended don't count."""
        found: set[int] = set()
        for directory in (self.directory, *self._below()):
            try:
                text = (directory / "cgroup.procs").read_text()
            except OSError:
                continue
            found.update(int(line) for line in text.split())
        return found

    def freeze(self) -> None:
        """Stop all of its processes, and wait until they stand still."""
        (self.directory / "cgroup.freeze").write_text("1")
        self._wait_until("frozen 1")

    def thaw(self) -> None:
        """Let its processes go on."""
        (self.directory / "cgroup.freeze").write_text("0")

    def cpu_s(self) -> tuple[float, float] | None:
        """Return processor time in user and system mode, ``None`` where unknown."""
        try:
            lines = (self.directory / "cpu.stat").read_text().splitlines()
            values = dict(line.split() for line in lines)
            return (
                int(values["user_usec"]) * _MICROSECOND_S,
                int(values["system_usec"]) * _MICROSECOND_S,
            )
        except (OSError, ValueError, KeyError):
            return None

    def remove(self) -> None:
        """Remove the group, whose processes have to be ended.

        One that isn't empty stays: a directory in a virtual file system.
        """
        with suppress(OSError):
            # The kernel counts a process for a moment longer than it can be seen.
            self._wait_until("populated 0")
            for directory in (*self._below(), self.directory):
                directory.rmdir()

    def _wait_until(self, state: str) -> None:
        """Wait until the group's events show a state, or too much time is gone."""
        with (self.directory / "cgroup.events").open() as events:
            poll = select.poll()
            poll.register(events, select.POLLPRI)
            deadline = time.monotonic() + _STATE_TIMEOUT_S
            while state not in events.read():
                left_s = deadline - time.monotonic()
                if left_s <= 0:
                    return
                poll.poll(left_s * 1000)
                events.seek(0)

    def _below(self) -> list[Path]:
        """Return groups that the application made, the innermost first."""
        found = (path for path in self.directory.rglob("*") if path.is_dir())
        return sorted(found, key=lambda path: -len(path.parts))


def _own_group() -> Path | None:
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        hierarchy, _, path = line.split(":", 2)
        mount = _mount_point()
        if hierarchy == "0" and mount is not None:
            return mount / path.lstrip("/")
    return None


def _mount_point() -> Path | None:
    for line in Path("/proc/self/mounts").read_text().splitlines():
        _, place, kind, *_ = line.split(" ")
        if kind == "cgroup2":
            return Path(place)
    return None

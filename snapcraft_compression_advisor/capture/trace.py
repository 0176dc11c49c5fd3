"""What processes read of their files, followed through a log of system calls."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial

from .strace_log import Call, Unreadable, descriptor, number, quoted, read_calls

_AT_WORKING_DIRECTORY = "AT_FDCWD"
_OFFSET_IN_BRACES = "[]{}"


@dataclass(slots=True, kw_only=True)
class Trace:
    """What was read, and what may have been.

    :param ranges: by absolute path, bytes from and up to, in the order of reading.
    :param mapped: likewise, bytes that a process could read without a further call. A
        trace doesn't tell which of them it did read.
    :param programs: files that were executed; the kernel reads these unseen.
    :param unreadable_lines: lines that were no call.
    :param unknown_files: reads of descriptors or names that the log doesn't explain.
    """

    ranges: dict[str, list[tuple[int, int]]] = field(default_factory=dict)
    mapped: dict[str, list[tuple[int, int]]] = field(default_factory=dict)
    programs: dict[str, None] = field(default_factory=dict)
    calls: int = 0
    unreadable_lines: int = 0
    unknown_files: int = 0


@dataclass(slots=True)
class _OpenFile:
    """An open file description: descriptors made by dup or fork share its offset."""

    path: str
    offset: int = 0


@dataclass(slots=True)
class _Place:
    """Working directory and root, which threads share."""

    directory: str | None
    root: str = ""


@dataclass(slots=True)
class _Process:
    files: dict[int, _OpenFile]
    place: _Place

    def child(self, flags: str) -> _Process:
        """Return what a clone with these flags begins with."""
        return _Process(
            files=self.files if "CLONE_FILES" in flags else dict(self.files),
            place=self.place
            if "CLONE_FS" in flags
            else _Place(self.place.directory, self.place.root),
        )

    def absolute(self, path: str, *, base: str | None) -> str | None:
        """Return a path as the tracer sees it, ``None`` where that isn't known."""
        if path.startswith("/"):
            return self.place.root + path
        return None if base is None else posixpath.join(base, path)


def follow(lines: Iterable[str], *, directory: str | None = None) -> Trace:
    """Follow all processes of an ``strace -f`` log.

    Files count over the ranges read and mapped; those only opened don't count.

    :param directory: that the first process began in, where it is known.
    """
    follower = _Follower(directory)
    for item in read_calls(lines):
        if isinstance(item, Unreadable):
            follower.trace.unreadable_lines += 1
        else:
            follower.take(item)
    return follower.trace


class _Follower:
    """Keeps the descriptors of every process."""

    def __init__(self, directory: str | None) -> None:
        self._directory = directory
        self._processes: dict[int, _Process] = {}
        self._cloning: list[tuple[int, str]] = []
        self.trace = Trace()

    def take(self, call: Call) -> None:
        """Take note of a call."""
        process = self._process(call.pid)
        if call.name in _CLONES:
            self._clone(process, call)
            return
        if call.begun:
            return
        self.trace.calls += 1
        action = _ACTIONS.get(call.name)
        if action is not None and call.result is not None and call.result != -1:
            action(self, process, call)

    def _process(self, pid: int) -> _Process:
        """Return a process; one that is new belongs to the clone under way."""
        process = self._processes.get(pid)
        if process is None:
            if self._cloning:
                parent, flags = self._cloning.pop(0)
                process = self._processes[parent].child(flags)
            else:
                process = _Process(files={}, place=_Place(self._directory))
            self._processes[pid] = process
        return process

    def _clone(self, process: _Process, call: Call) -> None:
        flags = " ".join(call.arguments)
        if call.begun:
            self._cloning.append((call.pid, flags))
            return
        self.trace.calls += 1
        self._cloning = [item for item in self._cloning if item[0] != call.pid]
        if call.result is not None and call.result > 0:
            self._processes.setdefault(call.result, process.child(flags))

    def open(self, process: _Process, call: Call) -> None:
        self._opened(process, call, call.arguments[:1], process.place.directory)

    def open_at(self, process: _Process, call: Call) -> None:
        base = _base(process, call.arguments[0]) if call.arguments else None
        self._opened(process, call, call.arguments[1:2], base)

    def _opened(
        self,
        process: _Process,
        call: Call,
        name: tuple[str, ...],
        base: str | None,
    ) -> None:
        path = call.result_path
        if path is None:
            given = quoted(name[0]) if name else None
            path = process.absolute(given, base=base) if given is not None else None
        if call.result is None:
            return
        if path is None:
            self.trace.unknown_files += 1
            process.files.pop(call.result, None)
        else:
            process.files[call.result] = _OpenFile(path)

    def map(self, process: _Process, call: Call) -> None:
        if len(call.arguments) < 6 or call.arguments[2] == "PROT_NONE":  # noqa: PLR2004 # mmap(2) has six
            return
        if "MAP_ANONYMOUS" in call.arguments[3] or "MAP_ANON" in call.arguments[3]:
            return
        length, start = number(call.arguments[1]), number(call.arguments[5])
        file = self._file(process, call.arguments[4])
        if file is not None and length is not None and start is not None:
            populated = "MAP_POPULATE" in call.arguments[3]
            seen = self.trace.ranges if populated else self.trace.mapped
            _note(seen, file.path, start, start + length)

    def read(self, process: _Process, call: Call) -> None:
        file = self._file(process, call.arguments[0]) if call.arguments else None
        if file is not None and call.result is not None:
            _note(self.trace.ranges, file.path, file.offset, file.offset + call.result)
            file.offset += call.result

    def read_from(
        self, process: _Process, call: Call, *, file_at: int, offset_at: int
    ) -> None:
        """Take note of a read at an offset that is given, else at the file's own."""
        if len(call.arguments) <= max(file_at, offset_at) or call.result is None:
            return
        file = self._file(process, call.arguments[file_at])
        if file is None:
            return
        # Offsets behind a pointer: ``[0]``, or ``[0] => [100]``.
        given, _, _ = call.arguments[offset_at].partition(" => ")
        start = number(given.strip(_OFFSET_IN_BRACES))
        if start is None:
            start = file.offset
            file.offset += call.result
        _note(self.trace.ranges, file.path, start, start + call.result)

    def execute(self, process: _Process, call: Call) -> None:
        name = quoted(call.arguments[0]) if call.arguments else None
        self._executed(process, name, process.place.directory)

    def execute_at(self, process: _Process, call: Call) -> None:
        base = _base(process, call.arguments[0]) if call.arguments else None
        name = quoted(call.arguments[1]) if len(call.arguments) > 1 else None
        self._executed(process, name, base)

    def _executed(self, process: _Process, name: str | None, base: str | None) -> None:
        # From here on the descriptors are its own, whoever shared them before.
        process.files = dict(process.files)
        process.place = _Place(process.place.directory, process.place.root)
        path = process.absolute(name, base=base) if name else base
        if path is None:
            self.trace.unknown_files += 1
        else:
            self.trace.programs[path] = None

    def _file(self, process: _Process, argument: str) -> _OpenFile | None:
        """Return the open file behind a descriptor, if it is one with a name."""
        key, path = descriptor(argument)
        if key is None or key < 0:
            return None
        known = process.files.get(key)
        if path is not None and (known is None or known.path != path):
            known = process.files[key] = _OpenFile(path)
        return known


def _note(
    seen: dict[str, list[tuple[int, int]]], path: str, start: int, end: int
) -> None:
    if not 0 <= start < end:
        return
    ranges = seen.setdefault(path, [])
    if ranges and ranges[-1][1] == start:  # read on
        ranges[-1] = (ranges[-1][0], end)
    else:
        ranges.append((start, end))


def _base(process: _Process, argument: str) -> str | None:
    """Return the directory that a name is relative to."""
    key, path = descriptor(argument)
    if path is not None:
        return path
    if argument.startswith(_AT_WORKING_DIRECTORY):
        return process.place.directory
    file = process.files.get(key) if key is not None else None
    return file.path if file is not None else None


def _first(call: Call) -> tuple[int | None, str | None]:
    """Return the first argument as a descriptor."""
    return descriptor(call.arguments[0]) if call.arguments else (None, None)


def _close(_follower: _Follower, process: _Process, call: Call) -> None:
    key, _ = _first(call)
    if key is not None:
        process.files.pop(key, None)


def _duplicate(_follower: _Follower, process: _Process, call: Call) -> None:
    key, path = _first(call)
    if key is None or call.result is None:
        return
    file = process.files.get(key) or (_OpenFile(path) if path else None)
    if file is not None:
        process.files[call.result] = process.files[key] = file
    else:
        process.files.pop(call.result, None)


def _duplicate_by_fcntl(follower: _Follower, process: _Process, call: Call) -> None:
    if len(call.arguments) > 1 and call.arguments[1].startswith("F_DUPFD"):
        _duplicate(follower, process, call)


def _seek(_follower: _Follower, process: _Process, call: Call) -> None:
    key, _ = _first(call)
    file = process.files.get(key) if key is not None else None
    if file is not None and call.result is not None:
        file.offset = call.result


def _change_directory(_follower: _Follower, process: _Process, call: Call) -> None:
    path = quoted(call.arguments[0]) if call.arguments else None
    if path is not None:
        process.place.directory = process.absolute(path, base=process.place.directory)


def _change_directory_to(_follower: _Follower, process: _Process, call: Call) -> None:
    process.place.directory = (
        _base(process, call.arguments[0]) if call.arguments else None
    )


def _change_root(_follower: _Follower, process: _Process, call: Call) -> None:
    path = quoted(call.arguments[0]) if call.arguments else None
    root = process.absolute(path, base=process.place.directory) if path else None
    if root is not None:
        process.place.root = root.rstrip("/")


_read_at = partial(_Follower.read_from, file_at=0, offset_at=3)
_send = partial(_Follower.read_from, file_at=1, offset_at=2)

_ACTIONS: Mapping[str, Callable[[_Follower, _Process, Call], None]] = {
    "open": _Follower.open,
    "openat": _Follower.open_at,
    "openat2": _Follower.open_at,
    "close": _close,
    "dup": _duplicate,
    "dup2": _duplicate,
    "dup3": _duplicate,
    "fcntl": _duplicate_by_fcntl,
    "lseek": _seek,
    "mmap": _Follower.map,
    "mmap2": _Follower.map,
    "read": _Follower.read,
    "readv": _Follower.read,
    "pread64": _read_at,
    "preadv": _read_at,
    "preadv2": _read_at,
    "sendfile": _send,
    "sendfile64": _send,
    "copy_file_range": partial(_Follower.read_from, file_at=0, offset_at=1),
    "execve": _Follower.execute,
    "execveat": _Follower.execute_at,
    "chdir": _change_directory,
    "fchdir": _change_directory_to,
    "chroot": _change_root,
}
_CLONES = ("clone", "clone2", "clone3", "fork", "vfork")

TRACED_CALLS = (*_ACTIONS, *_CLONES)
"""Calls that :func:`follow` makes use of."""

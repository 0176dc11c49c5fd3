"""What processes read of their files, followed through a log of system calls."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial

from .strace_log import Call, descriptor, number, quoted, read_calls

_OFFSET_IN_BRACES = "[]{}"


@dataclass(slots=True, kw_only=True)
class Trace:
    """What was read, and what may have been.

    :param ranges: by absolute path, bytes from and up to, in the order of reading.
    :param mapped: likewise, bytes that a process could read without a further call. A
        trace doesn't tell which of them it did read.
    :param programs: files that were executed; the kernel reads these unseen.
    :param missing: paths that were to be opened or executed, in vain.
    :param unreadable_lines: lines that were no call.
    :param unknown_files: reads of descriptors or names that the log doesn't explain.
    """

    ranges: dict[str, list[tuple[int, int]]] = field(default_factory=dict)
    mapped: dict[str, list[tuple[int, int]]] = field(default_factory=dict)
    programs: dict[str, None] = field(default_factory=dict)
    missing: dict[str, None] = field(default_factory=dict)
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
            place=self.place if "CLONE_FS" in flags else replace(self.place),
        )

    def absolute(self, path: str, *, base: str | None) -> str | None:
        """Return a path as the tracer sees it, ``None`` where that isn't known."""
        if path.startswith("/"):
            return self.place.root + path
        return None if base is None else posixpath.join(base, path)

    def base(self, call: Call, *, at: bool) -> str | None:
        """Return the directory that a call's name is relative to.

        :param at: whether the call's first argument is its descriptor.
        """
        key, path = descriptor(call.argument(0))
        if not at or (path is None and call.argument(0).startswith("AT_FDCWD")):
            return self.place.directory
        if path is None and key in self.files:
            return self.files[key].path
        return path

    def file(self, argument: str) -> _OpenFile | None:
        """Return the open file behind a descriptor, if it is one with a name."""
        key, path = descriptor(argument)
        if key is None or key < 0:
            return None
        known = self.files.get(key)
        if path is not None and (known is None or known.path != path):
            known = self.files[key] = _OpenFile(path)
        return known


def follow(lines: Iterable[str], *, directory: str | None = None) -> Trace:
    """Follow all processes of an ``strace -f`` log.

    Files count over the ranges read and mapped; those only opened don't count.

    :param directory: that the first process began in, where it is known.
    """
    follower = _Follower(directory)
    for item in read_calls(lines):
        if item is None:
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
        elif not call.begun:
            self.trace.calls += 1
            action = _ACTIONS.get(call.name)
            if action is not None and call.result is not None and call.result != -1:
                action(self, process, call, call.result)
            elif call.result == -1 and call.name in _OPENING:
                self.miss(process, call, at=_OPENING[call.name])

    def _process(self, pid: int) -> _Process:
        """Return a process; one that is new belongs to the clone under way."""
        if pid not in self._processes:
            if self._cloning:
                parent, flags = self._cloning.pop(0)
                process = self._processes[parent].child(flags)
            else:
                process = _Process(files={}, place=_Place(self._directory))
            self._processes[pid] = process
        return self._processes[pid]

    def _clone(self, process: _Process, call: Call) -> None:
        flags = " ".join(call.arguments)
        if call.begun:
            self._cloning.append((call.pid, flags))
            return
        self.trace.calls += 1
        self._cloning = [item for item in self._cloning if item[0] != call.pid]
        if call.result is not None and call.result > 0:
            self._processes.setdefault(call.result, process.child(flags))

    def open(self, process: _Process, call: Call, result: int, *, at: bool) -> None:
        path = call.result_path
        name = quoted(call.argument(int(at)))
        if path is None and name is not None:
            path = process.absolute(name, base=process.base(call, at=at))
        if path is None:
            self.trace.unknown_files += 1
            process.files.pop(result, None)
        else:
            process.files[result] = _OpenFile(path)

    def miss(self, process: _Process, call: Call, *, at: bool) -> None:
        """Take note of what isn't there, or can't be opened."""
        name = quoted(call.argument(int(at)))
        path = name and process.absolute(name, base=process.base(call, at=at))
        if path:
            self.trace.missing[path] = None

    def map(self, process: _Process, call: Call, _result: int) -> None:
        protection, flags = call.argument(2), call.argument(3)
        if protection == "PROT_NONE" or "MAP_ANON" in flags:
            return
        length, start = number(call.argument(1)), number(call.argument(5))
        file = process.file(call.argument(4))
        if file is not None and length is not None and start is not None:
            populated = "MAP_POPULATE" in flags
            seen = self.trace.ranges if populated else self.trace.mapped
            _note(seen, file.path, start, start + length)

    def read(
        self,
        process: _Process,
        call: Call,
        result: int,
        *,
        file_at: int = 0,
        offset_at: int | None = None,
    ) -> None:
        """Take note of a read at an offset that is given, else at the file's own.

        :param offset_at: number of the argument that gives it, where one may.
        """
        file = process.file(call.argument(file_at))
        if file is None or len(call.arguments) <= (offset_at or 0):
            return
        start = None
        if offset_at is not None:
            # Offsets behind a pointer: ``[0]``, or ``[0] => [100]``.
            given, _, _ = call.arguments[offset_at].partition(" => ")
            start = number(given.strip(_OFFSET_IN_BRACES))
        if start is None:
            start = file.offset
            file.offset += result
        _note(self.trace.ranges, file.path, start, start + result)

    def execute(self, process: _Process, call: Call, _result: int, *, at: bool) -> None:
        # From here on the descriptors are its own, whoever shared them before.
        process.files = dict(process.files)
        process.place = replace(process.place)
        name, base = quoted(call.argument(int(at))), process.base(call, at=at)
        path = process.absolute(name, base=base) if name else base
        if path is None:
            self.trace.unknown_files += 1
        else:
            self.trace.programs[path] = None


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


def _close(_: _Follower, process: _Process, call: Call, _result: int) -> None:
    key, _path = descriptor(call.argument(0))
    if key is not None:
        process.files.pop(key, None)


def _duplicate(_: _Follower, process: _Process, call: Call, result: int) -> None:
    key, path = descriptor(call.argument(0))
    if key is None or (
        call.name == "fcntl" and not call.argument(1).startswith("F_DUPFD")
    ):
        return
    file = process.files.get(key) or (_OpenFile(path) if path else None)
    if file is not None:
        process.files[result] = process.files[key] = file
    else:
        process.files.pop(result, None)


def _seek(_: _Follower, process: _Process, call: Call, result: int) -> None:
    key, _path = descriptor(call.argument(0))
    if key in process.files:
        process.files[key].offset = result


def _change_directory(
    _: _Follower, process: _Process, call: Call, _result: int
) -> None:
    path = quoted(call.argument(0))
    if path is not None:
        process.place.directory = process.absolute(path, base=process.place.directory)


def _change_directory_to(
    _: _Follower, process: _Process, call: Call, _result: int
) -> None:
    process.place.directory = process.base(call, at=True)


def _change_root(_: _Follower, process: _Process, call: Call, _result: int) -> None:
    path = quoted(call.argument(0))
    root = process.absolute(path, base=process.place.directory) if path else None
    if root is not None:
        process.place.root = root.rstrip("/")


_open_at = partial(_Follower.open, at=True)
_read_at = partial(_Follower.read, offset_at=3)
_send = partial(_Follower.read, file_at=1, offset_at=2)

_ACTIONS: Mapping[str, Callable[[_Follower, _Process, Call, int], None]] = {
    "open": partial(_Follower.open, at=False),
    "openat": _open_at,
    "openat2": _open_at,
    "close": _close,
    "dup": _duplicate,
    "dup2": _duplicate,
    "dup3": _duplicate,
    "fcntl": _duplicate,
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
    "copy_file_range": partial(_Follower.read, offset_at=1),
    "execve": partial(_Follower.execute, at=False),
    "execveat": partial(_Follower.execute, at=True),
    "chdir": _change_directory,
    "fchdir": _change_directory_to,
    "chroot": _change_root,
}
_OPENING = {
    "open": False,
    "openat": True,
    "openat2": True,
    "execve": False,
    "execveat": True,
}
"""Calls that name a file, and whether a directory's descriptor stands before it."""
_CLONES = ("clone", "clone2", "clone3", "fork", "vfork")

TRACED_CALLS = (*_ACTIONS, *_CLONES)
"""Calls that :func:`follow` makes use of."""

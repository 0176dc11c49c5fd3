"""The data blocks that a launch reads, guessed from files."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from snapcraft_compression_advisor.launch.script import (
    SCRIPT_MAX_BYTES,
    parse_shebang,
    shell_words,
)
from snapcraft_compression_advisor.payload.inventory import block_count
from snapcraft_compression_advisor.payload.linkage import (
    LibraryFinder,
    Unresolved,
    library_path,
)
from snapcraft_compression_advisor.payload.paths import PathResolver
from snapcraft_compression_advisor.squashfs.entry import EntryKind
from snapcraft_compression_advisor.units import Interval

if TYPE_CHECKING:
    from snapcraft_compression_advisor.payload.inventory import Entry
    from snapcraft_compression_advisor.payload.source import Payload

MAX_PROGRAMS = 64
"""Programs followed from one app; wrappers start a handful."""

READ_SHARE = Interval(low=0.5 / 0.9, mid=1.0, high=1.0 / 0.3)
"""Bytes that a launch reads, per byte of the ELF closure.

Recorded launches of Chromium, a Node program, a GTK calculator and
``python3 -c 'import numpy'`` (the applications of ``measured.csv``): their
closures named 0.3 to 0.9 of what was read, and up to half of what they named
was not.
"""

WAITED_SHARE = Interval(low=0.7, mid=1.0, high=1.0)
"""What a launch waits for of the work on its blocks, where it wasn't recorded.

Of recorded launches, most waited for all of it; those whose threads read side by side
hid up to three tenths behind other work (docs/accuracy.md).
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchFile:
    """A file that a launch reads.

    :param path: relative to the payload.
    :param size_bytes: the file's length.
    :param blocks: ranges of 128 KiB data blocks, first and last.
    """

    path: str
    size_bytes: int
    blocks: tuple[tuple[int, int], ...]

    @property
    def block_count(self) -> int:
        """Data blocks read of it."""
        return sum(last - first + 1 for first, last in self.blocks)


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchSet:
    """The data blocks that a cold launch of one app reads.

    :param app: the app's name.
    :param source: ``static`` (guessed from files) or ``recorded``.
    :param files: sorted by path, each file once whatever its links.
    :param read_share: bytes really read, per byte of these blocks.
    :param seek_share: seeks really made, per run of these blocks; no more than there
        are files to seek.
    :param waited_share: of the work on blocks, what the launch waits for.
    :param unresolved: what the launch needs from elsewhere.
    """

    app: str
    source: Literal["static", "recorded"]
    files: tuple[LaunchFile, ...]
    read_share: Interval
    seek_share: Interval
    waited_share: Interval = WAITED_SHARE
    unresolved: tuple[Unresolved, ...] = ()

    @property
    def data_blocks(self) -> int:
        """Data blocks named."""
        return sum(file.block_count for file in self.files)

    @property
    def raw_bytes(self) -> int:
        """Length of the files named."""
        return sum(file.size_bytes for file in self.files)


def static_launch_set(payload: Payload, app: str) -> LaunchSet:
    """Guess what a launch reads: the closure of all programs that it starts.

    :param app: of the payload's ``meta/snap.yaml``.
    """
    walk = _ProgramWalk(payload, app)
    walk.run()
    entries = sorted(walk.entries.values(), key=lambda entry: entry.path)
    files = tuple(
        LaunchFile(
            path=entry.path,
            size_bytes=entry.size_bytes,
            blocks=((0, block_count(entry.size_bytes) - 1),),
        )
        for entry in entries
        if entry.size_bytes
    )
    share = _read_share(
        sum(file.size_bytes for file in files),
        payload_bytes=payload.inventory.raw_bytes,
        followed=walk.followed,
    )
    most_files = payload.inventory.file_count / max(1, len(files))
    return LaunchSet(
        app=app,
        source="static",
        files=files,
        read_share=share,
        seek_share=replace(share, high=max(1.0, min(share.high, most_files))),
        unresolved=tuple(walk.unresolved.values()),
    )


def _read_share(named_bytes: int, *, payload_bytes: int, followed: bool) -> Interval:
    """Return what is read per byte named: at most the whole payload.

    :param followed: whether every program started is known. Where a script's or an
        interpreter's doing is not, the launch may read anything.
    """
    most = payload_bytes / named_bytes if named_bytes else 1.0
    high = min(READ_SHARE.high, most) if followed else most
    return Interval(low=READ_SHARE.low, mid=READ_SHARE.mid, high=max(1.0, high))


class _ProgramWalk:
    """Follows an app's command from program to program."""

    def __init__(self, payload: Payload, app: str) -> None:
        self._payload = payload
        self._app_name = app
        self._app = payload.snap.apps[app]
        environment = {**payload.snap.environment, **self._app.environment}
        self._resolver = PathResolver(payload.inventory, snap_name=payload.snap.name)
        self._elsewhere = _elsewhere(payload)
        self._finder = LibraryFinder(
            payload,
            self._resolver,
            search=library_path(environment.get("LD_LIBRARY_PATH", "")),
            elsewhere=self._elsewhere,
        )
        self._pending: list[Entry] = []
        self._started: set[str] = set()
        self.entries: dict[int, Entry] = {}
        self.unresolved: dict[str, Unresolved] = {}
        self.followed = True

    def run(self) -> None:
        """Collect the files of all programs that the app starts."""
        for command in self._app.command_chain:
            self._start(command, needed_by=f"command-chain of {self._app_name}")
        words = _split_command(self._app.command or "")
        for index, word in enumerate(words):
            if index == 0:
                self._start(word, needed_by=f"command of {self._app_name}")
            else:
                self._start_if_shipped(word)
        while self._pending and len(self._started) <= MAX_PROGRAMS:
            self._follow(self._pending.pop())

    def _start(self, path: str, *, needed_by: str) -> None:
        location = self._resolver.locate(path)
        if location.entry is not None and location.entry.kind is EntryKind.FILE:
            self._add_program(location.entry)
            return
        outside = location.outside is not None
        self.unresolved.setdefault(
            path,
            Unresolved(
                name=path,
                needed_by=needed_by,
                supplier=self._elsewhere if outside else "missing",
            ),
        )

    def _start_if_shipped(self, word: str) -> None:
        """Take a word for a program where it names one.

        An absolute path outside of ``$SNAP`` is looked for in the payload too:
        scripts of distribution packages carry such paths, and snaps lay them out.
        """
        location = self._resolver.locate(word.lstrip("/") if word[:1] == "/" else word)
        if location.entry is not None and location.entry.kind is EntryKind.FILE:
            self._add_program(location.entry)

    def _add_program(self, entry: Entry) -> None:
        if entry.path not in self._started:
            self._started.add(entry.path)
            self._pending.append(entry)

    def _follow(self, program: Entry) -> None:
        closure = self._finder.closure(program)
        for entry in closure.files:
            self.entries.setdefault(entry.identity, entry)
        for unresolved in closure.unresolved:
            self.unresolved.setdefault(unresolved.name, unresolved)
        head = self._payload.read(program.path, offset=0, length=SCRIPT_MAX_BYTES)
        shebang = parse_shebang(head)
        if shebang is None:
            return
        self._start_interpreter(shebang.interpreter, script=program.path)
        if not shebang.shell:
            self.followed = False
            return
        self._follow_shell_script(head.decode(errors="replace"))

    def _start_interpreter(self, interpreter: str, *, script: str) -> None:
        if interpreter.startswith(("/", "$")):
            self._start(interpreter, needed_by=script)
            return
        for directory in ("usr/sbin", "usr/bin", "sbin", "bin"):
            located = self._resolver.locate(f"{directory}/{interpreter}").entry
            if located is not None and located.kind is EntryKind.FILE:
                self._add_program(located)
                return
        self.unresolved.setdefault(
            interpreter,
            Unresolved(name=interpreter, needed_by=script, supplier=self._elsewhere),
        )

    def _follow_shell_script(self, text: str) -> None:
        started = len(self._started)
        for word in shell_words(text):
            if "/" in word and not word.startswith(("-", "#")):
                self._start_if_shipped(word)
        if len(self._started) == started:
            self.followed = False


def _split_command(command: str) -> list[str]:
    try:
        return shlex.split(command)
    except ValueError:
        return command.split()


def _elsewhere(payload: Payload) -> str:
    """Return who supplies what the payload doesn't hold."""
    plugs = payload.snap.plugs.values()
    if any(plug.interface == "content" for plug in plugs):
        return "base or content snap"
    return "missing" if payload.snap.base_name in ("bare", "none") else "base"

"""What scripts load by name from their language's directories, as Perl's and Ruby's."""

from __future__ import annotations

import posixpath
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ....payload.elf import ELF_MAGIC
from ....squashfs.entry import EntryKind
from .runtime import Loaded

if TYPE_CHECKING:
    import re
    from collections.abc import Iterable, Iterator

    from ....payload.inventory import Entry
    from ....payload.source import Payload
    from .runtime import StartedApp

MAX_FILES = 5000
"""Files followed from one program."""

SOURCE_MAX_BYTES = 1024 * 1024
"""How much of a file is looked at."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Language:
    """How a language names what it loads.

    :param interpreter: in the first line of its scripts.
    :param suffix: of scripts that are named as arguments.
    :param way: how priors call what is found.
    :param statement: that loads: ``name`` is searched for, ``near`` beside the file;
        ``later`` where it stands in a function.
    :param folders: where it searches.
    :param suffixes: of files.
    :param startup: what the interpreter loads before the program.
    """

    interpreter: str
    suffix: str
    way: str
    statement: re.Pattern[bytes]
    folders: re.Pattern[str]
    suffixes: tuple[str, ...]
    startup: tuple[str, ...] = ()

    def loads(self, app: StartedApp) -> Iterator[Loaded]:
        """Yield the files that an app's scripts load, and those that these do."""
        scripts = app.scripts(self.interpreter, self.suffix)
        if scripts:
            for entry in _Search(app.payload, self).loaded(scripts):
                yield Loaded(entry=entry, way=self.way)


class _Search:
    """Finds what scripts of one language load."""

    def __init__(self, payload: Payload, language: Language) -> None:
        self._payload = payload
        self._language = language
        self._entries = payload.inventory.entries
        folders = (
            path
            for path, entry in self._entries.items()
            if entry.kind is EntryKind.DIRECTORY and language.folders.fullmatch(path)
        )
        # Distributions put their own directories before the language's.
        self._folders = tuple(sorted(folders, key=lambda path: "vendor" not in path))

    def loaded(self, scripts: Iterable[Entry]) -> Iterator[Entry]:
        """Yield the files that scripts load, and those that these load in turn."""
        pending = deque(scripts)
        started = {entry.path for entry in pending}
        seen = set(started)
        wanted = [(name, "") for name in self._language.startup]
        while (pending or wanted) and len(seen) <= MAX_FILES:
            if pending:
                script = pending.popleft()
                wanted.extend(self._names(script, own=script.path in started))
            for name, folder in wanted:
                entry = self._find(name, folder)
                if entry is not None and entry.path not in seen:
                    seen.add(entry.path)
                    pending.append(entry)
                    yield entry
            wanted.clear()

    def _names(self, script: Entry, *, own: bool) -> Iterator[tuple[str, str]]:
        """Yield what a script loads, and where it looks first.

        :param own: whether it is the program itself, whose functions are called.
        """
        source = self._payload.read(script.path, offset=0, length=SOURCE_MAX_BYTES)
        if source.startswith(ELF_MAGIC):
            return
        for match in self._language.statement.finditer(source):
            if match["later"] and not own:
                continue
            if match["name"]:
                yield match["name"].decode().replace("::", "/"), ""
            elif match["near"]:
                yield match["near"].decode(), posixpath.dirname(script.path)

    def _find(self, name: str, folder: str) -> Entry | None:
        for place in (folder,) if folder else self._folders:
            path = posixpath.normpath(posixpath.join(place, name))
            for suffix in self._language.suffixes:
                entry = self._entries.get(path + suffix)
                if entry is not None and entry.kind is EntryKind.FILE:
                    return entry
        return None

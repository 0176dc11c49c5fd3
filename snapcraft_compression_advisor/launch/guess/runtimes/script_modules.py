"""What scripts load by name from their language's directories, as Perl's and Ruby's."""

from __future__ import annotations

import itertools
import posixpath
import re
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ....payload.elf import ELF_MAGIC
from ....payload.linkage import library_path
from ....squashfs.entry import EntryKind
from ...launch_set import BlindSpot
from .introspection import introspected
from .runtime import Loaded

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ....payload.inventory import Entry
    from .runtime import StartedApp

MAX_FILES = 5000
"""Files followed from one program."""

SOURCE_MAX_BYTES = 1024 * 1024
"""How much of a file is looked at."""

_NATIVE_SUFFIX = ".so"

MAX_LAUNCHED = 8
"""Programs of packages that one script starts; it is one."""


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
    :param separator: of the parts of a module's name, a directory each.
    :param beside: whether modules are searched beside the program, too.
    :param native: the library of a module's code in C, with its ``{path}`` and the
        ``{last}`` part of that.
    :param search: gives a ``path`` that a program adds to where it searches.
    :param variable: of the environment, likewise.
    :param introspected: gives a GObject namespace's ``name`` and ``version``.
    :param introspected_by: a source that does so has one of them in it, which is sooner
        found out.
    :param launched: what starts a ``package``'s program of a ``name``, and the pattern
        of its path.
    :param inserted: matches a variable's ``name`` in what is loaded.
    :param assigned: matches where a variable of a ``name`` gets a ``value``.
    :param computed: matches where a program, outside of its functions, loads what
        nobody knows.
    """

    interpreter: str
    suffix: str
    way: str
    statement: re.Pattern[bytes]
    folders: re.Pattern[str]
    suffixes: tuple[str, ...]
    startup: tuple[str, ...] = ()
    separator: str = "::"
    beside: bool = False
    native: str = ""
    search: re.Pattern[bytes] | None = None
    variable: str = ""
    introspected: re.Pattern[bytes] | None = None
    introspected_by: tuple[bytes, ...] = ()
    launched: tuple[re.Pattern[bytes], str] | None = None
    inserted: re.Pattern[bytes] | None = None
    assigned: re.Pattern[bytes] | None = None
    computed: re.Pattern[bytes] | None = None

    def loads(self, app: StartedApp) -> Iterator[Loaded | BlindSpot]:
        """Yield the files that an app's scripts load, and those that these do."""
        scripts = app.scripts(self.interpreter, self.suffix)
        if not scripts:
            return
        search = _Search(app, self)
        extension = f"{self.interpreter}-extension"
        for entry in search.loaded(scripts):
            native = entry.path.endswith(_NATIVE_SUFFIX)
            yield Loaded(entry=entry, way=extension if native else self.way)
        for entry in search.native.values():
            yield Loaded(entry=entry, way=extension)
        yield from introspected(app, search.namespaces, search.versions)
        yield from search.blind_spots


class _Search:
    """Finds what scripts of one language load."""

    def __init__(self, app: StartedApp, language: Language) -> None:
        self._app = app
        self._payload = app.payload
        self._language = language
        self._entries = app.payload.inventory.entries
        self.native: dict[str, Entry] = {}
        self.namespaces: dict[str, None] = {}
        self.versions: dict[str, str] = {}
        self.blind_spots: list[BlindSpot] = []
        folders = (
            path
            for path, entry in self._entries.items()
            if entry.kind is EntryKind.DIRECTORY and language.folders.fullmatch(path)
        )
        # Distributions put their own directories before the language's.
        known = sorted(folders, key=lambda path: "vendor" not in path)
        added = library_path(app.environment.get(language.variable, ""))
        self._folders = [
            *(each for path in added for each in self._at(path, "")),
            *known,
        ]

    def loaded(self, scripts: Iterable[Entry]) -> Iterator[Entry]:
        """Yield the files that scripts load, and those that these load in turn."""
        scripts = [*scripts]
        launched = [*itertools.chain(*map(self._launched, scripts))]
        yield from launched
        pending = deque((*scripts, *launched))
        started = {entry.path for entry in pending}
        stems = {_stem(path) for path in started}
        seen = set(started)
        wanted = [(name, "") for name in self._language.startup]
        while (pending or wanted) and len(seen) <= MAX_FILES:
            if pending:
                script = pending.popleft()
                own = script.path in started or self._is_main(script.path, stems)
                if own and self._language.beside:
                    self._folders.insert(0, posixpath.dirname(script.path))
                wanted.extend(self._names(script, own=own))
            for name, folder in wanted:
                entry = self._find(name, folder)
                self._find_native(name)
                if entry is not None and entry.path not in seen:
                    seen.add(entry.path)
                    pending.append(entry)
                    yield entry
            wanted.clear()

    def _is_main(self, path: str, stems: set[str]) -> bool:
        """Return whether a module is a program's main one: it has the same name."""
        return _stem(path) in stems and posixpath.dirname(path) in self._folders

    def _launched(self, script: Entry) -> Iterator[Entry]:
        """Yield the programs of packages that a script only starts."""
        if self._language.launched is None:
            return
        pattern, path = self._language.launched
        source = self._payload.read(script.path, offset=0, length=SOURCE_MAX_BYTES)
        for match in itertools.islice(pattern.finditer(source), MAX_LAUNCHED):
            named = match.groupdict().items()
            parts = {name: re.escape(text.decode()) for name, text in named}
            program = re.compile(path.format(**parts))
            for each, entry in self._entries.items():
                if entry.kind is EntryKind.FILE and program.fullmatch(each):
                    yield entry

    def _names(self, script: Entry, *, own: bool) -> Iterator[tuple[str, str]]:
        """Yield what a script loads, and where it looks first.

        :param own: whether it is the program itself, whose functions are called.
        """
        source = self._payload.read(script.path, offset=0, length=SOURCE_MAX_BYTES)
        if source.startswith(ELF_MAGIC):
            return
        self._note(source, script.path, own=own)
        for match in self._language.statement.finditer(source):
            if match["later"] and not own:
                continue
            folder = "" if match["name"] else posixpath.dirname(script.path)
            name = self._filled(match["name"] or match["near"], source)
            if name is None:
                self._note_computed(script.path)
            elif name:
                yield name.replace(self._language.separator, "/"), folder

    def _filled(self, name: bytes, source: bytes) -> str | None:
        """Return a name with its variables' last values, ``None`` without one."""
        language = self._language
        if language.inserted is None or language.assigned is None:
            return name.decode(errors="replace")
        if not language.inserted.search(name):
            return name.decode(errors="replace")
        values = {
            match["name"]: match["value"]
            for match in language.assigned.finditer(source)
        }
        wanted = [match["name"] for match in language.inserted.finditer(name)]
        if not values.keys() >= {*wanted}:
            return None
        filled = language.inserted.sub(lambda match: values[match["name"]], name)
        return filled.decode(errors="replace")

    def _note_computed(self, path: str) -> None:
        spot = BlindSpot(reason="computed-import", where=path)
        if spot not in self.blind_spots:
            self.blind_spots.append(spot)

    def _note(self, source: bytes, path: str, *, own: bool) -> None:
        """Note what a source tells beyond names."""
        language = self._language
        named = any(each in source for each in language.introspected_by)
        if language.introspected is not None and named:
            for match in language.introspected.finditer(source):
                name = match["name"].decode()
                self.namespaces[name] = None
                if match["version"]:
                    self.versions.setdefault(name, match["version"].decode())
        if not own:
            return
        for match in language.search.finditer(source) if language.search else ():
            for folder in self._at(match["path"].decode(errors="replace"), path):
                self._folders.insert(0, folder)
        if language.computed is not None and language.computed.search(source):
            self._note_computed(path)

    def _at(self, path: str, script: str) -> Iterator[str]:
        """Yield the directories that a path may mean: its own, or from a script."""
        rest = path.partition("/")[2] if path[:1] in ("$", "#") else path
        places = (
            path,
            path.lstrip("/"),
            f"{posixpath.dirname(script)}/{rest}",
            f"{script}/{rest}",  # as Ruby's File.expand_path counts from a file
        )
        for place in dict.fromkeys(places):
            inside = self._app.paths.in_payload(place)
            entry = self._entries.get(inside) if inside else None
            if entry is not None and entry.kind is EntryKind.DIRECTORY:
                yield entry.path

    def _find_native(self, name: str) -> None:
        if not self._language.native:
            return
        relative = self._language.native.format(
            path=name, last=posixpath.basename(name)
        )
        for folder in self._folders:
            entry = self._entries.get(f"{folder}/{relative}")
            if entry is not None and entry.kind is EntryKind.FILE:
                self.native[entry.path] = entry
                return

    def _find(self, name: str, folder: str) -> Entry | None:
        for place in (folder,) if folder else self._folders:
            path = posixpath.normpath(posixpath.join(place, name))
            for suffix in self._language.suffixes:
                entry = self._entries.get(path + suffix)
                if entry is not None and entry.kind is EntryKind.FILE:
                    return entry
        return None


def _stem(path: str) -> str:
    return posixpath.splitext(posixpath.basename(path))[0].lower()

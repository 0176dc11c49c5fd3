"""The files that a launch may read, and by which way each was found."""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from snapcraft_compression_advisor.launch.guess.families import FamilyFiles, Trigger
from snapcraft_compression_advisor.launch.guess.family_table import (
    FAMILIES,
    TOOLKIT,
    WINDOW_FAMILIES,
    WINDOW_SYSTEM,
)
from snapcraft_compression_advisor.launch.guess.gi_modules import (
    Typelibs,
    gi_namespace,
    library_places,
)
from snapcraft_compression_advisor.launch.guess.kinds import (
    UNKNOWN,
    application_kind,
)
from snapcraft_compression_advisor.launch.guess.node_modules import required_files
from snapcraft_compression_advisor.launch.guess.own_files import is_data, own_files
from snapcraft_compression_advisor.launch.guess.programs import find_programs
from snapcraft_compression_advisor.launch.guess.python_modules import ModuleFinder
from snapcraft_compression_advisor.launch.guess.script_modules import (
    PERL,
    RUBY,
    ScriptModules,
)
from snapcraft_compression_advisor.launch.guess.snap_paths import SnapPaths
from snapcraft_compression_advisor.payload.elf import BrokenElfError
from snapcraft_compression_advisor.payload.linkage import (
    Closure,
    LibraryFinder,
    Unresolved,
    library_path,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from snapcraft_compression_advisor.launch.guess.programs import Programs
    from snapcraft_compression_advisor.payload.inventory import Entry
    from snapcraft_compression_advisor.payload.source import Payload

Role = Literal["program", "library", "distant", "plugin"]
"""How an ELF file is used: started, linked, linked by a library, or opened while the
program runs."""

MAX_ROUNDS = 8
"""How often libraries found lead to more rules; two or three is usual."""

MAX_FAMILY_FILES = 500
"""Files of one rule that are followed; a launch that opens more is none we know."""

CONTENT_SUPPLIER = "base or content snap"

NO_WINDOW = ", no window"
"""Behind a rule's name where the program doesn't seem to open windows."""

_PYTHON = re.compile(r"(?:lib)?python\d[\d.]*(?:\.so\S*)?")
_NODE = re.compile(r"node(?:js)?|libnode\.so\S*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A file that a launch may read.

    :param way: how it was found: ``started``, ``linked``, ``python-module``,
        ``python-extension``, ``own-…`` or a family's name. Libraries have the way of
        what brought them in.
    :param direct: whether it was found that way itself, not for a file that was.
    """

    entry: Entry
    way: str
    role: Role
    direct: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidates:
    """All files that a launch may read.

    :param files: each once, whatever its links.
    :param unresolved: what the launch needs from elsewhere.
    :param followed: whether every program started is known.
    :param kind: of :func:`~.kinds.application_kind`.
    """

    files: tuple[Candidate, ...]
    unresolved: tuple[Unresolved, ...]
    followed: bool
    kind: str


def find_candidates(payload: Payload, app: str) -> Candidates:
    """Find the files that a launch of an app may read.

    :param app: of the payload's ``meta/snap.yaml``.
    """
    search = _Search(payload, app)
    search.run()
    return Candidates(
        files=tuple(sorted(search.files.values(), key=lambda file: file.entry.path)),
        unresolved=tuple(search.unresolved.values()),
        followed=search.programs.followed,
        kind=search.kind,
    )


class _Search:
    """The state of :func:`find_candidates`."""

    def __init__(self, payload: Payload, app: str) -> None:
        self._payload = payload
        self._paths = SnapPaths(payload)
        self._app = app
        snap = payload.snap
        self._environment = {**snap.environment, **snap.apps[app].environment}
        elsewhere = supplier_elsewhere(payload)
        self._finder = LibraryFinder(
            payload,
            self._paths,
            search=library_path(self._environment.get("LD_LIBRARY_PATH", "")),
            elsewhere=elsewhere,
        )
        self.programs: Programs = find_programs(
            payload, app, paths=self._paths, elsewhere=elsewhere
        )
        self.files: dict[int, Candidate] = {}
        self._triggers: dict[Trigger, None] = {
            Trigger(name=name): None
            for word in self.programs.words
            for name in (word, posixpath.basename(word))
        }
        for path in self.programs.unresolved:  # the base's Python, say: it runs as well
            folder, name = posixpath.split(path.lstrip("/"))
            self._triggers[Trigger(name=name, folder=folder or "usr/bin")] = None
        self.unresolved: dict[str, Unresolved] = {
            **self.programs.unresolved,
            **{each.name: each for each in _content_snaps(payload)},
        }
        self.kind = UNKNOWN

    def run(self) -> None:
        """Collect programs, their libraries, and what these open."""
        for program in self.programs.started:
            self._add(program, way="started", role="program", needs="linked")
        if self._starts(_PYTHON):
            self._add_python_modules()
        if self._starts(_NODE):
            self._add_node_modules()
        self._add_script_modules()
        window = self._opens_windows()
        files = FamilyFiles(self._payload.inventory)
        tried: set[Trigger] = set()
        for _ in range(MAX_ROUNDS):
            triggers = [trigger for trigger in self._triggers if trigger not in tried]
            if not triggers:
                break
            tried.update(triggers)
            self._open_families(files, triggers, window=window)
        self.kind = application_kind(
            self._triggers, window=window, followed=self.programs.followed
        )
        self._add_own_files("" if window else NO_WINDOW)

    def _starts(self, name: re.Pattern[str]) -> bool:
        return any(name.fullmatch(trigger.name) for trigger in self._triggers)

    def _opens_windows(self) -> bool:
        """Tell whether the app has a desktop file, or links what opens windows.

        A toolkit counts however far away it is linked: often by the app's own library,
        to which the program is a thin front. What toolkits stand on counts only where
        the program links it itself.
        """
        desktop = self._payload.snap.apps[self._app].desktop is not None
        if (
            desktop
            or f"meta/gui/{self._app}.desktop" in self._payload.inventory.entries
        ):
            return True
        return any(
            (trigger.opens and TOOLKIT.fullmatch(trigger.name))
            or (trigger.near and WINDOW_SYSTEM.fullmatch(trigger.name))
            for trigger in self._triggers
        )

    def _open_families(
        self, files: FamilyFiles, triggers: list[Trigger], *, window: bool
    ) -> None:
        opened: dict[str, int] = {}
        for family, entry in files.named_by(triggers, FAMILIES):
            opened[family.name] = opened.get(family.name, 0) + 1
            found = self._paths.file(entry.path)
            if found is not None and opened[family.name] <= MAX_FAMILY_FILES:
                needs_window = family.name in WINDOW_FAMILIES and not window
                way = family.name + (NO_WINDOW if needs_window else "")
                self._add(found, way=way, role="plugin", needs=way)

    def _add(self, entry: Entry, *, way: str, role: Role, needs: str) -> None:
        closure = self._closure(entry)
        wanted = self._wanted(entry)
        for file in closure.files:
            own = file.path == entry.path
            folder, name = posixpath.split(file.path)
            linked = own or any(name.startswith(soname) for soname in wanted)
            self._triggers[
                Trigger(
                    name=name,
                    folder=folder,
                    near=linked and way == "started",
                    opens=linked or way == "started",
                )
            ] = None
            known = self.files.get(file.identity)
            if known is None:
                self.files[file.identity] = Candidate(
                    entry=file,
                    way=way if own else needs,
                    role=role if own else "library" if linked else "distant",
                    direct=own or needs == "linked",
                )
            elif linked and known.role == "distant":
                self.files[file.identity] = replace(known, role="library")
        for unresolved in closure.unresolved:
            linked = unresolved.needed_by == entry.path
            self._triggers[
                Trigger(
                    name=unresolved.name,
                    near=linked and way == "started",
                    opens=linked or way == "started",
                )
            ] = None
            if way == "started":
                self.unresolved.setdefault(unresolved.name, unresolved)

    def _closure(self, entry: Entry) -> Closure:
        if is_data(entry.path):
            return Closure(files=(entry,), unresolved=())
        return self._finder.closure(entry)

    def _wanted(self, entry: Entry) -> tuple[str, ...]:
        if is_data(entry.path):
            return ()
        try:
            linkage = self._finder.linkage(entry)
        except BrokenElfError:
            return ()
        if linkage is None:
            return ()
        interpreter = (linkage.interpreter or "",)
        return tuple(
            posixpath.basename(name) for name in (*interpreter, *linkage.needed) if name
        )

    def _add_python_modules(self) -> None:
        scripts = tuple(self._scripts("python", ".py"))
        search = (
            self._paths.in_payload(part)
            for part in library_path(self._environment.get("PYTHONPATH", ""))
        )
        finder = ModuleFinder(
            self._payload,
            script_folders=(posixpath.dirname(script.path) for script in scripts),
            search=tuple(part for part in search if part is not None),
        )
        for file in finder.imported(scripts, modules=self.programs.python_modules):
            kind = "extension" if file.path.endswith(".so") else "module"
            way = f"python-{kind}"
            self._add(file, way=way, role="plugin", needs=way)
        names = {name for module in finder.names if (name := gi_namespace(module))}
        for typelib, libraries in Typelibs(self._payload).needed_by(
            sorted(names), finder.versions
        ):
            self._add(typelib, way="gi-typelib", role="plugin", needs="gi-library")
            for library in libraries:
                self._add_first(library_places(library, typelib), way="gi-library")

    def _add_first(self, places: tuple[str, ...], *, way: str) -> None:
        found = next((f for place in places if (f := self._paths.file(place))), None)
        if found is not None:
            self._add(found, way=way, role="library", needs=way)

    def _add_node_modules(self) -> None:
        scripts = tuple(self._scripts("node", ".js"))
        for file in required_files(scripts, self._payload, self._paths.file):
            self._add(file, way="node-module", role="plugin", needs="node-module")

    def _add_script_modules(self) -> None:
        for language in (PERL, RUBY):
            scripts = tuple(self._scripts(language.interpreter, language.suffix))
            if scripts:
                for file in ScriptModules(self._payload, language).loaded(scripts):
                    self._add(file, way=language.way, role="plugin", needs=language.way)

    def _add_own_files(self, kind_suffix: str) -> None:
        names = [posixpath.basename(program.path) for program in self.programs.started]
        for kind, entry in own_files(names, self._payload.inventory):
            way = kind + kind_suffix
            if kind == "own-code":
                self._add(entry, way=way, role="plugin", needs="own-library")
            elif entry.identity not in self.files:
                self.files[entry.identity] = Candidate(
                    entry=entry, way=way, role="plugin"
                )

    def _scripts(self, interpreter: str, suffix: str) -> Iterator[Entry]:
        for program in self.programs.started:
            head = self._payload.read(program.path, offset=0, length=128)
            first_line = head.partition(b"\n")[0]
            if program.path.endswith(suffix) or (
                head.startswith(b"#!") and interpreter.encode() in first_line
            ):
                yield program


def _content_snaps(payload: Payload) -> Iterator[Unresolved]:
    """Yield the snaps whose files a launch sees through content plugs."""
    for name, plug in payload.snap.plugs.items():
        if plug.interface == "content":
            yield Unresolved(
                name=plug.default_provider or plug.content or name,
                needed_by=f"plug {name}",
                supplier=CONTENT_SUPPLIER,
            )


def supplier_elsewhere(payload: Payload) -> str:
    """Return who supplies what the payload doesn't hold."""
    plugs = payload.snap.plugs.values()
    if any(plug.interface == "content" for plug in plugs):
        return CONTENT_SUPPLIER
    return "missing" if payload.snap.base_name in ("bare", "none") else "base"

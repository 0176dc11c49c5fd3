"""The files that a launch may read, and by which way each was found."""

from __future__ import annotations

import posixpath
from collections import Counter
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Literal, NamedTuple

from ...payload.inventory import block_count
from ...payload.linkage import Closure, LibraryFinder, Unresolved
from ..launch_set import BlindSpot
from .blindness import (
    OF_LAUNCHERS,
    OF_PROGRAMS,
    UNREACHED,
    UNREACHED_TOOLKIT,
    WINDOWLESS,
    toolkit_evidence,
    toolkits,
    unreached_files,
    window_evidence,
)
from .families import (
    OTHER_WINDOW,
    PROGRAM,
    TOOLKIT,
    UNREACHED_PROGRAM,
    WINDOW_SYSTEM,
    WITHOUT_SCRIPT,
    application_kind,
    files_named_by,
    opens_windows,
)
from .programs import ProgramSearch
from .runtimes import RUNTIMES, UNKNOWN
from .runtimes.runtime import StartedApp, Trigger
from .snap_paths import SnapPaths, content_snaps, supplier_elsewhere
from .traits import is_data, opengl_way, own_files, program_traits, starts_others

if TYPE_CHECKING:
    from collections.abc import Collection

    from ...payload.inventory import Entry
    from ...payload.source import Payload
    from ..launch_set import BlindReason
    from .blindness import Blindness
    from .runtimes.runtime import Loaded

Role = Literal["program", "library", "distant", "plugin"]
"""How an ELF file is used: started, linked, linked by a library, or opened while the
program runs."""

MAX_ROUNDS = 8
"""How often libraries found lead to more rules; two or three is usual."""

MAX_FAMILY_FILES = 500
"""Files of one rule that are followed; a launch that opens more is none we know."""

STARTER_REACHES = 0.05
"""Of a payload's blocks; of those in ``study/data/vendor``, 0.06 and more are."""

LEAST_BEHIND = 160
"""Data blocks, 20 MiB: what a smaller payload has can't take a launch long."""

_OWN_LIBRARY = "own-library"

NO_WINDOW = ", no window"
"""Behind a rule's name where the program doesn't seem to open windows."""


class Candidate(NamedTuple):
    """A file that a launch may read.

    :param way: how it was found: ``started``, ``linked``, ``python-module``,
        ``python-extension``, ``own-…`` or a family's name. Libraries have the way of
        what brought them in.
    :param direct: whether it was found that way itself, not for a file that was.
    :param under: the way of what must be read first if that isn't sure; else empty.
    :param reached: of an archive, the data blocks that hold members that are loaded;
        ``None`` if that isn't known.
    :param by: the file that links it, or what else brought it in.
    """

    entry: Entry
    way: str
    role: Role
    direct: bool = True
    under: str = ""
    reached: frozenset[int] | None = None
    by: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidates:
    """All files that a launch may read.

    :param files: each once, with any number of links.
    :param unresolved: what the launch needs from elsewhere.
    :param kind: of :func:`~.families.application_kind`.
    :param window: whether the app seems to open windows.
    :param blindness: how much the search missed; ``None`` if it knows of nothing.
    :param unreached: files that it didn't reach, if it is blind to the program.
    :param possible: files that may be read, of which none is expected.
    :param lost: whether a launcher starts a program that isn't known, so all of them
        may be what the launch reads.
    """

    files: tuple[Candidate, ...]
    unresolved: tuple[Unresolved, ...]
    kind: str
    blind_spots: tuple[BlindSpot, ...] = ()
    window: bool = False
    blindness: Blindness | None = None
    unreached: tuple[Candidate, ...] = ()
    possible: tuple[Entry, ...] = ()
    lost: bool = False


def find_candidates(payload: Payload, app: str) -> Candidates:
    """Find the files that a launch of an app may read."""
    return Search(payload, app).run()


class Search:
    """The state of :func:`find_candidates`: what is found, and why more may be."""

    def __init__(self, payload: Payload, app: str) -> None:
        paths, elsewhere = SnapPaths(payload), supplier_elsewhere(payload)
        programs = ProgramSearch(payload, paths, elsewhere).run(app)
        self._triggers: dict[Trigger, bool] = {}  # whether rules were looked through
        self._app = StartedApp(
            name=app,
            payload=payload,
            paths=paths,
            programs=programs,
            triggers=self._triggers.keys(),
        )
        self._finder = LibraryFinder(
            payload, paths, search=programs.library_folders(), elsewhere=elsewhere
        )
        self._files: dict[int, Candidate] = {}
        self._possible: dict[int, Entry] = {}
        self._unresolved: dict[str, Unresolved] = {
            **programs.unresolved,
            **{each.name: each for each in content_snaps(payload)},
        }
        for word in programs.words:
            for name in (word, posixpath.basename(word)):
                self._triggers[Trigger(name=name, optional=True)] = False
        for path in programs.unresolved:  # as the base's Python, which runs
            folder, name = posixpath.split(path.lstrip("/"))
            self._triggers[Trigger(name=name, folder=folder or "usr/bin")] = False
        self._blind_spots = {**programs.blind_spots}
        self._window = False

    def run(self) -> Candidates:
        """Collect programs, their libraries, and what these open."""
        programs, payload = self._app.programs, self._app.payload
        for program in programs.started:
            self._start(program)
        for tool in programs.called.values():
            if not any(opens_windows(each.path) for each in self._closure(tool).files):
                self._add(tool, way="called", role="program")
        self._add_loaded_files()
        windowless = not WINDOWLESS.isdisjoint(programs.words)
        evidence = None if windowless else window_evidence(payload, self._app.name)
        shown = self._reaches_windows() or evidence is not None
        self._window = shown and not windowless
        self._follow_families()
        self._add_own_files()
        for path in islice(self._finder.unread, 1):
            self._blind("limit-reached", path, "libraries")
        self._note_launcher()
        blindness = self._judge_blindness(evidence, windowless=windowless)
        kind = application_kind(
            self._triggers, window=self._window, followed=programs.followed
        )
        lost = any(spot.reason == "computed-command" for spot in self._blind_spots)
        if lost and kind in (UNKNOWN, OTHER_WINDOW, PROGRAM):
            kind = UNREACHED_PROGRAM
        elif programs.without_script and not lost:
            kind = WITHOUT_SCRIPT
        unreached = self._reach_out() if blindness == "program" else ()
        return self.result(kind, blindness, unreached)

    def _start(self, program: Entry, by: str = "") -> None:
        self._add(program, way="started", role="program", needs="linked", by=by)
        for trait in program_traits(self._app.payload, program):
            self._triggers.setdefault(Trigger(name=trait, folder="/"), False)

    def result(
        self, kind: str, blindness: Blindness | None, unreached: Collection[int] = ()
    ) -> Candidates:
        """Return the candidates found.

        :param unreached: identities of those that only blindness brought in.
        """
        files = sorted(self._files.values(), key=lambda file: file.entry.path)
        return Candidates(
            files=tuple(f for f in files if f.entry.identity not in unreached),
            unresolved=tuple(self._unresolved.values()),
            kind=kind,
            blind_spots=tuple(self._blind_spots),
            window=self._window,
            blindness=blindness,
            unreached=tuple(f for f in files if f.entry.identity in unreached),
            possible=tuple(
                entry
                for identity, entry in self._possible.items()
                if identity not in self._files
            ),
            lost=any(spot.reason in OF_LAUNCHERS for spot in self._blind_spots),
        )

    def _note_launcher(self) -> None:
        """Note a small program that may start another, if hardly anything was reached.

        Only in a large snap with one app: that should reach most of it.
        """
        payload, files = self._app.payload, self._files.values()
        blocks = payload.inventory.data_blocks
        reached = sum(block_count(file.entry.size_bytes) for file in files)
        only = len(payload.snap.apps) == 1 and blocks >= LEAST_BEHIND
        if only and reached < STARTER_REACHES * blocks:
            for program in self._app.programs.started:
                if starts_others(payload, program):
                    self._blind("computed-command", program.path)

    def _blind(self, reason: BlindReason, where: str, what: str = "") -> None:
        self._blind_spots[BlindSpot(reason=reason, where=where, what=what)] = None

    def _judge_blindness(
        self, evidence: BlindSpot | None, *, windowless: bool
    ) -> Blindness | None:
        """Return how much the search missed, with evidence of windows."""
        if self._reaches_windows():
            evidence = None
        spots = {spot.reason for spot in self._blind_spots}
        lost = bool(spots) or not self._app.programs.followed
        if evidence is None and lost and not (self._window or windowless):
            evidence = toolkit_evidence(self._app.payload, self._app.name)
        if evidence is not None:
            self._window = True
            self._blind_spots[evidence] = None
            return "program"
        if spots & OF_PROGRAMS:
            return "program"
        return "modules" if lost else None

    def _reach_out(self) -> Collection[int]:
        """Collect what the search didn't reach, and what toolkits there would open.

        :returns: identities of these files.
        """
        reached = frozenset(self._files)
        entries = self._app.payload.inventory.entries.values()
        if self._window and not self._reaches_windows():
            for entry, way in toolkits(entries):
                if entry.identity not in self._files:
                    self._add(entry, way=way, role="library")
            self._follow_families()
            for identity in self._files.keys() - reached:
                file = self._files[identity]
                if not file.way.startswith(UNREACHED):
                    self._files[identity] = file._replace(under=UNREACHED_TOOLKIT)
        programs = {trigger.name for trigger in self._triggers}
        ending = "" if self._window else NO_WINDOW
        for entry, way in unreached_files(entries, self._files.keys(), programs):
            self._add_file(entry, way=way + ending, role="plugin")
        return self._files.keys() - reached

    def _add_loaded_files(self) -> None:
        for runtime in RUNTIMES:
            for file in runtime.loads(self._app):
                if isinstance(file, BlindSpot):
                    self._blind_spots[file] = None
                elif file.way == "started":
                    self._start(file.entry, runtime.kind)
                elif not file.expected:
                    self._possible[file.entry.identity] = file.entry
                else:
                    self._add_loaded(file, by=runtime.kind)

    def _add_loaded(self, file: Loaded, *, by: str) -> None:
        role: Role = "library" if file.library else "plugin"
        by = file.by or by
        self._add(file.entry, way=file.way, role=role, needs=file.needs, by=by)
        if file.reached is not None:
            identity = file.entry.identity
            known = self._files[identity]
            self._files[identity] = known._replace(reached=file.reached)

    def _reaches_windows(self) -> bool:
        """Return whether the search reached what opens windows.

        A toolkit counts however far away it is linked: often by the app's own library,
        to which the program is a thin front. What toolkits stand on counts only where
        the program links it itself.
        """
        return any(
            (trigger.opens and TOOLKIT.fullmatch(trigger.name))
            or (trigger.near and WINDOW_SYSTEM.fullmatch(trigger.name))
            for trigger in self._triggers
        )

    def _follow_families(self) -> None:
        folders = self._app.payload.inventory.folders
        for _ in range(MAX_ROUNDS):
            triggers = [each for each, tried in self._triggers.items() if not tried]
            if not triggers:
                break
            self._triggers.update(dict.fromkeys(triggers, True))
            opened = Counter[str]()
            for family, entry in files_named_by(triggers, folders):
                opened[family.name] += 1
                found = self._app.paths.file(entry.path)
                if found is not None and opened[family.name] <= MAX_FAMILY_FILES:
                    unlikely = family.window and not self._window
                    way = family.name + (NO_WINDOW if unlikely else "")
                    self._add(found, way=way, role="plugin", by=family.trigger)

    def _add(
        self, entry: Entry, *, way: str, role: Role, needs: str = "", by: str = ""
    ) -> None:
        """Add a file with all that it links.

        :param needs: the way of the libraries; its own by default.
        """
        needs = needs or way
        closure = self._closure(entry)
        wanted = self._wanted(entry)
        for file in closure.files:
            own = file.path == entry.path
            folder, name = posixpath.split(file.path)
            linked = own or self._is_named(file, wanted)
            self._trigger(name, folder, way=way, linked=linked)
            known = self._files.get(file.identity)
            blind = way.startswith(UNREACHED)
            if known is None or (blind and known.way == _OWN_LIBRARY):
                found_by = opengl_way(way if own else needs, name)
                self._files[file.identity] = Candidate(
                    entry=file,
                    way=found_by,
                    role=role if own else "library" if linked else "distant",
                    direct=own or needs == "linked" or found_by != needs,
                    by=by if own else entry.path,
                )
            elif linked and known.role == "distant":
                self._files[file.identity] = known._replace(role="library")
        for missing in closure.unresolved:
            linked = missing.needed_by == entry.path
            self._trigger(missing.name, way=way, linked=linked)
            if way == "started":
                self._unresolved.setdefault(missing.name, missing)

    def _trigger(self, name: str, folder: str = "", *, way: str, linked: bool) -> None:
        started = way == "started"
        trigger = Trigger(
            name=name,
            folder=folder,
            near=linked and (started or way.endswith("-extension")),
            opens=(linked or started) and not way.startswith("own-"),
            optional=way == "qt-themes",
        )
        self._triggers.setdefault(trigger, False)

    def _closure(self, entry: Entry) -> Closure:
        if is_data(entry.path):
            return Closure(files=(entry,), unresolved=())
        return self._finder.closure(entry)

    def _is_named(self, library: Entry, wanted: tuple[str, ...]) -> bool:
        """Return whether a library of a closure is one of those that a file needs."""
        name = posixpath.basename(library.path)
        linkage = self._finder.readable_linkage(library)
        soname = linkage.soname if linkage else None
        return soname in wanted or name.startswith(wanted)

    def _wanted(self, entry: Entry) -> tuple[str, ...]:
        """Return the names of the interpreter and the libraries that a file needs."""
        linkage = None if is_data(entry.path) else self._finder.readable_linkage(entry)
        names = (linkage.interpreter or "", *linkage.needed) if linkage else ()
        return tuple(posixpath.basename(name) for name in names if name)

    def _add_file(self, entry: Entry, *, way: str, role: Role) -> None:
        """Add a file without what it links."""
        if entry.identity not in self._files:
            self._files[entry.identity] = Candidate(entry=entry, way=way, role=role)

    def _add_own_files(self) -> None:
        ending = "" if self._window else NO_WINDOW
        names = [posixpath.basename(p.path) for p in self._app.programs.started]
        for kind, entry in own_files(names, self._app.payload.inventory):
            if kind == "own-code":
                self._add(entry, way=kind + ending, role="plugin", needs=_OWN_LIBRARY)
            else:
                self._add_file(entry, way=kind + ending, role="plugin")

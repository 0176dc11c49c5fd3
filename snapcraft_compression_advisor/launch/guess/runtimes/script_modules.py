"""What scripts in Perl and Ruby load by name from their language's directories."""

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
from .gobject import introspected
from .runtime import Loaded

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ....payload.inventory import Entry
    from .runtime import StartedApp

MAX_FILES = 5000
"""Files followed from one program."""

MAX_LAUNCHED = 8
"""Programs of packages that one script starts; it is one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Language:
    """How a language names what it loads.

    :param interpreter: in the first line of its scripts, and in the ways of files.
    :param suffix: of scripts that are named as arguments.
    :param statement: that loads: ``name`` is searched for, ``near`` beside the file;
        ``later`` where it stands in a function.
    :param folders: where it searches.
    :param suffixes: of files.
    :param startup: what the interpreter loads before the program.
    :param native: the library of a module's code in C, with its ``{path}`` and the
        ``{last}`` part of that.
    :param search: gives a ``path`` that a program adds to where it searches.
    :param variable: of the environment, with more such paths.
    :param introspected: gives a GObject namespace's ``name`` and ``version``.
    :param launched: what starts a ``package``'s program of a ``name``, and the pattern
        of its path.
    :param computed: matches where a program, outside of its functions, loads what
        nobody knows.
    """

    interpreter: str
    suffix: str
    statement: re.Pattern[bytes]
    folders: re.Pattern[str]
    suffixes: tuple[str, ...]
    startup: tuple[str, ...] = ()
    native: str = ""
    search: re.Pattern[bytes] | None = None
    variable: str = ""
    introspected: re.Pattern[bytes] | None = None
    launched: tuple[re.Pattern[bytes], str] | None = None
    computed: re.Pattern[bytes] | None = None

    def loads(self, app: StartedApp) -> Iterator[Loaded | BlindSpot]:
        """Yield the files that an app's scripts load, and those that these do."""
        scripts = app.scripts(self.interpreter, self.suffix)
        if not scripts:
            return
        search = _Search(app, self)
        for entry in (*search.loaded(scripts), *search.native.values()):
            kind = "extension" if entry.path.endswith(".so") else "module"
            yield Loaded(entry=entry, way=f"{self.interpreter}-{kind}")
        yield from introspected(app, search.namespaces, search.versions)
        yield from search.blind_spots


PERL = Language(
    interpreter="perl",
    suffix=".pl",
    statement=re.compile(
        rb"^(?P<later>[ \t]+(?=require))?[ \t]*(?:use|require)[ \t]+"
        rb"(?:(?:parent|base)[ \t]+(?:qw[ \t]*)?[\"'(\[{/]{1,2}[ \t]*)?"
        rb"(?P<name>[A-Za-z_]\w*(?:::\w+)*)(?P<near>)\b",
        re.MULTILINE,
    ),
    folders=re.compile(
        r"(?:.*/)?(?:lib|share)/(?:[^/]+-linux-gnu\w*/)?perl(?:5|-base)?(?:/5[\d.]*)?"
    ),
    suffixes=(".pm",),
    native="auto/{path}/{last}.so",
    search=re.compile(
        rb"^[ \t]*use[ \t]+lib[ \t]+(?:qw)?[\"'(\[{/ \t]+(?P<path>[^\"'\s)\]};]+)",
        re.MULTILINE,
    ),
    variable="PERL5LIB",
    introspected=re.compile(
        rb"(?:\bbasename[ \t]*=>|_BASENAME[ \t]*=)[ \t]*[\"'](?P<name>\w+)[\"']"
        rb"(?:[^\"'=]{0,80}(?:=>?)[ \t]*[\"'](?P<version>[\d.]+)[\"'])?"
    ),
    computed=re.compile(
        rb"^(?:require[ \t]+\$|eval[ \t]+[\"'](?:use|require)[ \t]+\$)",
        re.MULTILINE,
    ),
)

RUBY = Language(
    interpreter="ruby",
    suffix=".rb",
    statement=re.compile(
        rb"^(?P<later>[ \t]+)?(?:require[ (]*[\"'](?P<name>(?:[\w./-]|#\{\w+\})+)[\"']"
        rb"|require_relative[ (]*[\"'](?P<near>(?:[\w./-]|#\{\w+\})+)[\"'])",
        re.MULTILINE,
    ),
    folders=re.compile(
        r"(?:.*/)?(?:ruby/(?:\d[\d.]*|vendor_ruby)(?:/\d[\d.]*)?(?:/[^/]+-linux[^/]*)?"
        r"|gems/[^/]+/lib|extensions/[^/]+/[^/]+/[^/]+)"
    ),
    suffixes=(".rb", ".so", ""),
    search=re.compile(
        rb"(?:\$LOAD_PATH|\$:)[^\"'\n]{0,80}[\"'](?P<path>[^\"'\n]+)[\"']"
    ),
    variable="RUBYLIB",
    introspected=re.compile(
        rb"\b(?:load(?:er\.load)?|super)[ \t(]+[\"'](?P<name>[A-Z]\w*)[\"']"
        rb"(?:[^\"'\n]{0,40}[\"'](?P<version>[\d.]+)[\"'])?"
    ),
    launched=(
        re.compile(
            rb"\b(?:activate_)?bin_path[ \t(]+[\"'](?P<package>[\w.-]+)[\"'][ \t]*,"
            rb"[ \t]*[\"'](?P<name>[\w.-]+)[\"']"
        ),
        r"(?:.*/)?gems/{package}-\d[^/]*/(?:bin|exe)/{name}",
    ),
    computed=re.compile(rb"^require[ \t(]+[a-z@$]", re.MULTILINE),
    startup=("rubygems", "did_you_mean", "error_highlight", "monitor"),
)


class _Search:
    """Finds what scripts of one language load."""

    def __init__(self, app: StartedApp, language: Language) -> None:
        self._app = app
        self._language = language
        self._entries = app.payload.inventory.entries
        self.native: dict[str, Entry] = {}
        self.namespaces: dict[str, None] = {}
        self.versions: dict[str, str] = {}
        self.blind_spots: dict[BlindSpot, None] = {}
        folders = (
            path
            for path, entry in self._entries.items()
            if entry.kind is EntryKind.DIRECTORY and language.folders.fullmatch(path)
        )
        # Distributions put their own directories before the language's.
        known = sorted(folders, key=lambda path: "vendor" not in path)
        added = library_path(app.programs.variables.get(language.variable, ""))
        first = (each for path in added for each in self._at(path, ""))
        self._folders = [*first, *known]

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
                folder = posixpath.dirname(script.path)
                # A program's main module has its name.
                main = _stem(script.path) in stems and folder in self._folders
                own = script.path in started or main
                wanted.extend(self._names(script, own=own))
            for name, folder in wanted:
                entry = self._find(name, folder)
                self._find_native(name)
                if entry is not None and entry.path not in seen:
                    seen.add(entry.path)
                    pending.append(entry)
                    yield entry
            wanted.clear()

    def _launched(self, script: Entry) -> Iterator[Entry]:
        """Yield the programs of packages that a script only starts."""
        if self._language.launched is None:
            return
        pattern, path = self._language.launched
        source = self._app.source(script)
        for match in itertools.islice(pattern.finditer(source), MAX_LAUNCHED):
            named = match.groupdict().items()
            parts = {name: re.escape(text.decode()) for name, text in named}
            program = re.compile(path.format(**parts))
            yield from (e for e in self._app.files("") if program.fullmatch(e.path))

    def _names(self, script: Entry, *, own: bool) -> Iterator[tuple[str, str]]:
        """Yield what a script loads, and where it looks first.

        :param own: whether it is the program itself, whose functions are called.
        """
        source = self._app.source(script)
        if source.startswith(ELF_MAGIC):
            return
        self._note(source, script.path, own=own)
        for match in self._language.statement.finditer(source):
            if match["later"] and not own:
                continue
            folder = "" if match["name"] else posixpath.dirname(script.path)
            name = (match["name"] or match["near"]).decode()
            if "#{" in name:  # a variable of Ruby
                self._note_computed(script.path)
            elif name:
                yield name.replace("::", "/"), folder

    def _note(self, source: bytes, path: str, *, own: bool) -> None:
        """Note what a source tells beyond names."""
        if pattern := self._language.introspected:
            for match in pattern.finditer(source):
                namespace = match["name"].decode()
                self.namespaces[namespace] = None
                if match["version"]:
                    self.versions.setdefault(namespace, match["version"].decode())
        if own and (pattern := self._language.search):
            for match in pattern.finditer(source):
                for folder in self._at(match["path"].decode(errors="replace"), path):
                    self._folders.insert(0, folder)
        if own and (pattern := self._language.computed) and pattern.search(source):
            self._note_computed(path)

    def _note_computed(self, path: str) -> None:
        self.blind_spots[BlindSpot(reason="computed-import", where=path)] = None

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
        if self._language.native:
            last = posixpath.basename(name)
            relative = self._language.native.format(path=name, last=last)
            places = (f"{folder}/{relative}" for folder in self._folders)
            if entry := next(filter(None, map(self._app.file, places)), None):
                self.native[entry.path] = entry

    def _find(self, name: str, folder: str) -> Entry | None:
        places = (
            posixpath.normpath(posixpath.join(place, name)) + suffix
            for place in ((folder,) if folder else self._folders)
            for suffix in self._language.suffixes
        )
        return next(filter(None, map(self._app.file, places)), None)


def _stem(path: str) -> str:
    return posixpath.splitext(posixpath.basename(path))[0].lower()

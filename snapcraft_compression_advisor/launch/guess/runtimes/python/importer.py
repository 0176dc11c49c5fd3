"""What programs in Python import, one module after another."""

from __future__ import annotations

import itertools
import posixpath
import re
import sys
from collections import deque
from typing import TYPE_CHECKING

from ....launch_set import BlindSpot
from ..runtime import SOURCE_MAX_BYTES, Loaded
from .code import MODULE, NOT_PYTHON, TOO_MUCH, absolute_name, read_code

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from .....payload.source import Payload
    from ....launch_set import BlindReason
    from .code import Code, Scope
    from .finder import Module, ModuleFinder

MAX_NAME_CHARACTERS = 4095
"""Of a module that can be a file: the kernel's PATH_MAX."""

MAX_MODULES, MAX_NAMES = 5000, 20_000
"""Modules followed from one program, and names of what may be some; the largest
applications import some 2,000, with 9,000 names."""

_FRONT_BYTES = 64 * 1024
_BEHIND = re.compile(rb"\0([\w.]{1,128}__mypyc)\0")
"""Module that has the code of several, of which mypyc makes small fronts."""

PARSED_MAX_BYTES = 1024 * 1024
"""How much of an application's own code is parsed, at about 3 MB a second, and as much
again of sources with functions that the program starts. In what is beyond, all
functions count as called."""

LAUNCHER_MAX_BYTES = 8192
"""Of a script that only starts what a package holds; the package is then its own."""

COMMAND_LINE = "-c"
STARTUP_MODULES = (
    "encodings",
    "encodings.utf_8",
    "encodings.aliases",
    "codecs",
    "site",
)
"""What CPython imports before the program and doesn't hold itself."""

_CALLED_BY_TOOLKITS = frozenset({
    "do_activate", "do_startup", "do_command_line", "do_local_command_line", "do_open",
    "OnInit", "showEvent", "paintEvent", "resizeEvent", "build", "on_start",
})  # fmt: skip
"""What toolkits call by name as an application starts: GTK's, wx's, Qt's and Kivy's."""

_UNSEEN_IMPORTS = (
    (r"(PyQt[56])\.\w+", (r"\1.sip", r"\1.QtCore")),
    (r"(PyQt[56])\.QtWidgets", (r"\1.QtGui",)),
    (r"PySide2\.\w+", ("PySide2.QtCore", "shiboken2")),
    (r"PySide6\.\w+", ("PySide6.QtCore", "shiboken6")),
    (r"(PySide[26])\.QtWidgets", (r"\1.QtGui",)),
    (
        r"(?:qtpy|AnyQt|pyqtgraph\.Qt)\.(Qt\w+)",
        (r"PyQt5.\1", r"PySide2.\1", r"PyQt6.\1", r"PySide6.\1"),
    ),
    (r"numpy\.random\.bit_generator", ("secrets",)),
    (r"gi\.overrides\.Gdk", ("gi._gi_cairo", "cairo")),
    (r"kivy\.core\.window", ("kivy.core.window.window_sdl2",)),
    (r"kivy\.core\.text", ("kivy.core.text.text_sdl2",)),
    (r"kivy\.core\.image", ("kivy.core.image.img_sdl2",)),
)
"""What modules import by a computed name, in C, or as the one of several they find."""

_LOADERS = frozenset(("load_entry_point", "distribution", "entry_points"))
"""What launchers call to load an entry point, whichever package has it."""

_OPENS_LIBRARIES = re.compile(rb"\b(?:CDLL|LoadLibrary|dlopen)\(")
_STARTS_PROGRAMS = (b"subprocess", b"os.exec", b"os.posix_spawn", b"os.spawn")
_LIBRARY = re.compile(
    rb"[\"'](?:[^\"'\n]{0,200}/)?(?P<name>[\w.+-]{1,100}\.so[.\d]{0,20})[\"']"
)

_LOADS_ON_USE = re.compile(rb"^(?:def )?__getattr__\b", re.MULTILINE)
_DEFINED = re.compile(rb"\bdef (\w+)\(")
_REQUIRED_VERSION = re.compile(
    rb"require_version\(\s*[\"'](?P<name>\w+)[\"']\s*,\s*[\"'](?P<version>[\d.]+)"
)


# Nothing that a part takes may be left for the one behind it, or a forged line of a
# MiB takes hours: so a bracket holds no other, and a module has a name. The start of a
# line is a character: what is looked for first is quickly found.
_LINE = re.compile(
    rb"\n(?P<indent>[ \t]*)(?:(?P<block>def|class|async|if|elif|else|try|except|finally"
    rb"|with|for|while)\b(?P<test>[^\n]*)"
    rb"|import[ \t]+(?P<names>[^\n;#]+)"
    rb"|(?:[\w.]+[ \t]*=[ \t]*)?(?:importlib\.)?import_module\("
    rb"[\"'](?P<loaded>[\w.]+)[\"']"
    rb"|from[ \t]+(?P<module>[\w.]+)[ \t]*import[ \t]*"
    rb"(?P<members>\([^()#]*(?:#[^\n]*\n[^()#]*)*\)|[^\n;#]+))"
)
_DEPENDING = frozenset((b"if", b"elif", b"def", b"async"))


class Importer:
    """Follows imports from module to module.

    An application's own code is parsed, and a function counts where something calls
    what has its name; libraries are searched for imports outside of functions.

    :param folder_of: gives the directory that a path of ``sys.path`` leads to.
    :ivar files: read as modules are imported, by path. Not expected are those that are
        imported only if a function is called by some other, or under a condition.
    :ivar names: of all modules named.
    :ivar versions: in which GObject namespaces are asked for.
    :ivar blind_spots: imports that can't be known.
    :ivar opens: names of the libraries that sources open by ``ctypes``, by source.
    :ivar starting: sources that may start programs; whether a launch imports each.
    """

    def __init__(
        self,
        payload: Payload,
        finder: ModuleFinder,
        *,
        folder_of: Callable[[str], str | None] = lambda _: None,
    ) -> None:
        self._payload = payload
        self._finder = finder
        self._folder_of = folder_of
        self._pending: deque[str] = deque(STARTUP_MODULES)
        self._depending: deque[str] = deque()
        self._own: set[str] = set()
        self._started: set[str] = {MODULE}
        self._called: set[str] = set(_CALLED_BY_TOOLKITS)
        self._waiting: dict[str, list[tuple[Scope, str]]] = {}
        self._parsed_bytes = 0
        self._importers: dict[str, str] = {}
        self._on_use: dict[str, str] = {}
        self.files: dict[str, Loaded] = {}
        self.names: set[str] = set()
        self.versions: dict[str, str] = {}
        self.blind_spots: dict[BlindSpot, None] = {}
        self.opens: dict[str, list[str]] = {}
        self.starting: dict[str, bool] = {}

    def start_source(self, source: bytes, *, file: str) -> None:
        """Follow a program's source, all of its functions.

        :param file: that it stands in, or ``-c``.
        """
        self._note_names(source, file)
        code = self._parsed(source, "", file, is_program=True)
        if code is None:
            self._add(imported_names(source, package="", in_functions=True), file)
            return
        stem = posixpath.splitext(posixpath.basename(file))[0]
        self._own.add(stem.lower().replace("-", "_"))
        if file == COMMAND_LINE:
            self._own.update(map(_top, code.scopes[MODULE][0].imports))
        elif len(source) <= LAUNCHER_MAX_BYTES:
            self._own.update(_packages_called(code))
            self._started.update(_called(code))
        self._started.update(code.scopes)
        for name, scopes in code.scopes.items():
            for scope in scopes:
                self._enter(name, scope, file)

    def start_module(self, name: str) -> None:
        """Follow a module that is started as a program (``python3 -m``)."""
        self._own.add(_top(name))
        found, main = self._finder.find(name), f"{name}.__main__"
        self._pending.extend((name, main))
        if found is None or found.package == name:  # a package isn't a program itself
            known = self._finder.find(main) or _top(name) in sys.stdlib_module_names
            if not known:  # what is Python's own may be the base's
                self._blind("computed-command", f"python3 -m {name}")

    def start_function(self, module: str, function: str) -> None:
        """Follow a function that an entry point names."""
        self._own.add(_top(module))
        self._pending.append(module)
        self._started.update(function.split("."))
        self._call(function.split("."))

    def import_also(self, names: Iterable[str]) -> None:
        """Import more modules."""
        self._pending.extend(names)

    def run(self) -> None:
        """Follow all imports: first those that don't depend on anything."""
        depends = False
        while self._pending or self._depending:
            depends = depends or not self._pending
            name = (self._pending or self._depending).popleft()
            if len(self.files) > MAX_MODULES or len(self.names) > MAX_NAMES:
                self._blind("limit-reached", name, "modules")
                break
            for part in _with_parents(name):
                if part not in self.names:
                    self.names.add(part)
                    by = self._importers.get(name, "")
                    self._import(part, by, depends=depends)

    def _add(self, names: Iterable[tuple[str, bool]], file: str) -> None:
        for name, depends in names:
            self._importers.setdefault(name, file)
            (self._depending if depends else self._pending).append(name)

    def _import(self, name: str, by: str, *, depends: bool) -> None:
        for pattern, also in _UNSEEN_IMPORTS:
            if match := re.fullmatch(pattern, name):
                self._pending.extend(match.expand(each) for each in also)
        found = self._finder.find(name)
        if found is None:
            if place := self._on_use.get(name):
                self._add([(place, depends)], by)
            return
        read, path = found.read, found.read.path
        kind = "extension" if path.endswith(".so") else "module"
        self.files.setdefault(
            path,
            Loaded(entry=read, way=f"python-{kind}", expected=not depends, by=by),
        )
        if kind == "extension" and read.size_bytes < _FRONT_BYTES:
            front = self._payload.read(path, offset=0, length=_FRONT_BYTES)
            self._pending.extend(each.decode() for each in _BEHIND.findall(front))
        if found.source is not None:
            self._read(name, found, found.source.path)
            if found.source.path in self.starting:
                self.starting[found.source.path] = not depends

    def _read(self, name: str, found: Module, file: str) -> None:
        """Follow the source of a module."""
        source = self._payload.read(file, offset=0, length=SOURCE_MAX_BYTES)
        package, standard = found.package, self._finder.is_standard(found.folder)
        self._note_names(source, file, standard=standard)
        if _LOADS_ON_USE.search(source):  # as it tells tools that check types
            typed = source.replace(b"TYPE_CHECKING", b"True")
            if f"{file}i" in self._payload.inventory.entries:
                stub = self._payload.read(f"{file}i", offset=0, length=SOURCE_MAX_BYTES)
                typed += b"\n" + stub
            for each, _ in imported_names(typed, package=package):
                self._on_use.setdefault(f"{name}.{each.rpartition('.')[2]}", each)
        own = _top(name) in self._own and not standard
        own = own or self._finder.is_own(found.folder)
        main = name.endswith(".__main__")
        code = self._parsed(source, package, file, is_program=main) if own else None
        if code is not None:
            self._add_code(code, file)
        else:
            names = imported_names(
                source, package=package, in_functions=own, fallbacks=not standard
            )
            self._add(names, file)

    def _parsed(
        self, source: bytes, package: str, file: str, *, is_program: bool
    ) -> Code | None:
        """Return a source divided by functions; None if it can't be parsed."""
        starts = not self._started.isdisjoint(
            map(bytes.decode, _DEFINED.findall(source))
        )
        most_bytes = PARSED_MAX_BYTES * (2 if starts else 1)
        if self._parsed_bytes + len(source) > most_bytes:
            return None
        self._parsed_bytes += len(source)
        try:
            code = read_code(
                source, package=package, file=f"$SNAP/{file}", is_program=is_program
            )
        except TOO_MUCH:
            return None
        except NOT_PYTHON:
            self._blind("syntax-error", file)
            return None
        folders = map(self._folder_of, reversed(code.search))
        for folder in folders:
            if folder is not None:
                self._finder.search_also([folder])
        return code

    def _add_code(self, code: Code, file: str) -> None:
        """Enter a module, and those of its functions that were called already."""
        for name, scopes in code.scopes.items():
            for scope in scopes:
                if name == MODULE or name in self._called:
                    self._enter(name, scope, file)
                else:
                    self._waiting.setdefault(name, []).append((scope, file))

    def _enter(self, name: str, scope: Scope, file: str) -> None:
        self._note(name, scope, file)
        self._call(scope.calls)

    def _call(self, names: Iterable[str]) -> None:
        """Enter what waits for a call by these names, and what that calls."""
        pending = list(names)
        while pending:
            name = pending.pop()
            if name not in self._called:
                self._called.add(name)
                for scope, file in self._waiting.pop(name, ()):
                    self._note(name, scope, file)
                    pending.extend(scope.calls)

    def _note(self, function: str, scope: Scope, file: str) -> None:
        started = function in self._started
        if started:
            self._started.update(scope.runs)
        names = (*scope.imports, *scope.uses)
        self._add(((name, not started) for name in names), file)
        if scope.computed:
            self._blind("computed-import", file)

    def _blind(self, reason: BlindReason, where: str, what: str = "") -> None:
        self.blind_spots[BlindSpot(reason=reason, where=where, what=what)] = None

    def _note_names(self, source: bytes, file: str, *, standard: bool = False) -> None:
        """Note what a source opens by name, and whether it starts programs."""
        for match in _REQUIRED_VERSION.finditer(source):
            self.versions.setdefault(match["name"].decode(), match["version"].decode())
        if not standard and _OPENS_LIBRARIES.search(source):
            names = (match["name"].decode() for match in _LIBRARY.finditer(source))
            self.opens[file] = [*dict.fromkeys(names)]
        if not standard and any(each in source for each in _STARTS_PROGRAMS):
            self.starting[file] = True


def _top(module: str) -> str:
    return module.partition(".")[0]


def _called(code: Code) -> set[str]:
    scopes = itertools.chain(*code.scopes.values())
    return set().union(*(scope.calls for scope in scopes)) - _LOADERS


def _packages_called(code: Code) -> Iterator[str]:
    """Yield the packages of which a launcher calls functions.

    Not of those that load entry points: these are followed by their names.
    """
    called = _called(code)
    scopes = itertools.chain(*code.scopes.values())
    for module in itertools.chain(*(scope.imports for scope in scopes)):
        if not called.isdisjoint((_top(module), module.rpartition(".")[2])):
            yield _top(module)


def _with_parents(name: str) -> Iterator[str]:
    """Yield ``a``, ``a.b`` and ``a.b.c`` of ``a.b.c``: all of them are imported."""
    if len(name) > MAX_NAME_CHARACTERS:
        return
    parts = name.split(".")
    for end in range(1, len(parts) + 1):
        yield ".".join(parts[:end])


def imported_names(
    source: bytes,
    *,
    package: str,
    in_functions: bool = False,
    fallbacks: bool = True,
) -> Iterator[tuple[str, bool]]:
    """Yield the modules that a module imports, and whether that depends.

    It depends in functions, and in ``if``, but for what SWIG asks, whether a module is
    in a package. Imports under ``TYPE_CHECKING`` are left out; those in ``try`` count.
    Text that isn't Python yields what looks like an import.

    :param package: that relative imports start from; empty at the top.
    :param in_functions: whether imports in functions count: a program's own functions
        are likely to be called.
    :param fallbacks: whether those count that follow ``except ImportError``: Python's
        own modules bring what they try to import first.
    """
    skipped_beyond: int | None = None
    depends_beyond: int | None = None
    for match in _LINE.finditer(b"\n" + source):
        indent = len(match["indent"])
        if skipped_beyond is not None and indent > skipped_beyond:
            continue
        skipped_beyond = None
        if depends_beyond is not None and indent <= depends_beyond:
            depends_beyond = None
        if match["block"] is not None:
            block, test = match["block"], match["test"]
            if (
                (block in (b"def", b"async") and not in_functions)
                or b"TYPE_CHECKING" in test
                or (not fallbacks and block == b"except" and b"ImportError" in test)
            ):
                skipped_beyond = indent
            elif block in _DEPENDING and depends_beyond is None:
                in_package = package and b"__package__" in test
                depends_beyond = None if in_package else indent
            continue
        if match["names"] is not None:
            names = _names(match["names"])
        elif match["loaded"] is not None:
            names = iter([match["loaded"].decode(errors="replace")])
        else:
            names = _members(match["module"], match["members"], package)
        for name in names:
            yield name, depends_beyond is not None


def _names(text: bytes) -> Iterator[str]:
    for part in text.decode(errors="replace").split(","):
        name = part.split()[0] if part.split() else ""
        if name:
            yield name


def _members(module: bytes, members: bytes, package: str) -> Iterator[str]:
    base = absolute_name(module.decode(errors="replace"), package)
    if base:
        yield base
    for name in _names(re.sub(rb"[()\\]|#[^\n]*", b" ", members)):
        if name.isidentifier():
            yield f"{base}.{name}" if base else name

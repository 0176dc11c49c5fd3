"""Programs with QML: the modules that they import, and the plug-ins of these.

Most programs carry their QML in themselves. Compiled, it names its imports in UTF-16;
as it is, in plain text; if it is compressed, only its absence can be seen.
"""

from __future__ import annotations

import posixpath
import re
from collections import deque
from itertools import islice
from typing import TYPE_CHECKING

from ....payload.elf import ELF_MAGIC
from ...launch_set import BlindSpot
from .runtime import Loaded

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ....payload.inventory import Entry
    from .runtime import StartedApp

PROGRAM_MAX_BYTES = 16 * 1024 * 1024
"""How much of a program is searched for names of modules."""

MODULE_MAX_BYTES = 256 * 1024
"""How much of a QML file, and of what describes a module, is looked at."""

MAX_SOURCES = 200
"""QML files of the application that are looked at, and of one module."""

_MAPPED = re.compile(r"libQt[56]Qml\.so\S*|qml(?:scene)?(?:6|-qt\d)?")
_MODULE = re.compile(
    r"(?:.*/)?(?:qml|imports)/(?P<uri>[\w/]+?(?:\.\w*[A-Za-z]\w*)*)(?:\.\d[\d.]*)?/qmldir"
)
_IMPORT = re.compile(rb"\bimport[ \t]+(?P<uri>[A-Za-z]\w*(?:\.\w+)*)")
_DESCRIBED = re.compile(
    rb"^[ \t]*(?:default[ \t]+)?(?:import|depends)[ \t]+(?P<uri>[\w.]+)"
    rb"|^[ \t]*optional[ \t]+import[ \t]+(?P<style>[\w.]+\.Fusion)\b"
    rb"|^[ \t]*(?:optional[ \t]+)?plugin[ \t]+(?P<plugin>[\w.-]+)",
    re.MULTILINE,
)
_START = ("QtQml", "QtQuick")


class _Modules:
    """The QML modules of a payload."""

    def __init__(self, app: StartedApp) -> None:
        self._app = app
        self._described: dict[str, Entry] = {}
        for entry in app.files("/qmldir"):
            if match := _MODULE.fullmatch(entry.path):  # the last one of the versions
                self._described[match["uri"].replace("/", ".")] = entry
        heads = {uri.partition(".")[0] for uri in self._described}
        self._wide = re.compile(
            b"(?:%s)(?:\\.\0(?:\\w\0)+)*"
            % b"|".join(re.escape(head.encode("utf-16-le")) for head in sorted(heads))
        )

    def imported_by(self, content: bytes) -> Iterator[str]:
        """Yield the modules that a program or a QML file names."""
        for match in _IMPORT.finditer(content):
            yield match["uri"].decode()
        if content.startswith(ELF_MAGIC) and self._described:
            for wide in dict.fromkeys(self._wide.findall(content)):
                yield wide.decode("utf-16-le", errors="replace")

    def loaded(self, uris: Iterable[str]) -> Iterator[Loaded]:
        """Yield what describes modules and those that they import, and plug-ins."""
        pending = deque(uris)
        seen: set[str] = set()
        while pending:
            uri = pending.popleft()
            described = self._described.get(uri)
            if uri in seen or described is None:
                continue
            seen.add(uri)
            yield Loaded(entry=described, way="qml-module")
            folder = posixpath.dirname(described.path)
            text = self._app.source(described, MODULE_MAX_BYTES)
            for match in _DESCRIBED.finditer(text):
                if not match["plugin"]:
                    pending.append((match["uri"] or match["style"]).decode())
                elif plugin := self._app.file(
                    f"{folder}/lib{match['plugin'].decode()}.so"
                ):
                    yield Loaded(entry=plugin, way="qml-plugin")
                    content = self._app.source(plugin, MODULE_MAX_BYTES)
                    pending.extend(self.imported_by(content))


def _own_sources(app: StartedApp) -> Iterator[Entry]:
    """Yield the QML files in directories named after a program or below a script."""
    started = [entry.path for entry in app.programs.started]
    names = {posixpath.splitext(posixpath.basename(path))[0] for path in started}
    own = (
        entry
        for entry in app.files(".qml")
        if entry.path in started or names & set(entry.path.split("/")[:-1])
    )
    yield from islice(own, MAX_SOURCES)


def loads(app: StartedApp) -> Iterator[Loaded | BlindSpot]:
    """Yield the modules that sources import, and what can't be known."""
    modules = _Modules(app)
    uris: dict[str, None] = {}
    for source in _own_sources(app):
        content = app.source(source, MODULE_MAX_BYTES)
        uris.update(dict.fromkeys(modules.imported_by(content)))
        yield Loaded(entry=source, way="own-window")
    for program in app.programs.started:
        content = app.source(program, PROGRAM_MAX_BYTES)
        if content.startswith(ELF_MAGIC):
            uris.update(dict.fromkeys(modules.imported_by(content)))
    near = [each for each in app.triggers if each.near and _MAPPED.fullmatch(each.name)]
    if any("WebEngine" in each.name for each in app.triggers):
        near = []  # it links QML's libraries, whether the program has any QML or not
    loaded = [*modules.loaded(uris)]
    if loaded:
        yield from modules.loaded((*_START, *uris))
    elif near and app.programs.started:
        yield BlindSpot(reason="embedded-code", where=app.programs.started[-1].path)

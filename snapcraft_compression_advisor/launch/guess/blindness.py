"""What a search didn't reach: evidence of windows, and the classes of what remains.

A search is blind where it didn't reach what the files tell that the app does. Then
files that it didn't reach come into the guess, each with the chance that launches of
recorded applications read such a file. ``study/static_fit.py`` counts these chances on
searches that were made blind on purpose.
"""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING, Literal

from ...payload.snap_yaml import SNAP_YAML_PATH
from ...squashfs.entry import EntryKind
from ..launch_set import BlindSpot, desktop_file
from .families import compiled
from .snap_paths import PROGRAM_FOLDERS
from .traits import is_data

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from ...payload.inventory import Entry
    from ...payload.snap_yaml import App, SnapMetadata
    from ...payload.source import Payload

Blindness = Literal["modules", "program"]
"""How much a search missed:

- ``modules``: some modules of a program that it followed;
- ``program``: what the program does at all, or its windows.
"""

OF_PROGRAMS = frozenset({"computed-command", "embedded-code", "unfollowed-runtime"})
"""Reasons for which it isn't known what a program does at all."""

OF_LAUNCHERS = frozenset({"computed-command", "unfollowed-runtime"})
"""Those for which it isn't even known which program that is."""

UNREACHED = "unreached-"
"""How the ways of files begin that come in because a search is blind."""

UNREACHED_TOOLKIT = f"{UNREACHED}toolkit"

_TOOLKITS = re.compile(
    r"(libgtk-|libQt[56]Gui\.so|libwx_gtk\w+_core-|libtk\d|libfltk\.so|libawt_xawt\.so"
    r"|libxul\.so|libSDL\d?-|lib[gG]lfw).*"
)
_TOOLKIT_PARTS = re.compile(r"(libQt[56]\w+|libwx_gtk\w+|libadwaita|libhandy)[-.].*")
_LANGUAGES = (
    (
        r"(lib)?python\d.*|python",
        r".*(\.pyc?|/(dist|site)-packages/.*\.so|/lib-dynload/.*)",
    ),
    (r"perl\d?.*", r".*(\.p[lm]|/auto/.*\.so)"),
    (r"ruby\d?.*", r".*(\.rb|/ruby/.*\.so)"),
    (r"node(js)?|gjs.*|cjs.*|electron", r".*\.([mc]?js|node)"),
    (r"lua.*|love.*|texlua", r".*(\.lua|/lua/.*\.so)"),
    (r"tclsh.*|wish.*", r".*\.tcl"),
    (r"R|Rscript", r".*(\.rd[bx]|/library/.*\.so)"),
    (r"java|libjvm\.so", r".*\.jar"),
    (r"mono.*|dotnet", r".*\.(dll|exe)"),
    (r"php.*", r".*\.php"),
    (r"guile.*", r".*(\.scm|\.go)"),
)
"""Of each language, names of what runs its programs, and files of its modules."""

_PROGRAM_FOLDERS = frozenset(PROGRAM_FOLDERS)
_LIBRARY_FOLDER = re.compile(r"(usr/)?(local/)?lib(/[^/]+-linux-gnu[^/]*)?")

WINDOW_INTERFACES = frozenset({"desktop", "desktop-legacy", "unity7", "wayland", "x11"})
"""Interfaces that only programs with windows need."""

_GRAPHICS_CONTENT = re.compile(r"gpu-\d+|graphics-core\d+|mesa-.*")
"""Content plugs, or their providers, for what command-line tools use, too."""

WINDOWLESS = frozenset(
    {"--background", "--batch", "--headless", "--help", "--nogui", "--version"}
)
"""Arguments with which programs open no windows."""

_DESKTOP_CONTENT = re.compile(r"(gnome|gtk|kf5|kf6|kde|qt|webkitgtk)-.*")
_DESKTOP_CHAIN = re.compile(r"(.*/)?(desktop|gnome|kde)[\w-]*-launch")
_TERMINAL = re.compile(rb"^Terminal[ \t]*=[ \t]*(true|1)\b", re.MULTILINE)
_DESKTOP_FILE_MAX_BYTES = 256 * 1024


def window_evidence(payload: Payload, app: str) -> BlindSpot | None:
    """Return the evidence that an app opens windows; None if there is none.

    A service opens none, and neither does an app whose desktop file asks for a
    terminal.
    """
    snap = payload.snap
    found = snap.apps[app]
    if found.daemon is not None:
        return None
    file = desktop_file(snap, payload.inventory, app)
    if file is not None:
        return None if _asks_for_terminal(payload, file) else _unreached(file)
    for name in plugs_of(snap, found):
        interface, content = _interface(snap, name)
        if interface in WINDOW_INTERFACES or _DESKTOP_CONTENT.fullmatch(content):
            return _unreached(SNAP_YAML_PATH, name)
    chain = filter(_DESKTOP_CHAIN.fullmatch, found.command_chain)
    return next(map(_unreached, chain), None)


def _asks_for_terminal(payload: Payload, desktop_file: str) -> bool:
    entry = payload.inventory.entries.get(desktop_file)
    if entry is None or entry.kind is not EntryKind.FILE:
        return False
    text = payload.read(desktop_file, offset=0, length=_DESKTOP_FILE_MAX_BYTES)
    return bool(_TERMINAL.search(text))


def _interface(snap: SnapMetadata, plug: str) -> tuple[str, str]:
    """Return a plug's interface, and what it has the content of, else nothing."""
    found = snap.plugs.get(plug)
    if found is None or found.interface is None:
        return plug, ""
    if found.interface != "content":
        return found.interface, ""
    return "content", found.default_provider or found.content or plug


def toolkit_evidence(payload: Payload, app: str) -> BlindSpot | None:
    """Return the evidence that a program might open windows.

    That is much weaker than :func:`window_evidence`: it counts only where it isn't
    known what the program does.
    """
    snap = payload.snap
    for name in plugs_of(snap, snap.apps[app]):
        interface, content = _interface(snap, name)
        names = (content, name) if interface == "content" else ()
        if interface == "opengl" or any(map(_GRAPHICS_CONTENT.fullmatch, names)):
            return _unreached(SNAP_YAML_PATH, name)
    shipped = next(toolkits(payload.inventory.entries.values()), None)
    return _unreached(shipped[0].path) if shipped else None


def _unreached(where: str, what: str = "") -> BlindSpot:
    return BlindSpot(reason="unreached-window", where=where, what=what)


def plugs_of(snap: SnapMetadata, app: App) -> tuple[str, ...]:
    """Return an app's plugs: its own, and those that no app names (snapd's rule)."""
    named = {name for each in snap.apps.values() for name in each.plugs}
    return (*app.plugs, *(name for name in snap.plugs if name not in named))


def toolkits(entries: Iterable[Entry]) -> Iterator[tuple[Entry, str]]:
    """Yield the libraries of toolkits with their ways, those of all others first."""
    files = (entry for entry in entries if entry.kind is EntryKind.FILE)
    libraries = [entry for entry in files if ".so" in entry.path]
    for part, names in ("", _TOOLKITS), ("-part", _TOOLKIT_PARTS):
        for entry in libraries:
            if names.fullmatch(posixpath.basename(entry.path)):
                yield entry, UNREACHED_TOOLKIT + part


def unreached_files(
    entries: Iterable[Entry], reached: Collection[int], programs: Collection[str]
) -> list[tuple[Entry, str]]:
    """Return the files that a search didn't reach, with their ways.

    :param reached: identities of those that it did.
    :param programs: names of what runs; their languages' modules are told apart.
    """
    modules = [
        compiled(files)
        for interpreter, files in _LANGUAGES
        if any(map(compiled(interpreter).fullmatch, programs))
    ]
    return [
        (entry, UNREACHED + _class(entry.path, modules))
        for entry in entries
        if entry.kind is EntryKind.FILE and entry.identity not in reached
    ]


def _class(path: str, modules: Iterable[re.Pattern[str]]) -> str:
    """Return the class of a file by its place and name."""
    folder, _, name = path.rpartition("/")
    if any(each.fullmatch(path) for each in modules):
        return "module"
    if folder in _PROGRAM_FOLDERS:
        return "program"
    if ".so" in name and not is_data(path):
        return "library" if _LIBRARY_FOLDER.fullmatch(folder) else "plugin"
    return "data"

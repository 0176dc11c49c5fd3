"""What a program is: its language, what it carries, if it opens OpenGL; its own files.

OpenGL's driver and compiler (libLLVM) are up to 80 MB of a launch. A library of OpenGL
in the closure doesn't open them; a program's own calls and its toolkit do. A program's
own directories are named after it, below ``lib`` and ``share``.
"""

from __future__ import annotations

import posixpath
import re
from itertools import islice
from typing import TYPE_CHECKING, TypeVar

from ...core.units import MIB
from ...payload.elf import BrokenElfError, elf_of
from ...payload.elf_symbols import LEAST_CARRIED_BYTES, carried_parts, language_of
from ...squashfs.entry import EntryKind
from .runtimes import RUNTIMES
from .shell_words import is_shell, script_interpreter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from ...payload.elf import Elf
    from ...payload.inventory import Entry, Inventory
    from ...payload.source import Payload

MAX_OWN_FILES = 20_000
"""Files that are looked at; a game with more doesn't open them all to start."""

_FOLDER = re.compile(
    r"(?:usr/|usr/local/|opt/)?(?:lib(?:64)?(?:/[^/]+-linux-gnu\w*)?|libexec"
    r"|share(?:/games)?|games)"
    r"/(?P<name>[^/]+)(?:/.*)?"
)
_STEM = re.compile(r"(?P<stem>[A-Za-z][A-Za-z_]*?)[-_.\d]*(?:bin)?")
_APPLICATION_ID = re.compile(r"[a-z]\w*(?:\.[\w-]+)+\.(?P<name>[A-Za-z][\w-]*)")
_COMMON = frozenset(("", "env", "bash", "sh", "dash", "icons", "lua")) | {
    each.interpreter for each in RUNTIMES
}
_CODE = (".so", ".oct", ".node", ".jar")
_KINDS = {
    "image": (".png", ".jpg", ".jpeg", ".svg", ".gif", ".webp", ".dds", ".xpm"),
    "sound": (".ogg", ".wav", ".mp3", ".opus", ".flac"),
    "model": (".spm", ".b3d", ".obj", ".mesh", ".gltf", ".glb"),
    "font": (".ttf", ".otf", ".woff2"),
    "settings": (".conf", ".ini", ".xml", ".json", ".yaml", ".toml", ".cfg", ".rc"),
    "window": (".ui", ".glade", ".qml", ".css", ".rcc", ".gresource"),
    "translation": (".mo", ".qm", ".po"),
    "script": (".py", ".pyc", ".lua", ".js", ".m", ".scm", ".el", ".elc", ".rb"),
}
_KIND_OF = {suffix: kind for kind, group in _KINDS.items() for suffix in group}


def own_files(
    programs: Iterable[str], inventory: Inventory
) -> Iterator[tuple[str, Entry]]:
    """Yield the files of programs' own directories, and of which kind each is.

    :param programs: names without directories, as ``gimp-2.10``.
    """
    stems = set(filter(None, map(program_stem, programs)))
    owned = (
        entry
        for folder, entries in inventory.folders.items()
        for match in [_FOLDER.fullmatch(folder)]
        if match and _belongs(match["name"], stems)
        for entry in entries
        if entry.kind is EntryKind.FILE
    )
    for entry in islice(owned, MAX_OWN_FILES):
        yield kind_of(entry.path), entry


def program_stem(name: str) -> str:
    """Return a program's name without version: ``gimp`` of ``gimp-2.10``.

    Of an application ID it is the last part: ``weather`` of ``org.gnome.Weather``.
    Empty if nothing is named after it: shells and interpreters.
    """
    by_id = _APPLICATION_ID.fullmatch(name)
    if by_id is not None:
        return by_id["name"].lower()
    match = _STEM.fullmatch(posixpath.splitext(name)[0] if "." in name else name)
    stem = match["stem"].lower() if match else ""
    return "" if stem in _COMMON else stem


def kind_of(path: str) -> str:
    """Return the kind of a file by its name."""
    suffix = posixpath.splitext(path)[1].lower()
    if suffix in _CODE or ".so." in posixpath.basename(path):
        return "own-code"
    if not suffix:
        return "own-unnamed"
    return f"own-{_KIND_OF.get(suffix, 'other')}"


def is_data(path: str) -> bool:
    """Tell by a file's name that it is neither program nor library.

    A launch may open thousands of pictures; to look into each for an ELF header would
    take longer than all else that is found out of it.
    """
    return posixpath.splitext(path)[1].lower() in _KIND_OF


def _belongs(folder: str, stems: set[str]) -> bool:
    names = (folder, folder.removesuffix("plugins"), folder.removesuffix("-esr"))
    return not stems.isdisjoint(map(program_stem, names))


_CARRYING = "program that carries its files"
_CARRIED_BY = {
    ".NET": ".NET program in one file",
    "Node": "Node program in one file",
    "PyInstaller": "Python program frozen by PyInstaller",
}

TRAITS = (
    *_CARRIED_BY.values(),
    _CARRYING,
    "program in Bun",
    "program in Go",
    "program in Haskell",
    "program in Rust",
)
"""Kinds of programs by themselves; they trigger rules, too."""

_T = TypeVar("_T")

STARTER_MAX_BYTES = MIB
"""Of a program that only starts another: a launcher written in C."""

_STARTS = re.compile(rb"\0(exec[lv]p?e?|posix_spawnp?)(?=\0)")
_SCRIPT_STARTS = re.compile(
    rb"\b(?:subprocess|exec[lv]?p?e?(?!.{0,99}\$0)|system|popen|spawn\w*"
    rb"|child_process)\b",
    re.IGNORECASE,
)
"""Perl's old first lines have a shell start the script itself, ``$0``, by perl."""
_NAMES = re.compile(
    rb"\0(gl[A-Z]|glX[A-Z]|egl[A-Z]|vk[A-Z]|epoxy_|glut[A-Z]|glfw[A-Z]|SDL_GL_"
    rb"|SDL_CreateRenderer|SDL_Vulkan_|gtk_gl_area_|gdk_gl_)"
)
"""Beginnings of dynamic symbols of a program that calls OpenGL."""

_WINDOW_NAMES = re.compile(
    rb"\0(glutCreateWindow|glfwCreateWindow|SDL_GL_|SDL_CreateRenderer|SDL_Vulkan_"
    rb"|_ZN2sf(6|12Render)Window|al_create_display)"
)
"""Of libraries that games use: a window of theirs opens the driver at once."""

_OPENED_NAME = re.compile(rb"\0(lib(?:GL|EGL|GLX|GLESv2|vulkan)\.so(?:\.\d)?)(?=\0)")
_OPENS = b"\0dlopen\0"

DRIVER_WAYS = "mesa-driver"
"""How the ways of OpenGL's driver, and of the libraries that it links, begin."""

_DRIVER = re.compile(r"(libgallium|libLLVM)\S*")
_DRIVER_STUB = re.compile(r"libdril_dri\.so")


def program_traits(payload: Payload, program: Entry) -> Iterator[str]:
    """Yield what triggers rules: how it opens OpenGL's driver; one of ``TRAITS``."""
    name = program.path.rpartition("/")[2]
    for trait_of in (_opengl, lambda elf: _kind(elf, name)):
        if trait := _by_elf(payload, program, trait_of):
            yield trait


def starts_others(payload: Payload, program: Entry) -> bool:
    """Return whether a small program, or a script, calls what starts others.

    Not of a shell script: these are followed.
    """
    if program.size_bytes > STARTER_MAX_BYTES:
        return False
    text = payload.read(program.path, offset=0, length=STARTER_MAX_BYTES)
    if interpreter := script_interpreter(text.decode(errors="replace")):
        return not is_shell(interpreter) and bool(_SCRIPT_STARTS.search(text))
    return bool(
        _by_elf(payload, program, lambda elf: _STARTS.search(elf.dynamic_names()))
    )


def _by_elf(payload: Payload, program: Entry, read: Callable[[Elf], _T]) -> _T | None:
    """Return a fact of an ELF file; None if it is none or broken."""
    try:
        elf = None if is_data(program.path) else elf_of(payload, program)
        return read(elf) if elf is not None else None
    except BrokenElfError:
        return None


def _kind(elf: Elf, name: str) -> str:
    carries = bool(carried_parts(elf))
    if not carries and elf.size_bytes < LEAST_CARRIED_BYTES:
        return ""
    language = language_of(elf)
    if carries:
        return _CARRIED_BY.get(language, _CARRYING)
    if language == "Node":
        own = name in ("node", "nodejs") or "libffmpeg.so" in elf.linkage().needed
        return "" if own else _CARRIED_BY["Node"]
    return f"program in {language}" if language else ""


def _opengl(elf: Elf) -> str:
    names = elf.dynamic_names()
    if _WINDOW_NAMES.search(names):
        # What draws by OpenGL in a toolkit's window may open the driver later.
        return "makes a window of OpenGL"
    if _NAMES.search(names):
        return "imports OpenGL"
    linked = elf.linkage().needed if _OPENS in names else ()
    opened = _OPENED_NAME.findall(elf.constants()) if _OPENS in names else ()
    unlinked = any(name.decode() not in linked for name in opened)
    return "opens OpenGL by name" if unlinked else ""


def opengl_way(way: str, name: str) -> str:
    """Return the way of a file that a rule of OpenGL named, or a library of such a one.

    Since Mesa 24.2, the driver is a library that others link, and what was the driver
    is a stub beside it.
    """
    rule, of, what = way.partition(" of ")
    if _DRIVER_STUB.fullmatch(name):
        return way.replace(DRIVER_WAYS, "mesa-stub")
    if rule in ("glvnd", "glvnd-egl") and _DRIVER.fullmatch(name):
        return f"{DRIVER_WAYS}{of}{what}"
    return way

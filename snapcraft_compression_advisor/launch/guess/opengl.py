"""Whether a launch opens OpenGL's driver, and by which way its files were found.

Driver and compiler (libLLVM) are up to 80 MB of a launch. A library of OpenGL in the
closure doesn't open them; a program's own calls and its toolkit do.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ...payload.elf import LEAST_CARRIED_BYTES, elf_of
from ...payload.elf_form import BrokenElfError
from .own_files import is_data

if TYPE_CHECKING:
    from ...payload.elf import Elf
    from ...payload.inventory import Entry
    from ...payload.source import Payload

IMPORTS_OPENGL = "imports OpenGL"
"""What triggers rules where a program itself calls what opens OpenGL's driver."""

WINDOW_OF_OPENGL = "makes a window of OpenGL"
"""What triggers rules where it makes a window by a library that games use: these open
the driver at once. What draws by OpenGL in a toolkit's window may do so later."""

OPENS_OPENGL = "opens OpenGL by name"
"""What triggers rules where it opens the library of OpenGL as it runs (``dlopen``)."""

_NAMES = re.compile(
    rb"\0(gl[A-Z]|glX[A-Z]|egl[A-Z]|vk[A-Z]|epoxy_|glut[A-Z]|glfw[A-Z]|SDL_GL_"
    rb"|SDL_CreateRenderer|SDL_Vulkan_|gtk_gl_area_|gdk_gl_)"
)
"""Beginnings of such a program's dynamic symbols."""

_WINDOW_NAMES = re.compile(
    rb"\0(glutCreateWindow|glfwCreateWindow|SDL_GL_|SDL_CreateRenderer|SDL_Vulkan_"
    rb"|_ZN2sf(6|12Render)Window|al_create_display)"
)

_OPENED_NAME = re.compile(rb"\0(lib(?:GL|EGL|GLX|GLESv2|vulkan)\.so(?:\.\d)?)(?=\0)")
_OPENS = b"\0dlopen\0"

DRIVER_WAYS = "mesa-driver"
"""How the ways of OpenGL's driver, and of the libraries that it links, begin."""

_DRIVER = re.compile(r"(libgallium|libLLVM)\S*")
_DRIVER_STUB = re.compile(r"libdril_dri\.so")


def opengl_trigger(payload: Payload, program: Entry) -> str:
    """Return what triggers rules if a program itself calls what opens the driver.

    Empty where it doesn't.
    """
    if is_data(program.path):
        return ""
    try:
        elf = elf_of(payload, program)
        return _trigger(elf) if elf else ""
    except BrokenElfError:
        return ""


def _trigger(elf: Elf) -> str:
    names = elf.dynamic_names()
    if _WINDOW_NAMES.search(names):
        return WINDOW_OF_OPENGL
    if _NAMES.search(names):
        return IMPORTS_OPENGL
    return OPENS_OPENGL if _OPENS in names and _opened(elf) else ""


def _opened(elf: Elf) -> bool:
    """Tell whether a program's texts name a library of OpenGL that it doesn't link."""
    linked = elf.linkage().needed
    named = _OPENED_NAME.findall(elf.constants())
    return any(name.decode() not in linked for name in named)


NODE_IN_ONE = "Node program in one file"
CARRYING = "program that carries its files"
_CARRIERS = (
    (b"DOTNET_BUNDLE_EXTRACT_BASE_DIR", ".NET program in one file"),
    (b"PAYLOAD_POSITION", NODE_IN_ONE),
    (b"_MEIPASS", "Python program in one file"),
)
"""Names in the constants of programs that carry their files."""

TRAITS = (
    *dict.fromkeys(name for _, name in _CARRIERS),
    CARRYING,
    "program in Go",
    "program in Rust",
)


def program_trait(payload: Payload, program: Entry) -> str:
    """Return which kind of program it is by itself, one of ``TRAITS``; else empty."""
    if is_data(program.path):
        return ""
    try:
        elf = elf_of(payload, program)
        return _trait(elf, program) if elf is not None else ""
    except BrokenElfError:
        return ""


def _trait(elf: Elf, program: Entry) -> str:
    if elf.carried:
        constants = elf.constants()
        named = (name for mark, name in _CARRIERS if mark in constants)
        return next(named, CARRYING)
    if elf.size_bytes < LEAST_CARRIED_BYTES:
        return ""
    if elf.language == "Node":
        own = program.path.rpartition("/")[2] in ("node", "nodejs")
        return "" if own or "libffmpeg.so" in elf.linkage().needed else NODE_IN_ONE
    return f"program in {elf.language}" if elf.language else ""


STARTER_MAX_BYTES = 1024 * 1024
"""Of a program that only starts another: a launcher written in C."""

_STARTS = re.compile(rb"\0(exec[lv]p?e?|posix_spawnp?)(?=\0)")


def starts_others(payload: Payload, program: Entry) -> bool:
    """Tell whether a small program calls what starts others."""
    if is_data(program.path) or program.size_bytes > STARTER_MAX_BYTES:
        return False
    try:
        elf = elf_of(payload, program)
        return bool(elf is not None and _STARTS.search(elf.dynamic_names()))
    except BrokenElfError:
        return False


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

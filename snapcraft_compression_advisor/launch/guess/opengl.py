"""Whether a launch opens OpenGL's driver, and by which way its files were found.

Driver and compiler (libLLVM) are up to 80 MB of a launch. A library of OpenGL in the
closure doesn't open them; a program's own calls and its toolkit do.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ...payload.elf import BrokenElfError, elf_of
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

    Empty if it doesn't.
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
    """Return whether a program's texts name an OpenGL library that it doesn't link."""
    linked = elf.linkage().needed
    named = _OPENED_NAME.findall(elf.constants())
    return any(name.decode() not in linked for name in named)


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

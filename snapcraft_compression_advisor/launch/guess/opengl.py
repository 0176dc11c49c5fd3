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
    from ...payload.inventory import Entry
    from ...payload.source import Payload

IMPORTS_OPENGL = "imports OpenGL"
"""What triggers rules where a program itself calls what opens OpenGL's driver."""

_NAMES = re.compile(
    rb"\0(gl[A-Z]|glX[A-Z]|egl[A-Z]|vk[A-Z]|epoxy_|glut[A-Z]|glfw[A-Z]|SDL_GL_"
    rb"|SDL_CreateRenderer|SDL_Vulkan_|gtk_gl_area_|gdk_gl_)"
)
"""Beginnings of such a program's dynamic symbols."""

DRIVER_WAYS = "mesa-driver"
"""How the ways of OpenGL's driver, and of the libraries that it links, begin."""

_DRIVER = re.compile(r"(libgallium|libLLVM)\S*")
_DRIVER_STUB = re.compile(r"libdril_dri\.so")


def imports_opengl(payload: Payload, program: Entry) -> bool:
    """Tell whether a program itself calls what opens the driver."""
    if is_data(program.path):
        return False
    try:
        elf = elf_of(payload, program)
        return bool(elf and _NAMES.search(elf.dynamic_names()))
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

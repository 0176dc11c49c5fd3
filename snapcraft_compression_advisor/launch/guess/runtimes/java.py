"""Java programs: what the virtual machine opens."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ....core.units import MIB
from ..families import opened_by
from .runtime import Loaded, Runtime

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .runtime import StartedApp

LINKED_MAX_BYTES = 80 * MIB
"""Of the modules that jlink put together; those of a whole runtime have 100 MiB and
more, and a smaller part of them is read."""

_JAVA = re.compile(r"java|libjvm\.so")


def _loads(app: StartedApp) -> Iterator[Loaded]:
    if not app.runs(_JAVA):
        return
    for program in app.programs.started:
        root = program.path.removesuffix("/bin/java")
        modules = app.paths.file(f"{root}/lib/modules")
        if modules is not None and modules.size_bytes < LINKED_MAX_BYTES:
            yield Loaded(entry=modules, way="java-linked-modules")


_LIBRARIES = r"(.*/)?lib"

RUNTIME = Runtime(
    kind="Java",
    mapped=_JAVA,
    loads=_loads,
    interpreter="java",
    families=(
        *opened_by(
            r"java",
            ("java-machine", r".*/lib/server", r"libjvm\.so"),
            ("java-archive", r".*/lib/server", r"classes\.jsa"),
            (
                "java-settings",
                rf"{_LIBRARIES}|.*/conf(/security)?",
                r"jvm\.cfg|java\.security",
            ),
            ("java-modules", _LIBRARIES, r"modules"),
            (
                "java-libraries",
                _LIBRARIES,
                r"lib(java|jimage|jli|net|nio|zip|jsvml)\.so",
            ),
            (
                "java-window-libraries",
                _LIBRARIES,
                r"lib(awt|awt_xawt|fontmanager|freetype)\.so",
            ),
            (
                "java-other-libraries",
                _LIBRARIES,
                r"lib(verify|mlib_image|lcms|prefs|management\w*|extnet|javajpeg)\.so",
            ),
        ),
        *opened_by(
            r"libfontmanager\.so",
            ("java-font-library", r"lib(/[^/]+)?", r"libfontconfig\.so\.\d"),
        ),
    ),
    starts={"java-wrappers.sh": (r"usr/lib/jvm/[^/]+/bin/java",)},
)

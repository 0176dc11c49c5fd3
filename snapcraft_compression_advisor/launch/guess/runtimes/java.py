"""Java programs: what the virtual machine opens."""

from __future__ import annotations

import re

from ..families import opened_by
from .runtime import Runtime

_LIBRARIES = r".*jvm/.*/lib"

RUNTIME = Runtime(
    kind="Java",
    mapped=re.compile(r"java|libjvm\.so"),
    interpreter="java",
    families=(
        *opened_by(
            r"java",
            ("java-machine", r".*/lib/server", r"libjvm\.so"),
            ("java-archive", r".*/lib/server", r"classes\.jsa"),
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

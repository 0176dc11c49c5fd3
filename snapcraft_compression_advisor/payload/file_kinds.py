"""What kind of file a name speaks of: for tables, not for decisions."""

from __future__ import annotations

import re
from collections.abc import Mapping

LIBRARIES = "shared libraries"
PROGRAMS = "programs"
OTHERS = "other files"

_SUFFIXES: Mapping[str, str] = {
    "Python": "py pyc pyi",
    "web pages and scripts": "js mjs cjs css html htm map ts wasm",
    "packed pictures": "png jpg jpeg gif webp avif jxl",
    "plain pictures": "svg svgz bmp xpm ico tga ppm dds ktx",
    "sound and video": "ogg oga ogv opus mp3 m4a flac mp4 webm mkv aac",
    "plain sound": "wav aiff mid",
    "fonts": "ttf otf ttc woff woff2 pfb pcf",
    "archives": "zip jar gz tgz xz bz2 zst 7z whl deb egg war crx xpi asar pak oxt",
    "translations": "mo gmo qm po msg",
    "text and markup": "txt md rst xml json yaml yml ini conf desktop ui tex csv toml",
    "databases, indices": "db sqlite sqlite3 cache dat idx bin rdb data",
    "models, shaders": "obj spm glsl frag vert mesh blend b3d",
    "for developers": "a o h hpp debug",
}
_KINDS = {
    suffix: kind for kind, suffixes in _SUFFIXES.items() for suffix in suffixes.split()
}
_LIBRARY = re.compile(r"\.so(\.[0-9]+)*$")
_PROGRAM_DIRECTORIES = frozenset(("bin", "sbin", "libexec", "games"))


def file_kind(path: str, *, executable: bool = False) -> str:
    """Return the kind of file, by its name alone.

    :param executable: whether somebody may run it: what has no telling suffix then is a
        program or a script.

    >>> file_kind("usr/lib/libgtk-4.so.1")
    'shared libraries'
    >>> file_kind("usr/bin/gnome-calculator")
    'programs'
    """
    *directories, name = path.split("/")
    if ".so" in name and _LIBRARY.search(name):
        return LIBRARIES
    stem, _, suffix = name.rpartition(".")
    kind = _KINDS.get(suffix.lower()) if stem else None
    if kind is not None:
        return kind
    in_programs = not _PROGRAM_DIRECTORIES.isdisjoint(directories)
    return PROGRAMS if executable or in_programs else OTHERS

"""What a file belongs to by its path: a toolkit, a package or a folder.

For tables and pictures, not for decisions: a launch reads hundreds of files, and people
think of them as Qt, fonts or a Python package.
"""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files

from ruamel.yaml import YAML

LIBRARIES = "other libraries"
PROGRAMS = "programs"

_LIBRARY = re.compile(r"(?:^|/)lib(?:32|64)?/(?:[^/]+-linux-gnu[^/]*/)?[^/]+$")
_PROGRAM = re.compile(r"(?:^|/)(?:s?bin|games|libexec)/[^/]+$")
_FOLDER = re.compile(
    r"^(?:usr/local/|usr/)?(?:lib(?:32|64)?/(?:[^/]+-linux-gnu[^/]*/)?|share/games/"
    r"|share/|opt/|libexec/|games/)([^/]+)/"
)
"""A package's own folder."""


@cache
def _names() -> dict[str, re.Pattern[str]]:
    """Return packages, whose names have a place for their own, and groups."""
    text = files(__package__).joinpath("file_groups.yaml").read_text(encoding="utf-8")
    table = YAML(typ="safe", pure=True).load(text)
    patterns = dict(table["packages"])
    for name, group in table["groups"].items():
        patterns[name] = group["paths"]
        if libraries := group.get("libraries"):
            patterns[name] += rf"|(?:^|/)lib(?:{libraries})[-._0-9a-zA-Z]*\.so"
    return {name: re.compile(pattern) for name, pattern in patterns.items()}


def file_group(path: str) -> str:
    """Return what a file belongs to, by its path alone.

    >>> file_group("usr/lib/x86_64-linux-gnu/libgtk-4.so.1")
    'GTK'
    >>> file_group("usr/lib/python3/dist-packages/meld/filediff.py")
    'Python: meld'
    >>> file_group("usr/share/meld/ui/app.ui")
    'meld'
    """
    for name, pattern in _names().items():
        if found := pattern.search(path):
            return name.format(*(each.removesuffix(".py") for each in found.groups()))
    if _LIBRARY.search(path):
        return LIBRARIES
    if found := _FOLDER.search(path):
        return found[1]
    return PROGRAMS if _PROGRAM.search(path) else path.rpartition("/")[0] or "/"

"""The names that ``snap pack`` leaves out of every image.

snapd writes these patterns into a file that it passes to mksquashfs with
``-wildcards -ef`` (``snap/pack/pack.go``, since snapd 2.35).
"""

from __future__ import annotations

import re
from fnmatch import translate

TOP_LEVEL_NAMES = (
    "DEBIAN",
    ".arch-ids",
    ".arch-inventory",
    ".bzr",
    ".bzr-builddeb",
    ".bzr.backup",
    ".bzr.tags",
    ".bzrignore",
    ".cvsignore",
    ".git",
    ".gitattributes",
    ".gitignore",
    ".gitmodules",
    ".hg",
    ".hgignore",
    ".hgsigs",
    ".hgtags",
    ".shelf",
    ".svn",
    "CVS",
    "DEADJOE",
    "RCS",
    "_MTN",
    "_darcs",
    "{arch}",
    ".snapignore",
)
"""Names left out in the root of the tree only."""

ANYWHERE_PATTERNS = (".[#~]*", "*.snap", "*.click", ".*.sw?", "*~", ",,*")
"""Shell patterns of names left out at any depth."""

_ANYWHERE = re.compile("|".join(translate(p) for p in ANYWHERE_PATTERNS), re.DOTALL)
_ANYWHERE_DOTTED = re.compile(
    "|".join(translate(p) for p in ANYWHERE_PATTERNS if p.startswith(".")), re.DOTALL
)


def is_excluded(name: str, *, top_level: bool) -> bool:
    """Tell whether ``snap pack`` leaves out an entry, and all below it.

    mksquashfs matches with ``FNM_PERIOD``: a wildcard never matches the dot that
    a hidden file's name starts with.

    :param name: the entry's own name, without its directory.
    :param top_level: whether it lies in the root of the tree.
    """
    if top_level and name in TOP_LEVEL_NAMES:
        return True
    pattern = _ANYWHERE_DOTTED if name.startswith(".") else _ANYWHERE
    return pattern.match(name) is not None


def exclude_file_text() -> str:
    """Return the patterns as mksquashfs's ``-wildcards -ef`` file."""
    anywhere = (f"... {pattern}" for pattern in ANYWHERE_PATTERNS)
    return "\n".join((*TOP_LEVEL_NAMES, *anywhere, ""))

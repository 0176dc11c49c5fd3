"""A program's own directories: what is named after it below ``lib`` and ``share``."""

from __future__ import annotations

import posixpath
import re
from itertools import islice
from typing import TYPE_CHECKING

from ...squashfs.entry import EntryKind
from .runtimes import RUNTIMES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ...payload.inventory import Entry, Inventory

MAX_OWN_FILES = 20_000
"""Files that are looked at; a game with more doesn't open them all to start."""

_FOLDER = re.compile(
    r"(?:usr/|usr/local/|opt/)?(?:lib(?:64)?(?:/[^/]+-linux-gnu\w*)?|libexec"
    r"|share(?:/games)?|games)"
    r"/(?P<name>[^/]+)(?:/.*)?"
)
_STEM = re.compile(r"(?P<stem>[A-Za-z][A-Za-z_]*?)[-_.\d]*(?:bin)?")
_APPLICATION_ID = re.compile(r"[a-z]\w*(?:\.[\w-]+)+\.(?P<name>[A-Za-z][\w-]*)")
_COMMON = frozenset(
    ("", "env", "bash", "sh", "dash", "icons", *(each.interpreter for each in RUNTIMES))
)
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

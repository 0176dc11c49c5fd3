"""What leads to a file beside its own path: links, layouts, slots, scripts."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping

from ..core.units import KIB, MIB
from ..squashfs.entry import EntryKind
from .elf import ELF_MAGIC
from .inventory import Entry, PathResolver
from .linkage import LIBRARY_DIRECTORIES, LIBRARY_PATH
from .snap_yaml import SnapMetadata
from .source import Payload
from .stack import place_of

TEXT_MAX_BYTES = 64 * KIB
MOST_TEXTS = 4096
"""Files that are searched for paths; more scripts than any snap starts."""

LIST_MAX_BYTES = MIB
"""Of one ``.deps.json``; the longest seen had 2,500 short lines."""
_LISTED = re.compile(r'"([^"\n]+)"\s*:')

_TEXTS = re.compile(
    r"(?:meta|snap)/.*|.*\.(?:sh|bash|desktop|service|conf|json|ini)", re.DOTALL
)
_IN_SNAP = re.compile(
    r"(?:\$(?:SNAP|\{SNAP\})|/snap/(?P<name>[a-z0-9-]+)/[^/\s]+)"
    r"/(?P<path>[^:;,\s\"'`()<>|&*?\[$]*)(?P<rest>[*?\[$]?)"
)
_BARE = re.compile(r"(?<![\w.+-])[\w.+-]+(?:/[\w.+@-]+)+")
_COMMENT = re.compile(r"^\s*(?:#|//).*", re.MULTILINE)
_GENERAL = frozenset(
    {
        *("", "bin", "etc", "lib", "opt", "sbin", "share", "usr", "var"),
        *(f"usr/{name}" for name in ("bin", "lib", "libexec", "local", "sbin")),
        *("usr/share", "usr/local/bin", "usr/local/lib", "usr/local/share"),
        *LIBRARY_DIRECTORIES,
    }
)
"""What leads to one of these means no directory or file in there in particular."""

_LINK, _LAYOUT = "the link {!r} leads to it", "a layout shows it at {!r}"
_SLOT, _VARIABLE = "the slot {} shares it", "the variable {} names it"
_TEXT = "{!r} names it"


def find_references(payload: Payload) -> Mapping[str, str]:
    """Return the files and directories that something leads to, with what does.

    Links that go with their target are left out (:func:`goes_along`). The path of a
    slot that shares the whole snap is empty.
    """
    found: dict[str, str] = {}
    for path, what in (*_bound(payload.snap), *_named(payload), *_listed(payload)):
        found.setdefault(path, what)
    return found


def referrer(path: str, known: Mapping[str, str]) -> str | None:
    """Return the reference to a file, or to a directory that it is in."""
    while path:
        if path in known:
            return known[path]
        path = posixpath.dirname(path)
    return known.get("")


def needed_directories(snap: SnapMetadata) -> frozenset[str]:
    """Return the directories that ``snap pack`` or snapd asks for, empty or not.

    These are the targets of content plugs and the sources of layouts.
    """
    targets = (
        place_of(plug) for plug in snap.plugs.values() if plug.interface == "content"
    )
    bound = {path for path, _ in _bound(snap)}
    return frozenset({*targets, *bound} - {""})


def goes_along(link: str, target: str) -> bool:
    """Return whether a link is there for its target's sake.

    Such are a library's names in the loader's folders, and links within one kind of
    place, such as from one manual page to another.
    """
    if ".so" in posixpath.basename(link) and ".so" in posixpath.basename(target):
        folders = {posixpath.dirname(link), posixpath.dirname(target)}
        return folders <= {*LIBRARY_DIRECTORIES} or len(folders) == 1
    one, other = (path.split("/")[:3] for path in (link, target))
    return one == other and len(other) == 3  # noqa: PLR2004 # usr/share/man


def links_of(payload: Payload) -> Iterator[tuple[str, str]]:
    """Yield the symbolic links with where they lead in one step, as paths in there."""
    resolver = PathResolver(payload.inventory, snap_name=payload.snap.name)
    for entry in payload.inventory.entries.values():
        if entry.kind is EntryKind.SYMLINK:
            written = entry.link_target or ""
            inside = resolver.in_payload(written) if written.startswith("/") else None
            target = posixpath.join("/", posixpath.dirname(entry.path), written)
            yield entry.path, inside or posixpath.normpath(target).lstrip("/")


def _bound(snap: SnapMetadata) -> Iterator[tuple[str, str]]:
    """Yield what layouts and slots of content show elsewhere."""
    for place, item in snap.layout.items():
        for value in item.values():
            for path in _paths(str(value), snap.name):
                yield path, _LAYOUT.format(place)
    for name, slot in snap.slots.items():
        for each in slot.shared() if slot.interface == "content" else ():
            inside = re.sub(r"\A\$\{?SNAP\}?(?=/|\Z)", "", each)
            if not inside.startswith("$"):
                yield posixpath.normpath(f"/{inside}").strip("/"), _SLOT.format(name)


def _named(payload: Payload) -> Iterator[tuple[str, str]]:
    """Yield what links, variables and texts name, but for general directories."""
    entries = payload.inventory.entries
    for link, target in links_of(payload):
        merged = posixpath.basename(link) == posixpath.basename(target)
        general = target in _GENERAL or (merged and target.count("/") <= 1)
        if not goes_along(link, target) and not general:
            yield target, _LINK.format(link)
    snap = payload.snap
    environments = (snap.environment, *(app.environment for app in snap.apps.values()))
    for name, value in ((n, v) for each in environments for n, v in each.items()):
        if name != LIBRARY_PATH:
            for path in _paths(value, snap.name):
                if path not in _GENERAL:
                    yield path, _VARIABLE.format(name)
    resolver = PathResolver(payload.inventory, snap_name=snap.name)
    for entry, text in _texts(payload):
        code = _COMMENT.sub("", text)
        bare = (path for path in _BARE.findall(code) if path in entries)
        for path in dict.fromkeys((*_paths(code, snap.name), *bare)):
            found = resolver.locate(path).entry or entries.get(path)
            if found is not None and found.path not in _GENERAL:
                yield found.path, _TEXT.format(entry.path)


def _listed(payload: Payload) -> Iterator[tuple[str, str]]:
    """Yield what .NET's lists of dependencies name: it doesn't start without a file.

    A published application has each beside its list, or at the path that is named.
    """
    for entry in payload.inventory.files():
        if payload.is_remote or not entry.path.endswith(".deps.json"):
            continue
        text = payload.read(entry.path, offset=0, length=LIST_MAX_BYTES)
        for name in dict.fromkeys(_LISTED.findall(text.decode("utf-8", "replace"))):
            for each in (name, posixpath.basename(name)):
                path = posixpath.join(posixpath.dirname(entry.path), each)
                if path in payload.inventory.entries:
                    yield path, _TEXT.format(entry.path)


def _paths(text: str, snap_name: str) -> Iterator[str]:
    """Yield the paths of the snap that a text names."""
    for found in _IN_SNAP.finditer(text):
        if found["name"] in (None, snap_name):
            path = found["path"]
            if found["rest"]:  # a pattern or a variable: all that it may stand for
                path = posixpath.dirname(path)
            yield posixpath.normpath(f"/{path}").strip("/")


def _texts(payload: Payload) -> Iterator[tuple[Entry, str]]:
    """Yield scripts and settings with their texts."""
    if payload.is_remote:
        return
    left = MOST_TEXTS
    for entry in payload.inventory.files():
        if not 0 < entry.size_bytes <= TEXT_MAX_BYTES or not left:
            continue
        if not (entry.executable or _TEXTS.fullmatch(entry.path)):
            continue
        text = payload.read(entry.path, offset=0, length=entry.size_bytes)
        if not text.startswith(ELF_MAGIC) and b"\0" not in text[:4]:
            left -= 1
            yield entry, text.decode("utf-8", "replace")

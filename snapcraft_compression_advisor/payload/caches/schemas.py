"""``gschemas.compiled``: all settings' schemas of a directory in one hash table."""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING

from snapcraft_compression_advisor.payload.caches.fault import CacheFault
from snapcraft_compression_advisor.payload.caches.gvdb import (
    BrokenGvdbError,
    table_keys,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from snapcraft_compression_advisor.payload.inventory import Entry
    from snapcraft_compression_advisor.payload.tree import Tree

COMPILED = "gschemas.compiled"

READERS = ("libgio-2.0", "libgtk-3", "libgtk-4")
"""Libraries that read schemas; GTK does by GIO, which bases have."""

GNOME_CONTENT = ("gnome-",)
"""How the names of content snaps begin that have these libraries."""

# An element's text holds no "<", so that looking for its end ends at the next one.
_ELEMENT = re.compile(
    rb"<(schema|key)\b[^<>]*?\s(?:id|name)\s*=\s*(?:\"([^\"<>]*)\"|'([^'<>]*)')"
)


def schema_faults(tree: Tree) -> Iterator[CacheFault]:
    """Yield directories of schemas whose compiled form is missing or older.

    GLib reads nothing but the compiled form, so a launcher has to make it first.
    """
    if not tree.has_library(*READERS, content=GNOME_CONTENT):
        return
    for directory in tree.directories():
        if directory.endswith("glib-2.0/schemas"):
            sources = tree.named(directory, ".gschema.xml")
            if sources:
                yield from _faults(tree, directory, sources)


def _faults(
    tree: Tree, directory: str, sources: tuple[Entry, ...]
) -> Iterator[CacheFault]:
    path = posixpath.join(directory, COMPILED)
    if path not in tree.entries:
        yield CacheFault(
            kind="settings-schemas",
            state="missing",
            path=path,
            sources=tuple(entry.path for entry in sources),
            source_count=len(sources),
            reason="there are schemas, but not their compiled form",
            readers=READERS,
        )
        return
    unknown = _unknown(tree, path, sources)
    if unknown:
        yield CacheFault(
            kind="settings-schemas",
            state="stale",
            path=path,
            sources=unknown,
            source_count=len(unknown),
            reason="schemas or keys of these files aren't in the compiled form",
            readers=READERS,
        )


def _unknown(tree: Tree, path: str, sources: tuple[Entry, ...]) -> tuple[str, ...]:
    """Return the files with a schema or key that the compiled form doesn't know."""
    cache = tree.file(path)
    data = tree.contents(cache) if cache else None
    if data is None:
        return ()
    try:
        compiled = table_keys(data)
    except BrokenGvdbError:  # written on a machine of another byte order, or foreign
        return ()
    return tuple(
        source.path for source in sources if not _knows(compiled, tree, source)
    )


def _knows(compiled: Mapping[str, frozenset[str]], tree: Tree, source: Entry) -> bool:
    entry = tree.file(source.path)
    text = tree.contents(entry) if entry else None
    if text is None:
        return True
    known: frozenset[str] | None = frozenset()
    for element in _ELEMENT.finditer(_without_comments(text)):
        name = (element[2] or element[3] or b"").decode("utf-8", "replace")
        if element[1] == b"schema":
            known = compiled.get(name)
            if known is None:
                return False
        elif known is not None and name not in known:
            return False
    return True


def _without_comments(text: bytes) -> bytes:
    kept, *commented = text.split(b"<!--")
    return kept + b"".join(each.partition(b"-->")[2] for each in commented)

"""Node programs: the files that they require."""

from __future__ import annotations

import json
import posixpath
import re
from collections import deque
from itertools import islice
from typing import TYPE_CHECKING

from ..families import opened_by
from .runtime import Loaded, Runtime

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from ....payload.inventory import Entry
    from ....payload.source import Payload
    from .runtime import StartedApp

MAX_FILES = 5000
"""Files followed from one program."""

MAX_NAMES = 1000
"""Names looked for of one source; bundles of a MiB have some hundred."""

MAX_NAME_CHARACTERS = 4095
"""Of a name that can be a file's: the kernel's PATH_MAX."""

SOURCE_MAX_BYTES = 1024 * 1024
"""How much of a file is looked at."""

_REQUIRED = re.compile(
    rb"""(?:\brequire\(\s*|\bimport\s*(?:\(\s*)?|\bfrom\s+)["'](?P<name>[^"'\n]+)["']"""
)
_SUFFIXES = ("", ".js", ".mjs", ".cjs", ".json", ".node")
_GLOBAL = (
    "usr/share/nodejs",
    "usr/lib/nodejs",
    "usr/lib/node_modules",
    "lib/node_modules",
)


def required_names(source: bytes) -> Iterator[str]:
    """Yield what a source requires or imports with a name that is written out."""
    for match in _REQUIRED.finditer(source):
        yield match["name"].decode(errors="replace")


def required_files(
    scripts: Iterable[Entry], payload: Payload, find: Callable[[str], Entry | None]
) -> Iterator[Entry]:
    """Yield the files that scripts require, and those that these do.

    :param find: gives the file that a path of the payload leads to.
    """
    pending = deque(scripts)
    seen = {entry.path for entry in pending}
    while pending and len(seen) <= MAX_FILES:
        entry = pending.popleft()
        if not entry.path.endswith((".js", ".mjs", ".cjs")) and "." in entry.path:
            continue
        source = payload.read(entry.path, offset=0, length=SOURCE_MAX_BYTES)
        for name in _distinct(required_names(source)):
            for found in _resolve(name, entry, payload, find):
                if found.path not in seen:
                    seen.add(found.path)
                    pending.append(found)
                    yield found


def _distinct(names: Iterator[str]) -> tuple[str, ...]:
    short = (name for name in names if len(name) <= MAX_NAME_CHARACTERS)
    return tuple(islice(dict.fromkeys(short), MAX_NAMES))


def _resolve(
    name: str, script: Entry, payload: Payload, find: Callable[[str], Entry | None]
) -> Iterator[Entry]:
    folder = posixpath.dirname(script.path)
    if name.startswith("."):
        yield from _module(
            posixpath.normpath(posixpath.join(folder, name)), payload, find
        )
        return
    if name.startswith(("/", "node:")):
        return
    for place in (*_above(folder, payload), *_GLOBAL):
        found = tuple(_module(f"{place}/{name}", payload, find))
        if found:
            yield from found
            return


def _above(folder: str, payload: Payload) -> Iterator[str]:
    """Yield the ``node_modules`` that there are in a folder and those above it."""
    parts = folder.split("/")
    for end in range(len(parts), -1, -1):
        place = "/".join((*parts[:end], "node_modules"))
        if place in payload.inventory.entries:
            yield place


def _module(
    path: str, payload: Payload, find: Callable[[str], Entry | None]
) -> Iterator[Entry]:
    """Yield the file of a module, and the ``package.json`` that names it."""
    for suffix in _SUFFIXES:
        entry = find(path + suffix)
        if entry is not None:
            yield entry
            return
    described = find(f"{path}/package.json")
    main = ""
    if described is not None:
        yield described
        main = _main(payload.read(described.path, offset=0, length=SOURCE_MAX_BYTES))
    for place in (f"{path}/{main}", f"{path}/{main}.js", f"{path}/{main}/index.js"):
        entry = find(posixpath.normpath(place)) if main else None
        if entry is not None:
            yield entry
            return
    entry = find(f"{path}/index.js")
    if entry is not None:
        yield entry


def _main(text: bytes) -> str:
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return ""
    main = document.get("main") if isinstance(document, dict) else None
    return main if isinstance(main, str) else ""


_MAPPED = re.compile(r"node(?:js)?|libnode\.so\S*")


def _loads(app: StartedApp) -> Iterator[Loaded]:
    if app.runs(_MAPPED):
        scripts = app.scripts("node", ".js")
        for entry in required_files(scripts, app.payload, app.paths.file):
            yield Loaded(entry=entry, way="node-module")


RUNTIME = Runtime(
    kind="Node",
    mapped=_MAPPED,
    interpreter="node",
    families=opened_by(
        r"node", ("node-certificates", r"etc/ssl/certs", r"ca-certificates\.crt")
    ),
    loads=_loads,
)

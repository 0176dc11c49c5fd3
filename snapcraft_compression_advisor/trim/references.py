"""What leads to a file beside its own path: links, layouts, variables."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

from ..payload.inventory import Entry
from ..payload.source import Payload
from ..squashfs.entry import EntryKind
from .find import Trim

_IN_SNAP = re.compile(r"\$(?:SNAP|\{SNAP\})/(?P<path>[^:;,\s]+)")
_LEAST_NAMES = 3
"""What leads to ``usr/lib`` or ``usr/share`` means no directory there in particular."""

_LOADER_PATH = "LD_LIBRARY_PATH"
"""There, the loader looks for what files link or name, which is looked at elsewhere."""

_LINK, _LAYOUT = "the link {!r} leads to it", "a layout shows it at {!r}"
_VARIABLE = "the variable {} names it"


def references(payload: Payload) -> Mapping[str, str]:
    """Return the files and directories that something leads to, with what does.

    Links of libraries are left out: they go with the library. So are those of the same
    kind of place, such as from one manual page to another.
    """
    found: dict[str, str] = {}
    for path, what in _referrers(payload):
        if path.count("/") >= _LEAST_NAMES - 1:
            found.setdefault(path, what)
    return found


def _referrers(payload: Payload) -> Iterator[tuple[str, str]]:
    for entry in _links(payload):
        target = _target(entry)
        if not _goes_along(entry.path, target):
            yield target, _LINK.format(entry.path)
    for place, item in payload.snap.layout.items():
        yield from _named(" ".join(map(str, item.values())), _LAYOUT.format(place))
    for name, value in _variables(payload):
        if name == _LOADER_PATH:
            continue
        yield from _named(value, _VARIABLE.format(name))


def _named(text: str, what: str) -> Iterator[tuple[str, str]]:
    for match in _IN_SNAP.finditer(text):
        yield posixpath.normpath(match["path"]), what


def _variables(payload: Payload) -> Iterator[tuple[str, str]]:
    for environment in (
        payload.snap.environment,
        *(app.environment for app in payload.snap.apps.values()),
    ):
        yield from environment.items()


def with_referrers(trims: Sequence[Trim], known: Mapping[str, str]) -> tuple[Trim, ...]:
    """Return trims, those risky that something leads to.

    :param known: of :func:`references`.
    """
    return tuple(
        each
        if each.risk is not None
        else replace(each, risk=_referrer(each.path, known))
        for each in trims
    )


def _referrer(path: str, known: Mapping[str, str]) -> str | None:
    while path:
        if path in known:
            return known[path]
        path = posixpath.dirname(path)
    return None


def with_links(payload: Payload, paths: Collection[str]) -> frozenset[str]:
    """Return files with the links that go along with them, which would lead nowhere."""
    gone = set(paths)
    links = [
        (entry.path, target)
        for entry in _links(payload)
        for target in (_target(entry),)
        if _goes_along(entry.path, target)
    ]
    before = -1
    while before != len(gone):
        before = len(gone)
        gone.update(path for path, target in links if target in gone)
    return frozenset(gone)


def _links(payload: Payload) -> Iterator[Entry]:
    for entry in payload.inventory.entries.values():
        if entry.kind is EntryKind.SYMLINK:
            yield entry


def _target(link: Entry) -> str:
    """Return where a link leads, one step, as a path of the payload."""
    directory = posixpath.dirname(link.path)
    return posixpath.normpath(
        posixpath.join("/", directory, link.link_target or "")
    ).lstrip("/")


def _goes_along(link: str, target: str) -> bool:
    """Tell whether a link is there for its target's sake."""
    one, other = (path.split("/")[:_LEAST_NAMES] for path in (link, target))
    library = ".so" in posixpath.basename(link) and ".so" in posixpath.basename(target)
    return library or (one == other and len(other) == _LEAST_NAMES)

"""Tcl programs: their packages, and the scripts of Tcl's and Tk's libraries."""

from __future__ import annotations

import itertools
import posixpath
import re
from collections import deque
from typing import TYPE_CHECKING

from ...launch_set import BlindSpot
from .runtime import Loaded

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ....payload.inventory import Entry
    from .runtime import StartedApp

MAX_FILES = 1000
"""Scripts and packages' indices that are looked at."""

_REQUIRED = re.compile(
    rb"\bpackage[ \t]+require[ \t]+(?:-exact[ \t]+)?(?P<name>[\w:]+)"
)
_OFFERED = re.compile(
    rb"\bpackage[ \t]+ifneeded[ \t]+(?P<name>[\w:]+)(?P<how>(?:[^\n\\]|\\\n|\\.)*)"
)
_FILE = re.compile(rb"(?<![\w.+-])[\w.+-]{1,200}\.(?:tcl|itcl|tk|tm|so(?:\.[\d.]+)?)\b")
_SOURCED = re.compile(
    rb"^[ \t]*source[ \t]+[^\n;]{0,200}?(?P<file>(?<![\w./+-])[\w./+-]{1,99}\.\w{1,9})?"
    rb"[\])\"'}]{0,9}[ \t]{0,9}(?:;[^\n]*)?$",
    re.MULTILINE,
)
_COMPUTED = re.compile(rb"\bpackage[ \t]+require[ \t]+(?:-exact[ \t]+)?[$\[]")
_STARTS = re.compile(rb"\bexec[ \t]+(?:[$\[]|\{\*\})|\bopen[ \t]+\"?\|[ \t]*[$\[]")
_NO_WORDS = bytes.maketrans(b'{}[]();"', b" " * 8)
_LIBRARY = re.compile(r"(?:usr/)?lib/(?:[^/]+-linux-gnu/)?lib(?:tk|tcl)[^/]*\.so[^/]*")


class _Packages:
    """What a payload's ``pkgIndex.tcl`` files offer."""

    def __init__(self, app: StartedApp) -> None:
        self._file = app.file
        self._offered: dict[str, list[Entry]] = {}
        self._libraries: dict[str, list[Entry]] = {}
        for entry in app.files(""):
            if _LIBRARY.fullmatch(entry.path):
                self._libraries[posixpath.basename(entry.path)] = [entry]
        for index in itertools.islice(app.files("/pkgIndex.tcl"), MAX_FILES):
            folder = posixpath.dirname(index.path)
            for match in _OFFERED.finditer(app.source(index)):
                files = self._offered.setdefault(match["name"].decode(), [])
                for name in _FILE.findall(match["how"]):
                    files.extend(self.near(folder, name.decode()))

    def near(self, folder: str, name: str) -> list[Entry]:
        """Return the file of a name in a directory, or in one above it."""
        place = folder
        while True:  # Debian keeps packages' libraries in a directory above
            if entry := self._file(posixpath.join(place, name.lstrip("/"))):
                return [entry]
            if not place:
                return self._libraries.get(name, [])
            place = posixpath.dirname(place)

    def required(self, source: bytes, *, started: bool) -> Iterator[Entry]:
        """Yield the files of what a script requires.

        :param started: whether it is the program itself. If that requires packages by
            computed names, these are likely to be words of it.
        """
        names = [match["name"] for match in _REQUIRED.finditer(source)]
        if started and _COMPUTED.search(source):
            names.extend(dict.fromkeys(source.translate(_NO_WORDS).split()))
        for name in names:
            yield from self._offered.get(name.decode(errors="replace"), ())


def loads(app: StartedApp) -> Iterator[Loaded | BlindSpot]:
    """Yield the packages and scripts that scripts load, and what can't be known."""
    named = (app.scripts(name, ".tcl") for name in ("tclsh", "wish", "expect"))
    scripts = tuple(dict.fromkeys(itertools.chain(*named)))
    if not scripts:
        return
    packages = _Packages(app)
    pending = deque(scripts)
    seen = {script.path for script in scripts}
    names = {_stem(path) for path in seen}
    while pending and len(seen) <= MAX_FILES:
        script = pending.popleft()
        source = app.source(script)
        if b"\0" in source[:4096]:
            continue
        started = script in scripts
        found = [*packages.required(source, started=started)]
        folder = posixpath.dirname(script.path)
        for match in _SOURCED.finditer(source):
            if match["file"]:
                found.extend(packages.near(folder, match["file"].decode()))
        if started or _stem(script.path) in names:
            yield from _blind_spots(script, source)
        for entry in found:
            if entry.path not in seen:
                seen.add(entry.path)
                pending.append(entry)
                native = ".so" in posixpath.basename(entry.path)
                way = "tcl-library" if native else "tcl-module"
                yield Loaded(entry=entry, way=way)


def _stem(path: str) -> str:
    return posixpath.splitext(posixpath.basename(path))[0]


def _blind_spots(script: Entry, source: bytes) -> Iterator[BlindSpot]:
    """Yield what can't be known of a program's own script."""
    sourced = _SOURCED.finditer(source)
    if _COMPUTED.search(source) or not all(match["file"] for match in sourced):
        yield BlindSpot(reason="computed-import", where=script.path)
    if _STARTS.search(source):
        yield BlindSpot(reason="computed-program", where=script.path)

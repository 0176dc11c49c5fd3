"""Whether apps find libraries of the base and of content snaps without their own.

The loader looks in the folders of ``LD_LIBRARY_PATH``, then in the base's (ld.so(8)). A
content snap is in none of these by itself: snap.yaml or a shell script has to name a
folder below the plug's target. Of scripts, only what surely holds counts: not what
stands in a branch, a loop or a function. What may take folders away again counts
wherever it stands.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from ..core.units import KIB
from ..squashfs.entry import EntryKind
from .elf import TRIPLETS, readable_linkage
from .inventory import Entry, PathResolver
from .linkage import LIBRARY_PATH
from .snap_yaml import App
from .source import Payload
from .stack import ROOT, place_of, provides

SCRIPT_MAX_BYTES = 64 * KIB
"""snapcraft's desktop-launch has some 20 KiB."""
MOST_SCRIPTS = 16
"""That one app's commands run one after the other."""

TRIPLET = "<triplet>"
"""Stands for a variable with the name of the machine, under any name."""

_NAME = re.compile(r"\$(?:\{(\w+)\}|(\w+))")
_CONDITIONAL = re.compile(r"\$\{\w+:?[+-][^}]*\}")
_MACHINE = re.compile(r"(?!SNAP_ARCH$).*(?:ARCH|TRIPLET).*")
_ASSIGNMENT = re.compile(r"(?:export\s+)?(?P<name>\w+)=(?P<value>[^\s;&|()`]*)\s*")
_PATH = re.compile(r"[$/<][^\s:;,\"'()]*")
_OPENS = re.compile(r"(?:if|case|for|while|until|select|function)\b|.*[({]$")
_CLOSES = re.compile(r"(?:fi|esac|done)\b.*|[)}].*")
_ENDS = re.compile(r"exec\s+[^\s\d<>&]|exit\b|return\b")
_BRANCH = re.compile(r"&&|\|\||;;|\bthen\b|\bdo\b")
_TAKEN_AWAY = re.compile(
    rf"\bunset\b.*\b{LIBRARY_PATH}\b|-u\s*{LIBRARY_PATH}\b|\benv\s+-"
)
_SDK = re.compile(r".*-sdk(?:-.*)?")

_CLASSIC = "the loader of a classic snap doesn't look in its base"
_NOT_SEARCHED = "the library path of app {} doesn't lead to {!r}"
_ANEW = "{!r} may replace LD_LIBRARY_PATH"
_LACKING = "{} has no {!r}, which some file may load"


def place_of_supplier(payload: Payload, other: Payload) -> str | None:
    """Return where a snap's apps see another one; None if it is no provider.

    :returns: ``/`` for the base, else a plug's target, relative to ``$SNAP``. An SDK,
        which only builds use, is one only if a plug names it.
    """
    snap = payload.snap
    if other.snap.name == snap.base_name:
        return ROOT
    for name, plug in snap.plugs.items():
        wanted = (plug.default_provider or "").partition(":")[0]
        is_sdk = _SDK.fullmatch(other.snap.name) is not None
        if provides(other.snap, name, plug) and (
            not is_sdk or wanted == other.snap.name
        ):
            return place_of(plug)
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Replacement:
    """A library of another snap.

    :param place: where the apps see that snap.
    :param folder: in there, of the name by which the loader finds the file.
    """

    snap: Payload
    place: str
    folder: str
    file: Entry


class Reach:
    """Finds why an app may not find a library in another snap."""

    def __init__(self, payload: Payload) -> None:
        self._payload = payload
        self._resolver = PathResolver(payload.inventory, snap_name=payload.snap.name)
        self._paths: dict[str, Mapping[str, _Walk]] = {}

    def doubt(
        self, own: Entry, names: Collection[str], found: Replacement
    ) -> str | None:
        """Return why an app may not find a library that replaces its own.

        :param own: the payload's.
        :param names: of it and of links to it, in the loader's folders.
        :returns: None if each app finds it.
        """
        linkage = readable_linkage(self._payload, own)
        soname = (linkage and linkage.soname) or posixpath.basename(found.file.path)
        if found.place != ROOT:
            doubt = self._doubt_of_path(soname, found)
        else:
            classic = self._payload.snap.confinement == "classic"
            doubt = _CLASSIC if classic else None
        entries = found.snap.inventory.entries
        lacking = (
            _LACKING.format(found.snap.snap.name, name)
            for name in names
            # With all of its version, no program names it.
            if not name.startswith(f"{soname}.")
            and posixpath.join(found.folder, name) not in entries
        )
        return doubt or next(lacking, None)

    def _doubt_of_path(self, soname: str, found: Replacement) -> str | None:
        """Return the app whose loader doesn't look in a content snap's folder."""
        snap = found.snap
        resolver = PathResolver(snap.inventory, snap_name=snap.snap.name)
        triplet = next((each for each in TRIPLETS.values() if each in found.folder), "")
        for app, path in self._library_paths(found).items():
            folders = (each.replace(TRIPLET, triplet) for each in path.folders)
            if not any(
                resolver.locate(posixpath.join(rest, soname)).entry is found.file
                for folder in folders
                if (rest := self._below(found.place, folder))
            ):
                where = posixpath.join(found.place, found.folder)
                return _NOT_SEARCHED.format(app, where)
            if (anew := path.anew or self._setting_anew) is not None:
                return _ANEW.format(anew)
        return None

    def _below(self, place: str, folder: str) -> str | None:
        """Return a folder as a path of the snap at a place; None if it isn't there."""
        inside = self._resolver.in_payload(folder) if folder[:1] in "/$" else None
        start = f"{place}/" if place else ""
        within = inside is not None and f"{inside}/".startswith(start)
        return f"{inside}/"[len(start) :].rstrip("/") or "." if within else None

    def _library_paths(self, found: Replacement) -> Mapping[str, _Walk]:
        """Return the library path of each app."""
        name, snap = found.snap.snap.name, self._payload.snap
        if name not in self._paths:
            others = {found.place: found.snap}
            self._paths[name] = {
                app: _walk(self._payload, each, others)
                for app, each in snap.apps.items()
            }
        return self._paths[name]

    @cached_property
    def _setting_anew(self) -> str | None:
        """A script in another language than shell that may set the library path."""
        for entry in self._payload.inventory.files():
            text = script_text(self._payload, entry) if entry.executable else None
            if text and LIBRARY_PATH in text and "sh" not in text.partition("\n")[0]:
                return entry.path
        return None


@dataclass(kw_only=True)
class _Walk:
    """Follows an app's scripts from one to the next.

    :param others: content snaps by their place, whose wrappers count as well.
    :param folders: of the library path, other variables than ``$SNAP`` replaced.
    :param anew: a script that may drop some of them; None if there is none.
    """

    payload: Payload
    others: Mapping[str, Payload]
    variables: dict[str, str]
    folders: list[str] = field(default_factory=list)
    anew: str | None = None
    seen: set[str] = field(default_factory=set)

    def follow(self, path: str) -> None:
        """Read a script, and those that it surely runs."""
        text = None if path in self.seen else self._script(path)
        if text is None or len(self.seen) >= MOST_SCRIPTS:
            return
        self.seen.add(path)
        depth = 0
        for raw_line in text.splitlines():
            line = raw_line.strip()
            if line.startswith("#"):
                continue
            depth -= _CLOSES.fullmatch(line) is not None
            opens = _OPENS.match(line) is not None and not line.endswith(
                ("fi", "esac", "done")
            )
            certain = depth <= 0 and not opens and not _BRANCH.search(line)
            self._take(path, line, certain=certain)
            if certain and _ENDS.match(line):
                return
            depth += opens

    def _take(self, path: str, line: str, *, certain: bool) -> None:
        """Take what a line of a script says."""
        assigned = _ASSIGNMENT.fullmatch(line.replace('"', "").replace("'", ""))
        if assigned and certain:
            self.variables[assigned["name"]] = assigned["value"]
        anew = f"{LIBRARY_PATH}=" in line and line.count(LIBRARY_PATH) == 1
        if anew or _TAKEN_AWAY.search(line):
            self.anew = path
        for word in _PATH.findall(self.expanded(line)) if certain else ():
            if LIBRARY_PATH in line:
                self.folders.append(word)
            self.follow(word)

    def expanded(self, text: str) -> str:
        """Return a text with its variables replaced, but ``$SNAP``."""
        text = _CONDITIONAL.sub("", text)
        for _ in range(3):  # a variable in a variable in a variable
            text = _NAME.sub(self._value, text)
        return text

    def _value(self, found: re.Match[str]) -> str:
        name = found[1] or found[2]
        if name == "SNAP":
            return "$SNAP"
        if _MACHINE.fullmatch(name):
            return TRIPLET
        return self.variables.get(name, f"$?{name}")

    def _script(self, path: str) -> str | None:
        """Return the text of a shell script; None for any other file."""
        inside = posixpath.normpath(path.removeprefix("$SNAP/"))
        for place, snap in (("", self.payload), *self.others.items()):
            start = f"{place}/" if place else ""
            resolver = PathResolver(snap.inventory, snap_name=snap.snap.name)
            own = inside.removeprefix(start) if inside.startswith(start) else ""
            if entry := resolver.locate(own).entry:
                return script_text(snap, entry)
        return None


def _walk(payload: Payload, app: App, others: Mapping[str, Payload]) -> _Walk:
    """Return the walk through an app's commands."""
    variables = {**payload.snap.environment, **app.environment}
    walk = _Walk(payload=payload, others=others, variables=variables)
    walk.folders += map(walk.expanded, variables.get(LIBRARY_PATH, "").split(":"))
    for command in (*app.command_chain, app.command or ""):
        walk.follow(command.partition(" ")[0])
    return walk


def script_text(payload: Payload, entry: Entry) -> str | None:
    """Return the text of a script; None for any other file, or a very long one."""
    if entry.kind is not EntryKind.FILE or not 2 < entry.size_bytes <= SCRIPT_MAX_BYTES:  # noqa: PLR2004 # "#!"
        return None
    if payload.read(entry.path, offset=0, length=2) != b"#!":
        return None
    text = payload.read(entry.path, offset=0, length=entry.size_bytes)
    return text.decode("utf-8", "replace")

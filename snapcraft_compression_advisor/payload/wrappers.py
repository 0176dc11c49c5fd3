"""The ``LD_LIBRARY_PATH`` that snap.yaml and shell scripts give to an app.

Only what surely holds counts: not what stands in a branch, a loop or a function. What
may take folders away again counts wherever it stands.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from ..core.units import KIB
from ..squashfs.entry import EntryKind
from .inventory import Entry
from .paths import PathResolver
from .snap_yaml import App
from .source import Payload

LIBRARY_PATH = "LD_LIBRARY_PATH"
SCRIPT_MAX_BYTES = 64 * KIB
"""snapcraft's desktop-launch has some 20 KiB."""
MOST_SCRIPTS = 16
"""That one app's commands run one after the other."""

TRIPLET = "<triplet>"
"""Stands for a variable with the name of the machine, whatever a script calls it."""

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


@dataclass(frozen=True, slots=True, kw_only=True)
class LibraryPath:
    """If an app's loader looks beside its own default folders.

    :param folders: as they are named, other variables than ``$SNAP`` replaced.
    :param anew: a script that may drop some of them; None if there is none.
    """

    folders: tuple[str, ...]
    anew: str | None


def library_path_of(
    payload: Payload, app: App, others: Mapping[str, Payload]
) -> LibraryPath:
    """Return the library path of an app.

    :param others: content snaps by their place, whose wrappers count as well.
    """
    walk = _Walk(payload, others, {**payload.snap.environment, **app.environment})
    for command in (*app.command_chain, app.command or ""):
        walk.follow(command.partition(" ")[0])
    return LibraryPath(folders=tuple(walk.folders), anew=walk.anew)


@dataclass
class _Walk:
    """Follows scripts from one to the next."""

    payload: Payload
    others: Mapping[str, Payload]
    variables: dict[str, str]
    folders: list[str] = field(default_factory=list)
    anew: str | None = None
    seen: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.folders += self.variables.get(LIBRARY_PATH, "").split(":")
        self.folders = [self._expanded(each) for each in self.folders]

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
        if LIBRARY_PATH in line or _TAKEN_AWAY.search(line):
            anew = f"{LIBRARY_PATH}=" in line and line.count(LIBRARY_PATH) == 1
            if anew or _TAKEN_AWAY.search(line):
                self.anew = path
        for word in _PATH.findall(self._expanded(line)) if certain else ():
            if LIBRARY_PATH in line:
                self.folders.append(word)
            self.follow(word)

    def _expanded(self, text: str) -> str:
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
        for place, snap in ((None, self.payload), *self.others.items()):
            own = inside if place is None else _below(place, inside)
            entry = (
                own
                and PathResolver(snap.inventory, snap_name=snap.snap.name)
                .locate(own)
                .entry
            )
            if entry:
                return script_text(snap, entry)
        return None


def _below(place: str, path: str) -> str | None:
    return path[len(place) + 1 :] if path.startswith(f"{place}/") else None


def script_text(payload: Payload, entry: Entry) -> str | None:
    """Return the text of a script; None for any other file, or a very long one."""
    if entry.kind is not EntryKind.FILE or not 2 < entry.size_bytes <= SCRIPT_MAX_BYTES:  # noqa: PLR2004 # "#!"
        return None
    if payload.read(entry.path, offset=0, length=2) != b"#!":
        return None
    text = payload.read(entry.path, offset=0, length=entry.size_bytes)
    return text.decode("utf-8", "replace")


def scripts(payload: Payload) -> Iterator[tuple[Entry, str]]:
    """Yield the payload's scripts with their texts."""
    for entry in payload.inventory.files():
        if entry.executable and (text := script_text(payload, entry)) is not None:
            yield entry, text

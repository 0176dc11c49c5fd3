"""What an isolated launch sees of this machine, and what isolates it.

Such a launch has no network, a home and a /tmp of its own, a session bus without
services where there is a dbus-daemon, and the payload read-only
at ``/snap/NAME/x1``, where programs with built-in paths expect it. The rest of this
machine is read-only, and stands in for the base. /sys, /run with its buses, and the
homes of people are hidden. This guards against accidents, not against an attacker.
"""

from __future__ import annotations

import os
import posixpath
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import field
from pathlib import Path
from typing import Any, Literal

from ..core.frozen import frozen
from .mount import may_administer
from .snap_environment import INSIDE, REVISION, expand

IsolatedBy = Literal["bubblewrap", "namespaces"]
Step = tuple[str, ...]
"""An option of bwrap(1) without its hyphens, and its arguments."""

BUBBLEWRAP = "bwrap"
_HIDDEN = (
    "boot", "dev", "home", "lost+found", "media", "mnt", "proc", "root", "run", "snap",
    "srv", "sys", "tmp",
)  # fmt: skip
"""Directories of the root that an isolated launch doesn't see."""
_FRESH = ("/home", "/root", "/run", "/sys", "/tmp")  # noqa: S108 # in a root of its own
BUS_SOCKET = "/run/compression-advisor-bus"
"""Where an isolated launch finds its session bus."""
_BENEATH = "/.beneath"
"""Shows directories of the machine that a layout puts something into."""
_KEPT_CAPABILITIES = ("CHOWN", "DAC_OVERRIDE", "FOWNER", "KILL", "SETGID", "SETUID")
"""What services that run as root need, all of it within what they see."""
_KEPT_VARIABLES = re.compile(
    r"(?:DISPLAY|HOME|LANG|LANGUAGE|LC_\w+|PATH|SNAP\w*|TERM|TZ|XAUTHORITY|"
    r"XDG_RUNTIME_DIR)"
)
_LOCAL_DISPLAY = re.compile(r"(?:unix/?)?:([0-9]+)(?:\.[0-9]+)?")
_SNAP_NAME = re.compile(r"[a-z0-9-]+")


@frozen
class Isolation:
    """How a launch is isolated.

    :param base: whose files this machine stands in for.
    :param layout: of snap.yaml; where each path leads.
    :param bus: where a session bus of its own listens, if there is one.
    :param machine: the root that is shown read-only: this machine's, or a mounted base.
    :param contents: mounted content snaps, by their places relative to the payload,
        which are directories of it.
    """

    by: IsolatedBy
    base: str = ""
    layout: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    bus: Path | None = None
    machine: Path = Path("/")
    contents: Mapping[str, Path] = field(default_factory=dict)


def snap_directory(name: str) -> str:
    """Return where an isolated launch sees the payload."""
    return f"/snap/{name if _SNAP_NAME.fullmatch(name) else 'snap'}/{REVISION}"


def is_visible(variable: str) -> bool:
    """Tell whether an isolated launch sees a variable, beside those of its snap.

    Buses, agents and secrets of whoever records stay outside.
    """
    return _KEPT_VARIABLES.fullmatch(variable) is not None


def bubblewrap_words(
    steps: Iterable[Step], *, added: Mapping[str, str], directory: str
) -> list[str]:
    """Return the words before a command that isolate it by bubblewrap.

    The System V memory stays shared: X clients pass pictures to the server in it.

    :param added: variables that are the command's alone, not bubblewrap's.
    """
    program = shutil.which(BUBBLEWRAP) or BUBBLEWRAP
    words = [program, "--unshare-net", "--unshare-pid", "--chdir", directory]
    if may_administer():
        words += ["--cap-drop", "ALL"]
        for name in _KEPT_CAPABILITIES:
            words += ["--cap-add", f"CAP_{name}"]
    else:
        words.append("--unshare-user")
    for name, *arguments in steps:
        words += [f"--{name}", *arguments]
    for key, value in added.items():
        words += ["--setenv", key, value]
    return [*words, "--"]


def isolation_steps(
    isolation: Isolation, *, name: str, root: Path, home: Path, socket: str | None
) -> list[Step]:
    """Return what makes up the root directory of an isolated launch.

    :param name: of the snap.
    :param root: the payload's directory or mount.
    :param home: what the launch may write to.
    :param socket: of the display, if there is one.
    """
    snap = snap_directory(name)
    steps = [*_machine(isolation.machine), ("proc", "/proc"), ("dev", "/dev")]
    steps += (("dir", path) for path in _FRESH)
    steps += (("tmpfs", "/var/tmp"),)  # noqa: S108 # in a root of its own
    steps += _other_snaps(posixpath.dirname(snap), isolation.base)
    steps += [
        ("ro-bind", str(root.absolute()), snap),
        ("symlink", REVISION, f"{posixpath.dirname(snap)}/current"),
        ("bind", str(home), INSIDE),
    ]
    for place, content in isolation.contents.items():
        steps.append(("ro-bind", str(content.absolute()), f"{snap}/{place}"))
    if socket is not None:
        steps.append(("ro-bind", socket, socket))
    if isolation.bus is not None:
        steps.append(("ro-bind", str(isolation.bus), BUS_SOCKET))
    layout = _Layout(
        snap=snap, root=root.resolve(), home=home, machine=isolation.machine
    )
    return [*steps, *layout.steps(isolation.layout)]


def _machine(root: Path) -> Iterator[Step]:
    """Yield the directories of this machine's root, or a base's, as far as shown."""
    for path in sorted(root.iterdir()):
        if path.name in _HIDDEN:
            continue
        if path.is_symlink():
            yield "symlink", str(path.readlink()), f"/{path.name}"
        elif path.is_dir():
            yield "ro-bind", str(path), f"/{path.name}"


def _other_snaps(own: str, base: str) -> Iterator[Step]:
    """Yield the snaps of this machine, and a base where none is installed.

    Programs of classic snaps name the base's loader by its path in ``/snap``.
    """
    installed = sorted(Path("/snap").iterdir()) if Path("/snap").is_dir() else []
    for path in installed:
        if path.is_dir() and not path.is_symlink() and str(path) != own:
            yield "ro-bind", str(path), str(path)
    if _SNAP_NAME.fullmatch(base) and not Path("/snap", base).exists():
        yield "symlink", "/", f"/snap/{base}/current"


def display_socket(display: str) -> str | None:
    """Return where a display of this machine listens, ``None`` for one elsewhere.

    Without a network, no other can be reached.
    """
    found = _LOCAL_DISPLAY.fullmatch(display)
    return f"/tmp/.X11-unix/X{found[1]}" if found else None  # noqa: S108 # X11's own


@frozen
class _Layout:
    """Puts the layouts of snap.yaml in their places, as snapd does.

    Into a directory of the machine or of the payload, which is read-only, nothing can
    be put: an empty one takes its place, with links to all that was in it.

    :param root: the payload, no link.
    :param machine: what is shown as the root.
    """

    snap: str
    root: Path
    home: Path
    machine: Path

    def steps(self, layout: Mapping[str, Mapping[str, Any]]) -> list[Step]:
        """Return the steps of all layouts that are what snapd takes."""
        placed: dict[str, Step] = {}
        opened: set[str] = set()
        for target, how in layout.items():
            # No path at all, or in a directory that this user can't enter.
            with suppress(OSError, ValueError):
                place = self._expanded(target)
                is_path = posixpath.isabs(place) and "\0" not in place
                step = self._step(how, place) if is_path else None
                if step is not None:
                    opened.add(self._to_open(step))
                    placed[step[-1]] = step
        taken = {*opened, *placed}
        openings: list[Step] = []
        for path in sorted(opened - {"/"}):
            with suppress(OSError):
                openings += self._open(path, taken)
        return [*openings, *(placed[target] for target in sorted(placed))]

    def _step(self, how: Mapping[str, Any], target: str) -> Step | None:
        parent, name = posixpath.split(target)
        if not name:
            return None
        if not self._is_within(parent, self.snap):
            target = posixpath.join(self._real(parent), name)
        if how.get("type") == "tmpfs":
            return "tmpfs", target
        if "symlink" in how:
            return "symlink", self._expanded(str(how["symlink"])), target
        for key in ("bind", "bind-file"):
            if key in how:
                return self._bound(self._expanded(str(how[key])), target, key)
        return None

    def _bound(self, source: str, target: str, key: str) -> Step | None:
        """Return the step that shows a file of the payload or of the home."""
        if self._is_within(source, INSIDE):
            path = Path(str(self.home) + source.removeprefix(INSIDE))
            (path if key == "bind" else path.parent).mkdir(parents=True, exist_ok=True)
            if key == "bind-file":
                path.touch()
            return "bind", str(path), target
        backing = self._backing(source)
        if not self._is_within(source, self.snap) or not backing.exists():
            return None
        if not backing.resolve().is_relative_to(self.root):  # a link that leaves it
            return None
        return "ro-bind", str(backing.resolve()), target

    def _to_open(self, step: Step) -> str:
        """Return the directory that a step needs to put something into.

        :returns: ``/`` for none: it is fresh, and so are those that aren't shown.
        """
        kind, target = step[0], step[-1]
        backing = self._backing(target)
        is_place = backing.is_dir() if kind == "tmpfs" else _is_alike(step, backing)
        directory = posixpath.dirname(target)
        if is_place and not backing.is_symlink():
            return "/"
        while not self._backing(directory).is_dir():
            directory = posixpath.dirname(directory)
        is_fresh = directory.split("/")[1] in _HIDDEN
        return (
            "/" if is_fresh and not self._is_within(directory, self.snap) else directory
        )

    def _open(self, directory: str, taken: set[str]) -> Iterator[Step]:
        beneath = f"{_BENEATH}{directory}"
        backing = self._backing(directory)
        yield "ro-bind", str(backing), beneath
        yield "tmpfs", directory
        for path in sorted(backing.iterdir()):
            place = f"{directory}/{path.name}"
            if any(each.startswith(f"{place}/") for each in taken):
                yield "ro-bind", str(path), place
            elif place not in taken:
                is_link = path.is_symlink()
                leads_to = path.readlink() if is_link else Path(beneath, path.name)
                yield "symlink", str(leads_to), place

    def _backing(self, path: str) -> Path:
        """Return what of this machine a launch sees at some place."""
        if self._is_within(path, self.snap):
            return Path(str(self.root) + path.removeprefix(self.snap))
        return self.machine / path.lstrip("/")

    def _real(self, directory: str) -> str:
        """Return where a directory of the machine's really is, links followed."""
        machine = self.machine.resolve()
        found = Path(os.path.realpath(machine / directory.lstrip("/")))
        if not found.is_relative_to(machine):  # a base's absolute link
            return directory
        return posixpath.normpath(f"/{found.relative_to(machine)}")

    def _expanded(self, text: str) -> str:
        places = {
            "SNAP": self.snap,
            "SNAP_DATA": f"{INSIDE}/data",
            "SNAP_COMMON": f"{INSIDE}/common",
        }
        return posixpath.normpath(expand(text, places))

    @staticmethod
    def _is_within(path: str, directory: str) -> bool:
        return path == directory or path.startswith(f"{directory}/")


def _is_alike(step: Step, backing: Path) -> bool:
    """Tell whether what is there can be covered by what a step binds."""
    if step[0] == "symlink":
        return False
    source = Path(step[1])
    return source.is_dir() == backing.is_dir() and backing.exists()


def has_bubblewrap() -> bool:
    """Tell whether bubblewrap is installed."""
    return shutil.which(BUBBLEWRAP) is not None

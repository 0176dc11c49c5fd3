"""What a launch sees of this machine, and what keeps it from all else: bubblewrap.

Such a launch has namespaces of its own (user, mounts, processes, IPC, host name,
control groups, network), no capability, and is never root: root's launches are those
of another user. It sees a home and a /tmp of its own, a session bus without services
if there is a dbus-daemon, and the payload at ``/snap/NAME/x1``, where programs with
built-in paths expect it. The rest of this machine is read-only and stands in for the
base. /sys, /run with its buses, and the homes of people are hidden.
"""

from __future__ import annotations

import os
import posixpath
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .snap_environment import HOME_DIRECTORIES, INSIDE, REVISION, expand

Step = tuple[str, ...]
"""An option of bwrap(1) without its hyphens, and its arguments."""

BUBBLEWRAP = "bwrap"
LAUNCH_USER = 65534
"""Whose launches root's are (``nobody`` and ``nogroup``): to the kernel, even a root
without capabilities may write /proc/sys and read all that belongs to root."""
SHOWN = "/sys"
"""Where root shows its launches what other users couldn't reach, in a mount namespace
of the starter's own. It is there on every machine, and launches don't see it."""
USER_NAMESPACE = "\0user-namespace"
"""Stands for the descriptor of root's user namespace, which the starter makes."""
INFORMATION = "\0information"
"""Stands for the descriptor on which bubblewrap names a launch's first process."""

_HIDDEN = (
    "boot", "dev", "home", "lost+found", "media", "mnt", "proc", "root", "run", "snap",
    "srv", "sys", "tmp",
)  # fmt: skip
"""Directories of the root that a launch doesn't see."""
_FRESH = ("/home", "/root", "/run", "/sys")
_WRITABLE = ("/tmp", "/var/tmp", "/dev/shm")  # noqa: S108 # in a root of its own
_WRITABLE_BYTES = 256 * 1024 * 1024
"""What a launch may write to each of these; what it writes beside them, to its home."""
BUS_SOCKET = "/run/compression-advisor-bus"
"""Where a launch finds its session bus."""
AUTHORITY = "/run/compression-advisor-authority"
"""Where a launch finds the key to its display."""
_MACHINE_ID = "/etc/machine-id"
"""snapd shows a snap the host's /etc; without this file, clients of D-Bus abort."""
_BENEATH = "/.beneath"
"""Shows directories of the machine that a layout puts something into."""
_WITHOUT_LAYOUTS = ("", ".beneath", "dev", "proc", "run", "snap", "sys")
"""Directories of the root that layouts put nothing into; snapd refuses most of them."""
_MOST_LINKS = 40
"""That lead to one place; the kernel follows as many."""
_LOCAL_DISPLAY = re.compile(r"(?:unix/?)?:([0-9]+)(?:\.[0-9]+)?")
_SNAP_NAME = re.compile(r"[a-z0-9-]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Isolation:
    """How a launch is isolated.

    :param base: whose files this machine stands in for.
    :param layout: of snap.yaml; where each path leads.
    :param bus: where a session bus of its own listens, if there is one.
    :param machine: the root that is shown read-only: this machine's, or a mounted base.
    :param contents: mounted content snaps, by their places relative to the payload,
        which are directories of it.
    """

    base: str = ""
    layout: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    bus: Path | None = None
    machine: Path = Path("/")
    contents: Mapping[str, Path] = field(default_factory=dict)


class Sources:
    """Files of the machine by the paths that bubblewrap reaches them by.

    Root's launches are another user's, who may reach no directory above them.

    :ivar shown: what the starter shows in ``SHOWN``, by number.
    """

    def __init__(self) -> None:
        self.shown: list[str] = []
        self._is_root = is_root()

    def place(self, path: Path) -> str:
        """Return the path by which bubblewrap reaches a file or directory."""
        real = str(path.resolve())
        if not self._is_root:
            return real
        if real == "/":
            return ""
        if real not in self.shown:
            self.shown.append(real)
        return f"{SHOWN}/{self.shown.index(real)}"


def is_root() -> bool:
    """Whether launches are of another user, since this one is root."""
    return os.geteuid() == 0


def launch_user() -> int:
    """Return whose an isolated launch is."""
    return LAUNCH_USER if is_root() else os.geteuid()


def snap_directory(name: str) -> str:
    """Return where an isolated launch sees the payload."""
    return f"/snap/{name if _SNAP_NAME.fullmatch(name) else 'snap'}/{REVISION}"


def bubblewrap_words(
    steps: Sequence[Step], *, added: Mapping[str, str], directory: str
) -> list[str]:
    """Return the words before a command that isolate it.

    :param steps: that make up its root directory.
    :param added: variables that are the command's alone, not bubblewrap's.
    """
    words = [
        shutil.which(BUBBLEWRAP) or BUBBLEWRAP,
        "--unshare-net", "--unshare-pid", "--unshare-ipc", "--unshare-uts",
        "--unshare-cgroup-try", "--new-session", "--info-fd", INFORMATION,
    ]  # fmt: skip
    if is_root():
        user = str(LAUNCH_USER)
        # Of no use to --block-fd, which closes it: the command doesn't inherit it.
        words += ["--userns", USER_NAMESPACE, "--block-fd", USER_NAMESPACE]
        words += ["--uid", user, "--gid", user]
    else:
        words.append("--unshare-user")
    for name, *arguments in steps:
        words += [f"--{name}", *arguments]
    for key, value in added.items():
        words += ["--setenv", key, value]
    return [*words, "--chdir", directory, "--"]


def isolation_steps(  # noqa: PLR0913 # keywords: what one launch is shown
    isolation: Isolation,
    sources: Sources,
    *,
    name: str,
    root: Path,
    home: Path,
    socket: str | None = None,
    authority: Path | None = None,
) -> list[Step]:
    """Return the mounts of the root directory of an isolated launch.

    :param name: of the snap.
    :param root: the payload's directory or mount.
    :param home: what the launch may write to.
    :param socket: of the display, if there is one.
    :param authority: file with the key to the display, if there is one.
    """
    snap = snap_directory(name)
    machine = sources.place(isolation.machine).rstrip("/")
    steps = [*_machine(isolation.machine, machine)]
    steps += [("proc", "/proc"), ("dev", "/dev"), *(("dir", path) for path in _FRESH)]
    for path in _WRITABLE:
        # A base's may be a link, which bubblewrap would follow.
        if path != "/var/tmp" or _is_plain(isolation.machine, "var", "tmp"):  # noqa: S108 # as above
            steps += [("size", str(_WRITABLE_BYTES)), ("tmpfs", path)]
    steps += _other_snaps(posixpath.dirname(snap), isolation.base)
    steps += [
        ("ro-bind", sources.place(root), snap),
        ("symlink", REVISION, f"{posixpath.dirname(snap)}/current"),
    ]
    for each in HOME_DIRECTORIES:
        steps.append(("bind", sources.place(home / each), f"{INSIDE}/{each}"))
    for place, content in isolation.contents.items():
        steps.append(("ro-bind", sources.place(content), f"{snap}/{place}"))
    if socket is not None:
        steps.append(("ro-bind", socket, socket))
    if isolation.bus is not None:
        steps.append(("ro-bind", sources.place(isolation.bus), BUS_SOCKET))
    if authority is not None:
        steps.append(("ro-bind", sources.place(authority), AUTHORITY))
    has_id = isolation.machine != Path("/") and Path(_MACHINE_ID).is_file()
    layout = _Layout(
        snap=snap,
        root=root.resolve(),
        shown_root=sources.place(root),
        machine=isolation.machine.resolve(),
        shown_machine=machine,
        shown_id=sources.place(Path(_MACHINE_ID)) if has_id else None,
    )
    steps += layout.steps(isolation.layout)
    return [*steps, ("remount-ro", "/dev"), ("remount-ro", "/")]


def _machine(root: Path, shown: str) -> Iterator[Step]:
    """Yield the directories of this machine's root, or a base's, as far as shown."""
    for path in sorted(root.iterdir()):
        if path.name in _HIDDEN:
            continue
        if path.is_symlink():
            yield "symlink", str(path.readlink()), f"/{path.name}"
        elif path.is_dir():
            yield "ro-bind", f"{shown}/{path.name}", f"/{path.name}"


def _other_snaps(own: str, base: str) -> Iterator[Step]:
    """Yield what shows this machine's snaps, and a base if none is installed.

    Programs of classic snaps name the base's loader by its path in ``/snap``.
    """
    installed = sorted(Path("/snap").iterdir()) if Path("/snap").is_dir() else []
    for path in installed:
        if path.is_dir() and not path.is_symlink() and str(path) != own:
            yield "ro-bind", str(path), str(path)
    if _SNAP_NAME.fullmatch(base) and not Path("/snap", base).exists():
        yield "symlink", "/", f"/snap/{base}/current"


def display_socket(display: str) -> str | None:
    """Return where a display of this machine listens; others can't be reached."""
    found = _LOCAL_DISPLAY.fullmatch(display)
    return f"/tmp/.X11-unix/X{found[1]}" if found else None  # noqa: S108 # X11's own


@dataclass(frozen=True, slots=True, kw_only=True)
class _Layout:
    """Puts the layouts of snap.yaml in their places, as snapd does.

    What leads to the home is a link: nothing that an earlier launch may have left
    there is followed but by the launch itself. Into a directory of the machine or of
    the payload, which is read-only, nothing can be put: an empty one takes its place,
    with links to all that was in it.

    ``root`` is the payload, ``machine`` what is shown as the root; ``shown_root`` and
    ``shown_machine`` are the paths that bubblewrap reaches them by, as is ``shown_id``
    of this machine's id, if a base is the root.
    """

    snap: str
    root: Path
    shown_root: str
    machine: Path
    shown_machine: str
    shown_id: str | None

    def steps(self, layout: Mapping[str, Mapping[str, Any]]) -> list[Step]:
        """Return bubblewrap's steps for the layouts that snapd accepts."""
        placed: dict[str, Step] = {}
        opened: set[str] = set()
        for target, how in layout.items():
            # No path at all, or in a directory that this user can't enter.
            with suppress(OSError, ValueError):
                place = self._place(expanded(target, self.snap))
                step = None if place is None else self._step(how, place)
                if step is not None:
                    placed[step[-1]] = step
        if self.shown_id is not None:
            placed.setdefault(_MACHINE_ID, ("ro-bind", self.shown_id, _MACHINE_ID))
        for target in sorted(placed):
            # snapd refuses one within another, and bubblewrap would follow its links.
            if any(_is_within(target, each) for each in placed if each != target):
                del placed[target]
        for step in placed.values():
            with suppress(OSError):
                opened.add(self._to_open(step))
        taken = {*opened, *placed}
        openings: list[Step] = []
        for path in sorted(opened - {"/"}):
            with suppress(OSError):
                openings += self._open(path, taken)
        closings = (("remount-ro", path) for path in sorted(opened - {"/"}))
        return [*openings, *(placed[target] for target in sorted(placed)), *closings]

    def _place(self, target: str) -> str | None:
        """Return a target with its parents' links followed; None if snapd refuses it.

        bubblewrap would follow them itself, out of the root that it makes.
        """
        if not posixpath.isabs(target) or "\0" in target:
            return None
        *pending, name = target.split("/")[1:]
        found, links = "", 0
        while pending:
            part = pending.pop(0)
            if part == "..":
                found = posixpath.dirname(found).rstrip("/")
                continue
            backing = self._backing(f"{found}/{part}")
            if part in {"", "."} or not backing.is_symlink():
                found += f"/{part}" if part not in {"", "."} else ""
                continue
            leads_to, links = str(backing.readlink()), links + 1
            if links > _MOST_LINKS:
                return None
            found = "" if leads_to.startswith("/") else found
            pending = [*leads_to.split("/"), *pending]
        place = f"{found}/{name}"
        is_refused = place.split("/")[1] in _WITHOUT_LAYOUTS
        is_inside = place.startswith(f"{self.snap}/")
        return None if not name or (is_refused and not is_inside) else place

    def _step(self, how: Mapping[str, Any], target: str) -> Step | None:
        if how.get("type") == "tmpfs":
            return "symlink", f"{INSIDE}/{temporary_layout(target)}", target
        if "symlink" in how:
            return "symlink", expanded(str(how["symlink"]), self.snap), target
        for key in ("bind", "bind-file"):
            if key in how:
                return self._bound(expanded(str(how[key]), self.snap), target)
        return None

    def _bound(self, source: str, target: str) -> Step | None:
        """Return the step that shows a file of the payload or of the home."""
        if _is_within(source, INSIDE):
            return "symlink", source, target
        backing = self._backing(source)
        if not _is_within(source, self.snap) or not backing.exists():
            return None
        real = backing.resolve()
        if not real.is_relative_to(self.root):  # a link that leaves it
            return None
        shown = posixpath.join(self.shown_root, real.relative_to(self.root))
        return "ro-bind", posixpath.normpath(shown), target

    def _to_open(self, step: Step) -> str:
        """Return the directory that a step has to put something into.

        That is ``/`` for none: it is fresh, and so are those that aren't shown.
        """
        target = step[-1]
        directory = posixpath.dirname(target)
        if step[0] != "symlink":
            source = self.root / posixpath.relpath(step[1], self.shown_root)
            backing = self._backing(target)
            is_place = backing.exists() and source.is_dir() == backing.is_dir()
            if is_place and not backing.is_symlink():
                return "/"
        while not self._backing(directory).is_dir():
            directory = posixpath.dirname(directory)
        is_fresh = directory.split("/")[1] in _HIDDEN
        return "/" if is_fresh and not _is_within(directory, self.snap) else directory

    def _open(self, directory: str, taken: set[str]) -> Iterator[Step]:
        beneath = f"{_BENEATH}{directory}"
        backing, shown = self._backing(directory), self._shown(directory)
        yield "ro-bind", shown, beneath
        yield "tmpfs", directory
        for path in sorted(backing.iterdir()):
            place = f"{directory}/{path.name}"
            if any(each.startswith(f"{place}/") for each in taken):
                yield "ro-bind", f"{shown}/{path.name}", place
            elif place not in taken:
                is_link = path.is_symlink()
                leads_to = path.readlink() if is_link else Path(beneath, path.name)
                yield "symlink", str(leads_to), place

    def _backing(self, path: str) -> Path:
        """Return the path of this machine that a launch sees at some place."""
        if _is_within(path, self.snap):
            return Path(str(self.root) + path.removeprefix(self.snap))
        return self.machine / path.lstrip("/")

    def _shown(self, path: str) -> str:
        """Return the same by the path that bubblewrap reaches it by."""
        if _is_within(path, self.snap):
            return self.shown_root + path.removeprefix(self.snap)
        return self.shown_machine + path


def expanded(text: str, snap: str) -> str:
    """Return a path of a layout as a launch sees it.

    :param snap: where that sees the payload.
    """
    places = {
        "SNAP": snap,
        "SNAP_DATA": f"{INSIDE}/data",
        "SNAP_COMMON": f"{INSIDE}/common",
    }
    return posixpath.normpath(expand(text, places))


def home_places(layout: Mapping[str, Mapping[str, Any]], name: str) -> Iterator[str]:
    """Yield directories that layouts of a snap lead to, relative to the home."""
    snap = snap_directory(name)
    for target, how in layout.items():
        if how.get("type") == "tmpfs":
            yield temporary_layout(expanded(target, snap))
        elif "bind" in how:
            source = expanded(str(how["bind"]), snap)
            if _is_within(source, INSIDE):
                yield source.removeprefix(INSIDE).strip("/")


def temporary_layout(target: str) -> str:
    """Return the directory of the home, relative to it, that a ``tmpfs`` is."""
    return f"layouts/{target.strip('/').replace('/', '-')}"


def _is_plain(root: Path, *names: str) -> bool:
    """Whether a directory is there, and no name of its path is a link."""
    paths = [root.joinpath(*names[: end + 1]) for end in range(len(names))]
    return all(path.is_dir() and not path.is_symlink() for path in paths)


def _is_within(path: str, directory: str) -> bool:
    return path == directory or path.startswith(f"{directory}/")

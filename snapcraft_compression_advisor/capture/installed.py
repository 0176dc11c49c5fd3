"""Finds an installed snap, the snaps that its apps run on, and how they are started.

snapd mounts each revision's image at ``/snap/NAME/REVISION``; a parallel instance's
name is ``NAME_KEY`` there. What it shows of content snaps inside of an app's own
directory stands in ``/var/lib/snapd/mount/snap.NAME.fstab``.

An app belongs to a user: if the advisor runs under sudo, that is whoever called it.
"""

from __future__ import annotations

import os
import pwd
import re
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from ..core.errors import AdvisorError, NoInputError, ToolError, UsageError
from ..core.scratch import unescaped
from ..payload.snap_yaml import SnapMetadata
from ..payload.source import Payload, open_payload
from ..payload.stack import Role
from ..squashfs.image import Image
from .page_cache import can_drop_caches
from .snap_environment import kept_environment
from .start import Command

_NAME = re.compile(
    r"(?P<instance>(?P<snap>[a-z0-9-]+)(?:_[a-z0-9]{1,10})?)"
    r"(?:\.(?P<app>[A-Za-z0-9-]+))?"
)
_SOURCE = re.compile(r"(?P<instance>[a-z0-9_-]+)/(?P<revision>[^/]+)(?:/.*)?")
_MOUNT_TABLE = Path("/proc/self/mountinfo")
_BLOCK_DEVICES = Path("/sys/dev/block")
_TOOLS = ("snapd", "core")
"""Snaps that bring ``snap-confine`` and ``snap-exec``, the first one that is there."""
_ADVICE = {
    re.compile(
        r"is not a snap cgroup|session bus|user session|XDG_RUNTIME_DIR|transient scope"
        r"|autolaunch D-Bus",
        re.IGNORECASE,
    ): (
        "The snap needs a session of its user: log in there (on the desktop, or by "
        "ssh), and run the command with sudo from it."
    ),
    re.compile(r"Authorization required|cannot open display", re.IGNORECASE): (
        "snapd gives an app the key to its display only where the user has a session, "
        "whose directory /run/user/UID exists: log in there, and run the command with "
        "sudo from it."
    ),
    re.compile(r"not connected to the|content snap", re.IGNORECASE): (
        "Connect its content snaps: 'snap connections' lists those that aren't."
    ),
    re.compile(r"inhibited|pending refresh|snap is disabled", re.IGNORECASE): (
        "Wait for the refresh to end ('snap changes'), or enable the snap."
    ),
}
"""What snapd's programs say, and what to do then."""


@dataclass(frozen=True, slots=True)
class SnapRoots:
    """Where snapd keeps what on a machine: mounts, its own state, and ``snap``."""

    mounts: Path
    state: Path
    program: str

    @classmethod
    def here(cls) -> SnapRoots:
        """Return those of this machine.

        :raises ToolError: if it has no snapd.
        """
        state = Path("/var/lib/snapd")
        places = (Path("/snap"), state / "snap")  # as distributions have it
        mounts = next((each for each in places if each.is_dir()), None)
        program = shutil.which("snap")
        if mounts is None or program is None:
            message = "snapd isn't installed on this machine"
            raise ToolError(
                message,
                resolution="Record on a machine that has the snap installed, or give "
                "'record' the .snap in place of --installed.",
            )
        return cls(mounts, state, program)


@dataclass(frozen=True, slots=True, kw_only=True)
class MountedSnap:
    """A revision of a snap that is mounted.

    :param name: with the key of a parallel instance.
    :param device: of its mount, as ``MAJOR:MINOR``.
    """

    role: Role
    name: str
    revision: str
    place: Path
    device: str

    @property
    def snap_name(self) -> str:
        """Its name without the key of a parallel instance."""
        return self.name.partition("_")[0]

    @property
    def image(self) -> Path | None:
        """Its image, ``None`` if it isn't mounted through a loop device."""
        backing = _BLOCK_DEVICES / self.device / "loop/backing_file"
        with suppress(OSError):
            return Path(backing.read_text(encoding="utf-8").rstrip("\n"))
        return None

    @property
    def read_ahead_kb(self) -> int | None:
        """What the kernel reads on within its files, in KiB."""
        with suppress(OSError, ValueError):
            queue = _BLOCK_DEVICES / self.device / "queue/read_ahead_kb"
            return int(queue.read_text(encoding="utf-8"))
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class InstalledSnap:
    """The files of an installed snap's mount, and its stack; see :func:`find_stack`."""

    payload: Payload
    stack: tuple[MountedSnap, ...]


@contextmanager
def installed_snap(name: str, roots: SnapRoots) -> Iterator[InstalledSnap]:
    """Open an installed snap.

    :param name: with the key of a parallel instance.
    :raises AdvisorError: if it can't be recorded here.
    """
    if not can_drop_caches():
        message = "Recording an installed snap needs root"
        raise UsageError(
            message,
            resolution="Run with sudo: the app is still started as your own user.",
        )
    own = find_installed(name, roots)
    with open_payload(own.place) as payload:
        yield InstalledSnap(payload=payload, stack=find_stack(own, payload.snap, roots))


def split_app_name(text: str) -> tuple[str, str | None]:
    """Return the snap's name, with an instance's key, and the app that is named.

    :raises UsageError: if it is no such name.
    """
    found = _NAME.fullmatch(text)
    if found is None:
        message = f"{text!r} isn't the name of a snap or of its app"
        raise UsageError(
            message,
            resolution="Specify SNAP or SNAP.APP, as 'snap list' and 'snap run' do; "
            "'record PATH' records a .snap or a directory.",
        )
    return found["instance"], found["app"]


def find_installed(name: str, roots: SnapRoots) -> MountedSnap:
    """Find the current revision of a snap.

    :param name: with the key of a parallel instance.
    :raises NoInputError: if it isn't installed, is disabled or isn't mounted.
    """
    found = _current(name, "app", roots)
    if found is not None:
        return found
    current = roots.mounts / name / "current"
    if current.is_dir():
        message = f"Snap {name!r} isn't mounted from an image at {str(current)!r}"
        advice = (
            "A snap installed by 'snap try' is a directory: record that, with 'record "
            "PATH'. For others, see 'systemctl --failed'."
        )
    elif any((roots.state / "snaps").glob(f"{name}_[0-9x]*.snap")):
        message = f"Snap {name!r} is disabled"
        advice = f"Enable it: snap enable {name}"
    else:
        message = f"Snap {name!r} isn't installed"
        advice = f"'snap list' names those that are. To install it: snap install {name}"
    raise NoInputError(message, resolution=advice)


def find_stack(
    own: MountedSnap, metadata: SnapMetadata, roots: SnapRoots
) -> tuple[MountedSnap, ...]:
    """Return the snap, its content snaps, its base, and what brings snapd's programs.

    :raises NoInputError: if its base isn't mounted.
    """
    found = [own, *_content_snaps(own, roots)]
    if metadata.base_name != "none":
        base = _current(metadata.base_name, "base", roots)
        if base is None:
            message = (
                f"Base {metadata.base_name!r} of snap {own.name!r} isn't installed"
            )
            raise NoInputError(
                message, resolution=f"Install it: snap install {metadata.base_name}"
            )
        found.append(base)
    tools = (_current(name, "snapd", roots) for name in _TOOLS)
    found.extend([tool for tool in tools if tool is not None][:1])
    return tuple({each.device: each for each in reversed(found)}.values())[::-1]


def image_facts(snap: MountedSnap) -> tuple[int | None, str | None]:
    """Return the size of a snap's image in bytes and its codec, as far as known."""
    with suppress(OSError, AdvisorError):
        if snap.image is not None:
            with Image.open(snap.image) as image:
                return snap.image.stat().st_size, image.superblock.codec
    return None, None


def _current(name: str, role: Role, roots: SnapRoots) -> MountedSnap | None:
    """Return the current revision of a snap if it is mounted."""
    with suppress(OSError):
        revision = (roots.mounts / name / "current").readlink().name
        return _revision(name, revision, role, roots)
    return None


def _revision(
    name: str, revision: str, role: Role, roots: SnapRoots
) -> MountedSnap | None:
    """Return a revision that is mounted from an image; see proc_pid_mountinfo(5)."""
    wanted = (roots.mounts / name / revision).resolve()
    for line in _MOUNT_TABLE.read_text(errors="surrogateescape").splitlines():
        mount, _, source = line.partition(" - ")
        _, _, device, _, place, *_ = mount.split(" ")
        is_image = source.partition(" ")[0] == "squashfs"
        if is_image and unescaped(os.fsencode(place)) == str(wanted):
            return MountedSnap(
                role=role, name=name, revision=revision, place=wanted, device=device
            )
    return None


def _content_snaps(own: MountedSnap, roots: SnapRoots) -> Iterator[MountedSnap]:
    table = roots.state / "mount" / f"snap.{own.name}.fstab"
    with suppress(OSError):
        lines = table.read_text(encoding="utf-8", errors="replace").splitlines()
        for name, revision in sorted(set(_sources(lines, roots))):
            if name not in (own.name, own.snap_name):
                found = _revision(name, revision, "content", roots)
                yield from [] if found is None else [found]


def _sources(lines: Iterable[str], roots: SnapRoots) -> Iterator[tuple[str, str]]:
    """Yield name and revision of each snap that a file of fstab(5) mounts from."""
    for line in lines:
        source = line.partition(" ")[0]
        for start in ("/snap/", f"{roots.mounts}/"):
            found = _SOURCE.fullmatch(source.removeprefix(start))
            if source.startswith(start) and found is not None:
                yield found["instance"], found["revision"]
                break


@contextmanager
def snap_run(instance: str, app: str, *, program: str) -> Iterator[Command]:
    """Yield how ``snap`` starts an app, as the user who called sudo if somebody did.

    :param instance: the snap, with the key of a parallel instance.
    :raises ToolError: if the launch fails, with what to do about it.
    """
    name = instance if app == instance.partition("_")[0] else f"{instance}.{app}"
    words: tuple[str, ...] = (program, "run", name)
    environment = kept_environment()
    user = os.environ.get("SUDO_UID", "")
    try:
        if os.geteuid() or not user.isdecimal() or not int(user):
            yield Command(words=words, environment=environment, installed=True)
            return
        account = pwd.getpwuid(int(user))
        ids = (f"--reuid={account.pw_uid}", f"--regid={account.pw_gid}")
        words = ("setpriv", *ids, "--init-groups", "--", *words)
        runtime = Path(f"/run/user/{account.pw_uid}")
        environment |= {
            "HOME": account.pw_dir,
            "USER": account.pw_name,
            "LOGNAME": account.pw_name,
            "SHELL": account.pw_shell,
            "XDG_RUNTIME_DIR": str(runtime),
        }
        if (runtime / "bus").exists():
            environment["DBUS_SESSION_BUS_ADDRESS"] = f"unix:path={runtime}/bus"
        with _authority(account) as added:
            environment |= added
            yield Command(words=words, environment=environment, installed=True)
    except ToolError as error:
        text = error.details or ""
        known = (advice for cause, advice in _ADVICE.items() if cause.search(text))
        error.resolution = next(known, error.resolution)
        raise


@contextmanager
def _authority(account: pwd.struct_passwd) -> Iterator[dict[str, str]]:
    """Let a user have the key to a display that is root's, as a virtual one is."""
    source = Path(os.environ.get("XAUTHORITY", ""))
    if not source.is_file() or source.stat().st_uid == account.pw_uid:
        yield {}
        return
    with tempfile.NamedTemporaryFile(prefix="xauthority-") as file:
        shutil.copyfile(source, file.name)
        os.chown(file.name, account.pw_uid, account.pw_gid)
        yield {"XAUTHORITY": file.name}

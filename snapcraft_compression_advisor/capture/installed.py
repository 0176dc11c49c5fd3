"""Finds an installed snap, and the snaps that its apps run on: all are mounted images.

snapd mounts each revision at ``/snap/NAME/REVISION``; a parallel instance's name is
``NAME_KEY`` there. What it shows of content snaps inside of an app's own directory
stands in ``/var/lib/snapd/mount/snap.NAME.fstab``, and in the mount namespace of the
app's processes.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from ..core.errors import AdvisorError, NoInputError, ToolError, UsageError
from ..core.scratch import unescaped
from ..payload.snap_yaml import SnapMetadata
from ..payload.stack import Role
from ..squashfs.entry import SUPERBLOCK_BYTES
from ..squashfs.superblock import parse_superblock

_NAME = re.compile(
    r"(?P<instance>(?P<snap>[a-z0-9-]+)(?:_[a-z0-9]{1,10})?)"
    r"(?:\.(?P<app>[A-Za-z0-9-]+))?"
)
_SOURCE = re.compile(r"(?P<instance>[a-z0-9_-]+)/(?P<revision>[^/]+)(?:/.*)?")
_MOUNT_TABLE = Path("/proc/self/mountinfo")
_BLOCK_DEVICES = Path("/sys/dev/block")
_TOOLS = ("snapd", "core")
"""Snaps that bring ``snap-confine`` and ``snap-exec``, the first one that is there."""


@dataclass(frozen=True, slots=True)
class SnapRoots:
    """Where snapd keeps what on a machine.

    :param mounts: below which it mounts snaps.
    :param state: its own directory.
    :param program: that starts apps.
    """

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

    :param metadata: of the snap.
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


def shown_inside(
    own: MountedSnap, table: str, roots: SnapRoots
) -> Iterator[MountedSnap]:
    """Yield the content snaps that a mount namespace shows in a snap's directory.

    :param table: ``mountinfo`` of one of its processes.
    """
    inside = (f"/snap/{own.snap_name}/", f"{roots.mounts}/{own.name}/")
    devices = {
        mount.device
        for mount in _squashfs_mounts(table)
        if mount.place.startswith(inside) and mount.device != own.device
    }
    for mount in _squashfs_mounts(_MOUNT_TABLE.read_text(errors="surrogateescape")):
        if mount.device in devices:
            yield from _as_snap(mount, "content", roots)


def image_facts(snap: MountedSnap) -> tuple[int | None, str | None]:
    """Return the size of a snap's image in bytes and its codec, as far as known."""
    with suppress(OSError, AdvisorError):
        if snap.image is not None:
            with snap.image.open("rb") as file:
                size_bytes = os.fstat(file.fileno()).st_size
                raw = file.read(SUPERBLOCK_BYTES)
            where = str(snap.image)
            block = parse_superblock(raw, image_bytes=size_bytes, where=where)
            return size_bytes, block.codec
    return None, None


@dataclass(frozen=True, slots=True)
class _Mount:
    device: str
    place: str


def _squashfs_mounts(table: str) -> Iterator[_Mount]:
    """Yield the squashfs mounts of a mount table; see proc_pid_mountinfo(5)."""
    for line in table.splitlines():
        mount, _, source = line.partition(" - ")
        if source.partition(" ")[0] == "squashfs":
            _, _, device, _, place, *_ = mount.split(" ")
            yield _Mount(device, unescaped(place.encode(errors="surrogateescape")))


def _current(name: str, role: Role, roots: SnapRoots) -> MountedSnap | None:
    """Return the current revision of a snap where it is mounted."""
    with suppress(OSError):
        revision = (roots.mounts / name / "current").readlink().name
        return _revision(name, revision, role, roots)
    return None


def _revision(
    name: str, revision: str, role: Role, roots: SnapRoots
) -> MountedSnap | None:
    wanted = str((roots.mounts / name / revision).resolve())
    table = _MOUNT_TABLE.read_text(errors="surrogateescape")
    for mount in _squashfs_mounts(table):
        if mount.place == wanted:
            return next(_as_snap(mount, role, roots), None)
    return None


def _as_snap(mount: _Mount, role: Role, roots: SnapRoots) -> Iterator[MountedSnap]:
    """Yield the snap that is mounted at its own place below snapd's directory."""
    place = Path(mount.place)
    if place.parent.parent == roots.mounts.resolve():
        yield MountedSnap(
            role=role,
            name=place.parent.name,
            revision=place.name,
            place=place,
            device=mount.device,
        )


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

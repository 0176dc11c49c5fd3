"""What has an application start from a prime directory that has no launcher.

A publisher finds these paths one by one, where a launch can't open a file. Here all
files of the tree are searched for absolute paths below ``/usr`` and ``/etc``; a path
that the tree has and the base doesn't gets a layout. snapd allows them
(``snap/validate.go``). Variables name what is found by neither path nor environment.
"""

from __future__ import annotations

import mmap
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from ruamel.yaml import YAML

if TYPE_CHECKING:
    from collections.abc import Iterator

_NAMED = re.compile(
    rb"/((?:usr/(?:bin|games|lib|libexec|sbin|share)|etc)/[\w.+@-]+(?:/[\w.+@-]+)*)"
)
_UNREAD = re.compile(r"usr/share/(?:doc|info|lintian|locale|man)(?:/.*)?|meta/.*")
"""Documentation names many paths, and none of it is code."""
_BY_ENVIRONMENT = re.compile(r".*\.so(?:\.[\d.]+)?")
"""The loader finds libraries by ``LD_LIBRARY_PATH``."""
_MOST_BYTES = 64 * 1024 * 1024
"""Of one file; larger ones are data."""
_GAMES = "$SNAP/usr/games"
_PERL = ("usr/share/perl5", "usr/lib/x86_64-linux-gnu/perl5/5.36")


def make_startable(root: Path, base: Path, command: str, *, windows: bool) -> None:
    """Have the app of a prime directory start as from an installed system.

    :param root: the prime directory, with one app.
    :param base: the tree that the snap's base is.
    :param command: a path below the root, with arguments.
    :param windows: whether the app shows windows.
    """
    yaml, path = YAML(typ="rt", pure=True), root / "meta/snap.yaml"
    snap = yaml.load(path.read_text(encoding="utf-8"))
    (app,) = snap["apps"]
    snap["apps"][app]["command"] = command
    environment = snap["environment"]
    environment["PATH"] = f"{_GAMES}:{environment['PATH']}"
    modules = [f"$SNAP/{each}" for each in _PERL if (root / each).is_dir()]
    if modules:
        environment["PERL5LIB"] = ":".join(modules)
    if layout := layout_of(root, base):
        snap["layout"] = layout
    with path.open("w", encoding="utf-8") as file:
        yaml.dump(snap, file)
    entry = root / f"meta/gui/{app}.desktop"
    if windows and not entry.exists():
        entry.parent.mkdir(exist_ok=True)
        lines = ("[Desktop Entry]", "Type=Application", f"Name={app}", f"Exec={app}")
        entry.write_text("\n".join((*lines, "")), encoding="utf-8")


def add_layout(root: Path, place: str) -> None:
    """Show a file or directory of a prime directory at a further path.

    :param place: an absolute path, which the directory has, too.
    """
    yaml, path = YAML(typ="rt", pure=True), root / "meta/snap.yaml"
    snap = yaml.load(path.read_text(encoding="utf-8"))
    snap.setdefault("layout", {})[place] = _item(root, place)
    with path.open("w", encoding="utf-8") as file:
        yaml.dump(snap, file)


def layout_of(root: Path, base: Path) -> dict[str, dict[str, str]]:
    """Return the layout of ``snap.yaml``, by the paths that it shows."""
    shown = {
        place
        for path in named_paths(root)
        for place in (_place(path, root, base),)
        if place is not None
    }
    return {f"/{place}": _item(root, f"/{place}") for place in sorted(shown)}


def _item(root: Path, place: str) -> dict[str, str]:
    kind = "bind" if Path(f"{root}{place}").is_dir() else "bind-file"
    return {kind: f"$SNAP{place}"}


def named_paths(root: Path) -> set[str]:
    """Return the paths that a tree's files name, without the leading slash."""
    return {
        match[1].decode()
        for file in _files(root)
        for match in _NAMED.finditer(_contents(file))
    }


def _files(root: Path) -> Iterator[Path]:
    for directory, _, names in os.walk(root):
        for name in names:
            file = root / directory / name
            size = file.lstat().st_size
            if file.is_symlink() or not 0 < size <= _MOST_BYTES:
                continue
            if not _UNREAD.fullmatch(str(file.relative_to(root))):
                yield file


def _contents(file: Path) -> bytes:
    with file.open("rb") as stream, mmap.mmap(
        stream.fileno(), 0, access=mmap.ACCESS_READ
    ) as mapped:  # fmt: skip
        return mapped[:]


def _place(path: str, root: Path, base: Path) -> str | None:
    """Return the highest part of a path that only the tree has."""
    names = path.split("/")
    for count in range(2, len(names) + 1):
        place = "/".join(names[:count])
        if not (root / place).exists() or _UNREAD.fullmatch(place):
            return None
        if not os.path.lexists(base / place):
            return None if _BY_ENVIRONMENT.fullmatch(place) else place
    return None

"""The desktop file of a snap's app, made of the one that the package carries."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def write_desktop_file(
    root: Path, package_paths: list[str], *, snap: str, app: str, command: str
) -> list[Path]:
    """Write ``meta/gui/APP.desktop`` if there is a desktop file for the app.

    The package's, else any package's that starts the program.

    :param package_paths: the paths that the package carries, below the root.
    :param command: the app's program, a path below the root.
    :returns: the file written, or nothing.
    """
    names = [snap, app, command.rpartition("/")[2]]
    found = find_desktop_file(package_paths, names) or _that_starts(command, root)
    if found is None or not (root / found).is_file():
        return []
    text = (root / found).read_text(encoding="utf-8", errors="replace")
    started = app if app == snap else f"{snap}.{app}"
    icon = find_icon(text, root)
    target = root / "meta" / "gui" / f"{app}.desktop"
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(
        desktop_entry(text, app=started, command=command, icon=icon), encoding="utf-8"
    )
    return [target]


def find_desktop_file(package_paths: list[str], names: list[str]) -> str | None:
    """Return the package's desktop file: the one named so, else the only one.

    :param package_paths: the paths that the package carries, below the root.
    :param names: names of the app and its program.
    """
    found = [
        path
        for path in sorted(package_paths)
        if path.startswith("usr/share/applications/") and path.endswith(".desktop")
    ]
    stems = {path.rpartition("/")[2].removesuffix(".desktop"): path for path in found}
    named = [stems[name] for name in names if name in stems]
    if named or len(found) == 1:
        return (named or found)[0]
    return None


def _that_starts(command: str, root: Path) -> str | None:
    """Return the tree's first desktop file that starts a program."""
    program = re.escape(command.rpartition("/")[2])
    starts = re.compile(rf"^Exec=(\S*/)?{program}(\s|$)", flags=re.MULTILINE)
    for path in sorted(root.glob("usr/share/applications/*.desktop")):
        text = path.read_text(encoding="utf-8", errors="replace")
        if path.is_file() and starts.search(text):
            return str(path.relative_to(root))
    return None


def desktop_entry(text: str, *, app: str, command: str, icon: str | None) -> str:
    """Return a desktop file's text for an app of a snap.

    ``Exec`` starts the app, ``TryExec`` and ``DBusActivatable`` go, and ``Icon`` names
    the icon in the snap if there is one.

    :param app: the app as a user starts it: ``NAME`` or ``SNAP.NAME``.
    :param icon: the icon's path below the prime directory.
    """
    program = command.rpartition("/")[2]
    lines = []
    for line in text.splitlines():
        key, equals, value = line.partition("=")
        if key in {"TryExec", "DBusActivatable"}:
            continue
        words = value.split(" ")
        if key == "Exec" and words[0].rpartition("/")[2] == program:
            lines.append("Exec=" + " ".join([app, *words[1:]]))
        elif key == "Icon" and equals and icon:
            lines.append(f"Icon=${{SNAP}}/{icon}")
        else:
            lines.append(line)
    return "\n".join(lines) + "\n"


def find_icon(text: str, root: Path) -> str | None:
    """Return the file of a desktop file's icon: the scalable one, else the largest."""
    match = re.search(r"^Icon=([\w.-]+)$", text, flags=re.MULTILINE)
    if match is None:
        return None
    patterns = ("usr/share/icons/hicolor/*/apps", "usr/share/pixmaps")
    found = [
        path
        for pattern in patterns
        for ending in ("svg", "png")
        for path in sorted(root.glob(f"{pattern}/{match[1]}.{ending}"))
    ]
    found = [path for path in found if path.is_file() and not path.is_symlink()]
    if not found:
        return None
    best = max(found, key=lambda path: (path.suffix == ".svg", path.stat().st_size))
    return str(best.relative_to(root))

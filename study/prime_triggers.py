"""What packages' triggers make in an installed system, made in a prime directory.

A package's files alone don't start: GLib wants its schemas compiled, GTK a list of what
loads which kind of picture. If a package is installed, dpkg's triggers run the tools
that make these files; for a snap, snapcraft's gnome extension or the publisher does.
:data:`TRIGGERS` is the table of them.

What is made holds no absolute path, so the tree starts wherever it lies. Left out for
that reason: fontconfig's caches, which are named by hashes of absolute paths (the first
launch makes them in its home, as with the extension), and the loader's cache, in whose
place snaps have ``LD_LIBRARY_PATH``.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from apt_closure import AptClosure
from apt_tools import run_tool
from deb_cache import fetch_archives
from prime_error import PrimeError
from prime_tree import unpack

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from apt_tools import Apt

_LIBRARY_FOLDERS = ("lib/*-linux-gnu*", "usr/lib/*-linux-gnu*")
# GTK 3 ends the line with a space.
_MODULE = re.compile(r'^"/[^"]*/(?=[^"/]+\.so" ?$)', flags=re.MULTILINE)
_FONT_SETTINGS = Path("etc/fonts/fonts.conf")
# Relative to that file; fontconfig's own schema has it from 2.13.92 on.
_FONTS = "<dir>/usr/share/fonts</dir>"
_OFFICE = Path("usr/lib/libreoffice")
_OFFICE_SETTINGS = Path("etc/libreoffice/registry")
_FONTS_OF_SNAP = '<dir prefix="relative">../../usr/share/fonts</dir>'


@dataclass(frozen=True, slots=True, kw_only=True)
class Trigger:
    """What must be in the tree, and what is run then.

    :param folder: a pattern of directories below the root.
    :param holds: a pattern of files below such a directory; none, no run.
    :param makes: the file that there is in the folder afterwards.
    :param tool: a pattern of the program below a root directory; it takes the folder
        as its argument.
    :param package: that brings the tool, without ``t64``.
    :param options: before the argument.
    :param prints: whether the tool takes the files instead, and prints what it makes.
        Absolute paths of modules in it become bare names, which are found by
        ``LD_LIBRARY_PATH``.
    :param optional: whether the tool may make nothing: of an icon theme without icons,
        as ``hicolor`` is if no package has any.
    """

    folder: str
    holds: str
    makes: str
    tool: str
    package: str
    options: tuple[str, ...] = ()
    prints: bool = False
    optional: bool = False


TRIGGERS = (
    Trigger(
        folder="usr/share/glib-2.0/schemas",
        holds="*.gschema.xml",
        makes="gschemas.compiled",
        tool="usr/lib/*/glib-2.0/glib-compile-schemas",
        package="libglib2.0-0",
    ),
    Trigger(
        folder="usr/lib/*/gio/modules",
        holds="*.so",
        makes="giomodule.cache",
        tool="usr/lib/*/glib-2.0/gio-querymodules",
        package="libglib2.0-0",
    ),
    Trigger(
        folder="usr/lib/*/gtk-4.0/*/*",
        holds="*.so",
        makes="giomodule.cache",
        tool="usr/lib/*/glib-2.0/gio-querymodules",
        package="libglib2.0-0",
    ),
    Trigger(
        folder="usr/lib/*/gtk-3.0/*",
        holds="immodules/*.so",
        tool="usr/lib/*/libgtk-3-0*/gtk-query-immodules-3.0",
        package="libgtk-3-0",
        makes="immodules.cache",
        prints=True,
    ),
    Trigger(
        folder="usr/lib/*/gtk-2.0/*",
        holds="immodules/*.so",
        tool="usr/lib/*/libgtk2.0-0*/gtk-query-immodules-2.0",
        package="libgtk2.0-0",
        makes="immodules.cache",
        prints=True,
    ),
    Trigger(
        folder="usr/lib/*/gdk-pixbuf-2.0/*",
        holds="loaders/*.so",
        tool="usr/lib/*/gdk-pixbuf-2.0/gdk-pixbuf-query-loaders",
        package="libgdk-pixbuf-2.0-0",
        makes="loaders.cache",
        prints=True,
    ),
    Trigger(
        folder="usr/share/mime",
        holds="packages/*.xml",
        makes="mime.cache",
        tool="usr/bin/update-mime-database",
        package="shared-mime-info",
    ),
    Trigger(
        folder="usr/share/icons/*",
        holds="index.theme",
        makes="icon-theme.cache",
        tool="usr/bin/gtk-update-icon-cache",
        package="gtk-update-icon-cache",
        options=("--quiet", "--force"),
        optional=True,
    ),
)
"""All of them, in the order in which they run."""


def run_triggers(  # noqa: PLR0913 # two trees, and what fetches packages
    root: Path,
    tools: Path,
    *,
    libraries: Callable[[], Sequence[str]],
    apt: Apt,
    cache: Path,
    note: Callable[[str], None],
) -> list[Path]:
    """Make in a tree what the triggers of its packages would have made.

    :param tools: a directory to unpack tools and libraries into that this machine
        lacks; nothing is installed, and no root is needed.
    :param libraries: names those of the base that modules of the tree need.
    :param cache: where .deb files are kept.
    :returns: the files that were made or changed.
    :raises PrimeError: if a tool can't be had, fails or makes nothing: status 69.
    """
    due = list(_due(root))
    before = set(root.rglob("*"))
    if due:
        note("making the caches that packages' triggers make")
        packages = {trigger.package for trigger, _ in due}
        missing = AptClosure(apt).missing_here([*packages, *libraries()])
        if missing:
            archives = fetch_archives(missing, cache, apt=apt, note=note)
            unpack([archive.path for archive in archives], tools)
    for trigger, folder in due:
        _run(trigger, folder, roots=(tools, Path("/"), root))
    made = set(root.rglob("*")) - before
    made = {*made, *_settle_fonts(root), *_settle_office(root)}
    return sorted(path for path in made if path.is_file())


def _due(root: Path) -> Iterator[tuple[Trigger, Path]]:
    for trigger in TRIGGERS:
        for folder in sorted(root.glob(trigger.folder)):
            if not folder.is_symlink() and any(folder.glob(trigger.holds)):
                yield trigger, folder


def _run(trigger: Trigger, folder: Path, *, roots: Sequence[Path]) -> None:
    """Run a trigger's tool on a folder, with the libraries of all roots."""
    found = (path for root in roots for path in sorted(root.glob(trigger.tool)))
    tool = next((path for path in found if os.access(path, os.X_OK)), None)
    if tool is None:
        message = f"There's no {trigger.tool} in package {trigger.package}."
        raise PrimeError(message, exit_status=os.EX_UNAVAILABLE)
    # This machine's come last anyway.
    libraries = [
        str(path)
        for root in roots
        if root != Path("/")
        for pattern in _LIBRARY_FOLDERS
        for path in sorted(root.glob(pattern))
    ]
    files = [str(path) for path in sorted(folder.glob(trigger.holds))]
    printed = run_tool(
        [str(tool), *trigger.options, *(files if trigger.prints else [str(folder)])],
        environment={"LD_LIBRARY_PATH": ":".join(libraries)},
    )
    made = folder / trigger.makes
    if trigger.prints:
        made.write_text(without_folders(printed), encoding="utf-8")
    # Some tools ignore what they can't load, and end with 0.
    if not made.is_file() and not trigger.optional:
        message = f"{tool.name} has made no {trigger.makes} in {folder}."
        raise PrimeError(message, exit_status=os.EX_UNAVAILABLE)


def without_folders(cache: str) -> str:
    """Return a cache of modules with their names alone: the loader's path finds them.

    Else it would name the directory where the tree was built.
    """
    return _MODULE.sub('"', cache)


def _settle_fonts(root: Path) -> list[Path]:
    """Have fontconfig look for the tree's fonts beside its settings."""
    settings = root / _FONT_SETTINGS
    if not settings.is_file():
        return []
    text = settings.read_text(encoding="utf-8")
    settings.write_text(text.replace(_FONTS, _FONTS_OF_SNAP), encoding="utf-8")
    return [settings]


def _settle_office(root: Path) -> list[Path]:
    """Do what installing LibreOffice does, and name its files by relative paths.

    Its package copies the registry into ``/etc``; its settings name that folder and its
    own by absolute paths.
    """
    program = root / _OFFICE / "program"
    if not (program / "fundamentalrc").is_file():
        return []
    registry = root / _OFFICE / "share/.registry"
    folder = root / _OFFICE_SETTINGS
    for file in sorted(registry.glob("*.xcd")):
        (folder / file.name).symlink_to(os.path.relpath(file, folder))
    changed = []
    for settings in sorted(program.glob("*rc")):
        text = settings.read_text(encoding="utf-8")
        relative = text.replace("file:///etc/", "${ORIGIN}/../../../../etc/").replace(
            f"file:///{_OFFICE}", "${ORIGIN}/.."
        )
        if relative != text:
            settings.write_text(relative, encoding="utf-8")
            changed.append(settings)
    return changed

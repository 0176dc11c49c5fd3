"""The strata that applications are drawn from: runtimes and toolkits.

A package belongs to the first stratum that its direct dependencies fit, so interpreted
applications come before the toolkits that they use, and a toolkit comes before what it
stands on.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from draw_indices import Package

DESKTOP, SERVICE, PROGRAM = "desktop", "service", "program"
_NO_PROGRAMS = re.compile(
    "debug|doc|kernel|lib.*|metapackages|oldlibs|tasks|translations|introspection"
)
_PREFIX = re.compile(r"^(?:node|python3|ruby|golang)-|^lib(?=.*-(?:perl|java)$)")
_SUFFIX = re.compile(r"-(?:perl|java|bin|cli|tools|utils)$")


@dataclass(frozen=True, slots=True)
class Stratum:
    """Applications of one runtime or toolkit.

    :param name: as the table has it.
    :param origin: what shows that a package has an application: ``desktop``, a
        desktop file; ``service``, a unit; ``program``, a program in ``/usr/bin`` of a
        package that has neither of both.
    :param needs: patterns of which each matches the name of a direct dependency, or
        of what is linked in statically.
    :param kind: the packages that are added: a key of ``KIND_PACKAGES``; of ``qt``
        and ``qt-kde`` the release of Qt follows from the dependencies.
    :param without: matches no dependency.
    :param from_programs: whether packages with a program and no desktop file are in
        it as well, for toolkits older than those.
    """

    name: str
    origin: str
    needs: tuple[str, ...]
    kind: str
    without: str = ""
    from_programs: bool = False

    def kind_of(self, package: Package) -> str:
        """Return which packages are added to one of this stratum."""
        if not self.kind.startswith("qt"):
            return self.kind
        is_6 = any("qt6" in name or "side6" in name for name in package.depends)
        return self.kind.replace("qt", "qt6" if is_6 else "qt5", 1)

    def origins(self) -> tuple[str, ...]:
        """Return what may show that a package is of this stratum."""
        return (self.origin, PROGRAM) if self.from_programs else (self.origin,)

    def holds(self, package: Package) -> bool:
        """Return whether a package's dependencies fit."""
        names = package.depends | package.built_using

        def any_matches(pattern: str) -> bool:
            return any(re.fullmatch(pattern, name) for name in names)

        fits = all(any_matches(need) for need in self.needs)
        return fits and not (self.without and any_matches(self.without))


def _desktop(name: str, *needs: str, kind: str, from_programs: bool = False) -> Stratum:
    return Stratum(name, DESKTOP, needs, kind, from_programs=from_programs)


def _service(name: str, *needs: str, without: str = "") -> Stratum:
    return Stratum(name, SERVICE, needs, "cli", without)


def _program(name: str, *needs: str, kind: str = "cli", without: str = "") -> Stratum:
    return Stratum(name, PROGRAM, needs, kind, without)


_LIBC = "libc6"
STRATA = (
    _desktop("qtwebengine", r"(lib|python3-py)qt[56].?webengine.*", kind="qt"),
    _desktop("webkitgtk", r"libwebkit2?gtk-.*|gir1.2-webkit.*", kind="gtk3"),
    _desktop("python-pyside", r"python3-pyside[26]\..*", kind="qt"),
    _desktop("python-qt6", r"python3-pyqt6.*", kind="qt"),
    _desktop("python-qt5", r"python3-pyqt5.*", kind="qt"),
    _desktop("python-gtk4", r"python3-gi", r"gir1.2-(gtk-4.0|adw-1)", kind="gtk4"),
    _desktop("python-gtk3", r"python3-gi", r"gir1.2-(gtk-3.0|handy-1)", kind="gtk3"),
    _desktop("python-wx", r"python3-wxgtk.*", kind="gtk3"),
    _desktop("python-pygame", r"python3-(pygame.*|pyglet|kivy)", kind="sdl-game"),
    _desktop("python-tk", r"python3-(tk|pil\.imagetk)", kind="sdl-game"),
    _desktop("gjs", r"gjs", kind="gtk4"),
    _desktop(
        "perl", r"lib(gtk[23]|sdl|wx)-perl|perl-tk", kind="gtk3", from_programs=True
    ),
    _desktop("ruby-desktop", r"ruby(-.*)?", kind="gtk3"),
    _desktop("mono", r"mono-runtime|libmono-.*|.*-cil", kind="gtk3"),
    _desktop("java", r"default-jre|openjdk-.*-jre|java\d+-runtime", kind="java"),
    _desktop("tcl-tk", r"tk|tk8\.6|libtk8\.6", kind="sdl-game", from_programs=True),
    _desktop("love", r"love", kind="sdl-game"),
    _desktop("engine", r"scummvm|godot3.*|renpy|.*-engine", kind="sdl-game"),
    _desktop("gnustep", r"libgnustep-gui.*", kind="sdl-game"),
    _desktop("lazarus", r"libqt[56]pas\d", kind="qt", from_programs=True),
    _desktop("wx", r"libwxgtk3\..*", kind="gtk3"),
    _desktop("kirigami", r"qml6?-module-org-kde-kirigami.*", kind="qt-kde"),
    _desktop("kde6", r"libkf6.*", kind="qt-kde"),
    _desktop("kde5", r"libkf5.*", kind="qt-kde"),
    _desktop("qml", r"libqt[56]quick[56]|qml6?-module-.*", kind="qt"),
    _desktop("qt6", r"libqt6widgets6", kind="qt"),
    _desktop("qt5", r"libqt5widgets5", kind="qt"),
    _desktop("libadwaita", r"libadwaita-1-0", kind="gtk4"),
    _desktop("gtk4", r"libgtk-4-1", kind="gtk4"),
    _desktop("gtkmm", r"libgtkmm-[34].0-.*", kind="gtk3"),
    _desktop("gtk3", r"libgtk-3-0", kind="gtk3"),
    _desktop("gtk2", r"libgtk2.0-0", kind="gtk3"),
    _desktop("efl", r"libefl.*|libelementary.*|libevas.*", kind="sdl-game"),
    _desktop("fltk", r"libfltk1\..*", kind="sdl-game", from_programs=True),
    _desktop("motif", r"libxm4", kind="sdl-game", from_programs=True),
    _desktop("xaw", r"libxaw7", kind="sdl-game", from_programs=True),
    _desktop("sfml", r"libsfml-graphics.*", kind="sdl-game"),
    _desktop("allegro", r"liballegro.*", kind="sdl-game"),
    _desktop("glut", r"libglut.*|freeglut3", kind="sdl-game"),
    _desktop("sdl2", r"libsdl2-2.0-0", kind="sdl-game"),
    _desktop("sdl1", r"libsdl1.2debian", kind="sdl-game"),
    _desktop("x11", r"libx11-6", kind="sdl-game"),
    _service("service-python", r"python3", without=_LIBC),
    _service("service-go", r"golang-.*"),
    _service("service-c", _LIBC),
    _program("node", r"nodejs", without=_LIBC),
    _program("ruby", r"ruby", without=_LIBC),
    _program("java-cli", r"default-jre-headless|java\d+-runtime-headless"),
    _program("python", r"python3", without=_LIBC),
    _program("php", r"php-cli", without=_LIBC),
    _program("lua", r"lua5\.\d", without=_LIBC),
    _program("tcl", r"tcl|tcl8\.6", without=_LIBC),
    _program("guile", r"guile-\d.*"),
    _program("erlang", r"erlang-base.*"),
    _program("perl-cli", r"perl", without=_LIBC),
    _program("go", r"golang-.*"),
    _program("rust", r"rustc"),
    _program("haskell", r"libgmp10", r"libffi8", without=r"libstdc\+\+6|libglib.*"),
    _program("fortran", r"libgfortran5"),
    _program("glib", r"libglib2.0-0"),
    _program("c++", r"libstdc\+\+6"),
    _program("c", _LIBC),
)


def stratum_of(package: Package) -> tuple[Stratum, str] | None:
    """Return a package's stratum, and the file that shows its application.

    :returns: ``None`` if a package has no application, or is of no stratum.
    """
    for origin in (DESKTOP, SERVICE, PROGRAM):
        found = [path for path in package.files if _is_of(path, origin)]
        if not found:
            continue
        file = _named(package, origin, found)
        fits = (it for it in STRATA if origin in it.origins() and it.holds(package))
        stratum = next(fits, None)
        return (stratum, file) if stratum is not None and file is not None else None
    return None


def _named(package: Package, origin: str, found: list[str]) -> str | None:
    """Return the file that is named after the package, else the only one."""
    if origin == PROGRAM and _NO_PROGRAMS.fullmatch(package.section):
        return None
    stems = {path.rpartition("/")[2].rpartition(".")[0]: path for path in found}
    stems |= {stem.rpartition(".")[2]: path for stem, path in stems.items()}
    if origin == PROGRAM:
        stems = {path.rpartition("/")[2]: path for path in found}
    plain = _SUFFIX.sub("", _PREFIX.sub("", package.name))
    for name in (package.name, plain):
        if name in stems:
            return stems[name]
    return found[0] if len(found) == 1 else None


def _is_of(path: str, origin: str) -> bool:
    if origin == DESKTOP:
        return path.endswith(".desktop")
    if origin == SERVICE:
        return path.endswith(".service") and "@" not in path
    return path.startswith("usr/bin/")

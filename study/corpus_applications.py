"""The applications of the launch corpus: what is installed, and how each is started.

They are of all kinds that snaps ship: toolkits GTK 3 and 4, Qt 5 and Tk, browsers, an
office suite, games on SDL, Java, Python, Node, Perl, Ruby, R, and plain programs in C,
C++, Go and Rust; small and large. Names are those of Debian 12 ("bookworm").
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

_GRAPHICS = ("fonts-dejavu-core", "libgl1", "libgl1-mesa-dri", "xkb-data")
_GTK = (
    *_GRAPHICS,
    "adwaita-icon-theme",
    "dconf-gsettings-backend",
    "gsettings-desktop-schemas",
    "librsvg2-common",
    "shared-mime-info",
)
_QT = (*_GRAPHICS, "libqt5svg5", "shared-mime-info")
_QT6 = (*_GRAPHICS, "libqt6svg6", "shared-mime-info")
KIND_PACKAGES: Mapping[str, tuple[str, ...]] = {
    "chromium": _GTK,
    "cli": (),
    "gtk2": _GTK,
    "gtk3": _GTK,
    "gtk4": _GTK,
    "java": _GRAPHICS,
    "java-gui": (*_GRAPHICS, "openjdk-17-jre"),
    "mozilla": _GTK,
    "node": (),
    "office": _GTK,
    "perl": (),
    "python": (),
    "python-gtk3": _GTK,
    "python-tk": _GRAPHICS,
    "qt5": _QT,
    "qt5-kde": (*_QT, "breeze-icon-theme"),
    "qt6": _QT6,
    "qt6-kde": (*_QT6, "breeze-icon-theme"),
    "qtwebengine": _QT,
    "r": (),
    "ruby": (),
    "sdl-game": _GRAPHICS,
    "wxwidgets": _GTK,
}
"""Toolkit or runtime → what its applications need and don't depend on."""

_SCRIPTS = "/opt/launch"
_SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>\n'


@dataclass(frozen=True, slots=True, kw_only=True)
class Application:
    """One application of the corpus.

    :param name: also the snap's and its app's name, and the tree's directory.
    :param kind: toolkit or runtime: a key of ``KIND_PACKAGES``.
    :param packages: Debian packages; the first one gives version and summary.
    :param command: the program, a path below the root, and its arguments.
    :param event: what ends a launch, as ``record --until`` takes it: ``window``,
        ``exit``, ``seconds:TIME`` or ``output:TEXT``.
    :param suite: the release of Debian whose packages these are.
    :param environment: variables beyond those that every snap has.
    :param files: files written into the tree, by path below the root: scripts that the
        command names.
    """

    name: str
    kind: str
    packages: tuple[str, ...]
    command: tuple[str, ...]
    event: str = "window"
    suite: str = "bookworm"
    environment: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)


APPLICATIONS = (
    Application(
        name="chromium",
        kind="chromium",
        packages=("chromium",),
        command=("usr/bin/chromium", "--no-sandbox", "--no-first-run"),
    ),
    Application(
        name="libreoffice-calc",
        kind="office",
        packages=("libreoffice-calc", "libreoffice-gtk3"),
        command=("usr/bin/soffice", "--calc", "--norestore", "--nologo"),
    ),
    Application(
        name="gnome-calculator",
        kind="gtk4",
        packages=("gnome-calculator",),
        command=("usr/bin/gnome-calculator",),
    ),
    Application(
        name="gimp",
        kind="gtk2",
        packages=("gimp",),
        command=("usr/bin/gimp", "--no-splash"),
    ),
    Application(
        name="evince",
        kind="gtk3",
        packages=("evince",),
        command=("usr/bin/evince",),
    ),
    Application(
        name="kcalc",
        kind="qt5-kde",
        packages=("kcalc",),
        command=("usr/bin/kcalc",),
    ),
    Application(
        name="supertuxkart",
        kind="sdl-game",
        packages=("supertuxkart",),
        # Its window is there long before the menu. Buffered, the line would come late.
        command=("usr/bin/stdbuf", "-oL", "/usr/games/supertuxkart"),
        event="output:LayoutManager",
        environment={"ALSOFT_DRIVERS": "null"},
    ),
    Application(
        name="python-scipy",
        kind="python",
        packages=("python3-scipy", "python3-numpy"),
        command=("usr/bin/python3", f"{_SCRIPTS}/import_scipy.py"),
        event="exit",
        files={"opt/launch/import_scipy.py": "import numpy\nimport scipy.stats\n"},
    ),
    Application(
        name="firefox-esr",
        kind="mozilla",
        packages=("firefox-esr",),
        command=("usr/bin/firefox-esr", "--no-remote"),
    ),
    Application(
        name="thunderbird",
        kind="mozilla",
        packages=("thunderbird",),
        command=("usr/bin/thunderbird",),
    ),
    Application(
        name="libreoffice-writer",
        kind="office",
        packages=("libreoffice-writer", "libreoffice-gtk3"),
        command=("usr/bin/soffice", "--writer", "--norestore", "--nologo"),
    ),
    Application(
        name="mousepad",
        kind="gtk3",
        packages=("mousepad",),
        command=("usr/bin/mousepad",),
    ),
    Application(
        name="inkscape",
        kind="gtk3",
        packages=("inkscape",),
        command=("usr/bin/inkscape", f"{_SCRIPTS}/page.svg"),  # else: a welcome dialog
        files={"opt/launch/page.svg": _SVG},
    ),
    Application(
        name="emacs",
        kind="gtk3",
        packages=("emacs-gtk",),
        command=("usr/bin/emacs",),
    ),
    Application(
        name="gnome-text-editor",
        kind="gtk4",
        packages=("gnome-text-editor",),
        command=("usr/bin/gnome-text-editor",),
    ),
    Application(
        name="kate",
        kind="qt5-kde",
        packages=("kate",),
        command=("usr/bin/kate",),
    ),
    Application(
        name="qbittorrent",
        kind="qt5",
        packages=("qbittorrent",),
        command=("usr/bin/qbittorrent",),
        # Else a legal notice comes first.
        files={
            "etc/xdg/qBittorrent/qBittorrent.conf": ("[LegalNotice]\nAccepted=true\n"),
        },
    ),
    Application(
        name="krita",
        kind="qt5-kde",
        packages=("krita",),
        command=("usr/bin/krita", "--nosplash"),
    ),
    Application(
        name="falkon",
        kind="qtwebengine",
        packages=("falkon",),
        command=("usr/bin/falkon",),
        environment={"QTWEBENGINE_DISABLE_SANDBOX": "1"},
    ),
    Application(
        name="audacity",
        kind="wxwidgets",
        packages=("audacity",),
        command=("usr/bin/audacity",),
    ),
    Application(
        name="supertux",
        kind="sdl-game",
        packages=("supertux",),
        command=("usr/games/supertux2", "--verbose"),
        event="output:In main menu",  # its window is there long before
        environment={"ALSOFT_DRIVERS": "null"},
    ),
    Application(
        name="jedit",
        kind="java-gui",
        packages=("jedit",),
        command=("usr/bin/jedit", "-noserver", "-nosplash"),
    ),
    Application(
        name="josm",
        kind="java-gui",
        packages=("josm",),
        command=("usr/bin/josm", "--offline=all", "--set=draw.splashscreen=false"),
    ),
    Application(
        name="meld",
        kind="python-gtk3",
        packages=("meld",),
        command=("usr/bin/meld",),
    ),
    Application(
        name="idle",
        kind="python-tk",
        packages=("idle-python3.11",),
        command=("usr/bin/idle-python3.11",),
    ),
    Application(
        name="blender",
        kind="cli",
        packages=("blender",),
        command=("usr/bin/blender", "--background", "--factory-startup", "-noaudio"),
        event="exit",
    ),
    Application(
        name="node",
        kind="node",
        packages=("nodejs",),
        command=("usr/bin/node", f"{_SCRIPTS}/start.js"),
        event="exit",
        files={
            "opt/launch/start.js": 'require("http");\nconsole.log(process.version);\n'
        },
    ),
    Application(
        name="npm",
        kind="node",
        packages=("npm",),
        command=("usr/bin/npm", "--version"),
        event="exit",
    ),
    Application(
        name="exiftool",
        kind="perl",
        packages=("libimage-exiftool-perl",),
        command=("usr/bin/exiftool", "/usr/bin/perl"),
        event="exit",
    ),
    Application(
        name="asciidoctor",
        kind="ruby",
        packages=("asciidoctor",),
        command=("usr/bin/asciidoctor", "--out-file", "-", f"{_SCRIPTS}/page.adoc"),
        event="exit",
        files={"opt/launch/page.adoc": "= A page\n\nA paragraph.\n"},
    ),
    Application(
        name="r-base",
        kind="r",
        packages=("r-base-core",),
        command=("usr/bin/Rscript", "--vanilla", f"{_SCRIPTS}/start.R"),
        event="exit",
        files={"opt/launch/start.R": "cat(mean(c(1, 2)))\n"},
    ),
    Application(
        name="octave",
        kind="cli",
        packages=("octave",),
        command=("usr/bin/octave-cli", "--norc", "--eval", "disp(pi)"),
        event="exit",
    ),
    Application(
        name="latex",
        kind="cli",
        packages=("texlive-latex-base",),
        command=(
            "usr/bin/pdflatex",
            "-interaction=batchmode",
            "-output-directory=/var/tmp",
            f"{_SCRIPTS}/page.tex",
        ),
        event="exit",
        files={
            "opt/launch/page.tex": (
                "\\documentclass{article}\n\\begin{document}\nA page.\n"
                "\\end{document}\n"
            ),
        },
    ),
    Application(
        name="ffmpeg",
        kind="cli",
        packages=("ffmpeg",),
        command=("usr/bin/ffmpeg", "-version"),
        event="exit",
    ),
    Application(
        name="git",
        kind="cli",
        packages=("git",),
        command=("usr/bin/git", "--version"),
        event="exit",
    ),
    Application(
        name="hugo",
        kind="cli",
        packages=("hugo",),
        command=("usr/bin/hugo", "version"),
        event="exit",
    ),
    Application(
        name="ripgrep",
        kind="cli",
        packages=("ripgrep",),
        command=("usr/bin/rg", "--count", "root", "/etc/passwd"),
        event="exit",
    ),
    Application(
        name="jq",
        kind="cli",
        packages=("jq",),
        command=("usr/bin/jq", "--null-input", "1 + 1"),
        event="exit",
    ),
    Application(
        name="vim",
        kind="cli",
        packages=("vim",),
        command=("usr/bin/vim", "-es", "-c", "quit"),
        event="exit",
    ),
)

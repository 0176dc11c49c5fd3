"""The applications of the launch corpus: what is installed, and how each is started."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from ruamel.yaml import YAML

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


def _read(use: str) -> tuple[Application, ...]:
    rows = YAML(typ="safe").load(Path(__file__).with_name("data") / "corpus.yaml")[use]
    lists = ("packages", "command")
    return tuple(
        Application(**{**row, **{name: tuple(row[name]) for name in lists}})
        for row in rows
    )


APPLICATIONS = _read("fit")
"""The applications that the guess's counts come from, beside those that are drawn."""

CHECKED = _read("check")
"""Further ones, which the guess's counts don't come from."""

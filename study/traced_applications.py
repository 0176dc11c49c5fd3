"""Applications whose launches check what was fitted on the corpus."""

from __future__ import annotations

from corpus_applications import Application

TRACED = (
    Application(
        name="ristretto",
        kind="gtk3",
        packages=("ristretto",),
        command=("usr/bin/ristretto",),
    ),
    Application(
        name="okteta",
        kind="qt5-kde",
        packages=("okteta",),
        command=("usr/bin/okteta",),
    ),
    Application(
        name="galculator",
        kind="gtk3",
        packages=("galculator",),
        command=("usr/bin/galculator",),
    ),
    Application(
        name="php",
        kind="cli",
        packages=("php-cli",),
        command=(
            "usr/bin/php",
            "-r",
            "echo 1;",
        ),
        event="exit",
    ),
    Application(
        name="filezilla",
        kind="wxwidgets",
        packages=("filezilla",),
        command=("usr/bin/filezilla",),
    ),
    Application(
        name="gnome-mines",
        kind="gtk3",
        packages=("gnome-mines",),
        command=("usr/games/gnome-mines",),
    ),
    Application(
        name="pandoc",
        kind="cli",
        packages=("pandoc",),
        command=(
            "usr/bin/pandoc",
            "--version",
        ),
        event="exit",
    ),
    Application(
        name="qpdfview",
        kind="qt5",
        packages=("qpdfview",),
        command=("usr/bin/qpdfview",),
    ),
    Application(
        name="dosbox",
        kind="sdl-game",
        packages=("dosbox",),
        command=("usr/bin/dosbox",),
    ),
    Application(
        name="gajim",
        kind="python-gtk3",
        packages=("gajim",),
        command=("usr/bin/gajim",),
    ),
    Application(
        name="hexchat",
        kind="gtk2",
        packages=("hexchat",),
        command=("usr/bin/hexchat",),
    ),
    Application(
        name="mypaint",
        kind="python-gtk3",
        packages=("mypaint",),
        command=("usr/bin/mypaint",),
    ),
)
"""Further applications, which the guess's counts don't come from."""

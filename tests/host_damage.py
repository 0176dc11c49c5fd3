"""An advisor that is damaged in one place or another, to put on ``PYTHONPATH``."""

from __future__ import annotations

import shutil
from pathlib import Path

import snapcraft_compression_advisor

PACKAGE = Path(snapcraft_compression_advisor.__file__).parent

DAMAGES = {
    "numpy": ("numpy/__init__.py", "raise ImportError('numpy is damaged')"),
    "ruamel": ("ruamel/__init__.py", "raise ImportError('ruamel is damaged')"),
    "hooks don't parse": (f"{PACKAGE.name}/host/hooks.py", "def (): hooks are damaged"),
    "hooks don't install": (
        f"{PACKAGE.name}/host/hooks.py",
        "def install(*_): raise RuntimeError('hooks are damaged')",
    ),
    "configure doesn't parse": (
        f"{PACKAGE.name}/host/configure.py",
        "def (): configure is damaged",
    ),
    "configure raises": (
        f"{PACKAGE.name}/host/configure.py",
        "def configure(*_): raise RuntimeError('configure is damaged')",
    ),
    "a hook fails": (
        f"{PACKAGE.name}/host/build_plugin.py",
        "raise RuntimeError('a hook is damaged')",
    ),
    "analysis": (
        f"{PACKAGE.name}/analysis.py",
        "def analyse(*_, **__): raise RuntimeError('analysis is damaged')",
    ),
}
"""A file by the damage's name, and what is appended to it."""


def damaged(folder: Path, damage: str) -> str:
    """Make a folder that, first on Python's path, damages the advisor.

    :param folder: that is made.
    """
    name, content = DAMAGES[damage]
    path = folder / name
    if name.startswith(PACKAGE.name):
        shutil.copytree(PACKAGE, folder / PACKAGE.name)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        file.write(f"\n{content}\n")
    return str(folder)

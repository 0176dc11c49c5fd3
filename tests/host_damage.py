"""An advisor that is damaged in one place or another, to put on ``PYTHONPATH``."""

import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

import snapcraft_compression_advisor
import snapcraft_compression_advisor_plugin

PACKAGE = Path(snapcraft_compression_advisor.__file__).parent

DAMAGES = {
    "numpy": ("numpy/__init__.py", "raise ImportError('numpy is damaged')"),
    "ruamel": ("ruamel/__init__.py", "raise ImportError('ruamel is damaged')"),
    "hooks don't parse": (f"{PACKAGE.name}/host/hooks.py", "def (): hooks are damaged"),
    "hooks don't install": (
        f"{PACKAGE.name}/host/hooks.py",
        "def install(*_): raise RuntimeError('hooks are damaged')",
    ),
    "the package doesn't parse": (
        f"{PACKAGE.name}/__init__.py",
        "def (): the package is damaged",
    ),
    "a hook fails": (
        f"{PACKAGE.name}/host/commands.py",
        "raise RuntimeError('a hook is damaged')",
    ),
    "analysis": (
        f"{PACKAGE.name}/analysis.py",
        "def analyse(*_, **__): raise RuntimeError('analysis is damaged')",
    ),
}
"""A file by the damage's name, and what is appended to it."""


def _truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def _break_syntax(path: Path) -> None:
    path.write_text("def ():\n")


HOW: Mapping[str, Callable[[Path], None]] = {
    "truncated": _truncate,
    "syntax error": _break_syntax,
    "missing": Path.unlink,
}
"""Ways in which a module of the advisor is damaged."""


ONLY_THE_COPY = """\
import sys
sys.meta_path[:] = [
    each for each in sys.meta_path if "Editable" not in getattr(each, "__name__", "")
]
"""
"""An editable installation would find a module that the copy lacks."""


def copy_advisor(folder: Path) -> None:
    """Put a copy of the advisor into a folder, as it is installed."""
    shutil.copytree(
        PACKAGE, folder / PACKAGE.name, ignore=shutil.ignore_patterns("__pycache__")
    )
    shutil.copy(snapcraft_compression_advisor_plugin.__file__, folder)
    (folder / "sitecustomize.py").write_text(ONLY_THE_COPY)


def damaged(folder: Path, damage: str) -> str:
    """Make a folder that, first on Python's path, damages the advisor.

    :param folder: that is made.
    """
    name, content = DAMAGES[damage]
    path = folder / name
    if name.startswith(PACKAGE.name):
        copy_advisor(folder)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        file.write(f"\n{content}\n")
    return str(folder)

"""What craft-application calls: ``configure(app)``, by the entry point.

Every craft application loads this module, and swallows what it raises. So this one and
what it imports take nothing but the standard library; the rest is loaded where an
application packs snaps, and what keeps it from loading is a warning, or the end of the
pack where the settings say ``enforce``.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import MutableMapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .refusal import asks_to_enforce, reason_of, refuse, warn_of

if TYPE_CHECKING:
    from craft_application import Application

VARIABLE = "PYTHONPATH"
IMPORT_DIR = Path(__file__).resolve().parents[2]
"""The folder that the advisor is imported from."""

_HOOKS = "snapcraft_compression_advisor.host.hooks"
_CONFIGURED = "_compression_advisor_is_configured"


def configure(app: Application) -> None:
    """Let the advisor into an application that packs snaps; leave others alone.

    Called again for an application, as the second entry point does, it does nothing.
    """
    hide_import_dir(os.environ)
    if not _packs_snaps(app) or hasattr(app, _CONFIGURED):
        return
    # Now: the linter runs in the prime directory.
    here = Path(getattr(app, "project_dir", "")).absolute()
    problems = _install(app, here)
    if problems and asks_to_enforce(here, os.environ):
        refuse(app, problems[0])
    else:
        for problem in problems:
            warn_of(problem)
    setattr(app, _CONFIGURED, True)


def _install(app: Application, here: Path) -> list[str]:
    """Install all hooks.

    :returns: what can't be had, in one line each.
    """
    try:
        version: str = importlib.import_module("pydantic").VERSION
        if version.startswith("1."):
            return [f"it needs pydantic 2.5 or later, this is {version}"]
        problems: list[str] = importlib.import_module(_HOOKS).install(app, here)
    except Exception as error:  # noqa: BLE001 # whatever is damaged, it is said
        return [f"it can't be loaded: {reason_of(error)}"]
    return problems


def _packs_snaps(app: Application) -> bool:
    """Tell snapcraft and its like from other craft applications."""
    project: Any = app.app.ProjectClass
    # pydantic 1 knows its fields by another name.
    fields = getattr(project, "model_fields", None) or getattr(
        project, "__fields__", {}
    )
    return "compression" in fields


def hide_import_dir(environment: MutableMapping[str, str]) -> None:
    """Take the advisor's folder out of an environment that programs inherit.

    What a part installs would be "already satisfied" by what lies there, and the snap
    would ship without it. This process imports from it all the same: it has read the
    variable.
    """
    path = environment.get(VARIABLE)
    if path is None:
        return
    entries = path.split(os.pathsep)
    others = [each for each in entries if not _is_import_dir(each)]
    if others:
        environment[VARIABLE] = os.pathsep.join(others)
    else:
        del environment[VARIABLE]


def _is_import_dir(entry: str) -> bool:
    # An empty one is the current folder, to Python.
    return bool(entry) and Path(entry).resolve() == IMPORT_DIR

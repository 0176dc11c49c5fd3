"""The second entry point: it enforces where the first one is damaged.

craft-application swallows what an entry point raises, so a damaged
:mod:`~snapcraft_compression_advisor.host.configure` would let a pack go on that must
not. This module runs it and sees that. Both must be damaged for that to be missed.
"""

from __future__ import annotations

import importlib
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from craft_application import Application

_HERE = "snapcraft_compression_advisor.host"


def configure(app: Application) -> None:
    """Let the advisor in, if the first entry point hasn't done so.

    :raises SystemExit: where the settings say ``enforce`` and nothing else can stop
        the pack; see :func:`~snapcraft_compression_advisor.host.refusal.refuse`.
    """
    try:
        importlib.import_module(f"{_HERE}.configure").configure(app)
    except Exception as error:  # noqa: BLE001 # whatever is damaged
        _stand_in(app, f"it can't be loaded: {type(error).__name__}: {error}")


def _stand_in(app: Application, reason: str) -> None:
    project: Any = app.app.ProjectClass
    fields = getattr(project, "model_fields", None) or getattr(
        project, "__fields__", {}
    )
    if "compression" not in fields:  # packs no snaps
        return
    refusal = importlib.import_module(f"{_HERE}.refusal")
    here = Path(getattr(app, "project_dir", "")).absolute()
    if refusal.asks_to_enforce(here, os.environ):
        refusal.refuse(app, reason)
    else:
        refusal.warn_of(reason)

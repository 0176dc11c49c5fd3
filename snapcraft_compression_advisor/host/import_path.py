"""The advisor's folder on ``PYTHONPATH``: kept from what parts build with.

Only the standard library is imported here.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import MutableMapping

VARIABLE = "PYTHONPATH"
IMPORT_DIR = Path(__file__).resolve().parents[2]
"""The folder that the advisor is imported from."""


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

"""Python programs: the modules that they import."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ..runtime import Runtime

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ....launch_set import BlindSpot
    from ..runtime import Loaded, StartedApp

_PROGRAM = re.compile(r"(?:lib)?python[\d.]*(?:\.so\S*)?")


def _loads(app: StartedApp) -> Iterator[Loaded | BlindSpot]:
    if not app.runs(_PROGRAM):
        return
    # Six modules, which other apps don't need.
    from .search import loaded_files

    yield from loaded_files(app, _PROGRAM)


RUNTIME = Runtime(
    kind="Python",
    mapped=re.compile(r"python[\d.]*"),
    interpreter="python",
    main_file="__main__.py",
    loads=_loads,
    tells_all=True,
)

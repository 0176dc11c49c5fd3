"""Java programs: what the virtual machine opens."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ....core.units import MIB
from .runtime import Loaded

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .runtime import StartedApp

LINKED_MAX_BYTES = 80 * MIB
"""Of the modules that jlink put together; those of a whole runtime have 100 MiB and
more, and a smaller part of them is read."""


def loads(app: StartedApp) -> Iterator[Loaded]:
    """Yield the modules that jlink put together."""
    for program in app.programs.started:
        root = program.path.removesuffix("/bin/java")
        modules = app.paths.file(f"{root}/lib/modules")
        if modules is not None and modules.size_bytes < LINKED_MAX_BYTES:
            yield Loaded(entry=modules, way="java-linked-modules")

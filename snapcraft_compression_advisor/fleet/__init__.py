"""Many snaps: what is known of each, as rows of one data set."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

from ..core.errors import ToolError
from ..installing import install_command

_EXTRA = "fleet"


def imported(name: str) -> ModuleType:
    """Import a module of the extra ``fleet``, which only this room needs.

    :raises ToolError: if it isn't installed.
    """
    try:
        return import_module(name)
    except ImportError as error:
        message = f"A fleet's data set needs {name}, which isn't installed"
        raise ToolError(
            message,
            details=str(error),
            resolution=f"Install the extra [{_EXTRA}]: {install_command(_EXTRA)}.",
        ) from error

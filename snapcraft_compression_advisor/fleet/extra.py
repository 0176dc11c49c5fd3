"""What the extra ``fleet`` brings; nothing else of the advisor needs it."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

from ..core.errors import ToolError
from ..installing import install_command

EXTRA = "fleet"


def imported(name: str) -> ModuleType:
    """Import what the extra brings.

    :raises ToolError: where it isn't there.
    """
    try:
        return import_module(name)
    except ImportError as error:
        message = f"A fleet's data set needs {name}, which isn't installed"
        raise ToolError(
            message,
            details=str(error),
            resolution=f"Install the extra [{EXTRA}]: {install_command(EXTRA)}.",
        ) from error

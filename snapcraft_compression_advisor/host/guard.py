"""Keep the advisor's failures from a pack."""

from __future__ import annotations

import traceback
from typing import TYPE_CHECKING, TypeVar

from craft_cli import emit

from snapcraft_compression_advisor.errors import AdvisorError
from snapcraft_compression_advisor.host.errors import PolicyBrokenError, SettingsError

if TYPE_CHECKING:
    from collections.abc import Callable

Result = TypeVar("Result")
_MAX_REASON = 300
"""Characters of a reason: the rest of it is in the log."""


def harmless(action: Callable[[], Result], *, what: str) -> Result | None:
    """Do something that the pack can do without.

    :param what: that doesn't happen if it fails, for the warning.
    :returns: ``None`` where it failed; one line has said so, and the log says more.
    :raises SettingsError: where the settings are broken.
    :raises PolicyBrokenError: where the pack has to stop.
    """
    try:
        return action()
    except (SettingsError, PolicyBrokenError):
        raise
    except Exception as error:  # noqa: BLE001 # a pack never fails by its advisor
        warn(f"{what}: {_reason(error)}")
        emit.debug(traceback.format_exc())
        return None


def warn(text: str) -> None:
    """Print one warning line, with the log's place where there is a log."""
    log = _log_path()
    ending = f" (log: {log})" if log else ""
    emit.progress(f"Warning: compression advisor: {text}{ending}", permanent=True)


def _reason(error: Exception) -> str:
    text = " ".join(str(error).split()) or "no reason given"
    if not isinstance(error, AdvisorError):
        text = f"{type(error).__name__}: {text}"
    return text if len(text) <= _MAX_REASON else f"{text[:_MAX_REASON]}…"


def _log_path() -> str | None:
    """Return where craft-cli logs; it tells nobody, so this looks inside."""
    path = getattr(emit, "_log_filepath", None)
    return None if path is None else str(path)

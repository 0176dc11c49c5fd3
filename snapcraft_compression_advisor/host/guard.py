"""Keep the advisor's failures from a pack, unless the pack must not go without it."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from snapcraft_compression_advisor.host.errors import (
    CannotJudgeError,
    PolicyBrokenError,
    SettingsError,
)
from snapcraft_compression_advisor.host.refusal import reason_of, warn_of

if TYPE_CHECKING:
    from collections.abc import Callable

Result = TypeVar("Result")


def harmless(action: Callable[[], Result], *, what: str) -> Result | None:
    """Do something that every pack can do without.

    :param what: that doesn't happen if it fails, for the warning.
    :returns: ``None`` where it failed; one line has said so, and the log says more.
    :raises SettingsError: where the settings are broken.
    :raises PolicyBrokenError: where the pack has to stop.
    """
    return judging(action, what=what, enforces=lambda: False)


def judging(
    action: Callable[[], Result], *, what: str, enforces: Callable[[], bool]
) -> Result | None:
    """Do something that a pack can do without unless its mode is ``enforce``.

    :param what: as for :func:`harmless`.
    :param enforces: tells whether that is the mode; asked where the action failed.
    :returns: as :func:`harmless`.
    :raises SettingsError: as :func:`harmless`.
    :raises PolicyBrokenError: likewise; ``CannotJudgeError`` where it failed and the
        mode is ``enforce``.
    """
    try:
        return action()
    except (SettingsError, PolicyBrokenError):
        raise
    except Exception as error:  # a pack never fails by its advisor
        reason = reason_of(error)
        if enforces():
            raise CannotJudgeError.of(reason) from error
        warn_of(f"{what}: {reason}")
        return None

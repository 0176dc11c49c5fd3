"""What is put into an application, and what of it may stop a pack.

Failures of the advisor that need not stop a pack are kept from it.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from snapcraft_compression_advisor_plugin import (
    RESOLUTION,
    reason_of,
    warn_of,
    without_collector,
)

from ..core.errors import AdvisorError, BadDataError

Result = TypeVar("Result")
_FUNCTION = "unadvised_function"


class SettingsError(BadDataError):
    """The settings are broken: exit status 65."""


class PolicyBrokenError(AdvisorError):
    """What is about to be packed violates the policy: exit status 1."""

    exit_status = 1


class CannotJudgeError(PolicyBrokenError):
    """The mode is ``enforce``, and nobody can say whether the policy is kept."""

    @classmethod
    def of(cls, reason: str) -> CannotJudgeError:
        """Return an error for what failed."""
        message = f"The mode is 'enforce', but there is no compression advice: {reason}"
        return cls(message, resolution=RESOLUTION)


@contextmanager
def blaming_settings() -> Iterator[None]:
    """Raise any error of the advisor within as the settings' fault."""
    try:
        yield
    except AdvisorError as error:
        raise SettingsError(
            str(error), details=error.details, resolution=error.resolution
        ) from error


@contextmanager
def stopping_snapcraft() -> Iterator[None]:
    """Raise what stops the pack within as snapcraft's error: core22 knows no other."""
    try:
        yield
    except (SettingsError, PolicyBrokenError) as error:
        raise importlib.import_module("snapcraft.errors").SnapcraftError(
            str(error),
            details=error.details,
            resolution=error.resolution,
            retcode=error.retcode,
        ) from error


def harmless(action: Callable[[], Result], *, what: str) -> Result | None:
    """Do something that every pack can do without; see :func:`judging`."""
    return judging(action, what=what, enforces=lambda: False)


def judging(
    action: Callable[[], Result], *, what: str, enforces: Callable[[], bool]
) -> Result | None:
    """Do something that a pack can do without unless its mode is ``enforce``.

    :param what: that doesn't happen if it fails, for the warning.
    :param enforces: returns whether that is the mode, if the action failed.
    :returns: None if it failed; one line reports it, and the log has more.
    :raises SettingsError: if the settings are broken.
    :raises PolicyBrokenError: if the pack has to stop; ``CannotJudgeError`` if the
        action failed and the mode is ``enforce``.
    """
    try:
        with without_collector():
            return action()
    except (SettingsError, PolicyBrokenError):
        raise
    except Exception as error:  # a pack never fails by its advisor
        reason = reason_of(error)
        if enforces():
            raise CannotJudgeError.of(reason) from error
        warn_of(f"{what}: {reason}")
        return None


def wrap(owner: object, name: str, wrapper: Callable[..., Any]) -> None:
    """Put a function before one of a module's, a class's or an object's.

    :param wrapper: is called with that function, and with what that is called with.
    """
    function = getattr(owner, name)
    function = getattr(function, _FUNCTION, function)

    @functools.wraps(function)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        return wrapper(function, *args, **kwargs)

    setattr(wrapped, _FUNCTION, function)
    setattr(owner, name, wrapped)

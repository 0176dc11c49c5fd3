"""Puts the advisor in the place of an application's functions and classes.

What was put there before is taken away first, so that configuring an application twice
is as good as once.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

from .project_service import FindAdvisor

Service = TypeVar("Service")
_FUNCTION = "unadvised_function"
_UNCHECKED = "unchecked_class"


def wrap(owner: object, name: str, wrapper: Callable[..., Any]) -> None:
    """Put a function in the place of one of a module's, a class's or an object's.

    :param wrapper: is called with the function that it comes before, and what that is
        called with.
    """
    function = getattr(owner, name)
    function = getattr(function, _FUNCTION, function)

    @functools.wraps(function)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        return wrapper(function, *args, **kwargs)

    setattr(wrapped, _FUNCTION, function)
    setattr(owner, name, wrapped)


def derive(
    base: type[Service], name: str, *before: type, mark: str, **members: object
) -> type[Service]:
    """Return a service class that comes before an application's.

    :param base: the application's; one made here is made anew.
    :param before: classes whose methods come before those of the base.
    :param mark: attribute that has the application's own class.
    :param members: of the new class.
    """
    own = getattr(base, mark, base)
    return type(name, (*before, own), {mark: own, **members})


def check_before(
    base: type[Service], method: str, check: Callable[[], None]
) -> type[Service]:
    """Return a service that has something checked before one of its methods runs.

    :param check: raises where the method must not run.
    """
    unchecked: Any = getattr(base, _UNCHECKED, base)

    def checked(self: Service, *args: Any, **kwargs: Any) -> Any:
        check()
        return getattr(unchecked, method)(self, *args, **kwargs)

    name = f"Checked{unchecked.__name__}"
    return derive(base, name, mark=_UNCHECKED, **{method: checked})


def check_settings(find_advisor: FindAdvisor) -> None:
    """Stop a build before its first step where the settings are broken.

    :raises SettingsError: in that case.
    :raises CannotJudgeError: where there is no telling, and the mode is ``enforce``.
    """
    advisor = find_advisor()
    if advisor is not None:
        advisor.judging(advisor.check_settings, what="the settings aren't checked")

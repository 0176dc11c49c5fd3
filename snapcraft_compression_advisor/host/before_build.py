"""Broken settings stop a build before its first step, not after the last."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

    from snapcraft_compression_advisor.host.project_service import FindAdvisor

Service = TypeVar("Service")
_UNCHECKED = "unchecked_class"


def check_before(
    base: type[Service], method: str, check: Callable[[], None]
) -> type[Service]:
    """Return a service that has something checked before one of its methods runs.

    :param base: the application's class; one made here is made anew.
    :param check: raises where the method must not run.
    """
    unchecked: Any = getattr(base, _UNCHECKED, base)

    def checked(self: Service, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 # passed on
        check()
        return getattr(unchecked, method)(self, *args, **kwargs)

    return type(
        f"Checked{unchecked.__name__}",
        (unchecked,),
        {method: checked, _UNCHECKED: unchecked},
    )


def check_settings(find_advisor: FindAdvisor) -> None:
    """Stop where the settings are broken.

    :raises SettingsError: in that case.
    :raises CannotJudgeError: where there is no telling, and the mode is ``enforce``.
    """
    advisor = find_advisor()
    if advisor is not None:
        advisor.judging(advisor.check_settings, what="the settings aren't checked")

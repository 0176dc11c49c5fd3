"""Advice where no Package service packs: core22, ``snapcraft pack DIRECTORY``."""

from __future__ import annotations

import functools
import inspect
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from snapcraft_compression_advisor.host.artifact import DEFAULT_COMPRESSION, Artifact
from snapcraft_compression_advisor.host.guard import PolicyBrokenError, SettingsError
from snapcraft_compression_advisor.host.wrapping import check_settings, wrap
from snapcraft_compression_advisor.payload.source import component_name

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

    from snapcraft_compression_advisor.core.errors import AdvisorError
    from snapcraft_compression_advisor.host.advisor import Advisor
    from snapcraft_compression_advisor.host.project_service import FindAdvisor

_Answer = TypeVar("_Answer")


@dataclass(slots=True, kw_only=True)
class Stop:
    """What stopped the pack of this run.

    :param status: its exit status; 0 while nothing has.
    """

    status: int = 0


def wrap_run(cli: ModuleType, stop: Stop) -> None:
    """Have snapcraft end with the exit status of what stopped the pack.

    On core22 it ends with 1, whatever the error's own status is; later bases heed it.

    :param cli: the module ``snapcraft.cli``.
    :param stop: that :func:`wrap_pack_functions` was given, too.
    """

    def make(run: Callable[..., int]) -> Callable[..., int]:
        def run_to_status(*args: Any, **kwargs: Any) -> int:  # noqa: ANN401 # passed on
            status = run(*args, **kwargs)
            return (stop.status or status) if status else status

        return run_to_status

    wrap(cli, "run", make)


def wrap_pack_functions(
    pack: ModuleType,
    error_class: type[Exception],
    find_advisor: FindAdvisor,
    stop: Stop,
) -> None:
    """Have snapcraft's two functions that pack a directory ask for advice first.

    Where the Package service has asked already, they only pack.

    :param pack: the module ``snapcraft.pack``.
    :param error_class: ``SnapcraftError``: on core22 snapcraft prints no other well.
    :param find_advisor: returns who gives the advice, always the same.
    :param stop: notes what stops the pack.
    """
    for name in ("pack_snap", "pack_component"):
        make = functools.partial(
            _advised,
            find_advisor=find_advisor,
            stopped=functools.partial(_stopped, error_class, stop),
            is_component=name == "pack_component",
        )
        wrap(pack, name, make)


def wrap_lifecycle(
    lifecycle: ModuleType,
    error_class: type[Exception],
    find_advisor: FindAdvisor,
    stop: Stop,
) -> None:
    """Have the settings checked before snapcraft builds anything on core22.

    :param lifecycle: the module ``snapcraft.parts.lifecycle``.
    :param error_class: as for :func:`wrap_pack_functions`.
    :param find_advisor: as for :func:`wrap_pack_functions`.
    :param stop: notes what stops it.
    """

    def make_checked(run: Callable[..., None]) -> Callable[..., None]:
        def checked(command_name: str, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401 # passed on
            if command_name != "clean":  # which needs no settings
                check = functools.partial(check_settings, find_advisor)
                _ask(check, functools.partial(_stopped, error_class, stop))
            run(command_name, *args, **kwargs)

        return checked

    def make_noting(inner: Callable[..., None]) -> Callable[..., None]:
        """Note what an extension may have set, for the linter that runs first."""

        def noting(*args: Any, project: Any, **kwargs: Any) -> None:  # noqa: ANN401 # passed on
            advisor = find_advisor()
            if advisor is not None:
                advisor.packing_with = project.compression
            inner(*args, project=project, **kwargs)

        return noting

    wrap(lifecycle, "run", make_checked)
    wrap(lifecycle, "_run_lifecycle_and_pack", make_noting)


def _advised(
    function: Callable[..., str],
    *,
    find_advisor: FindAdvisor,
    stopped: Callable[[AdvisorError], Exception],
    is_component: bool,
) -> Callable[..., str]:
    """Return what packs a directory as snapcraft does, but with what the advice says.

    :raises TypeError: where snapcraft's function takes other arguments.
    """
    signature = inspect.signature(function)
    if not {"directory", "compression"} <= signature.parameters.keys():
        message = f"{function.__name__} takes {', '.join(signature.parameters)}"
        raise TypeError(message)

    def advised(*args: Any, **kwargs: Any) -> str:  # noqa: ANN401 # passed on as they are
        arguments = signature.bind(*args, **kwargs)
        given = arguments.arguments
        prime_dir = Path(given["directory"]).resolve()
        advisor = _ask(functools.partial(_unasked, find_advisor, prime_dir), stopped)
        if advisor is None:
            return function(*args, **kwargs)
        ask = functools.partial(
            _compression,
            advisor,
            prime_dir,
            given.get("compression"),
            is_component=is_component,
        )
        given["compression"] = _ask(ask, stopped)
        packed = function(*arguments.args, **arguments.kwargs)
        advisor.conclude()
        return packed

    return advised


def _ask(
    ask: Callable[[], _Answer], stopped: Callable[[AdvisorError], Exception]
) -> _Answer:
    try:
        return ask()
    except (SettingsError, PolicyBrokenError) as error:
        raise stopped(error) from error


def _stopped(
    error_class: type[Exception], stop: Stop, error: AdvisorError
) -> Exception:
    """Return what tells snapcraft why the pack is stopped, and note the status."""
    stop.status = error.retcode
    kind: Any = error_class
    told: Exception = kind(
        str(error),
        details=error.details,
        resolution=error.resolution,
        retcode=error.retcode,
    )
    return told


def _unasked(find_advisor: FindAdvisor, prime_dir: Path) -> Advisor | None:
    """Return who is to be asked, unless the Package service has."""
    advisor = find_advisor()
    if advisor is None or advisor.has_advised(prime_dir):
        return None
    return advisor


def _compression(
    advisor: Advisor, prime_dir: Path, given: str | None, *, is_component: bool
) -> str | None:
    """Return what to pack with, the given one where the advisor leaves it at that."""
    artifact = advisor.judging(
        lambda: _artifact(advisor, prime_dir, given, is_component=is_component),
        what="no advice, since the payload isn't as expected",
    )
    if artifact is None:
        return given
    wanted = advisor.before_pack(artifact)
    return given if wanted == artifact.compression else wanted


def _artifact(
    advisor: Advisor, prime_dir: Path, given: str | None, *, is_component: bool
) -> Artifact:
    component = component_name(prime_dir) if is_component else None
    return Artifact(
        prime_dir=prime_dir,
        component=component,
        compression=given or DEFAULT_COMPRESSION,
        # Where snapcraft passes none, it packs a directory without its project.
        declared=advisor.declared(component) if given else None,
    )

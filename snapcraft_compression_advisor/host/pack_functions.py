"""Advice if no Package service packs: core22, ``snapcraft pack DIRECTORY``."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from ..payload.source import component_name
from .advisor import Advisor, FindAdvisor, check_settings
from .artifact import DEFAULT_COMPRESSION, Artifact
from .guard import Stop, wrap


def wrap_run(cli: ModuleType, stop: Stop) -> None:
    """Have snapcraft end with the exit status of what stopped the pack.

    On core22 it ends with 1, whatever the error's own status is; later bases heed it.

    :param cli: the module ``snapcraft.cli``.
    :param stop: that :func:`wrap_pack_functions` was given, too.
    """

    def run_to_status(run: Callable[..., int], *args: Any, **kwargs: Any) -> int:
        status = run(*args, **kwargs)
        return (stop.status or status) if status else status

    wrap(cli, "run", run_to_status)


def wrap_pack_functions(
    pack: ModuleType, find_advisor: FindAdvisor, stop: Stop
) -> None:
    """Have snapcraft's two functions that pack a directory ask for advice first.

    Where the Package service has asked already, they only pack.

    :param pack: the module ``snapcraft.pack``.
    :param stop: notes what stops the pack.
    :raises TypeError: if snapcraft's functions take other arguments.
    """
    for name in ("pack_snap", "pack_component"):
        signature = inspect.signature(getattr(pack, name))
        if not {"directory", "compression"} <= signature.parameters.keys():
            message = f"{name} takes {', '.join(signature.parameters)}"
            raise TypeError(message)
        is_component = name == "pack_component"
        wrap(pack, name, functools.partial(_pack, find_advisor, stop, is_component))


def wrap_lifecycle(
    lifecycle: ModuleType, find_advisor: FindAdvisor, stop: Stop
) -> None:
    """Have the settings checked before snapcraft builds anything on core22.

    :param lifecycle: the module ``snapcraft.parts.lifecycle``.
    :param stop: notes what stops it.
    """

    def checked(
        run: Callable[..., None], command_name: str, *args: Any, **kwargs: Any
    ) -> None:
        if command_name != "clean":  # which needs no settings
            with stop.told():
                check_settings(find_advisor)
        run(command_name, *args, **kwargs)

    def noting(
        run: Callable[..., None], *args: Any, project: Any, **kwargs: Any
    ) -> None:
        """Note what an extension may have set: here the linter runs before advice."""
        advisor = find_advisor()
        if advisor is not None:
            advisor.packing_with = project.compression or DEFAULT_COMPRESSION
        run(*args, project=project, **kwargs)

    wrap(lifecycle, "run", checked)
    wrap(lifecycle, "_run_lifecycle_and_pack", noting)


def _pack(
    find_advisor: FindAdvisor,
    stop: Stop,
    is_component: bool,  # noqa: FBT001 # no keyword may get into what is passed on
    function: Callable[..., str],
    *args: Any,
    **kwargs: Any,
) -> str:
    """Pack a directory as snapcraft does, but with what the advice says.

    :param function: snapcraft's own.
    """
    arguments = inspect.signature(function).bind(*args, **kwargs)
    given = arguments.arguments
    prime_dir = Path(given["directory"]).resolve()
    with stop.told():
        advisor = find_advisor()
        asks = advisor is not None and not advisor.has_advised(prime_dir)
        if advisor is not None and asks:
            artifact = advisor.judging(
                lambda: _artifact(advisor, prime_dir, given, is_component=is_component),
                what="no advice, because the payload isn't as expected",
            )
            wanted = advisor.before_pack(artifact) if artifact else None
            if artifact and wanted != artifact.compression:
                given["compression"] = wanted
    packed = function(*arguments.args, **arguments.kwargs)
    if advisor is not None and asks:
        advisor.conclude()
    return packed


def _artifact(
    advisor: Advisor, prime_dir: Path, given: Mapping[str, Any], *, is_component: bool
) -> Artifact:
    component = component_name(prime_dir) if is_component else None
    compression = given.get("compression")
    return Artifact(
        prime_dir=prime_dir,
        component=component,
        compression=compression or DEFAULT_COMPRESSION,
        # If snapcraft passes none, it packs a directory without its project.
        declared=advisor.declared(component) if compression else None,
    )

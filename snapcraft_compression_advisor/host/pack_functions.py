"""Advice where no Package service packs: core22, ``snapcraft pack DIRECTORY``."""

from __future__ import annotations

import functools
import inspect
from pathlib import Path
from typing import TYPE_CHECKING, Any

from snapcraft_compression_advisor.host.artifact import DEFAULT_COMPRESSION, Artifact
from snapcraft_compression_advisor.host.errors import PolicyBrokenError, SettingsError
from snapcraft_compression_advisor.host.guard import harmless
from snapcraft_compression_advisor.payload.component import component_name

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

    from snapcraft_compression_advisor.host.advisor import Advisor

_UNADVISED = "unadvised_function"


def wrap_pack_functions(
    pack: ModuleType,
    error_class: type[Exception],
    find_advisor: Callable[[], Advisor],
) -> None:
    """Have snapcraft's two functions that pack a directory ask for advice first.

    Where the Package service has asked already, they only pack.

    :param pack: the module ``snapcraft.pack``.
    :param error_class: ``SnapcraftError``: on core22 snapcraft prints no other well.
    :param find_advisor: returns who gives the advice, always the same.
    """
    for name in ("pack_snap", "pack_component"):
        function = getattr(pack, name)
        wrapped = _advised(
            getattr(function, _UNADVISED, function),
            find_advisor,
            error_class,
            is_component=name == "pack_component",
        )
        setattr(pack, name, wrapped)


def _advised(
    function: Callable[..., str],
    find_advisor: Callable[[], Advisor],
    error_class: type[Exception],
    *,
    is_component: bool,
) -> Callable[..., str]:
    signature = inspect.signature(function)

    @functools.wraps(function)
    def advised(*args: Any, **kwargs: Any) -> str:  # noqa: ANN401 # passed on as they are
        try:
            arguments = signature.bind(*args, **kwargs)
        except TypeError:  # not the function that is known here
            return function(*args, **kwargs)
        advisor, given = find_advisor(), arguments.arguments
        prime_dir = Path(given["directory"]).resolve()
        if not advisor.has_advised(prime_dir):
            given["compression"] = _ask(
                functools.partial(
                    _compression,
                    advisor,
                    prime_dir,
                    given.get("compression"),
                    is_component=is_component,
                ),
                error_class,
            )
        return function(*arguments.args, **arguments.kwargs)

    setattr(advised, _UNADVISED, function)
    return advised


def _ask(ask: Callable[[], str | None], error_class: type[Exception]) -> str | None:
    try:
        return ask()
    except (SettingsError, PolicyBrokenError) as error:
        kind: Any = error_class
        raise kind(
            str(error), details=error.details, resolution=error.resolution
        ) from error


def _compression(
    advisor: Advisor, prime_dir: Path, given: str | None, *, is_component: bool
) -> str | None:
    """Return what to pack with, the given one where the advisor leaves it at that."""
    artifact = harmless(
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

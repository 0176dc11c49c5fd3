"""Which build of a baseline a payload continues, where several have its name."""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


class HasPath(Protocol):
    """What knows the path that its payload was given by."""

    @property
    def path(self) -> str:
        """Return the path."""


Known = TypeVar("Known", bound=HasPath)


def same_build(path: str, known: Sequence[Known]) -> Known | None:
    """Return what is known of a payload, of all that is known of its snap.

    A snap is built for several architectures, so a baseline may hold several builds of
    one name. That counts which has the same path, else the same file name, else the
    same architecture in its name, which is ``NAME_VERSION_ARCHITECTURE.snap``.

    :returns: ``None`` where there is none, or it isn't clear which.
    """
    if len(known) == 1:
        return known[0]
    likenesses: tuple[Callable[[str], str], ...] = (str, _file_name, _architecture)
    for likeness in likenesses:
        alike = [each for each in known if likeness(each.path) == likeness(path)]
        if alike:
            return alike[0] if len(alike) == 1 else None
    return None


def _file_name(path: str) -> str:
    return PurePath(path).name


def _architecture(path: str) -> str:
    return PurePath(path).stem.rpartition("_")[2]

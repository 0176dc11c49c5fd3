"""Refuses base, content and consumer snaps that don't go with a snap."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..core.errors import UsageError
from .snap_yaml import SnapMetadata
from .source import Payload
from .stack import provides

BASE_TYPES = ("base", "os")
"""Types of snaps that are a root file system; ``core`` is of the second."""

_NO_BASE = ("bare", "none")
_EVERYWHERE = "all"


def check_stack(
    snaps: Sequence[Payload],
    *,
    bases: Sequence[Payload] = (),
    contents: Sequence[Payload] = (),
) -> None:
    """Refuse base and content snaps that none of some snaps would run with.

    :param snaps: the one to advise on, or its consumers; at least one.
    :raises UsageError: if one is of another type, another track or another
        architecture, or the same is given twice.
    """
    _check_names([*bases, *contents])
    for base in bases:
        _check_type(base)
        wanted = {snap.snap.base_name for snap in snaps}
        if base.snap.name not in wanted:
            raise _other_base(base, snaps[0].snap, wanted)
    for content in contents:
        if not any(asks_for(snap.snap, content.snap) for snap in snaps):
            raise _not_asked_for(content, snaps[0].snap)
    for other in (*bases, *contents):
        for snap in snaps:
            check_architecture(other, snap)


def check_consumer(consumer: Payload, platform: Payload) -> None:
    """Refuse a consumer that doesn't run with a base or content snap.

    :raises UsageError: if it doesn't, or where it is of another architecture.
    """
    snap = consumer.snap
    if platform.snap.type in BASE_TYPES:
        if snap.base_name != platform.snap.name:
            raise _other_base(platform, snap, {snap.base_name})
    elif not asks_for(snap, platform.snap):
        raise _not_asked_for(platform, snap)
    check_architecture(platform, consumer)


def asks_for(snap: SnapMetadata, content: SnapMetadata) -> bool:
    """Return whether one of a snap's plugs asks for what another one provides."""
    return any(provides(content, name, plug) for name, plug in snap.plugs.items())


def check_architecture(other: Payload, snap: Payload) -> None:
    """Refuse a snap that can't run on the same machine as another one.

    :raises UsageError: if their ``meta/snap.yaml`` name different architectures.
    """
    known = [set(each.snap.architectures) for each in (other, snap)]
    if not all(known) or any(_EVERYWHERE in each for each in known):
        return
    if known[0].isdisjoint(known[1]):
        theirs, own = (", ".join(sorted(each)) for each in known)
        message = (
            f"{str(other.path)!r} is for {theirs}, but {snap.snap.name} is for {own}"
        )
        raise UsageError(
            message, resolution=f"Specify {other.snap.name} for the same architecture."
        )


def _check_names(snaps: Iterable[Payload]) -> None:
    paths: dict[str, Payload] = {}
    for snap in snaps:
        first = paths.setdefault(snap.snap.name, snap)
        if first is not snap:
            message = (
                f"Snap {snap.snap.name!r} is given twice: {str(first.path)!r} and "
                f"{str(snap.path)!r}"
            )
            raise UsageError(message, resolution="Specify one of them.")


def _check_type(base: Payload) -> None:
    if base.snap.type not in BASE_TYPES:
        message = (
            f"{str(base.path)!r} isn't a base: {base.snap.name} has the type "
            f"{base.snap.type!r}"
        )
        resolution = "Specify a content snap with --content ('contents' in the policy)."
        raise UsageError(message, resolution=resolution)


def _other_base(base: Payload, snap: SnapMetadata, wanted: set[str]) -> UsageError:
    names = " or ".join(sorted(wanted))
    message = f"{str(base.path)!r} is {base.snap.name}, but the base of "
    if wanted <= set(_NO_BASE):
        return UsageError(
            f"{message}{snap.name} is {names}, so no other snap is its root",
            resolution="Leave the base out.",
        )
    return UsageError(
        f"{message}{snap.name} is {names}", resolution=f"Specify a snap of {names}."
    )


def _not_asked_for(content: Payload, snap: SnapMetadata) -> UsageError:
    wanted = [
        plug.default_provider or plug.content or name
        for name, plug in snap.plugs.items()
        if plug.interface == "content"
    ]
    message = (
        f"{snap.name} has no content plug for {content.snap.name} "
        f"({str(content.path)!r})"
    )
    listed = ", ".join(dict.fromkeys(wanted)) or "no content snap"
    return UsageError(message, resolution=f"Its plugs ask for {listed}.")

"""A launch that reads several snaps: what it reads of each."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..payload.stack import Layer, StackedPayload
    from .launch_set import LaunchFile, LaunchSet


def split(
    launch_set: LaunchSet, stacked: StackedPayload
) -> tuple[tuple[Layer, LaunchSet], ...]:
    """Return what a launch reads of each snap, by the paths that files have there.

    What is uncertain of the whole launch is taken to be as uncertain of each part.

    :param launch_set: with the paths of ``stacked``.
    :returns: a set for each layer, empty ones too, in their order.
    """
    parts: dict[str, list[LaunchFile]] = defaultdict(list)
    for file in launch_set.files:
        layer, path = stacked.own_path(file.path)
        parts[layer.place].append(replace(file, path=path))
    return tuple(
        (
            layer,
            replace(
                launch_set,
                files=tuple(sorted(parts[layer.place], key=lambda file: file.path)),
                unresolved=() if number else launch_set.unresolved,
            ),
        )
        for number, layer in enumerate(stacked.layers)
    )

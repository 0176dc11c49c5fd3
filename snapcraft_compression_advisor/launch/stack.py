"""A launch that reads several snaps: what it reads of each, and what that costs."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import add
from typing import TYPE_CHECKING

from ..core.units import Interval
from ..payload.stack import StackedPayload, layers_of
from .guess.guess import static_launch_set
from .launch_set import GuessBasis, LaunchFile, LaunchSet, share_ranges

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ..payload.source import Payload
    from ..payload.stack import Layer, Role
    from .fit import FittedProfile
    from .model import LaunchEstimate
    from .profile import LaunchProfile

AVERAGE_CONSUMER = "the average consumer"
"""Whose launch that is which several snaps' launches make together."""

_USUAL_CODEC = "xz"
"""What snapcraft packs with if nothing else is declared."""

_DIGITS = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class StackPart:
    """What a launch reads of one snap.

    :param codec: that its image has; ``None`` if it isn't known.
    :param payload: ``None`` if only a recording names the snap.
    :param judged: whether the advice is about this snap, as its caller knows.
    :param estimates: by device and codec; none if it can't be read.
    :param lzo_less_xz_bytes: what lzo adds to its image, if that is known.
    """

    role: Role
    name: str
    codec: str | None
    payload: Payload | None
    launch_set: LaunchSet
    judged: bool = False
    estimates: Mapping[str, Mapping[str, LaunchEstimate]] = field(default_factory=dict)
    lzo_less_xz_bytes: Interval | None = None

    @property
    def taken_as(self) -> str:
        """The codec whose cost it has: by default what snapcraft takes."""
        estimates = next(iter(self.estimates.values()), {})
        return self.codec if self.codec and self.codec in estimates else _USUAL_CODEC


def split(
    launch_set: LaunchSet, stacked: StackedPayload
) -> tuple[tuple[Layer, LaunchSet], ...]:
    """Return a launch's reads by snap, with the paths that files have there.

    What is uncertain of the whole launch is taken to be as uncertain of each part.

    :param launch_set: with the paths of ``stacked``.
    :returns: a set for each layer, empty ones too, in their order.
    """
    parts: list[list[LaunchFile]] = [[] for _ in stacked.layers]
    for file in launch_set.files:
        layer, path = stacked.own_path(file.path)
        parts[stacked.layers.index(layer)].append(replace(file, path=path))
    return tuple(
        (
            layer,
            replace(
                launch_set,
                files=tuple(sorted(files, key=lambda file: file.path)),
                unresolved=launch_set.unresolved if layer.role == "app" else (),
            ),
        )
        for layer, files in zip(stacked.layers, parts, strict=True)
    )


def find_parts(
    payload: Payload, app: str, profile: LaunchProfile | None
) -> tuple[tuple[StackPart, ...], FittedProfile | None]:
    """Find what a launch reads: recorded if a profile tells, else guessed.

    :param payload: a snap, or a stack of them.
    :returns: a part for each snap, the app's own first, and how the profile fits that.
    """
    layers = layers_of(payload)
    fitted = [_fitted(profile, layer) for layer in layers]
    guessed: Sequence[tuple[Layer, LaunchSet]] = ()
    if not all(fitted):
        whole = static_launch_set(payload, app)
        guessed = ((layers[0], whole),)
        if isinstance(payload, StackedPayload):
            guessed = split(whole, payload)
    parts = (
        StackPart(
            role=layer.role,
            name=layer.name,
            codec=layer.payload.packed_with,
            payload=layer.payload,
            launch_set=known.launch_set if known else guessed[number][1],
        )
        for number, (layer, known) in enumerate(zip(layers, fitted, strict=True))
    )
    return (*parts, *_unread(profile, layers)), fitted[0]


def _fitted(profile: LaunchProfile | None, layer: Layer) -> FittedProfile | None:
    if profile is None:
        return None
    # Most runs guess what a launch reads.
    from .fit import fit_layer, fit_profile, reach_to

    if layer.role == "app":
        fitted = fit_profile(profile, layer.payload.inventory)
        if fitted.launch_set.window == "early":
            return reach_to(static_launch_set(layer.payload, profile.app), fitted)
        return fitted
    return fit_layer(profile, layer.role, layer.name, layer.payload.inventory)


def _unread(
    profile: LaunchProfile | None, layers: Sequence[Layer]
) -> Iterator[StackPart]:
    """Yield the snaps that a recorded launch read and that aren't at hand."""
    known = {(layer.role, layer.name) for layer in layers}
    for each in (profile.payloads or ()) if profile else ():
        if each.role != "app" and (each.role, each.name) not in known:
            yield StackPart(
                role=each.role,
                name=each.name,
                codec=each.codec,
                payload=None,
                launch_set=LaunchSet(
                    app=profile.app if profile else "",
                    source="recorded",
                    files=tuple(
                        LaunchFile(
                            path=file.path, size_bytes=file.size, blocks=file.blocks
                        )
                        for file in each.files
                    ),
                    read_share=Interval.exactly(1.0),
                    seek_share=Interval.exactly(1.0),
                ),
            )


def average(launches: Sequence[LaunchSet]) -> LaunchSet:
    """Return the launch that several make together: blocks by their mean chance.

    What is uncertain of one is taken to be uncertain of the others in the same
    direction.

    :param launches: of the same payload.
    """

    def mean(name: str) -> Interval:
        parts = [getattr(each, name) * (1 / len(launches)) for each in launches]
        found: Interval = reduce(add, parts)
        return found

    return LaunchSet(
        app=AVERAGE_CONSUMER,
        source="static" if any(s.source == "static" for s in launches) else "recorded",
        files=tuple(_average_files(launches)),
        read_share=mean("read_share"),
        seek_share=mean("seek_share"),
        waited_share=mean("waited_share"),
        basis=_average_basis([each.basis for each in launches if each.basis]),
    )


def _average_files(launches: Sequence[LaunchSet]) -> Iterator[LaunchFile]:
    files: dict[str, LaunchFile] = {}
    chances: dict[str, dict[int, float]] = defaultdict(lambda: defaultdict(float))
    for launch_set in launches:
        for file in launch_set.files:
            files[file.path] = file
            for first, last, share in file.ranges():
                for number in range(first, last + 1):
                    chances[file.path][number] += share / len(launches)
    for path in sorted(files):
        rounded = {
            number: round(min(1.0, chance), _DIGITS)
            for number, chance in chances[path].items()
        }
        ranges = tuple(share_ranges(rounded))
        yield replace(
            files[path],
            blocks=tuple((first, last) for first, last, _ in ranges),
            shares=tuple(share for _, _, share in ranges),
        )


def _average_basis(bases: Sequence[GuessBasis]) -> GuessBasis | None:
    if not bases:
        return None
    return GuessBasis(
        kind=", ".join(dict.fromkeys(basis.kind for basis in bases)),
        recorded=tuple(dict.fromkeys(each for b in bases for each in b.recorded)),
        blind_spots=tuple(dict.fromkeys(s for b in bases for s in b.blind_spots)),
        reference=tuple(dict.fromkeys(each for b in bases for each in b.reference)),
    )

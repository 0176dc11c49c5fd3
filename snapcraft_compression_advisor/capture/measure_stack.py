"""Launches over several mounts, measured with every combination of codecs."""

from __future__ import annotations

import itertools
import platform
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from ..codecs import SHIPPABLE
from ..core.errors import ToolError, UsageError
from ..payload.stack import Layer, Role
from ..trial.result import Progress
from .measure import in_turns, make_cold, processor_name
from .mount import UBUNTU_READ_AHEAD_KB, can_mount, mount_point, mounted
from .packed_images import PackedImages, packed_images
from .page_cache import Storage, can_drop_caches, storage_of
from .samples import RunTime, Sample

MOST_COMBINATIONS = 32
"""Two codecs over five mounts; a round of more takes minutes."""

Combination = tuple[str, ...]
"""The codecs of a stack, in the order of its layers."""

StackLaunch = Callable[[Sequence[Path]], RunTime]
"""Launches once, given where each layer is mounted, and returns what that took."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StackRequest:
    """What to measure.

    :param layers: the app's own first.
    :param codecs: of each layer, in turns.
    :param runs: cold and warm launches from each combination.
    :param warm_up: whether to launch once before, unmeasured.
    :param scratch: directory for the images; the system's temporary one by default.
    """

    layers: tuple[Layer, ...]
    launch: StackLaunch
    method: Literal["launch", "replay"]
    codecs: tuple[str, ...] = SHIPPABLE
    runs: int = 10
    warm_up: bool = False
    read_ahead_kb: int = UBUNTU_READ_AHEAD_KB
    scratch: Path | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredLayer:
    """A layer, and the size of its image with each codec."""

    role: Role
    snap: str
    image_bytes: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredCombination:
    """What was measured with one combination of codecs.

    :param codecs: of the layers, in their order.
    :param cold_s: launches with caches dropped right before.
    :param warm_s: launches right after those.
    """

    codecs: Combination
    cold_s: Sample
    warm_s: Sample


@dataclass(frozen=True, slots=True, kw_only=True)
class StackMeasurement:
    """What was measured, and under which conditions.

    :param storage: ``memory`` where the images stay there whatever is dropped.
    :param runs: launches of each kind from each combination.
    """

    layers: tuple[MeasuredLayer, ...]
    combinations: tuple[MeasuredCombination, ...]
    method: Literal["launch", "replay"]
    storage: Storage
    read_ahead_kb: int
    runs: int
    kernel: str
    processor: str


def measure_stack(request: StackRequest, progress: Progress) -> StackMeasurement:
    """Pack and mount every layer with each codec, and launch from all combinations.

    Rounds and mounts are as those of :func:`.measure.measure`; the kernel alone can
    mount layers so that a launch sees one over the other.

    :raises UsageError: where this process may not mount, or there are too many.
    :raises AdvisorError: where an image can't be made, or a launch fails.
    """
    _check(request)
    with ExitStack() as stack:
        images = [
            stack.enter_context(
                packed_images(
                    layer.payload,
                    request.codecs,
                    scratch=request.scratch,
                    progress=progress,
                )
            )
            for layer in request.layers
        ]
        _check_images(images)
        places = [stack.enter_context(mount_point()) for _ in request.layers]
        return _Rounds(request, images, places, progress).run()


def _check(request: StackRequest) -> None:
    count = len(request.codecs) ** len(request.layers)
    if count > MOST_COMBINATIONS:
        message = (
            f"{len(request.layers)} mounts with {len(request.codecs)} codecs each are "
            f"{count} combinations; the limit is {MOST_COMBINATIONS}"
        )
        raise UsageError(message, resolution="Name fewer codecs or content snaps.")
    if not (can_mount() and can_drop_caches()):
        message = "Measuring a launch over several mounts requires root"
        raise UsageError(message, resolution="Run the command as root.")


def _check_images(images: Sequence[PackedImages]) -> None:
    for each in images:
        for codec, reason in each.unavailable.items():
            message = f"Codec {codec!r} can't be measured here"
            raise ToolError(
                message, details=reason, resolution="Leave it out with --codec."
            )


@dataclass(frozen=True, slots=True)
class _Rounds:
    """The rounds of one measurement.

    :param places: where each layer is mounted, the same in all launches.
    """

    request: StackRequest
    images: Sequence[PackedImages]
    places: Sequence[Path]
    progress: Progress
    times: dict[tuple[str, Combination], list[RunTime]] = field(
        default_factory=lambda: defaultdict(list)
    )

    def run(self) -> StackMeasurement:
        """Go through all rounds."""
        request = self.request
        combinations = tuple(
            itertools.product(request.codecs, repeat=len(request.layers))
        )
        if request.warm_up:
            self.progress("Launching once without measuring")
            with self.mounted(combinations[0]):
                request.launch(self.places)
        for number, order in enumerate(in_turns(combinations, request.runs), start=1):
            for combination in order:
                self.progress(
                    f"Launching with {', '.join(combination)} "
                    f"(round {number} of {request.runs})"
                )
                self.launch(combination)
        return StackMeasurement(
            layers=tuple(map(_measured_layer, request.layers, self.images)),
            combinations=tuple(map(self.measured, combinations)),
            method=request.method,
            storage=storage_of(self.images[0].paths[request.codecs[0]]),
            read_ahead_kb=request.read_ahead_kb,
            runs=request.runs,
            kernel=platform.release(),
            processor=processor_name(),
        )

    def launch(self, combination: Combination) -> None:
        """Launch with cold caches, then with warm ones."""
        with self.mounted(combination) as paths:
            make_cold(paths[0])
            for state in ("cold", "warm"):
                run = self.request.launch(self.places)
                self.times[state, combination].append(run)

    @contextmanager
    def mounted(self, combination: Combination) -> Iterator[Sequence[Path]]:
        """Mount each layer's image with its codec; the images are given back."""
        paths = [
            each.paths[codec]
            for each, codec in zip(self.images, combination, strict=True)
        ]
        with ExitStack() as stack:
            for path, place in zip(paths, self.places, strict=True):
                stack.enter_context(
                    mounted(path, read_ahead_kb=self.request.read_ahead_kb, at=place)
                )
            yield paths

    def measured(self, combination: Combination) -> MeasuredCombination:
        """Return what was measured with a combination."""
        cold, warm = (
            Sample.of_runs(self.times[state, combination]) for state in ("cold", "warm")
        )
        return MeasuredCombination(codecs=combination, cold_s=cold, warm_s=warm)


def _measured_layer(layer: Layer, images: PackedImages) -> MeasuredLayer:
    return MeasuredLayer(
        role=layer.role,
        snap=layer.name,
        image_bytes={
            codec: path.stat().st_size for codec, path in images.paths.items()
        },
    )

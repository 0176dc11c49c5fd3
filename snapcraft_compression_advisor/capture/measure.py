"""Launches measured from real mounts of the payload, packed with each codec."""

from __future__ import annotations

import os
import platform
import resource
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, TypeVar

from ..codecs import CODECS
from ..payload.source import Payload
from ..trial.result import Progress
from .mount import Mount, MountMethod, mount_point, mounted
from .packed_images import PackedImages, packed_images
from .page_cache import (
    Storage,
    can_drop_caches,
    drop_caches,
    drop_file_cache,
    storage_of,
)
from .samples import RunTime, Sample

Launch = Callable[[Mount], RunTime]
"""Launches once from a mount, or does as if, and returns what that took."""

Thing = TypeVar("Thing")
Dropped = Literal["system", "payload"]


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasureRequest:
    """What to measure.

    :param method: ``launch`` where it starts the app, ``replay`` where it reads
        what a recorded launch read.
    :param codecs: names, in the order of the report.
    :param runs: cold and warm launches with each codec.
    :param warm_up: whether to launch once before, unmeasured: an app sets up its
        home directory once only.
    """

    launch: Launch
    method: Literal["launch", "replay"]
    codecs: tuple[str, ...] = tuple(CODECS)
    runs: int = 10
    warm_up: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CodecMeasurement:
    """What was measured with one codec.

    :param cold_s: launches with caches dropped right before.
    :param warm_s: launches right after those.
    """

    codec: str
    image_bytes: int
    cold_s: Sample
    warm_s: Sample


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement:
    """What was measured, and under which conditions.

    :param codecs: in the order of the request.
    :param unavailable: why a codec is missing.
    :param mount: who read the images.
    :param storage: ``memory`` where the image stays there whatever is dropped, so
        that a cold launch waits for decompression alone.
    :param dropped: before a cold launch: the caches of the whole ``system``, or, not
        being root, those of the ``payload`` alone.
    :param read_ahead_kb: of the mounts, where known.
    :param runs: launches of each kind with each codec.
    """

    codecs: Mapping[str, CodecMeasurement]
    unavailable: Mapping[str, str]
    method: Literal["launch", "replay"]
    mount: MountMethod
    storage: Storage
    dropped: Dropped
    read_ahead_kb: int | None
    runs: int
    kernel: str
    processor: str


def measure(
    payload: Payload, request: MeasureRequest, progress: Progress
) -> Measurement:
    """Pack, mount and launch with each codec, in turns.

    Every round goes through all codecs, beginning with another one each time, so
    that a machine that gets slower or faster meanwhile does so for all of them.
    Each cold launch has a mount of its own: the kernel and squashfuse keep some
    blocks of a mount if no dropping of caches reaches them. All are mounted at the
    same place, since applications keep paths in caches of their own.

    :raises AdvisorError: if an image can't be made, or a launch fails.
    """
    with (
        packed_images(
            payload, request.codecs, scratch=None, progress=progress
        ) as images,
        mount_point() as root,
    ):
        return _Rounds(request, images, root, progress).run()


@dataclass(frozen=True, slots=True)
class _Rounds:
    """The rounds of one measurement."""

    request: MeasureRequest
    images: PackedImages
    root: Path
    progress: Progress
    times: dict[tuple[str, str], list[RunTime]] = field(
        default_factory=lambda: defaultdict(list)
    )

    def run(self) -> Measurement:
        """Go through all rounds."""
        request, first = self.request, next(iter(self.images.paths))
        if request.warm_up:
            self.progress("Launching once without measuring")
            with self.mounted(first) as mount:
                request.launch(mount)
        with self.mounted_cold(first) as mount:
            storage = storage_of(self.images.paths[first])
            how, read_ahead_kb = mount.method, mount.read_ahead_kb
        for codec in self.turns():
            with self.mounted_cold(codec) as mount:
                for state in ("cold", "warm"):
                    self.note(state, codec, mount, request.launch(mount))
        return Measurement(
            codecs={codec: self.measured(codec) for codec in self.images.paths},
            unavailable=self.images.unavailable,
            method=request.method,
            mount=how,
            storage=storage,
            dropped="system" if can_drop_caches() else "payload",
            read_ahead_kb=read_ahead_kb,
            runs=request.runs,
            kernel=platform.release(),
            processor=processor_name(),
        )

    def note(self, state: str, codec: str, mount: Mount, run: RunTime) -> None:
        """Note what a run took; squashfuse decompresses in a process of its own."""
        if mount.method == "squashfuse":
            run = replace(run, user_s=None, system_s=None)
        self.times[state, codec].append(run)

    def turns(self) -> Iterator[str]:
        """Yield the codec of each step, after saying what is done with it."""
        rounds = self.request.runs
        orders = in_turns(tuple(self.images.paths), rounds)
        for number, order in enumerate(orders, start=1):
            for codec in order:
                self.progress(f"Launching with {codec} (round {number} of {rounds})")
                yield codec

    def mounted(self, codec: str) -> AbstractContextManager[Mount]:
        """Mount a codec's image if all are mounted."""
        return mounted(self.images.paths[codec], at=self.root)

    @contextmanager
    def mounted_cold(self, codec: str) -> Iterator[Mount]:
        """Mount a codec's image of which nothing is cached."""
        with self.mounted(codec) as mount:
            make_cold(self.images.paths[codec])
            yield mount

    def measured(self, codec: str) -> CodecMeasurement:
        """Return what was measured with a codec."""
        cold, warm = (
            Sample.of_runs(self.times[state, codec]) for state in ("cold", "warm")
        )
        return CodecMeasurement(
            codec=codec,
            image_bytes=self.images.paths[codec].stat().st_size,
            cold_s=cold,
            warm_s=warm,
        )


def in_turns(things: Sequence[Thing], rounds: int) -> Iterator[tuple[Thing, ...]]:
    """Yield the order of things in each round; each begins with the next one."""
    for number in range(rounds):
        first = number % len(things)
        yield (*things[first:], *things[:first])


def timed_here(run: Callable[[], float]) -> RunTime:
    """Time what this very thread does.

    :param run: does it, and returns the seconds.
    """
    before = resource.getrusage(resource.RUSAGE_THREAD)
    wall_s = run()
    after = resource.getrusage(resource.RUSAGE_THREAD)
    return RunTime(
        wall_s=wall_s,
        user_s=max(0.0, after.ru_utime - before.ru_utime),
        system_s=max(0.0, after.ru_stime - before.ru_stime),
    )


def make_cold(image: Path) -> None:
    """Drop what is cached of a mounted image: of the whole system where that may be.

    Else the image's own pages are dropped. What was cached of its files went with
    the mount before.

    :raises AdvisorError: if that fails.
    """
    if can_drop_caches():
        drop_caches()
    else:
        drop_file_cache(image)


def processor_name() -> str:
    """Return the processor's name and how many of them there are."""
    count = len(os.sched_getaffinity(0))
    for line in Path("/proc/cpuinfo").read_text(errors="replace").splitlines():
        key, _, value = line.partition(":")
        if key.strip() == "model name":  # some architectures have none
            return f"{' '.join(value.split())} ({count} in use)"
    return f"{platform.machine()} ({count} in use)"

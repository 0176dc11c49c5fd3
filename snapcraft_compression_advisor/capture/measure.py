"""Launches measured from real mounts of the payload, packed with each codec."""

from __future__ import annotations

import os
import platform
import resource
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Literal, TypeVar

from ..codecs import CODECS, SHIPPABLE
from ..core.errors import ToolError
from ..payload.source import Payload
from ..trial.result import Progress
from .first_run import FirstLaunch, MadeCache
from .mount import UBUNTU_READ_AHEAD_KB, Mount, MountMethod, mount_point, mounted
from .packed_images import PackedImages, packed_images
from .page_cache import (
    Storage,
    can_drop_caches,
    drop_caches,
    drop_file_cache,
    storage_of,
    walk,
)
from .plain_copies import (
    bytes_on_disk,
    check_plain_copies,
    plain_copies,
    plainly_mounted,
)
from .precision import Precision
from .samples import PlainCopy, RunTime, Sample

WALKS_AT_MOST = 3
"""Reading everything takes long and varies little."""

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
    :param compare: what is measured like the codecs: the files without squashfs.
    :param runs: cold and warm launches with each codec.
    :param precision: of xz against lzo, until which there are more runs than these;
        ``None`` for a fixed number.
    :param walk: whether to time reading every file, too.
    :param warm_up: whether to launch once before, unmeasured: an app sets up its
        home directory once only.
    :param scratch: directory for the images; the system's temporary one by default.
    :param first_launch: launches in a new home; ``None`` to measure no first runs.
    """

    launch: Launch
    method: Literal["launch", "replay"]
    codecs: tuple[str, ...] = tuple(CODECS)
    compare: tuple[PlainCopy, ...] = ()
    runs: int = 10
    precision: Precision | None = None
    walk: bool = False
    warm_up: bool = False
    read_ahead_kb: int = UBUNTU_READ_AHEAD_KB
    scratch: Path | None = None
    first_launch: FirstLaunch | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CodecMeasurement:
    """What was measured with one codec, or without squashfs.

    :param image_bytes: without squashfs: on the disk.
    :param cold_s: launches with caches dropped right before.
    :param warm_s: launches right after those.
    :param walk_s: reading every file, caches dropped before; where asked for.
    :param first_s: first runs in a new home, caches dropped before; where asked for.
    :param first_warm_s: first runs in a new home with warm caches of the system.
    """

    codec: str
    image_bytes: int
    cold_s: Sample
    warm_s: Sample
    walk_s: Sample | None = None
    first_s: Sample | None = None
    first_warm_s: Sample | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PrecisionResult:
    """Whether the interval of xz against lzo came to be narrow enough.

    :param wanted_s: how far it was to go to each side at most.
    :param checks: how many were planned, for which the intervals are widened.
    """

    wanted_s: float
    reached: bool
    checks: int


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
    :param precision: ``None`` where the number of runs was fixed.
    :param compared: the same files without squashfs, by ``PLAIN_COPIES``.
    :param made_caches: what first runs left in their homes: those of the last one.
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
    precision: PrecisionResult | None = None
    compared: Mapping[str, CodecMeasurement] = field(default_factory=dict)
    made_caches: tuple[MadeCache, ...] = ()


def measure(
    payload: Payload, request: MeasureRequest, progress: Progress
) -> Measurement:
    """Pack, mount and launch with each codec, in turns.

    Every round goes through all codecs, beginning with another one each time, so
    that a machine that gets slower or faster meanwhile does so for all of them.
    Each cold launch has a mount of its own: the kernel and squashfuse keep some
    blocks of a mount where no dropping of caches reaches them. All are mounted at the
    same place, since applications keep paths in caches of their own.

    :raises AdvisorError: where an image can't be made, or a launch fails.
    """
    check_plain_copies(request.compare)
    with (
        packed_images(
            payload, request.codecs, scratch=request.scratch, progress=progress
        ) as images,
        plain_copies(
            payload, request.compare, scratch=request.scratch, progress=progress
        ) as copies,
        mount_point() as root,
    ):  # fmt: skip
        return _Rounds(request, images, copies, root, progress).run()


@dataclass(frozen=True, slots=True)
class _Rounds:
    """The rounds of one measurement."""

    request: MeasureRequest
    images: PackedImages
    copies: Mapping[str, Path]
    root: Path
    progress: Progress
    times: dict[tuple[str, str], list[RunTime]] = field(
        default_factory=lambda: defaultdict(list)
    )
    made_caches: list[MadeCache] = field(default_factory=list)

    def run(self) -> Measurement:
        """Go through all rounds."""
        request, first = self.request, next(iter(self.images.paths))
        self.check_precision()
        if request.warm_up:
            self.progress("Launching once without measuring")
            with self.mounted(first) as mount:
                request.launch(mount)
        with self.mounted_cold(first) as mount:
            storage = storage_of(self.images.paths[first])
            how, read_ahead_kb = mount.method, mount.read_ahead_kb
        for codec in self.turns("Launching", self.rounds, ends=self.ends):
            with self.mounted_cold(codec) as mount:
                for state in ("cold", "warm"):
                    self.note(state, codec, mount, request.launch(mount))
        self.launch_first(len(self.times["cold", first]))
        for codec in self.turns(
            "Reading every file", min(request.runs, WALKS_AT_MOST) * request.walk
        ):
            with self.mounted_cold(codec) as mount:
                timed = timed_here(partial(walk, mount.root))
                self.note("walk", codec, mount, timed)
        return Measurement(
            codecs={codec: self.measured(codec) for codec in self.images.paths},
            unavailable=self.images.unavailable,
            method=request.method,
            mount=how,
            storage=storage,
            dropped="system" if can_drop_caches() else "payload",
            read_ahead_kb=read_ahead_kb,
            runs=len(self.times["cold", first]),
            kernel=platform.release(),
            processor=processor_name(),
            precision=self.precision_result(),
            compared={name: self.measured(name) for name in self.copies},
            made_caches=tuple(self.made_caches),
        )

    def launch_first(self, rounds: int) -> None:
        """Launch in new homes, if that was asked for: with cold caches, then warm."""
        launch = self.request.first_launch
        if launch is None:
            return
        for codec in self.turns("Launching in a new home", rounds):
            with self.mounted_cold(codec) as mount:
                for state in ("first", "first-warm"):
                    found = launch(mount)
                    self.note(state, codec, mount, found.time)
            self.made_caches[:] = found.caches

    @property
    def paths(self) -> Mapping[str, Path]:
        """Everything to launch from: the images, then the copies."""
        return {**self.images.paths, **self.copies}

    @property
    def rounds(self) -> int:
        """How many there are at most."""
        precision = self.request.precision
        return self.request.runs if precision is None else precision.most_rounds

    def check_precision(self) -> None:
        """Refuse a precision of what isn't measured."""
        missing = [name for name in SHIPPABLE if name not in self.images.paths]
        if self.request.precision is not None and missing:
            name = missing[0]
            message = f"The precision of xz against lzo can't be reached without {name}"
            raise ToolError(
                message,
                details=self.images.unavailable.get(name),
                resolution="Measure both codecs, or without --until-precise.",
            )

    def ends(self) -> bool:
        """Tell whether the launches so far are precise enough."""
        precision = self.request.precision
        return precision is not None and precision.ends(*self.compared())

    def compared(self) -> tuple[Sample, Sample]:
        """Return the cold launches so far of xz and of lzo."""
        xz, lzo = (Sample.of_runs(self.times["cold", name]) for name in SHIPPABLE)
        return xz, lzo

    def precision_result(self) -> PrecisionResult | None:
        """Return whether the wanted precision was reached."""
        precision = self.request.precision
        if precision is None:
            return None
        compared = self.compared()
        return PrecisionResult(
            wanted_s=precision.wanted_s(*compared),
            reached=precision.is_reached(*compared),
            checks=len(precision.check_rounds),
        )

    def note(self, state: str, codec: str, mount: Mount, run: RunTime) -> None:
        """Note what a run took; squashfuse decompresses in a process of its own."""
        if mount.method == "squashfuse":
            run = replace(run, user_s=None, system_s=None)
        self.times[state, codec].append(run)

    def turns(
        self, what: str, rounds: int, *, ends: Callable[[], bool] = lambda: False
    ) -> Iterator[str]:
        """Yield the codec of each step, having said what is done with it.

        :param ends: tells after each round whether it was the last one.
        """
        orders = in_turns(tuple(self.paths), rounds)
        for number, order in enumerate(orders, start=1):
            for codec in order:
                self.progress(f"{what} with {codec} (round {number} of {rounds})")
                yield codec
            if ends():
                return

    def mounted(self, codec: str) -> AbstractContextManager[Mount]:
        """Mount a codec's image, or a copy, where all are mounted."""
        mounting = plainly_mounted if codec in self.copies else mounted
        return mounting(
            self.paths[codec], read_ahead_kb=self.request.read_ahead_kb, at=self.root
        )

    @contextmanager
    def mounted_cold(self, codec: str) -> Iterator[Mount]:
        """Mount a codec's image of which nothing is cached."""
        with self.mounted(codec) as mount:
            make_cold(self.paths[codec])
            yield mount

    def measured(self, codec: str) -> CodecMeasurement:
        """Return what was measured with a codec."""
        cold, warm, walks, first, first_warm = (
            Sample.of_runs(self.times[state, codec])
            for state in ("cold", "warm", "walk", "first", "first-warm")
        )
        return CodecMeasurement(
            codec=codec,
            image_bytes=bytes_on_disk(self.copies[codec])
            if codec in self.copies
            else self.images.paths[codec].stat().st_size,
            cold_s=cold,
            warm_s=warm,
            walk_s=walks if walks.n else None,
            first_s=first if first.n else None,
            first_warm_s=first_warm if first_warm.n else None,
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

    :raises AdvisorError: where that fails.
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

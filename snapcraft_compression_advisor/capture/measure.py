"""Cold and warm launches timed from real mounts, in turns."""

from __future__ import annotations

import os
import platform
import resource
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeVar

from ..codecs import CODECS
from ..payload.source import Payload
from ..trial.result import Progress
from .images import packed_images
from .mount import Mount, mount_point, mounted
from .page_cache import Storage, drop_caches, storage_of
from .samples import RunTime, Sample

Launch = Callable[[Mount], RunTime]
"""Launches once from a mount, or does as if, and returns what that took."""

Method = Literal["launch", "replay"]
Thing = TypeVar("Thing")


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

    :param unavailable: why a codec is missing.
    :param method: ``launch`` if the app was started, ``replay`` if the reads of a
        recorded launch were.
    :param storage: ``memory`` if the image stays there when caches are dropped, so
        that a cold launch waits for decompression alone.
    """

    codecs: Mapping[str, CodecMeasurement]
    unavailable: Mapping[str, str]
    method: Method
    storage: Storage
    read_ahead_kb: int | None
    runs: int
    kernel: str
    processor: str


def measure(  # noqa: PLR0913 # keywords: how
    payload: Payload,
    launch_once: Launch,
    progress: Progress,
    *,
    method: Method,
    codecs: Sequence[str] = tuple(CODECS),
    runs: int = 10,
) -> Measurement:
    """Pack, mount and launch with each codec, in turns.

    The caches of the whole system are dropped before each cold launch. An app is
    launched once before, unmeasured: it sets up its home directory once only.

    :param codecs: names, in the order of the report.
    :param runs: cold and warm launches with each codec.
    :raises AdvisorError: if an image can't be made, or a launch fails.
    """
    drop_caches()  # refused before minutes of packing
    cold: dict[str, list[RunTime]] = defaultdict(list)
    warm: dict[str, list[RunTime]] = defaultdict(list)
    with (
        packed_images(payload, codecs, scratch=None, progress=progress) as images,
        mount_point() as root,
    ):
        # All at one place, since applications keep paths in caches of their own.
        image = next(iter(images.paths.values()))
        with mounted(image, at=root) as mount:
            if method == "launch":
                progress("Launching once without measuring")
                launch_once(mount)
            drop_caches()
            storage, read_ahead_kb = storage_of(image), mount.read_ahead_kb
        for number, order in enumerate(in_turns(tuple(images.paths), runs), start=1):
            for codec in order:
                progress(f"Launching: {codec} (round {number} of {runs})")
                with mounted(images.paths[codec], at=root) as mount:
                    drop_caches()
                    cold[codec].append(launch_once(mount))
                    warm[codec].append(launch_once(mount))
        measured = {
            codec: CodecMeasurement(
                codec=codec,
                image_bytes=path.stat().st_size,
                cold_s=Sample.of_runs(cold[codec]),
                warm_s=Sample.of_runs(warm[codec]),
            )
            for codec, path in images.paths.items()
        }
    return Measurement(
        codecs=measured,
        unavailable=images.unavailable,
        method=method,
        storage=storage,
        read_ahead_kb=read_ahead_kb,
        runs=runs,
        kernel=platform.release(),
        processor=processor_name(),
    )


def in_turns(things: Sequence[Thing], rounds: int) -> Iterator[tuple[Thing, ...]]:
    """Yield the order of things in each round; each begins with the next one.

    So a machine that gets slower or faster meanwhile does so for all of them.
    """
    for number in range(rounds):
        first = number % len(things)
        yield (*things[first:], *things[:first])


def timed_here(run: Callable[[], float]) -> RunTime:
    """Time what this very thread does in a function that returns the seconds."""
    before = resource.getrusage(resource.RUSAGE_THREAD)
    wall_s = run()
    after = resource.getrusage(resource.RUSAGE_THREAD)
    return RunTime(
        wall_s=wall_s,
        user_s=max(0.0, after.ru_utime - before.ru_utime),
        system_s=max(0.0, after.ru_stime - before.ru_stime),
    )


def processor_name() -> str:
    """Return the processor's name and how many of them there are."""
    count = len(os.sched_getaffinity(0))
    for line in Path("/proc/cpuinfo").read_text(errors="replace").splitlines():
        key, _, value = line.partition(":")
        if key.strip() == "model name":  # some architectures have none
            return f"{' '.join(value.split())} ({count} in use)"
    return f"{platform.machine()} ({count} in use)"

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
    with packed_images(payload, codecs, scratch=None, progress=progress) as images:
        turns = launch_in_turns(
            images.paths,
            launch_once,
            rounds=runs,
            make_cold=lambda _: drop_caches(),
            warm_up=method == "launch",
            progress=progress,
        )
        measured = {
            codec: CodecMeasurement(
                codec=codec,
                image_bytes=path.stat().st_size,
                cold_s=turns.cold_s[codec],
                warm_s=turns.warm_s[codec],
            )
            for codec, path in images.paths.items()
        }
    return Measurement(
        codecs=measured,
        unavailable=images.unavailable,
        method=method,
        storage=turns.storage,
        read_ahead_kb=turns.read_ahead_kb,
        runs=runs,
        kernel=platform.release(),
        processor=processor_name(),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Turns:
    """Launches from each image, in the order of the rounds.

    :param cold_s: with nothing of the image cached.
    :param warm_s: right after those.
    """

    cold_s: Mapping[str, Sample]
    warm_s: Mapping[str, Sample]
    storage: Storage
    read_ahead_kb: int | None


def launch_in_turns(  # noqa: PLR0913 # keywords: how often, what is done between
    images: Mapping[str, Path],
    launch_once: Launch,
    *,
    rounds: int,
    make_cold: Callable[[Path], None],
    warm_up: bool,
    progress: Progress,
) -> Turns:
    """Launch cold and warm from each image in every round.

    Each cold launch has a mount of its own: the kernel keeps some blocks of a mount if
    no dropping of caches reaches them. All are mounted at the same place, since
    applications keep paths in caches of their own.

    :param make_cold: drops the pages of the image that is given, at least.
    :param warm_up: whether to launch once before, unmeasured.
    :raises AdvisorError: if an image can't be mounted, or a launch fails.
    """
    cold: dict[str, list[RunTime]] = defaultdict(list)
    warm: dict[str, list[RunTime]] = defaultdict(list)
    image = next(iter(images.values()))
    with mount_point() as root:
        with mounted(image, at=root) as mount:
            if warm_up:
                progress("Launching once without measuring")
                launch_once(mount)
            make_cold(image)
            storage, read_ahead_kb = storage_of(image), mount.read_ahead_kb
        for number, order in enumerate(in_turns(tuple(images), rounds), start=1):
            for name in order:
                progress(f"Launching: {name} (round {number} of {rounds})")
                with mounted(images[name], at=root) as mount:
                    make_cold(images[name])
                    cold[name].append(launch_once(mount))
                    warm[name].append(launch_once(mount))
    return Turns(
        cold_s={name: Sample.of_runs(cold[name]) for name in images},
        warm_s={name: Sample.of_runs(warm[name]) for name in images},
        storage=storage,
        read_ahead_kb=read_ahead_kb,
    )


def in_turns(things: Sequence[Thing], rounds: int) -> Iterator[tuple[Thing, ...]]:
    """Yield each round's order, moved on by one.

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

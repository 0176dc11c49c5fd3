"""Cold and warm launches of an app in several ways, in turns drawn by lot."""

from __future__ import annotations

import os
import random
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ..launch.launch_set import LaunchFile
from ..trial.result import Progress
from .home import launch_home
from .mount import mount_point, mounted
from .page_cache import Storage, drop_file_cache, replay, storage_of
from .record import RecordRequest, launch
from .samples import RunTime, Sample
from .start import Command

_SEED = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """A way to launch.

    :param image: that is mounted.
    :param command: that is started from it.
    """

    image: Path
    command: Command


@dataclass(frozen=True, slots=True, kw_only=True)
class Turns:
    """Launches of each variant, in the order of the rounds.

    :param cold_s: with nothing of the image cached.
    :param warm_s: right after those.
    :param processors: that the launches could use.
    """

    cold_s: Mapping[str, Sample]
    warm_s: Mapping[str, Sample]
    storage: Storage
    processors: int


def launch_in_turns(
    variants: Mapping[str, Variant],
    request: RecordRequest,
    *,
    rounds: int,
    progress: Progress,
    warmed: Sequence[LaunchFile] = (),
) -> Turns:
    """Launch in every way in every round, in an order drawn by lot with a seed.

    Each cold launch has a mount of its own, and the image's own pages are dropped
    before, but no other caches of the system: what belongs to the machine and to the
    base is warm in all of them, as it is where other snaps run. A launch of the first
    variant that isn't timed goes before, since an app sets up its home once only.

    :param request: what ends a launch, and after how long it has failed.
    :param warmed: files that are also read before a warm launch: the end of a launch
        ends what reads ahead of it, too.
    :raises AdvisorError: if an image can't be mounted, or a launch fails.
    """
    chance = random.Random(_SEED)  # noqa: S311 # an order, not a secret
    cold: dict[str, list[RunTime]] = defaultdict(list)
    warm: dict[str, list[RunTime]] = defaultdict(list)
    names = list(variants)
    requests = {
        name: replace(request, command=each.command) for name, each in variants.items()
    }
    with mount_point() as root, launch_home() as home:
        first = variants[names[0]]
        progress("Launching once without measuring")
        with mounted(first.image, at=root):
            launch(requests[names[0]], root, home)
        drop_file_cache(first.image)
        storage = storage_of(first.image)
        for number in range(1, rounds + 1):
            for name in chance.sample(names, len(names)):
                progress(f"Launching {name} (round {number} of {rounds})")
                image = variants[name].image
                with mounted(image, at=root):
                    drop_file_cache(image)
                    cold[name].append(launch(requests[name], root, home))
                    replay(root, warmed)
                    warm[name].append(launch(requests[name], root, home))
    return Turns(
        cold_s={name: Sample.of_runs(cold[name]) for name in names},
        warm_s={name: Sample.of_runs(warm[name]) for name in names},
        storage=storage,
        processors=len(os.sched_getaffinity(0)),
    )

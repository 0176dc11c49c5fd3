"""A device profile of this machine, from reads of real mounts.

Processor costs come from images that stay in memory, packed with each codec. Storage
comes from an uncompressed image on the storage, its reads cold, less what the same
reads cost the processor.
"""

from __future__ import annotations

import os
import platform
import random
import stat
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TypeVar

import numpy as np

from ..codecs import CODECS
from ..codecs.codec import DATA_BLOCK_BYTES
from ..core.errors import NoInputError, StorageError, ToolError
from ..core.files import entries_below
from ..core.scratch import scratch_directory
from ..core.units import Interval
from ..devices.device import NO_COST, BlockCost, DeviceProfile
from ..payload.inventory import block_count
from ..payload.source import open_payload
from ..trial.result import Progress
from .block_timing import (
    PAGE_BYTES,
    BlockPlace,
    Timings,
    choose_blocks,
    time_blocks,
    time_round,
    write_blocks,
)
from .cost_fit import MINIMUM_BLOCKS, fit_costs, fit_storage
from .images import PackedImages, packed_images
from .measure import processor_name
from .mount import can_mount, running_kernel
from .page_cache import can_drop_caches, drop_caches, storage_of

Filled = TypeVar("Filled")

MEMORY = Path("/dev/shm")  # noqa: S108 # names of our own are made in it
_LEAST_MEMORY_BYTES = 1_000_000_000
_FILES_AT_MOST = 200_000
_TEXT_SUFFIXES = frozenset(
    {".py", ".js", ".json", ".html", ".xml", ".txt", ".h", ".css", ".md", ".svg"}
)
_RUN_BLOCKS = 16
_BLOCKS_PER_RUN_FILE = 25
_LEAST_RUNS = 4
_SNAP_YAML = "name: calibration\nversion: '1'\n"
_SEED = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibrationRequest:
    """Inputs of a calibration.

    :param storage: a directory on the storage to measure.
    :param sample: a directory to take files' blocks from.
    :param rounds: how often each block is read with each codec.
    """

    name: str
    storage: Path
    sample: Path
    blocks: int
    rounds: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """A profile, and how far to trust it.

    :param device: without codecs that aren't available.
    :param error: by codec, the relative standard error of the summed times.
    :param storage_in_memory: whether the storage is no disk.
    """

    device: DeviceProfile
    unavailable: Mapping[str, str]
    error: Mapping[str, float]
    storage_in_memory: bool


def calibrate(request: CalibrationRequest, progress: Progress) -> Calibration:
    """Measure this machine.

    :raises ToolError: if this process may not mount, or a tool is missing.
    :raises AdvisorError: if there is nothing to read, or no room to write.
    """
    if not (can_mount() and can_drop_caches()):
        message = (
            "Calibrating requires permission to mount images and to drop the system's "
            "caches"
        )
        raise ToolError(
            message,
            resolution="Run the command as root and outside a container, or use a "
            "built-in profile ('compression-advisor devices' lists them).",
        )
    places = choose_sample(request.sample, request.blocks)
    timings, unavailable = _time_codecs(request, places, progress)
    costs = fit_costs(timings.blocks, noise=timings.error)
    (seek_s, read_s_per_byte), in_memory = _measure_storage(
        request, costs.fill, progress
    )
    device = DeviceProfile(
        name=request.name,
        description=f"{processor_name()}, calibrated",
        seek_s=seek_s,
        read_s_per_byte=read_s_per_byte,
        fill=costs.fill,
        decompress={**costs.decompress, "none": NO_COST},
        processors=len(os.sched_getaffinity(0)),
        sources=_sources(request, timings, storage_in_memory=in_memory),
        kernel=running_kernel(),
    )
    return Calibration(
        device=device,
        unavailable=unavailable,
        error=timings.error,
        storage_in_memory=in_memory,
    )


def choose_sample(directory: Path, count: int) -> tuple[BlockPlace, ...]:
    """Choose blocks of files below a directory: programs, texts and all else.

    The same ones each time, as long as the files stay the same. Their groups are the
    directories two levels below.

    :raises NoInputError: if there are no files.
    """
    files = tuple(islice(_regular_files(directory), _FILES_AT_MOST))
    if not files:
        message = f"{str(directory)!r} contains no files to sample"
        raise NoInputError(
            message, resolution="Choose another directory with --sample DIR."
        )
    kinds: dict[str, list[Path]] = defaultdict(list)
    for file in files:
        kinds[_kind(file)].append(file)
    chance = random.Random(_SEED)  # noqa: S311 # a sample, not a secret
    places: list[BlockPlace] = []
    for kind in sorted(kinds):
        share = -(-count // len(kinds))
        for place in choose_blocks(kinds[kind], group="", count=share, chance=chance):
            group = "/".join(place.path.relative_to(directory).parts[:-1][:2])
            places.append(BlockPlace(group=group, path=place.path, index=place.index))
    return tuple(places)


def _regular_files(directory: Path) -> Iterator[Path]:
    """Yield files that aren't empty, in order; what can't be looked at is left out."""
    for entry in entries_below(directory):
        with suppress(OSError):
            status = entry.stat(follow_symlinks=False)
            if stat.S_ISREG(status.st_mode) and status.st_size:
                yield Path(entry.path)


def _kind(path: Path) -> str:
    if path.suffix in _TEXT_SUFFIXES:
        return "text"
    if ".so" in path.suffixes or path.parent.name in {"bin", "sbin"}:
        return "program"
    return "other"


def _time_codecs(
    request: CalibrationRequest, places: Sequence[BlockPlace], progress: Progress
) -> tuple[Timings, Mapping[str, str]]:
    def fill(tree: Path) -> dict[str, str]:
        progress(f"Sampling files in {request.sample}")
        groups = write_blocks(places, tree)
        if len(groups) < MINIMUM_BLOCKS:
            message = (
                f"{str(request.sample)!r} contains too few distinct blocks: "
                f"{len(groups)} of the {MINIMUM_BLOCKS} needed"
            )
            raise NoInputError(
                message, resolution="Choose a larger directory with --sample DIR."
            )
        return groups

    place = _memory_directory()
    with _packed(place, fill, tuple(CODECS), progress) as (groups, images):
        timings = time_blocks(
            images.paths, groups, rounds=request.rounds, progress=progress
        )
        return timings, images.unavailable


def _memory_directory() -> Path:
    """Return where files stay in memory; else they are read before each round."""
    if os.access(MEMORY, os.W_OK):
        room = os.statvfs(MEMORY)
        if room.f_bavail * room.f_frsize > _LEAST_MEMORY_BYTES:
            return MEMORY
    return Path(tempfile.gettempdir())


@contextmanager
def _packed(
    place: Path,
    fill: Callable[[Path], Filled],
    codecs: Sequence[str],
    progress: Progress,
) -> Iterator[tuple[Filled, PackedImages]]:
    """Pack a payload that has what a function fills it with, beside its ``snap.yaml``.

    :param place: of the payload and its images.
    :returns: what the function returns, and the images.
    """
    advice = "Choose a directory that you can write to."
    with scratch_directory(place, resolution=advice) as scratch:
        tree = scratch / "tree"
        (tree / "meta").mkdir(parents=True)
        (tree / "meta/snap.yaml").write_text(_SNAP_YAML, encoding="utf-8")
        filled = fill(tree)
        with (
            open_payload(tree) as payload,
            packed_images(payload, codecs, scratch=scratch, progress=progress) as made,
        ):
            yield filled, made


def _measure_storage(
    request: CalibrationRequest, fill: BlockCost, progress: Progress
) -> tuple[tuple[Interval, Interval], bool]:
    """Return the seconds of storage (a seek, a byte), and whether it is memory."""

    def fill_tree(tree: Path) -> dict[str, int]:
        try:
            return write_noise(tree, request.blocks)
        except OSError as error:
            message = f"Cannot write to {str(request.storage)!r}: {error.strerror}"
            raise StorageError(
                message, resolution="Choose another directory with --storage DIR."
            ) from error

    with _packed(request.storage, fill_tree, ("none",), progress) as (sizes, images):
        image = images.paths["none"]
        counts = {name: block_count(size_bytes) for name, size_bytes in sizes.items()}
        seconds = np.empty((request.rounds, len(sizes)))
        for number in range(request.rounds):
            progress(f"Reading from storage (round {number + 1} of {request.rounds})")
            drop_caches()
            seconds[number] = time_round({"none": image}, counts, seed=number)["none"]
        drop_caches()
        in_memory = storage_of(image) == "memory"
    return fit_storage(tuple(sizes.values()), seconds, fill), in_memory


def write_noise(directory: Path, count: int) -> dict[str, int]:
    """Write files of a block of any size, and some of many blocks.

    :param count: of the files of one block.
    :return: bytes by file name.
    """
    chance = random.Random(_SEED)  # noqa: S311 # contents, not secrets
    sizes = {
        f"one-{number:05}": chance.randrange(PAGE_BYTES, DATA_BLOCK_BYTES + 1)
        for number in range(count)
    }
    for number in range(max(_LEAST_RUNS, count // _BLOCKS_PER_RUN_FILE)):
        sizes[f"run-{number:05}"] = _RUN_BLOCKS * DATA_BLOCK_BYTES
    for name, size_bytes in sizes.items():
        (directory / name).write_bytes(chance.randbytes(size_bytes))
    return sizes


def _sources(
    request: CalibrationRequest, timings: Timings, *, storage_in_memory: bool
) -> tuple[str, ...]:
    worst = max(timings.error.values())
    blocks = len(timings.blocks) // len(timings.error)
    rounds = f"{request.rounds} rounds; standard error of the sums up to {worst:.1%}"
    if request.rounds == 1:
        rounds = "1 round, so the standard error isn't known"
    return (
        (
            f"processor: measured; {blocks} blocks with each codec, "
            f"{rounds}; Linux {platform.release()}, {processor_name()}"
        ),
        (
            "storage: measured; it is in memory, so this isn't the speed of a disk"
            if storage_in_memory
            else "storage: measured; cold reads of an uncompressed image, "
            f"{request.rounds} rounds"
        ),
    )

"""What the measured kernels say, as the tables of docs/study/kernels.md.

Costs are fitted to the blocks of some applications on one kernel of each version,
:data:`REFERENCE` or the host's own, as ``calibrate`` does. What they predict is
compared with the blocks of other applications, and with recorded launches of yet
others, on all kernels.
"""

from __future__ import annotations

import csv
import random
import statistics
from collections import defaultdict
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from snapcraft_compression_advisor.capture.block_timing import TimedBlock
from snapcraft_compression_advisor.capture.cost_fit import fit_costs
from snapcraft_compression_advisor.codecs import CODECS
from snapcraft_compression_advisor.devices.builtin_devices import find_device
from snapcraft_compression_advisor.devices.device import DeviceProfile, block_seconds
from snapcraft_compression_advisor.launch.model import block_cost
from snapcraft_compression_advisor.launch.profile import read_profile

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from snapcraft_compression_advisor.core.units import Interval

DATA = Path(__file__).parent / "data"
HEAD = "| Linux | file mode | decompressors |"
HOST_VERSION = "6.18"
REFERENCE = ("direct", "single")
FITTED = frozenset({"gimp", "kcalc", "vim", "audacity"})
"""Applications whose blocks are fitted to; the others are predicted."""
_US_PER_S = 1e6
_SEED = 1
_RESAMPLES = 2000
_USUAL_KIB = "128"
_LEAST_US = 1.0
"""What a block takes where the noise of a warm read was more than the cold one."""

Mode = tuple[str, str, str]
Rows = list[dict[str, str]]


@dataclass(frozen=True, kw_only=True)
class Error:
    """A prediction beside what was measured, in seconds."""

    mode: Mode
    application: str
    codec: str
    measured_s: float
    predicted_s: float

    @property
    def relative(self) -> float:
        """How far the prediction is off."""
        return self.predicted_s / self.measured_s - 1


def read(name: str) -> Rows:
    """Read a table of the kept data."""
    with (DATA / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))


def mode_of(row: Mapping[str, str]) -> Mode:
    """Return which kernel a row is of."""
    return row["kernel"], row["file_mode"], row["decompressors"]


def is_reference(mode: Mode) -> bool:
    """Return whether the costs of a version are fitted on this kernel of it."""
    return mode[1:] == REFERENCE or mode[0].startswith(HOST_VERSION)


def timed(way: str) -> dict[Mode, list[TimedBlock]]:
    """Return the measured blocks of each kernel.

    :param way: of reading: ``page``, ``read`` or ``fault``.
    """
    blocks: dict[Mode, list[TimedBlock]] = defaultdict(list)
    for row in read("kernel-modes.csv"):
        blocks[mode_of(row)].append(
            TimedBlock(
                group=row["block"].partition(".")[2],
                codec=row["codec"],
                raw_bytes=int(row["raw_bytes"]),
                stored_bytes=int(row["stored_bytes"]),
                median_s=max(_LEAST_US, float(row[f"{way}_us"])) / _US_PER_S,
            )
        )
    return blocks


def profile(blocks: Sequence[TimedBlock]) -> DeviceProfile:
    """Return the device that some measured blocks make."""
    costs = fit_costs(blocks)
    like = find_device("nvme-laptop")
    return DeviceProfile(
        name="measured",
        description="",
        seek_s=like.seek_s,
        read_s_per_byte=like.read_s_per_byte,
        fill=costs.fill,
        decompress=costs.decompress,
        processors=1,
        sources=(),
    )


def profiles(way: str) -> dict[str, DeviceProfile]:
    """Return the device of each version, as ``calibrate`` makes it on one kernel."""
    return {
        mode[0]: profile([block for block in blocks if block.group in FITTED])
        for mode, blocks in timed(way).items()
        if is_reference(mode)
    }


def block_errors(way: str) -> list[Error]:
    """Return the error of each application's blocks that weren't fitted to."""
    devices = profiles(way)
    return [
        _block_error(mode, group, codec, blocks, devices[mode[0]])
        for mode, blocks in timed(way).items()
        for codec in CODECS
        for group in sorted({block.group for block in blocks} - FITTED)
    ]


def _block_error(
    mode: Mode,
    group: str,
    codec: str,
    blocks: Sequence[TimedBlock],
    device: DeviceProfile,
) -> Error:
    mine = [block for block in blocks if (block.group, block.codec) == (group, codec)]
    return Error(
        mode=mode,
        application=group,
        codec=codec,
        measured_s=sum(block.median_s for block in mine),
        predicted_s=sum(_block_s(block, device) for block in mine),
    )


def _block_s(block: TimedBlock, device: DeviceProfile) -> float:
    costs = [device.fill]
    if block.compressed:
        costs.append(device.decompress[block.codec])
    return sum(
        block_seconds(cost, raw_bytes=block.raw_bytes, stored_bytes=block.stored_bytes)
        for cost in costs
    )


def launch_errors() -> list[Error]:
    """Return the error of each replayed launch."""
    devices = profiles("fault")
    sums = {
        (row["application"], row["codec"]): row
        for row in read("kernel-launch-blocks.csv")
    }
    return [
        Error(
            mode=mode_of(row),
            application=row["application"],
            codec=row["codec"],
            measured_s=float(row["added_s"]),
            predicted_s=_launch_s(
                sums[row["application"], row["codec"]],
                row["codec"],
                devices[row["kernel"]],
            ),
        )
        for row in read("kernel-launches.csv")
    ]


def _launch_s(row: Mapping[str, str], codec: str, device: DeviceProfile) -> float:
    """Return what a launch's blocks take one after the other."""
    every, unpacked = (
        tuple(float(row[f"{part}{name}"]) for name in ("raw_bytes", "stored_bytes"))
        for part in ("", "compressed_")
    )
    parts: tuple[Interval, ...] = (
        block_cost(device.fill, float(row["blocks"]), *every),
        block_cost(
            device.decompress[codec], float(row["compressed_blocks"]), *unpacked
        ),
    )
    metadata_s = device.metadata_block_s(codec).mid * float(row["metadata_blocks"])
    return sum(part.mid for part in parts) + metadata_s


def report_lines() -> Iterator[str]:
    """Yield the tables."""
    for way in ("page", "fault"):
        yield f"mean µs of a block, {way}:"
        yield from time_table(way)
    yield "blocks, predicted / measured - 1:"
    yield from block_table("fault")
    yield "launches, predicted / measured - 1:"
    yield from launch_table()
    yield "times that a block is read:"
    yield from count_table()
    yield "times that a block is read with lzo and another read-ahead:"
    yield from count_table(usual=False)
    yield "two readers:"
    yield from pair_table()
    yield "two readers of a mount, one decompressor ÷ several:"
    yield from gain_table()
    yield beside_text()


def time_table(way: str) -> Iterator[str]:
    """Yield a table of mean microseconds a block, by kernel and codec."""
    yield f"{HEAD} {' | '.join(CODECS)} |"
    yield "|---" * (3 + len(CODECS)) + "|"
    for mode, blocks in timed(way).items():
        means = (
            statistics.mean(b.median_s for b in blocks if b.codec == codec)
            for codec in CODECS
        )
        cells = [f"{mean * _US_PER_S:.0f}" for mean in means]
        yield f"| {' | '.join((*mode, *cells))} |"


def block_table(way: str) -> Iterator[str]:
    """Yield how far the sum of all applications' blocks is off, by kernel and codec."""
    yield f"{HEAD} {' | '.join(CODECS)} |"
    yield "|---" * (3 + len(CODECS)) + "|"
    sums: dict[Mode, dict[str, list[Error]]] = defaultdict(lambda: defaultdict(list))
    for error in block_errors(way):
        sums[error.mode][error.codec].append(error)
    for mode, codecs in sums.items():
        cells = [f"{_total(codecs[codec]):+.0%}" for codec in CODECS]
        yield f"| {' | '.join((*mode, *cells))} |"


def _total(errors: Sequence[Error]) -> float:
    predicted_s = sum(error.predicted_s for error in errors)
    return predicted_s / sum(error.measured_s for error in errors) - 1


def launch_table() -> Iterator[str]:
    """Yield how far launches are off, by kernel: the median and the worst."""
    applications = sorted({error.application for error in launch_errors()})
    yield f"{HEAD} codec | {' | '.join(applications)} |"
    yield "|---" * (4 + len(applications)) + "|"
    rows: dict[tuple[str, ...], dict[str, float]] = defaultdict(dict)
    for error in launch_errors():
        line = (*error.mode, error.codec)
        rows[line][error.application] = error.relative
    for key, errors in rows.items():
        cells = (f"{errors[name]:+.0%}" for name in applications)
        yield f"| {' | '.join(chain(key, cells))} |"


def count_table(*, usual: bool = True) -> Iterator[str]:
    """Yield how often a block is read by launches, by kernel and readers.

    A cell has all runs.

    :param usual: with the read-ahead that kernels have by default; else with others.
    """
    every = read("kernel-readers.csv")
    rows = [row for row in every if (row["read_ahead_kib"] == _USUAL_KIB) is usual]
    shares = tuple(dict.fromkeys(row["readers"] for row in rows))
    ratios: dict[tuple[str, ...], dict[str, list[str]]] = defaultdict(
        lambda: defaultdict(list)
    )
    for row in rows:
        last = row["codec"] if usual else row["read_ahead_kib"]
        line: tuple[str, ...] = (*mode_of(row), row["application"], last)
        ratios[line][row["readers"]].append(f"{times_read(row):.2f}")
    last = "codec" if usual else "read-ahead, KiB"
    yield f"{HEAD} launch | {last} | {' | '.join(shares)} |"
    yield "|---" * (5 + len(shares)) + "|"
    for line, by_share in ratios.items():
        cells = [", ".join(by_share[share]) for share in shares]
        yield f"| {' | '.join((*line, *cells))} |"


def times_read(row: Mapping[str, str]) -> float:
    """Return how often blocks are read, per read of one reader alone."""
    return int(row["read_bytes"]) / int(row["once_bytes"])


def beside_shares() -> list[float]:
    """Return of each recorded launch what other threads read than the one most.

    No more of the decompression than this can go on beside that thread's. Threads of a
    name count as one, so it is too little where a program starts itself several times.
    """
    shares = []
    for path in sorted((DATA / "launches").glob("*.json")):
        recorded = read_profile(path).recorded
        read_bytes = [each.read_bytes for each in recorded.threads] if recorded else []
        if sum(read_bytes):
            shares.append(1 - max(read_bytes) / sum(read_bytes))
    return sorted(shares)


def beside_text() -> str:
    """Say how much that is."""
    shares = beside_shares()
    usual, most = (shares[int(len(shares) * part)] for part in (0.5, 0.95))
    return (
        f"In {len(shares)} recorded launches, all threads except the one that reads "
        f"most read {usual:.1%} of the bytes (median), and at most {most:.0%} in 19 of "
        "20."
    )


def pair_table() -> Iterator[str]:
    """Yield what two readers take from one mount and from one each."""
    seconds: dict[tuple[str, ...], dict[str, float]] = defaultdict(dict)
    for row in read("kernel-pairs.csv"):
        line = (*mode_of(row), row["codec"])
        seconds[line][row["mounts"]] = float(row["seconds"])
    yield f"{HEAD} codec | one mount, ms | one each, ms | ratio |"
    yield "|---" * 7 + "|"
    for key, each in seconds.items():
        one_s, two_s = each["1"], each["2"]
        ms = f"{one_s * 1e3:.1f} | {two_s * 1e3:.1f}"
        yield f"| {' | '.join(key)} | {ms} | {one_s / two_s:.2f} |"


def gain_table() -> Iterator[str]:
    """Yield how many times faster two readers of a mount are with several."""
    runs: dict[tuple[str, ...], dict[str, list[float]]] = defaultdict(dict)
    for row in read("kernel-pair-runs.csv"):
        if row["mounts"] == "1":
            line = (row["kernel"], row["file_mode"], row["codec"])
            seconds = runs[line].setdefault(row["decompressors"], [])
            seconds.append(float(row["seconds"]))
    yield "| Linux | file mode | codec | single ÷ percpu | single ÷ multi |"
    yield "|---" * 5 + "|"
    for key, each in runs.items():
        cells = (_gain(each["single"], each[name]) for name in ("percpu", "multi"))
        yield f"| {' | '.join((*key, *cells))} |"


def _gain(slower: Sequence[float], faster: Sequence[float]) -> str:
    """Return the ratio of the medians, with 95 % of those of resampled runs."""
    chance = random.Random(_SEED)  # noqa: S311 # a sample, not a secret
    ratios = sorted(
        statistics.median(chance.choices(slower, k=len(slower)))
        / statistics.median(chance.choices(faster, k=len(faster)))
        for _ in range(_RESAMPLES)
    )
    low, high = (ratios[int(_RESAMPLES * part)] for part in (0.025, 0.975))
    middle = statistics.median(slower) / statistics.median(faster)
    return f"{middle:.2f} ({low:.2f} to {high:.2f})"

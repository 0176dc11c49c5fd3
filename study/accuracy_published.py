"""The published launches of Chromium, predicted, for ``accuracy.py``."""

from __future__ import annotations

import csv
import statistics
from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from accuracy_data import DATA
from snapcraft_compression_advisor.core.units import Interval
from snapcraft_compression_advisor.devices.builtin_devices import find_device
from snapcraft_compression_advisor.launch.launch_set import LaunchSet
from snapcraft_compression_advisor.launch.model import cost_of_blocks

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from accuracy_data import Launches
    from snapcraft_compression_advisor.devices.device import DeviceProfile

APPLICATION = "chromium"
_CACHED = 2
"""Of the published systems, the one whose kernel has the file mode ``cache``."""
_FEDORA = ("5.10", "cache", "single")


@dataclass(frozen=True, kw_only=True)
class Published:
    """What was published of one system: seconds."""

    system: str
    storage: str
    cold_xz_s: float
    cold_lzo_s: float
    hot_xz_s: float
    hot_lzo_s: float


def read_published() -> tuple[Published, ...]:
    """Read the published table."""
    with (DATA / "published-chromium.csv").open(newline="", encoding="utf-8") as file:
        rows = csv.DictReader(line for line in file if not line.startswith("#"))
        return tuple(
            Published(
                system=row["system"],
                storage=row["storage"],
                cold_xz_s=float(row["cold_xz_s"]),
                cold_lzo_s=float(row["cold_lzo_s"]),
                hot_xz_s=float(row["hot_xz_s"]),
                hot_lzo_s=float(row["hot_lzo_s"]),
            )
            for row in rows
        )


def published_lines(all_launches: Sequence[Launches]) -> Iterator[str]:
    """Yield the published launches beside what the model says of such machines."""
    launches = next((e for e in all_launches if e.name == APPLICATION), None)
    if launches is None:
        return
    yield "## The published launches of Chromium"
    yield ""
    yield (
        "The table shows the published launches of Chromium 85 as a snap on four "
        "systems (snapcraft.io, 27 October 2020). Beside them is the prediction: the "
        "published hot launch, and what the recorded launch of Debian's Chromium adds "
        "to it on a built-in profile of such a machine. Nothing was fitted to these "
        "figures but what is said below."
    )
    yield ""
    yield (
        "Systems 3 and 4 ran Linux 5.8, on which readers drive out each other's "
        "blocks. How often a block is then decompressed was counted on Linux 5.10 with "
        "replayed launches (kernels.md): once with one reader, 1.1 times with two, 2.8 "
        "times with four (medians), and with four up to 9.6 times with xz. The "
        "profiles take 1.7 for both codecs, which lies between two readers and four; "
        "it was chosen with the published figures in view. "
        "System 3 isn't reached with that: its published seconds would need 4 times "
        "for xz and 1.2 times for lzo. How many read at once isn't known of "
        "Chromium 85. The last rows have what four readers were counted to need in the "
        f"file mode of its kernel: {_times_text()}. So what a block costs there "
        "depends on how the readers meet, more with lzo than with xz."
    )
    yield ""
    yield (
        "| system | xz s | lzo s | xz ÷ lzo | predicted xz s | lzo s | xz ÷ lzo "
        "| off by |"
    )
    yield "|---" * 8 + "|"
    published = read_published()
    for number, each in enumerate(published, start=1):
        device = find_device(f"chromium-system-{number}")
        added_s = {codec: _added_s(launches, codec, device) for codec in ("xz", "lzo")}
        yield _row(each, added_s)
    system, device = published[_CACHED], find_device(f"chromium-system-{_CACHED + 1}")
    for launch, times in _four_readers().items():
        added_s = {
            codec: _added_s(launches, codec, _repeating(device, times[codec]))
            for codec in ("xz", "lzo")
        }
        name = f"the third one, as four readers of {launch}"
        yield _row(replace(system, system=name), added_s)


def _row(system: Published, added_s: Mapping[str, float]) -> str:
    xz_s = system.hot_xz_s + added_s["xz"]
    lzo_s = system.hot_lzo_s + added_s["lzo"]
    published = system.cold_xz_s / system.cold_lzo_s
    return (
        f"| {system.system}, {system.storage} | {system.cold_xz_s:.1f} | "
        f"{system.cold_lzo_s:.1f} | {published:.2f} | {xz_s:.1f} | {lzo_s:.1f} | "
        f"{xz_s / lzo_s:.2f} | {xz_s / lzo_s / published - 1:+.0%} |"
    )


def _repeating(device: DeviceProfile, times: float) -> DeviceProfile:
    """Return a device that decompresses each block so often."""
    more = times / device.decompressions_per_block.mid
    return replace(
        device,
        decompress={
            codec: cost.map(lambda part: part.map(lambda value: value * more))
            for codec, cost in device.decompress.items()
        },
    )


def _four_readers() -> dict[str, dict[str, float]]:
    """Return how often four readers alike need a block, by launch and codec.

    The mean of the runs, in the file mode of the third system's kernel.
    """
    found: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    with (DATA / "kernel-readers.csv").open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(line for line in file if not line.startswith("#")):
            kernel = (row["kernel"], row["file_mode"], row["decompressors"])
            how = (row["readers"], row["read_ahead_kib"])
            if (kernel, how) == (_FEDORA, ("4 alike", "128")):
                times = int(row["read_bytes"]) / int(row["once_bytes"])
                found[row["application"]][row["codec"]].append(times)
    return {
        launch: {codec: statistics.mean(times) for codec, times in codecs.items()}
        for launch, codecs in found.items()
    }


def _times_text() -> str:
    return ", ".join(
        f"{times['xz']:.2f} times for xz and {times['lzo']:.2f} for lzo with the "
        f"launch of {launch}"
        for launch, times in _four_readers().items()
    )


def _added_s(launches: Launches, codec: str, device: DeviceProfile) -> float:
    one = Interval.exactly(1.0)
    launch_set = LaunchSet(
        app=APPLICATION,
        source="recorded",
        files=(),
        read_share=one,
        seek_share=one,
        waited_share=Interval.exactly(launches.waited_share),
    )
    sums = replace(launches.sums[codec], runs=launches.runs)
    estimate = cost_of_blocks(sums, launch_set, codec, device)
    return estimate.added_s.mid

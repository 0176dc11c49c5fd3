"""Kernels of systems that snaps run on, and what they change in a device's costs."""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

from ..core.errors import UsageError
from ..core.units import Interval
from .device import Decompressors, DeviceProfile, FileMode, KernelProfile


def _kernel(
    versions: str, file_mode: FileMode, decompressors: Decompressors
) -> KernelProfile:
    return KernelProfile(
        versions=versions,
        file_mode=file_mode,
        decompressors=decompressors,
        source="kernel: published; its configuration (study/data/kernel-configs.csv)",
    )


KERNELS: Mapping[str, KernelProfile] = {
    "ubuntu-18.04": _kernel("4.15", "direct", "single"),
    "ubuntu-20.04": _kernel("5.4", "direct", "single"),
    "ubuntu-22.04": _kernel("5.15", "direct", "single"),
    "ubuntu-24.04": _kernel("6.8", "direct", "single"),
    "ubuntu-26.04": KernelProfile(
        versions="7.0",
        file_mode="unknown",
        decompressors="unknown",
        source="kernel: its version is published; its configuration isn't known, so "
        "what holds for either file mode and any number of decompressors counts",
    ),
    "debian-11": _kernel("5.10", "direct", "percpu"),
    "debian-12": _kernel("6.1", "direct", "percpu"),
    "debian-13": _kernel("6.12", "direct", "percpu"),
    "raspi": _kernel("unknown", "cache", "single"),
}
"""As ``kernels`` in compression-advisor.yaml names them; Raspberry Pi's has another
version with each release."""

ONCE = Interval.exactly(1.0)
FIRST_REPEATING = (5, 8)
LAST_REPEATING = (5, 16)
"""c1f6925e1091 came with Linux 5.8, and 9eec1d897139 with 5.17."""


REPEATED = Interval(low=1.0, mid=1.03, high=2.8)
"""How often Linux 5.8 to 5.16 decompresses a launch's blocks: one reader; two, of which
one has an eighth of the files; four that share them alike. Medians of replayed launches
on Linux 5.10 with two processors, counted (``study/data/kernel-readers.csv``). In 19 of
20 recorded launches, what isn't read by one thread is less than that eighth."""


def find_kernel(name: str) -> KernelProfile:
    """Return the kernel of a system.

    :raises UsageError: if there is no such system.
    """
    if name in KERNELS:
        return KERNELS[name]
    near = difflib.get_close_matches(name, KERNELS, n=1)
    message = f"No kernel {name!r}"
    raise UsageError(
        message,
        resolution=(f"Did you mean {near[0]!r}? " if near else "")
        + f"Choose from: {', '.join(KERNELS)}.",
    )


def decompressions_per_block(kernel: KernelProfile) -> Interval:
    """Return the number of times that a launch's blocks are decompressed.

    Where the version isn't known, or a range has such versions and others, it may be
    both: once, or as often as with the worst of them.
    """
    numbers = [
        (int(major), int(minor))
        for major, minor in re.findall(r"(\d+)\.(\d+)", kernel.versions)
    ]
    if numbers and (numbers[-1] < FIRST_REPEATING or numbers[0] > LAST_REPEATING):
        return ONCE
    if numbers and numbers[0] >= FIRST_REPEATING and numbers[-1] <= LAST_REPEATING:
        return REPEATED
    return Interval(low=1.0, mid=math.sqrt(REPEATED.mid), high=REPEATED.high)


AT = "@"
"""No profile has it in its name."""


def is_variant(device: str) -> bool:
    """Return whether a device's name is that of :func:`with_kernels` for a kernel."""
    return device.partition(AT)[2] in KERNELS


def plain_name(device: str) -> str:
    """Return a device's name without that of a kernel."""
    return device.partition(AT)[0]


def with_kernels(
    devices: Sequence[DeviceProfile],
    names: Sequence[str],
    *,
    kept: Collection[str] = (),
) -> tuple[DeviceProfile, ...]:
    """Return the devices as they are with each of some kernels.

    A device stands for all kernels on which it costs the same; the others make a
    device of their own, ``nvme-laptop@ubuntu-22.04``. One that was chosen with a
    kernel keeps it.

    :param names: of kernels; none leaves the devices as they are.
    :param kept: devices that are needed by their own name.
    :raises UsageError: if there is no such kernel.
    """
    kernels = {name: find_kernel(name) for name in names}
    if not kernels:
        return tuple(devices)
    chosen = {device.name for device in devices}
    return tuple(
        each
        for device in devices
        for each in _with_each(device, kernels, kept)
        if each.name == device.name or each.name not in chosen
    )


def _with_each(
    device: DeviceProfile, kernels: Mapping[str, KernelProfile], kept: Collection[str]
) -> Iterator[DeviceProfile]:
    if is_variant(device.name):
        yield device
        return
    alike = [
        name
        for name, kernel in kernels.items()
        if decompressions_per_block(kernel) == device.decompressions_per_block
    ]
    if alike or device.name in kept:
        others = f"; as with {', '.join(alike)}" if alike else ""
        yield replace(device, description=f"{device.description}{others}")
    for name in kernels:
        if name not in alike:
            yield on_kernel(device, name)


def on_kernel(device: DeviceProfile, name: str) -> DeviceProfile:
    """Return a device as it is with the kernel of a system.

    :raises UsageError: if there is no such system.
    """
    kernel = find_kernel(name)
    times, before = decompressions_per_block(kernel), device.decompressions_per_block

    def change(part: Interval) -> Interval:
        return Interval.around(
            part.low * times.low / before.low,
            part.mid * times.mid / before.mid,
            part.high * times.high / before.high,
        )

    return replace(
        device,
        name=f"{device.name}{AT}{name}",
        description=f"{device.description}; with the kernel of {name}",
        decompress={
            codec: each.map(change) for codec, each in device.decompress.items()
        },
        decompressions_per_block=times,
        kernel=kernel,
    )

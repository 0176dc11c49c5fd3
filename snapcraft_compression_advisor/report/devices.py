"""Device profiles: a page, and JSON."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from ..core.units import counted, join_ends, sentence
from ..devices.builtin_devices import USUAL_RAW_BYTES, USUAL_STORED_BYTES
from ..devices.device_file import device_figures
from .model import Page, Section, Table
from .words import kernel_phrase

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..core.units import Interval
    from ..devices.device import BlockCost, DeviceProfile

_MB = 1e6
_FINE_BELOW = 100
_SHOWN_CODECS = ("xz", "lzo")
_LEGEND = (
    "Figures are from the sources and range from a slow device of the kind to a fast "
    "one. Decompression rates are bytes of contents per second, for 128 KiB blocks "
    "that are stored in a third of their size."
)


def render_devices_json(devices: Sequence[DeviceProfile]) -> str:
    """Return profiles as JSON text, each in the shape of a device profile's file."""
    shapes = [
        device_figures(each).model_dump(mode="json", by_alias=True) for each in devices
    ]
    return (
        json.dumps({"schema": 1, "devices": shapes}, indent=2, ensure_ascii=False)
        + "\n"
    )


def devices_page(devices: Sequence[DeviceProfile]) -> Page:
    """Return profiles, a row each; of a single one, its sources as well."""
    if len(devices) == 1:
        device = devices[0]
        return Page(
            title=f"Device profile {device.name}",
            headline=f"{device.name}: {device.description}",
            sections=(
                Section(short=True, tables=(_table(devices),)),
                Section(short=True, sentences=tuple(_sources(device))),
            ),
        )
    return Page(
        title="Device profiles",
        headline="Device profiles; 'devices NAME' shows where the figures come from",
        sections=(Section(short=True, tables=(_table(devices),)),),
    )


def _table(devices: Sequence[DeviceProfile]) -> Table:
    heads = ("", "seek", "read", *(f"unpack {codec}" for codec in _SHOWN_CODECS))
    return Table(heads=heads, rows=tuple(map(_row, devices)))


def _row(device: DeviceProfile) -> tuple[str, ...]:
    costs = (device.decompress[codec] for codec in _SHOWN_CODECS)
    rates = (device.read_s_per_byte, *map(_usual_s_per_byte, costs))
    return (device.name, _durations(device.seek_s), *map(_rates, rates))


def _sources(device: DeviceProfile) -> Iterator[str]:
    yield from (sentence(each) for each in (*device.sources, device.kernel.source))
    processors = counted(device.processors, "processor")
    yield f"{sentence(kernel_phrase(device.kernel))[:-1]}; {processors}."
    yield _LEGEND


def _usual_s_per_byte(cost: BlockCost) -> Interval:
    """Return the seconds that a byte of a usual block takes, of its contents."""
    whole = cost.block_s + cost.raw_s_per_byte * USUAL_RAW_BYTES
    return (whole + cost.stored_s_per_byte * USUAL_STORED_BYTES) * (1 / USUAL_RAW_BYTES)


def _rates(s_per_byte: Interval) -> str:
    """Return the rates of the slow device of a kind and of the fast one."""
    slow, fast = map(_rate, (s_per_byte.high, s_per_byte.low))
    return _range(slow, fast, "MB/s")


def _rate(s_per_byte: float) -> str:
    if not s_per_byte:
        return "unlimited"
    rate = 1 / s_per_byte / _MB
    return f"{rate:.0f}" if rate >= _FINE_BELOW else f"{rate:.3g}"


def _durations(seconds: Interval) -> str:
    """Return the seconds of a kind's fast device, and of its slow one."""
    unit, scale, form = "µs", 1e6, ".0f"
    if seconds.low * 1e3 >= 1:
        unit, scale, form = "ms", 1e3, ".3g"
    fast, slow = (f"{each * scale:{form}}" for each in (seconds.low, seconds.high))
    return _range(fast, slow, unit)


def _range(low: str, high: str, unit: str) -> str:
    low_text = f"{low} {unit}"
    return low_text if low == high else join_ends(low_text, f"{high} {unit}")

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

    from ..devices.device import BlockCost, DeviceProfile

_MS_PER_S = 1e3
_US_PER_S = 1e6
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
    seek, read = device.seek_s, device.read_s_per_byte
    rates = (_usual_s_per_byte(device.decompress[codec]) for codec in _SHOWN_CODECS)
    return (
        device.name,
        _duration_range(seek.high, seek.low),
        *(_rate_range(*each) for each in ((read.high, read.low), *rates)),
    )


def _sources(device: DeviceProfile) -> Iterator[str]:
    yield from (sentence(each) for each in (*device.sources, device.kernel.source))
    processors = counted(device.processors, "processor")
    yield f"{sentence(kernel_phrase(device.kernel))[:-1]}; {processors}."
    yield _LEGEND


def _usual_s_per_byte(cost: BlockCost) -> tuple[float, float]:
    """Return the slow and the fast end of a usual block's seconds per raw byte."""
    slow, fast = (
        (
            getattr(cost.block_s, end)
            + USUAL_RAW_BYTES * getattr(cost.raw_s_per_byte, end)
            + USUAL_STORED_BYTES * getattr(cost.stored_s_per_byte, end)
        )
        / USUAL_RAW_BYTES
        for end in ("high", "low")
    )
    return slow, fast


def _rate_range(slow_s_per_byte: float, fast_s_per_byte: float) -> str:
    return _range(_rate(slow_s_per_byte), _rate(fast_s_per_byte), "MB/s")


def _rate(s_per_byte: float) -> str:
    if not s_per_byte:
        return "unlimited"
    rate = 1 / s_per_byte / _MB
    return f"{rate:.0f}" if rate >= _FINE_BELOW else f"{rate:.3g}"


def _duration_range(slow_s: float, fast_s: float) -> str:
    if fast_s * _MS_PER_S >= 1:
        return _range(f"{fast_s * _MS_PER_S:.3g}", f"{slow_s * _MS_PER_S:.3g}", "ms")
    return _range(f"{fast_s * _US_PER_S:.0f}", f"{slow_s * _US_PER_S:.0f}", "µs")


def _range(low: str, high: str, unit: str) -> str:
    low_text = f"{low} {unit}"
    return low_text if low == high else join_ends(low_text, f"{high} {unit}")

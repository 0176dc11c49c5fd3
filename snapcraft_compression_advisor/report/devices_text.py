"""Device profiles as text in 80 columns, and as JSON."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from ..core.units import join_ends
from ..devices.builtin_devices import USUAL_RAW_BYTES, USUAL_STORED_BYTES
from ..devices.device_file import device_figures
from .lines import wrapped
from .words import kernel_phrase

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..devices.device import BlockCost, DeviceProfile

_MS_PER_S = 1e3
_US_PER_S = 1e6
_MB = 1e6
_FINE_BELOW = 100
_INDENT = "  "
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


def render_devices_text(devices: Sequence[DeviceProfile]) -> str:
    """Return profiles as text: a line each; of a single one, its sources as well."""
    if len(devices) == 1:
        lines = [*_device(devices[0]), *wrapped(_LEGEND)]
    else:
        lines = [
            _columns("", "seek", "read", "unpack xz", "unpack lzo"),
            *map(_row, devices),
            "'devices NAME' shows where a profile's figures come from.",
        ]
    return "\n".join(lines) + "\n"


def _row(device: DeviceProfile) -> str:
    seek, read = device.seek_s, device.read_s_per_byte
    rates = (_usual_s_per_byte(device.decompress[codec]) for codec in _SHOWN_CODECS)
    return _columns(
        device.name,
        _duration_range(seek.high, seek.low),
        *(_rate_range(*each) for each in ((read.high, read.low), *rates)),
    )


def _columns(name: str, *figures: str) -> str:
    widths = (13, 15, 15, 16)
    cells = (f"{text:>{width}}" for text, width in zip(figures, widths, strict=True))
    return f"{name:18}{''.join(cells)}"


def _device(device: DeviceProfile) -> Iterator[str]:
    seek, read = device.seek_s, device.read_s_per_byte
    texts = [
        device.description,
        f"seek {_duration_range(seek.high, seek.low)}",
        f"transfer {_rate_range(read.high, read.low)}",
        *(
            f"{codec} decompression "
            f"{_rate_range(*_usual_s_per_byte(device.decompress[codec]))}"
            for codec in _SHOWN_CODECS
        ),
        f"processors {device.processors}",
        kernel_phrase(device.kernel),
    ]
    yield device.name
    for text in texts:
        yield from wrapped(text, first=_INDENT, rest=_INDENT)
    for source in (*device.sources, device.kernel.source):
        yield from wrapped(source, first=f"{_INDENT}- ", rest=_INDENT * 2)
    yield ""


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

"""What first runs spend their time on, as a table and in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...core.units import format_bytes
from ..phrases import counted
from .measured_differences import label
from .model import Table
from .texts import short_seconds

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..measure_json import FirstRunReport, MadeCacheReport, MeasurementReport

_NAMES = {
    "fonts": "fontconfig's",
    "settings-schemas": "GSettings' schemas",
    "icon-theme": "icon themes",
    "mime-types": "MIME types",
    "image-loaders": "gdk-pixbuf's loaders",
    "input-methods": "GTK's input methods",
    "gio-modules": "GIO's modules",
    "python-bytecode": "Python bytecode",
    "qml": "compiled QML",
    "kde-services": "KDE's services",
    "gstreamer-plugins": "GStreamer's plugins",
    "shaders": "compiled shaders",
}


def first_run_table(measurement: MeasurementReport) -> Table | None:
    """Return what first runs took; ``None`` where none were measured."""
    found = {
        name: codec.first_run
        for name, codec in measurement.everything.items()
        if codec.first_run is not None
    }
    if not found:
        return None
    apart = any(each.decompression_s is not None for each in found.values())
    return Table(
        caption="First runs with cold caches, in a new home directory: medians",
        heads=(
            "codec",
            "first run",
            "app's own",
            "caches",
            *(("reading", "decompression") if apart else ("reading, decompression",)),
        ),
        rows=tuple(
            (label(name), *_cells(each, apart=apart)) for name, each in found.items()
        ),
    )


def _cells(run: FirstRunReport, *, apart: bool) -> Iterator[str]:
    yield from map(short_seconds, (run.cold_s.median, run.own_s, run.caches_s))
    decompression_s = run.decompression_s or 0.0
    yield short_seconds(run.reading_s - decompression_s)
    if apart:
        yield "" if run.decompression_s is None else short_seconds(decompression_s)


def first_run_notes(measurement: MeasurementReport) -> Iterator[str]:
    """Yield how to read the table, and what caches were made, in sentences."""
    if first_run_table(measurement) is None:
        return
    yield (
        "App's own: a warm launch. Caches: what a first run with warm caches of the "
        "system takes more than that. Reading and decompression: what a cold first run "
        "takes more than a warm one; decompression: that, less the same of an "
        "uncompressed image."
    )
    made = "; ".join(map(_made, measurement.made_caches))
    yield (
        f"Caches that a first run made: {made}."
        if made
        else "A first run made no caches that the advisor knows."
    )


def _made(cache: MadeCacheReport) -> str:
    words = f"{_NAMES.get(cache.kind, cache.kind)} ({counted(cache.files, 'file')}, "
    words += format_bytes(cache.size_bytes)
    if cache.program_s is not None:
        words += f"; the program that makes it took {short_seconds(cache.program_s)}"
    return words + ")"

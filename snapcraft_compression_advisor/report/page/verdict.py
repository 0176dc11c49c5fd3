"""The page's head: the verdict with its reasons, and the figures that count."""

from __future__ import annotations

from typing import TYPE_CHECKING

from snapcraft_compression_advisor.core.units import format_bytes
from snapcraft_compression_advisor.report.page.model import Tile
from snapcraft_compression_advisor.report.page.texts import seconds, size, sizes_made

if TYPE_CHECKING:
    from collections.abc import Iterator

    from snapcraft_compression_advisor.report.json_report import Report

_MANY_LAUNCHES = 1_000
_FEW = 10


def facts(report: Report) -> tuple[str, ...]:
    """Return what was looked at."""
    payload = report.payload
    kind = "Prime directory" if payload.kind == "prime" else "Built snap"
    declared = payload.declared_compression or "not known"
    base = f", base {payload.base}" if payload.base else ""
    return (
        f"{kind} {payload.path}{base}",
        (
            f"{payload.files:,} files, {format_bytes(payload.raw_bytes)} in "
            f"{payload.data_blocks:,} data blocks; compression: {declared}"
        ),
    )


def tiles(report: Report) -> tuple[Tile, ...]:
    """Return the figures that the verdict rests on."""
    return (*_sizes(report), *_launch(report), *_pays(report))


def _sizes(report: Report) -> Iterator[Tile]:
    own = sizes_made(report).own
    for name in ("xz", "lzo"):
        codec = report.trial.codecs.get(name)
        if codec is not None and codec.image_bytes is not None:
            measured = report.trial.mode == "exact" or name == own
            yield Tile(
                label=f"image with {name}",
                figure=size(codec.image_bytes),
                note="measured" if measured else "estimated",
            )


def _launch(report: Report) -> Iterator[Tile]:
    saved = report.recommendation.seconds_saved
    if saved is None or not report.launches:
        return
    app = report.launches[0].app
    yield Tile(
        label=f"lzo saves per cold launch of {app}",
        figure=seconds(saved),
        note="estimated, on the device where it saves least",
    )


def _pays(report: Report) -> Iterator[Tile]:
    advice = report.recommendation
    if advice.seconds_saved is None or advice.bytes_added is None:
        return
    if advice.verdict == "no-benefit":  # nothing is paid for what isn't worth having
        return
    figure = _launches(advice.break_even_launches, advice.bytes_added.mid)
    link = report.method.policy.link_mbit_per_s if report.method else None
    where = f"at {link:g} Mbit/s" if link else "at the policy's link"
    yield Tile(
        label="lzo's download has paid for itself after",
        figure=figure,
        note=f"estimated, {where}",
    )


def _launches(count: float | None, added_bytes: float) -> str:
    if added_bytes <= 0:
        return "at once"
    if count is None or count > _MANY_LAUNCHES:
        return "never"
    if count <= 1:
        return "1 cold launch"
    return f"{count:.1f} cold launches" if count < _FEW else f"{count:.0f} launches"

"""The sampled trial: every codec's image size from some of the blocks."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

from snapcraft_compression_advisor.codecs import CODECS, SHIPPABLE
from snapcraft_compression_advisor.payload.layout import lay_out
from snapcraft_compression_advisor.trial.exact import run_exact_trial
from snapcraft_compression_advisor.trial.partial import PartialTrial
from snapcraft_compression_advisor.trial.result import (
    CodecTrial,
    Progress,
    TrialResult,
    size_difference,
)

if TYPE_CHECKING:
    from collections.abc import Collection

    from snapcraft_compression_advisor.payload.source import Payload

FIRST_BLOCKS = 50
"""Blocks that every codec tries."""

ROUNDS = (
    ("xz", 3 * FIRST_BLOCKS),
    ("lzo", 3 * FIRST_BLOCKS),
    ("xz", 9 * FIRST_BLOCKS),
)
"""What is tried next while an interval is too wide. Three times the blocks at a third
of the step hit the same ones again, and two between each, so none is tried twice. xz
comes first: of all codecs it is the hardest to predict."""

NARROW = 0.01
"""Half width of an interval, as a share of its middle, that nobody asks to be less."""

NARROW_ENOUGH = 0.04
"""Likewise, where the recommendation is the same from end to end. xz has its second
round all the same, unless the payload is a built snap, whose own size is known."""


class Decided(Protocol):
    """Tells whether more blocks could still change the recommendation."""

    def __call__(self, result: TrialResult, /) -> bool:
        """Return whether the recommendation is the same for all sizes in there."""


def run_sampled_trial(
    payload: Payload,
    *,
    wanted: Collection[str],
    progress: Progress,
    decided: Decided,
    seed: int = 0,
) -> TrialResult:
    """Estimate every codec's image size, with intervals that hold in 95 % of draws.

    :param wanted: paths of the files whose data blocks are reported.
    :param progress: told before each step.
    :param decided: asked between rounds.
    :param seed: another one draws other blocks.
    :raises StorageError: where files change or vanish meanwhile.
    """
    progress("Reading the payload's blocks")
    layout = lay_out(payload)
    run = PartialTrial(payload, layout, wanted, seed=seed)
    slow = [
        codec.name
        for codec in CODECS.values()
        if codec.available and codec.name not in ("none", run.known_codec)
    ]
    progress("Trying some blocks with every codec")
    run.try_codecs(slow, count=FIRST_BLOCKS)
    result = run.result()
    for number, (name, count) in enumerate(ROUNDS):
        if name not in slow or _half_width(result.codecs[name]) <= NARROW:
            continue
        widest = max(_half_width(result.codecs[each]) for each in SHIPPABLE)
        settled = widest <= NARROW_ENOUGH and decided(result)
        if settled and (number or run.known_codec):
            break
        progress(f"Trying more blocks with {name}")
        run.try_codecs([name], count=count)
        result = run.result()
    return _with_packed(result, payload, wanted, progress)


def _with_packed(
    result: TrialResult,
    payload: Payload,
    wanted: Collection[str],
    progress: Progress,
) -> TrialResult:
    """Have mksquashfs itself pack with the codecs whose library is missing."""
    lacking = [trial.codec for trial in result.codecs.values() if not trial.available]
    if not lacking:
        return result
    packed = run_exact_trial(
        payload, wanted=wanted, progress=progress, names=lacking
    ).codecs
    codecs = {**result.codecs, **packed}
    notes = (
        f"{name}: packed with mksquashfs, since its library is missing"
        for name in lacking
        if packed[name].available
    )
    return replace(
        result,
        codecs=codecs,
        lzo_less_xz_bytes=size_difference(codecs["lzo"], codecs["xz"]),
        notes=(*result.notes, *notes),
    )


def _half_width(trial: CodecTrial) -> float:
    """Return half of the interval's width as a share of its middle."""
    size = trial.image_bytes
    return 0.0 if size is None else (size.high - size.low) / 2 / size.mid

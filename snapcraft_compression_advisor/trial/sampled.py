"""The sampled trial: every codec's image size from some of the blocks."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace

from ..codecs import CODECS, SHIPPABLE
from ..core.frozen import frozen
from ..payload.layout import lay_out
from ..payload.source import Payload
from .exact import run_exact_trial
from .partial import PartialTrial
from .result import CodecTrial, Progress, TrialResult, Wanted, size_difference
from .saved import SavedRounds

NARROW = 0.01
"""Half width of an interval, as a share of its middle, that nobody asks to be less."""


@frozen
class Effort:
    """How closely to look.

    :param scales: scale factor of the number of blocks in each round; see
        :class:`.census.Ladder`.
    :param narrow_enough: half width of the interval, as a share of its middle, that
        is enough where it decides nothing any more.
    """

    scales: tuple[float, ...]
    narrow_enough: float
    codecs: tuple[str, ...] = tuple(CODECS)


ORDINARY = Effort(scales=(1, 1.5, 2), narrow_enough=0.02)
"""For figures that people read. More blocks include the first ones, which needn't be
tried twice."""

LEAST = Effort(
    scales=(0.25, 1, 3),
    narrow_enough=0.1,
    codecs=SHIPPABLE,
)
"""For a yes or a no: a quarter of the blocks tells most of the time. On two payloads
(95 and 270 MB, 12 draws each) the intervals were at most ±6.7 %."""


Decided = Callable[[TrialResult], bool]
"""Tells whether the recommendation is the same for all sizes in a result, so that more
blocks couldn't change it."""


def run_sampled_trial(  # noqa: PLR0913 # keywords, two of them with a default
    payload: Payload,
    *,
    wanted: Wanted,
    progress: Progress,
    decided: Decided,
    effort: Effort = ORDINARY,
    seed: int = 0,
) -> TrialResult:
    """Estimate every codec's image size, with intervals that hold in 95 % of draws.

    :param wanted: paths of the files whose data blocks are reported; asked for when
        some blocks were looked at already.
    :param effort: how many blocks to try, and with which codecs.
    :param seed: another one draws other blocks.
    """
    saved = SavedRounds(payload, (effort, seed))
    known = saved.load(wanted)
    result = next((each for each in known if _is_enough(each, effort, decided)), None)
    if result is None:
        done: list[TrialResult] = []
        for result in _rounds(payload, wanted, effort, seed, progress):
            done.append(result)
            if _is_enough(result, effort, decided):
                break
        saved.save(done, wanted)
        result = done[-1]
    lacking = [name for name in effort.codecs if not result.codecs[name].available]
    return _with_packed(result, lacking, payload, wanted(), progress)


def _is_enough(result: TrialResult, effort: Effort, decided: Decided) -> bool:
    """Whether more blocks aren't needed."""
    widest = max(_half_width(result.codecs[each]) for each in SHIPPABLE)
    enough = widest <= effort.narrow_enough and decided(result)
    return enough or widest <= NARROW


def _rounds(
    payload: Payload, wanted: Wanted, effort: Effort, seed: int, progress: Progress
) -> Iterator[TrialResult]:
    """Yield what is known after each round."""
    progress("Reading the payload's blocks")
    run = PartialTrial(payload, lay_out(payload), wanted, seed=seed)
    slow = [
        name
        for name in effort.codecs
        if CODECS[name].available and name not in ("none", run.known_codec)
    ]
    for scale in effort.scales:
        progress("Examining some blocks more closely")
        run.ladder.climb(scale=scale)
        progress("Compressing a sample of blocks with every codec")
        first = scale == effort.scales[0]
        run.try_codecs([name for name in slow if first or name in SHIPPABLE])
        yield run.result()


def _with_packed(
    result: TrialResult,
    lacking: Sequence[str],
    payload: Payload,
    wanted: Collection[str],
    progress: Progress,
) -> TrialResult:
    """Have mksquashfs itself pack with the codecs whose library is missing."""
    if not lacking:
        return result
    packed = run_exact_trial(
        payload, wanted=wanted, progress=progress, names=lacking
    ).codecs
    codecs = {**result.codecs, **packed}
    notes = (
        f"{name}: packed with mksquashfs because its library is missing"
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

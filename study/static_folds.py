"""Recorded applications scored by the counts of others, for ``static_fit.py``."""

from __future__ import annotations

import math
import re
import statistics
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from snapcraft_compression_advisor.core.units import Interval
from snapcraft_compression_advisor.launch.guess.guess import with_driver_doubt
from snapcraft_compression_advisor.launch.guess.priors import (
    MODULES,
    NO_WINDOWS,
    WINDOWS,
    Counts,
    GuessedApp,
    Priors,
    Reference,
    Unseen,
)
from static_data import (
    Application,
    Score,
    guessed_files,
    score,
    score_closure,
    weighed,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

LEAST_COUNTED = 2
"""Blocks of a class from which it is kept: one block moves a share by a fifth of the
way, at most, and classes of one block are half of all."""

_STRETCH = re.compile(r"((?:text|constants) .*) \d+")

MANY = 20
"""Ratios from which nine of ten of them say more than their standard deviation."""

KIND_WEIGHT = 8.0
"""How many applications of a kind all others count as; chosen by hand."""

OF_NEW = 1.1
"""How much farther off applications are that nobody has examined than those left out:
people wrote the rules who had seen these. The guess of 1.2 held 61 of the 67 blind
applications of the second and third draw, and nine of ten (the 61st) lay within 0.93 of
its interval's half (logarithms of read ÷ expected)."""

FEWEST = 3
"""Applications: of those left when one is left out, the spread is taken."""

STUDENT_95 = (
    6.31, 2.92, 2.35, 2.13, 2.02, 1.94, 1.89, 1.86, 1.83, 1.81,
    1.80, 1.78, 1.77, 1.76, 1.75, 1.75, 1.74, 1.73, 1.73, 1.72,
)  # fmt: skip
"""95 % quantile of Student's t with 1, 2, … degrees of freedom (any table of it)."""


@dataclass(frozen=True, kw_only=True)
class Fold:
    """One application left out.

    :param priors: of all others, their spread among them.
    :param closure: how the ELF closure alone does, each file named whole.
    :param alone: how the guess does with the counts of all others.
    :param kind_out: how it does where all of its kind are left out.
    :param blind: likewise, of a search that was made blind; ``None`` if that misses
        nothing.
    :param interval: of the bytes read per byte expected, by the priors of all others,
        as the guess has it.
    """

    application: Application
    priors: Priors
    closure: Score
    alone: Score
    kind_out: Score
    blind: Score | None = None
    interval: Interval = field(default_factory=lambda: Interval.exactly(1.0))

    @property
    def held(self) -> bool:
        """Whether the interval holds what was read."""
        return self.interval.low <= self.alone.ratio <= self.interval.high


def make_folds(
    applications: Sequence[Application], counts: Sequence[tuple[Counts, Counts]]
) -> list[Fold]:
    """Score each application by the counts of others."""
    of_all = Sums.of(counts)
    of_kind = {
        kind: Sums.of(
            [
                each
                for a, each in zip(applications, counts, strict=True)
                if a.kind == kind
            ]
        )
        for kind in {application.kind for application in applications}
    }
    bare = []
    for application, each in zip(applications, counts, strict=True):
        priors = of_all.less(Sums.of([each])).priors()
        other_kinds = of_all.less(of_kind[application.kind]).priors()
        blindly = (*application.reached, *application.unreached)
        bare.append(
            Fold(
                application=application,
                priors=priors,
                closure=score_closure(application),
                alone=score(application, priors),
                kind_out=score(application, other_kinds),
                blind=score(application, other_kinds, blindly)
                if application.reference
                else None,
            )
        )
    return [_with_interval(fold, [f for f in bare if f is not fold]) for fold in bare]


def _with_interval(fold: Fold, others: Sequence[Fold]) -> Fold:
    """Return an application with the interval that the others give it."""
    priors = _with_spread(fold.priors, others)
    app = fold.application
    files, beside = (
        [file for _, file in guessed_files(found, priors)]
        for found in (app.found, app.beside)
    )
    unseen = None
    if app.blindness == "program":
        unseen = Unseen(files=beside, reference=WINDOWS if app.window else NO_WINDOWS)
    guessed = GuessedApp(
        kind=app.kind,
        payload_blocks=app.payload_blocks,
        payload_files=app.payload_files,
        modules_missed=app.blindness == "modules",
    )
    share, _ = priors.shares(files, guessed, unseen)
    candidates = [candidate for candidate, _ in app.counted]
    share = with_driver_doubt(share, candidates, (*files, *beside), priors)
    return replace(fold, priors=priors, interval=share)


@dataclass(frozen=True, kw_only=True)
class Sums:
    """Counts of files and blocks of several applications together."""

    files: Counts
    blocks: Counts

    @classmethod
    def of(cls, counts: Iterable[tuple[Counts, Counts]]) -> Sums:
        """Return the sums of applications; own files weighed."""
        listed = list(counts)
        return cls(
            files=summed(weighed(files) for files, _ in listed),
            blocks=summed(blocks for _, blocks in listed),
        )

    def less(self, part: Sums) -> Sums:
        """Return what remains without some of them."""
        return Sums(
            files=_less(self.files, part.files), blocks=_less(self.blocks, part.blocks)
        )

    def priors(self) -> Priors:
        """Return priors without the spread that they leave."""
        one = Interval.exactly(1.0)
        return Priors(
            files=self.files,
            blocks=telling(self.blocks),
            read_share=one,
            seek_share=one,
            unseen_share=one,
        )


def _less(whole: Counts, part: Counts) -> Counts:
    return Counts(
        read=whole.read - part.read,
        counted=whole.counted - part.counted,
    )


def coverage_lines(folds: Sequence[Fold]) -> Iterator[str]:
    """Yield how many applications lie in the interval that all others give.

    With the interval's width: high end ÷ low end, the median.
    """
    for name in ("all", None, "modules", "program"):
        found = [f for f in folds if name in ("all", f.application.blindness)]
        if found:
            inside = sum(fold.held for fold in found)
            width = statistics.median(
                fold.interval.high / fold.interval.low for fold in found
            )
            yield (
                f"blind to {name or 'nothing'}: {inside} of {len(found)} inside "
                f"({inside / len(found):.0%}), width {width:.2f}"
            )


def fitted(folds: Sequence[Fold], counts: Sequence[tuple[Counts, Counts]]) -> Priors:
    """Return the priors of all applications together."""
    return _with_spread(Sums.of(counts).priors(), folds)


def _with_spread(priors: Priors, folds: Sequence[Fold]) -> Priors:
    """Return priors with what other applications read per byte expected.

    Those whose search was blind by itself say nothing of other guesses. A kind that
    wasn't recorded is never surer than one that was.
    """
    kinds: dict[str, tuple[tuple[str, float], ...]] = {}
    for fold in folds:
        kind = fold.application.kind
        row = (fold.application.name, round(fold.alone.ratio, 2))
        kinds[kind] = (*kinds.get(kind, ()), row)
    applications = [fold.application for fold in folds]
    seeing = [fold for fold in folds if fold.application.blindness is None]
    of_all = spread([fold.alone.sure_ratio for fold in seeing])
    read_share = of_new(of_all)
    unseen_share = of_new(spread([fold.kind_out.sure_ratio for fold in seeing]))
    return replace(
        priors,
        read_share=read_share,
        seek_share=spread([fold.alone.runs_ratio for fold in seeing]),
        unseen_share=_spanning(unseen_share, read_share),
        kind_shares={
            kind: of_new(
                kind_spread(
                    [f.alone.sure_ratio for f in seeing if f.application.kind == kind],
                    of_all,
                )
            )
            for kind in kinds
        },
        parallel_kinds=tuple(
            sorted({it.kind for it in applications if it.waited_share < 1})
        ),
        kinds=kinds,
        references=dict(_references(folds)),
    )


def _spanning(share: Interval, other: Interval) -> Interval:
    return replace(
        share, low=min(share.low, other.low), high=max(share.high, other.high)
    )


def _references(folds: Sequence[Fold]) -> Iterator[tuple[str, Reference]]:
    """Yield the reference classes that have members enough for a spread."""
    scored = {
        name: [
            (fold.application, fold.blind)
            for fold in folds
            if fold.blind is not None and fold.application.reference == name
        ]
        for name in (WINDOWS, NO_WINDOWS)
    }
    scored[MODULES] = [
        (fold.application, fold.kind_out)
        for fold in folds
        if fold.application.blindness == "modules"
    ]
    for name, found in scored.items():
        if len(found) >= FEWEST:
            yield name, _reference(found)


def _reference(found: Sequence[tuple[Application, Score]]) -> Reference:
    return Reference(
        read_share=lognormal_spread([score.ratio for _, score in found]),
        seek_share=lognormal_spread([score.runs_ratio for _, score in found]),
        least_share=min(
            score.expected_bytes / max(1, app.payload_bytes) for app, score in found
        ),
        recorded=tuple((app.name, round(score.ratio, 2)) for app, score in found),
    )


def of_new(share: Interval, wider: float = OF_NEW) -> Interval:
    """Return a spread of applications left out as one of those that nobody examined."""
    low, high = (
        share.mid * (end / share.mid) ** wider for end in (share.low, share.high)
    )
    return replace(share, low=low, high=high)


def kind_spread(
    ratios: Sequence[float], others: Interval, weight: float = KIND_WEIGHT
) -> Interval:
    """Return where the next application of a kind lies in nine cases of ten.

    Its kind's ratios are drawn towards those of all, as if ``weight``
    applications had been in the middle of these, and spread like them (a conjugate
    prior of a normal distribution, of logarithms). One that is far off counts as one
    that is twice as far as nine of ten.

    :param ratios: recorded ÷ expected, of the kind; may be none.
    :param others: the spread of all kinds together.
    """
    middle = math.log(others.mid)
    half = math.log(others.high) - middle
    logs = [
        min(max(math.log(ratio), middle - 2 * half), middle + 2 * half)
        for ratio in ratios
    ]
    deviation = half / STUDENT_95[-1]
    count = weight + len(logs)
    mean = (weight * middle + sum(logs)) / count
    squares = weight * (deviation**2 + (middle - mean) ** 2)
    squares += sum((each - mean) ** 2 for each in logs)
    quantile = STUDENT_95[min(round(count), len(STUDENT_95)) - 1]
    half = quantile * math.sqrt(squares / count * (1 + 1 / count))
    return Interval(
        low=math.exp(mean - half), mid=math.exp(mean), high=math.exp(mean + half)
    )


def spread(ratios: Sequence[float]) -> Interval:
    """Return where the next application's ratio lies in nine cases of ten.

    As far from the median as nine of ten are, so that a few that are far off don't
    widen it for all; of fewer than twenty, :func:`lognormal_spread`.

    :param ratios: recorded ÷ expected, at least two.
    """
    if len(ratios) < MANY:
        return lognormal_spread(ratios)
    logs = [math.log(ratio) for ratio in ratios]
    middle = statistics.median(logs)
    distances = sorted(abs(each - middle) for each in logs)
    half = distances[math.ceil(0.9 * (len(logs) + 1)) - 1]
    return Interval(
        low=math.exp(middle - half),
        mid=math.exp(middle),
        high=math.exp(middle + half),
    )


def lognormal_spread(ratios: Sequence[float]) -> Interval:
    """Return the same as a prediction interval of log-normal ratios (Student's t).

    :param ratios: recorded ÷ expected, at least two.
    """
    logs = [math.log(ratio) for ratio in ratios]
    quantile = STUDENT_95[min(len(logs) - 1, len(STUDENT_95)) - 1]
    half = quantile * statistics.stdev(logs) * math.sqrt(1 + 1 / len(logs))
    middle = statistics.median(logs)
    return Interval(
        low=math.exp(middle - half),
        mid=math.exp(middle),
        high=math.exp(middle + half),
    )


def telling(blocks: Counts) -> Counts:
    """Return the classes of blocks that say more than the wider ones do.

    Without those of a single block, and without the places in a library of which every
    block was read, or none.
    """
    result = Counts()
    for key, counted in blocks.counted.items():
        wider = wider_class(key)
        same = wider and blocks.read[wider] in (0, blocks.counted[wider])
        if counted >= LEAST_COUNTED and not same:
            result.add(key, read=blocks.read[key], counted=counted)
    return result


def summed(parts: Iterable[Counts]) -> Counts:
    """Return several counts together."""
    total = Counts()
    for part in parts:
        total.read.update(part.read)
        total.counted.update(part.counted)
    return total


def wider_class(key: str) -> str | None:
    """Return the class of a library's part that a stretch belongs to.

    :param key: a class; ``None`` comes back for any other than a stretch.
    """
    match = _STRETCH.fullmatch(key)
    return match[1] if match else None

"""Recorded applications scored by the counts of others, for ``static_fit.py``."""

from __future__ import annotations

import math
import re
import statistics
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from snapcraft_compression_advisor.core.units import Interval
from snapcraft_compression_advisor.launch.guess.guess import SURE, opened_share
from snapcraft_compression_advisor.launch.guess.opengl import DRIVER_WAYS
from snapcraft_compression_advisor.launch.guess.priors import (
    NO_WINDOWS,
    WINDOWS,
    Counts,
    Priors,
    Reference,
)
from static_data import Application, Score, score, score_closure, weighed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

LEAST_COUNTED = 2
"""Blocks of a class from which it is kept: one block moves a share by a fifth of the
way, at most, and classes of one block are half of all."""

_STRETCH = re.compile(r"((?:text|constants) .*) \d+")

MANY = 20
"""Ratios from which nine of ten of them say more than their standard deviation."""

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
    :param blind: likewise, of a search that was made blind; ``None`` where that misses
        nothing.
    :param doubtful: whether it is open that OpenGL's driver is read: the guess's
        interval has a part for that.
    """

    application: Application
    priors: Priors
    closure: Score
    alone: Score
    kind_out: Score
    blind: Score | None = None
    doubtful: bool = False

    @property
    def telling(self) -> bool:
        """Whether its ratio says how good guesses are that leave nothing open."""
        return not (self.application.beside or self.doubtful)


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
                doubtful=is_doubtful(application, priors),
            )
        )
    return [
        replace(fold, priors=_with_spread(fold.priors, [f for f in bare if f != fold]))
        for fold in bare
    ]


def is_doubtful(application: Application, priors: Priors) -> bool:
    """Tell whether it is open that an application's launch reads OpenGL's driver."""
    return any(
        1 - SURE < opened_share(candidate, priors) < SURE
        for candidate, _ in application.found
        if candidate.way.startswith(DRIVER_WAYS)
    )


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
    """Yield how many applications lie in the interval that those of other kinds give.

    With the interval's width: high end ÷ low end, the median.
    """
    for name, scored in _ratios_by_guess(folds).items():
        interval = spread if name == _SEEING else lognormal_spread
        found = [
            (ratio, interval([r for k, r in scored if k != kind]))
            for kind, ratio in scored
            if sum(k != kind for k, _ in scored) >= FEWEST
        ]
        if found:
            inside = sum(each.low <= ratio <= each.high for ratio, each in found)
            width = statistics.median(each.high / each.low for _, each in found)
            yield (
                f"{name}: {inside} of {len(found)} inside ({inside / len(found):.0%}), "
                f"width {width:.2f}"
            )


_SEEING = "kind left out"


def _ratios_by_guess(folds: Sequence[Fold]) -> dict[str, list[tuple[str, float]]]:
    """Return by what was guessed how, each application's kind and read ÷ expected."""
    found: dict[str, list[tuple[str, float]]] = {}
    for fold in folds:
        kind, reference = fold.application.kind, fold.application.reference
        if fold.telling:
            found.setdefault(_SEEING, []).append((kind, fold.kind_out.ratio))
        if fold.blind is not None:
            name = f"blind, {reference}"
            found.setdefault(name, []).append((kind, fold.blind.ratio))
    return found


def fitted(folds: Sequence[Fold], counts: Sequence[tuple[Counts, Counts]]) -> Priors:
    """Return the priors of all applications together."""
    return _with_spread(Sums.of(counts).priors(), folds)


def _with_spread(priors: Priors, folds: Sequence[Fold]) -> Priors:
    """Return priors with what other applications read per byte expected.

    Those whose search was blind by itself, or left open whether OpenGL's driver is
    read, say nothing of other guesses. A kind that wasn't recorded is never surer than
    one that was.
    """
    kinds: dict[str, tuple[tuple[str, float], ...]] = {}
    for fold in folds:
        kind = fold.application.kind
        row = (fold.application.name, round(fold.alone.ratio, 2))
        kinds[kind] = (*kinds.get(kind, ()), row)
    seeing = [fold for fold in folds if fold.telling]
    read_share = spread([fold.alone.ratio for fold in seeing])
    unseen_share = spread([fold.kind_out.ratio for fold in seeing])
    return replace(
        priors,
        read_share=read_share,
        seek_share=spread([fold.alone.runs_ratio for fold in seeing]),
        unseen_share=replace(
            unseen_share,
            low=min(read_share.low, unseen_share.low),
            high=max(read_share.high, unseen_share.high),
        ),
        kinds=kinds,
        references=dict(_references(folds)),
    )


def _references(folds: Sequence[Fold]) -> Iterator[tuple[str, Reference]]:
    """Yield the reference classes that have members enough for a spread."""
    for name in (WINDOWS, NO_WINDOWS):
        found = [
            (fold.application, fold.blind)
            for fold in folds
            if fold.blind is not None and fold.application.reference == name
        ]
        if len(found) >= FEWEST:
            yield (
                name,
                Reference(
                    read_share=lognormal_spread([blind.ratio for _, blind in found]),
                    seek_share=lognormal_spread(
                        [blind.runs_ratio for _, blind in found]
                    ),
                    least_share=min(
                        blind.expected_bytes / app.payload_bytes for app, blind in found
                    ),
                    recorded=tuple(
                        (app.name, round(blind.ratio, 2)) for app, blind in found
                    ),
                ),
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

#!/usr/bin/env python3
"""Count what recorded launches read of what a guess names, and score the guess.

    .venv/bin/python study/static_fit.py --trees TREES --date 2026-11-21

For each application of ``data/launches``, the script makes the guess with the counts of
the others alone, and compares it with the recording. All counts together become the
package's priors, and the spread of recorded ÷ expected their interval. It prints the
folds, and writes

- ``snapcraft_compression_advisor/launch/guess/priors.json``,
- ``study/data/static-families.csv`` (files by rule and application),
- ``study/data/launch-packages.csv`` (which versions were recorded),
- ``study/data/static-scores.csv`` (every application left out).

TREES holds the payloads, as ``launch_corpus.py`` builds them. The priors keep the date.
``accuracy.py`` makes the tables of ``docs/accuracy.md`` from what is written.
"""

from __future__ import annotations

import argparse
import csv
import io
import json
import math
import re
import statistics
import sys
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

from ruamel.yaml import YAML

from corpus_applications import APPLICATIONS
from draw import DISTRIBUTIONS, read_drawn
from snap_metadata import snap_name
from snapcraft_compression_advisor.core.units import Interval
from snapcraft_compression_advisor.launch.guess.priors import (
    Counts,
    Ends,
    Fit,
    MedianAndWorst,
    Priors,
    PriorsDocument,
    Row,
)
from static_data import (
    Application,
    Score,
    count,
    read_application,
    recorded_names,
    score,
    score_closure,
    weighed,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

FOLDER = Path(__file__).parent
SCORES = FOLDER / "data/static-scores.csv"
PRIORS = FOLDER.parent / "snapcraft_compression_advisor/launch/guess/priors.json"

LEAST_COUNTED = 2
"""Blocks of a class from which it is kept: one block moves a share by a fifth of the
way, at most, and classes of one block are half of all."""

_STRETCH = re.compile(r"((?:text|constants) .*) \d+")

FEWEST = 3
"""Applications: of those left when one is left out, the spread is taken."""

GUESSES = ("closure", "static", "static-kind-left-out")
"""What is scored: the ELF closure, the guess, and the guess where the whole kind of the
application is left out."""

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
    """

    application: Application
    priors: Priors
    closure: Score
    alone: Score
    kind_out: Score


def main() -> None:
    """Fit, score, write."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--trees", type=Path, required=True)
    parser.add_argument("--date", type=date.fromisoformat, required=True)
    arguments = parser.parse_args()
    fit(arguments.trees, arguments.date)


def fit(trees: Path, today: date) -> None:
    """Count, leave out, write.

    :param today: goes into the priors.
    """
    applications = read_applications(trees)
    counts = [count(application) for application in applications]
    folds = make_folds(applications, counts)
    document = priors_document(_fitted(folds, counts), fit_of(folds, today))
    PRIORS.write_text(_json(document), encoding="utf-8")
    _write_csv("static-families.csv", _family_rows(applications, counts))
    _write_csv("static-scores.csv", _score_rows(folds))
    _write_csv("launch-packages.csv", _package_rows(applications, trees))
    for fold in folds:
        print(
            f"{fold.application.name}: recall {fold.alone.recall:.2f}, "
            f"precision {fold.alone.precision:.2f}, read ÷ expected "
            f"{fold.alone.ratio:.2f}"
        )


def fit_of(folds: Sequence[Fold], today: date) -> Fit:
    """Return what the priors say of their own origin."""
    recalls = [fold.alone.recall for fold in folds]
    precisions = [fold.alone.precision for fold in folds]
    return Fit(
        fitted_on=tuple(fold.application.name for fold in folds),
        fitted_at=today,
        recall=_median_and_worst(recalls),
        precision=_median_and_worst(precisions),
    )


def _median_and_worst(figures: Sequence[float]) -> MedianAndWorst:
    median, worst = statistics.median(figures), min(figures)
    return MedianAndWorst(median=round(median, 4), worst=round(worst, 4))


def read_applications(trees: Path) -> list[Application]:
    """Read all recorded applications that have a tree."""
    names = [name for name in recorded_names() if (trees / name).is_dir()]
    if len(names) < FEWEST:
        sys.exit(f"{trees}: fewer than {FEWEST} payloads of recorded applications")
    return [read_application(name, trees / name) for name in names]


def make_folds(
    applications: Sequence[Application], counts: Sequence[tuple[Counts, Counts]]
) -> list[Fold]:
    """Score each application by the counts of others."""
    pairs = list(zip(applications, counts, strict=True))
    bare = []
    for application in applications:
        others = [each for a, each in pairs if a is not application]
        other_kinds = [each for a, each in pairs if a.kind != application.kind]
        priors = _priors(others)
        bare.append(
            Fold(
                application=application,
                priors=priors,
                closure=score_closure(application),
                alone=score(application, priors),
                kind_out=score(application, _priors(other_kinds)),
            )
        )
    return [
        replace(fold, priors=_with_spread(fold.priors, [f for f in bare if f != fold]))
        for fold in bare
    ]


def _fitted(folds: Sequence[Fold], counts: Sequence[tuple[Counts, Counts]]) -> Priors:
    return _with_spread(_priors(counts), folds)


def _with_spread(priors: Priors, folds: Sequence[Fold]) -> Priors:
    """Return priors with what other applications read per byte expected."""
    kinds: dict[str, tuple[tuple[str, float], ...]] = {}
    for fold in folds:
        kind = fold.application.kind
        row = (fold.application.name, round(fold.alone.ratio, 2))
        kinds[kind] = (*kinds.get(kind, ()), row)
    return replace(
        priors,
        read_share=spread([fold.alone.ratio for fold in folds]),
        seek_share=spread([fold.alone.runs_ratio for fold in folds]),
        unseen_share=spread([fold.kind_out.ratio for fold in folds]),
        kinds=kinds,
    )


def spread(ratios: Sequence[float]) -> Interval:
    """Return where the next application's ratio lies in nine cases of ten.

    A prediction interval of log-normal ratios (Student's t).

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


def _priors(counts: Iterable[tuple[Counts, Counts]]) -> Priors:
    listed = list(counts)
    one = Interval.exactly(1.0)
    return Priors(
        files=summed(weighed(files) for files, _ in listed),
        blocks=telling(summed(blocks for _, blocks in listed)),
        read_share=one,
        seek_share=one,
        unseen_share=one,
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


def _family_rows(
    applications: Sequence[Application], counts: Sequence[tuple[Counts, Counts]]
) -> Iterator[tuple[object, ...]]:
    yield "way", "application", "files_found", "files_read"
    ways = sorted({way for files, _ in counts for way in files.counted})
    for way in ways:
        for application, (files, _) in zip(applications, counts, strict=True):
            if files.counted[way]:
                yield way, application.name, files.counted[way], files.read[way]


def _score_rows(folds: Iterable[Fold]) -> Iterator[tuple[object, ...]]:
    yield (
        "application", "kind", "guess", "read_bytes", "recall", "precision",
        "read_expected", "runs_expected",
    )  # fmt: skip
    for fold in folds:
        scores = (fold.closure, fold.alone, fold.kind_out)
        for guess, figures in zip(GUESSES, scores, strict=True):
            yield (
                fold.application.name,
                fold.application.kind,
                guess,
                figures.read_bytes,
                f"{figures.recall:.4f}",
                f"{figures.precision:.4f}",
                f"{figures.ratio:.4f}",
                f"{figures.runs_ratio:.4f}",
            )


def _package_rows(
    applications: Iterable[Application], trees: Path
) -> Iterator[tuple[object, ...]]:
    """Yield which version of an application each recording is of."""
    yield "application", "distribution", "packages", "version"
    made_of = {each.name: ("Debian 12", *each.packages) for each in APPLICATIONS}
    made_of |= {
        snap_name(row.package): (DISTRIBUTIONS[row.release], row.package)
        for row in read_drawn()
        if row.outcome == "recorded"
    }
    for application in applications:
        text = (trees / application.name / "meta/snap.yaml").read_text(encoding="utf-8")
        version = YAML(typ="safe", pure=True).load(text)["version"]
        distribution, *packages = made_of[application.name]
        yield application.name, distribution, " ".join(packages), version


def _write_csv(name: str, rows: Iterable[tuple[object, ...]]) -> None:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    (FOLDER / "data" / name).write_text(text.getvalue(), encoding="utf-8")


def _json(document: PriorsDocument) -> str:
    """Return a document with one key a line, so that changes show."""
    lines = []
    for key, value in document.model_dump(mode="json").items():
        if isinstance(value, dict):
            rows = ",\n".join(
                f"{json.dumps(k)}:{json.dumps(v, separators=(',', ':'))}"
                for k, v in value.items()
            )
            lines.append(f"{json.dumps(key)}: {{\n{rows}\n}}")
        else:
            lines.append(f"{json.dumps(key)}: {json.dumps(value)}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


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


def priors_document(priors: Priors, fit: Fit) -> PriorsDocument:
    """Return the document that ``parse_priors`` reads, with rounded shares.

    :param fit: what the priors were fitted on, and how well they do.
    """
    return PriorsDocument(
        fit=fit,
        read_share=_ends(priors.read_share),
        seek_share=_ends(priors.seek_share),
        unseen_share=_ends(priors.unseen_share),
        kinds={kind: dict(recorded) for kind, recorded in sorted(priors.kinds.items())},
        files=_rows(priors.files),
        blocks=_rows(priors.blocks),
    )


def _ends(share: Interval) -> Ends:
    low, mid, high = (round(end, 3) for end in (share.low, share.mid, share.high))
    return low, mid, high


def _rows(counts: Counts) -> dict[str, Row]:
    return {
        key: (counts.read[key], counts.counted[key]) for key in sorted(counts.counted)
    }


if __name__ == "__main__":
    main()

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

TREES holds the payloads, as ``launch_corpus.py`` builds them; the option may be given
several times. The priors keep the date. The script also makes every search blind on
purpose, and counts what launches read of the files that it doesn't reach then: the
reference classes of searches that are blind by themselves.
``accuracy.py`` makes the tables of ``docs/study/accuracy.md`` from what is written.
"""

from __future__ import annotations

import argparse
import csv
import io
import json
import statistics
import sys
from concurrent.futures import ProcessPoolExecutor
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
    Priors,
)
from snapcraft_compression_advisor.payload.snap_yaml import SNAP_YAML_PATH
from static_data import (
    Application,
    count,
    read_application,
    recorded_names,
)
from static_folds import FEWEST, Fold, coverage_lines, fitted, make_folds

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

FOLDER = Path(__file__).parent
SCORES = FOLDER / "data/static-scores.csv"
PRIORS = FOLDER.parent / "snapcraft_compression_advisor/launch/guess/priors.json"

GUESSES = ("closure", "static", "static-kind-left-out")
"""What is scored: the ELF closure, the guess, and the guess where the whole kind of the
application is left out."""


def main() -> None:
    """Fit, score, write."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    add_trees_argument(parser)
    parser.add_argument("--date", type=date.fromisoformat, required=True)
    arguments = parser.parse_args()
    fit(arguments.trees, arguments.date)


def add_trees_argument(parser: argparse.ArgumentParser) -> None:
    """Add the option for folders of payloads, at least one."""
    parser.add_argument("--trees", type=Path, action="append", required=True)


def fit(trees: Sequence[Path], today: date) -> None:
    """Count, leave out, write.

    :param today: goes into the priors.
    """
    applications = read_applications(trees)
    counts = [count(application) for application in applications]
    folds = make_folds(applications, counts)
    document = priors_document(fitted(folds, counts), fit_of(folds, today))
    PRIORS.write_text(document_text(document), encoding="utf-8")
    _write_csv("static-families.csv", _family_rows(applications, counts))
    _write_csv("static-scores.csv", _score_rows(folds))
    _write_csv("launch-packages.csv", _package_rows(applications, find_trees(trees)))
    for fold in folds:
        print(
            f"{fold.application.name}: recall {fold.alone.recall:.2f}, "
            f"precision {fold.alone.precision:.2f}, read ÷ expected "
            f"{fold.alone.ratio:.2f}"
            + (f", blind {fold.blind.ratio:.2f}" if fold.blind else "")
        )
    for line in coverage_lines(folds):
        print(line)


def fit_of(folds: Sequence[Fold], today: date) -> dict[str, object]:
    """Return what the priors say of their own origin.

    Of the bytes read, those named (recall), and of those named, those read (precision):
    the middle and the lowest application's, each left out when it was guessed.
    """
    return {
        "fitted_on": [fold.application.name for fold in folds],
        "fitted_at": today.isoformat(),
        "recall": _median_and_worst([fold.alone.recall for fold in folds]),
        "precision": _median_and_worst([fold.alone.precision for fold in folds]),
    }


def _median_and_worst(figures: Sequence[float]) -> dict[str, float]:
    median, worst = statistics.median(figures), min(figures)
    return {"median": round(median, 4), "worst": round(worst, 4)}


def find_trees(trees: Sequence[Path]) -> dict[str, Path]:
    """Return the payloads of recorded applications, by name; the first of each.

    They lie in the given folders, or one level below.
    """
    folders = [folder for each in trees for folder in (each, *sorted(each.glob("*/")))]
    found = {
        name: folder / name
        for name in recorded_names()
        for folder in reversed(folders)
        if (folder / name / SNAP_YAML_PATH).is_file()
    }
    if len(found) < FEWEST:
        listed = ", ".join(map(str, trees))
        sys.exit(f"{listed}: fewer than {FEWEST} payloads of recorded applications")
    return found


def read_applications(trees: Sequence[Path]) -> list[Application]:
    """Read all recorded applications that have a tree, in two processes."""
    found = find_trees(trees)
    with ProcessPoolExecutor(2) as pool:
        return list(pool.map(read_application, found.keys(), found.values()))


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
        three = (fold.closure, fold.alone, fold.kind_out)
        scores = dict(zip(GUESSES, three, strict=True))
        if fold.blind is not None:
            scores[f"blind, {fold.application.reference}"] = fold.blind
        for guess, figures in scores.items():
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
    applications: Iterable[Application], trees: Mapping[str, Path]
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
        text = (trees[application.name] / SNAP_YAML_PATH).read_text(encoding="utf-8")
        version = YAML(typ="safe", pure=True).load(text)["version"]
        distribution, *packages = made_of[application.name]
        yield application.name, distribution, " ".join(packages), version


def _write_csv(name: str, rows: Iterable[tuple[object, ...]]) -> None:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    (FOLDER / "data" / name).write_text(text.getvalue(), encoding="utf-8")


def document_text(document: Mapping[str, object]) -> str:
    """Return a document with one key a line, so that changes show."""
    lines = []
    for key, value in document.items():
        if isinstance(value, dict):
            rows = ",\n".join(
                f"{json.dumps(k)}:{json.dumps(v, separators=(',', ':'))}"
                for k, v in value.items()
            )
            lines.append(f"{json.dumps(key)}: {{\n{rows}\n}}")
        else:
            lines.append(f"{json.dumps(key)}: {json.dumps(value)}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


def priors_document(priors: Priors, fit: object) -> dict[str, object]:
    """Return the document that ``parse_priors`` reads, with rounded shares.

    :param fit: what the priors were fitted on, and how well they do; for readers of
        the file.
    """
    return {
        "fit": fit,
        "read_share": _ends(priors.read_share),
        "seek_share": _ends(priors.seek_share),
        "unseen_share": _ends(priors.unseen_share),
        "kind_shares": {
            kind: _ends(share) for kind, share in sorted(priors.kind_shares.items())
        },
        "parallel_kinds": list(priors.parallel_kinds),
        "kinds": {kind: dict(known) for kind, known in sorted(priors.kinds.items())},
        "files": _rows(priors.files),
        "blocks": _rows(priors.blocks),
        "references": {
            name: {
                "read_share": _ends(each.read_share),
                "seek_share": _ends(each.seek_share),
                "least_share": round(each.least_share, 4),
                "recorded": dict(each.recorded),
            }
            for name, each in sorted(priors.references.items())
        },
    }


def _ends(share: Interval) -> list[float]:
    return [round(end, 3) for end in share.ends]


def _rows(counts: Counts) -> dict[str, list[int]]:
    return {
        key: [counts.read[key], counts.counted[key]] for key in sorted(counts.counted)
    }


if __name__ == "__main__":
    main()

"""How well the guess does on applications that nobody looked at, for ``accuracy.py``.

From the scores that ``blind.py`` keeps in ``data``.
"""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING

import guess_time
import share_fit
from draw import read_drawn

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from blind import BlindScore
    from draw import Drawn
    from guess_time import GuessTime

INTRODUCTION = """\
## Applications that nobody had examined

The guess was made with the applications above in view. Those below were drawn by a seed
from the packages of Debian 12 and 13 that have a desktop file, a service unit or a
program in `/usr/bin`, by runtime and toolkit. The
[table](../../study/data/drawn.csv) has all that were drawn, and why some couldn't
be recorded. Nobody had examined them or their recordings, and they were in no
fit. The guess was scored on this [blind set](../glossary.md#blind-set) once, by

    .venv/bin/python study/blind.py --trees DRAWN/blind --bases CACHE

and the scores stand as they came out. What was read is by residency. The interval is
that of the bytes read, for nine cases of ten. The seconds are what lzo saves over xz in
a cold launch on the [calibrated machine](../../study/data/calibrated-device.yaml). The
verdict is for a snap that is packed with xz, on this machine alone.
"""

DRAWS = """\
These are the scores of the {latest} draw. Those of earlier ones, in [tables of their
own](../../study/data), were made in the same way, by the guess as it was then. Most of
what they showed was corrected, and their recordings are now among those above.

What was built and recorded is a whole Debian system with the application. A snap ships
only what its base lacks. So there are two verdicts: one of the whole, and, since the
second draw, one without the files of the minimal system. There, neither the bytes nor
the reads of these files count.
"""
_ORDINALS = ("first", "second", "third", "fourth", "fifth")


LIMITS = (
    ("90 %", "97 %"),
    ("65 %", "80 %"),
    ("0.85 / 0.8", "0.92 / 0.88"),
    ("0", "0"),
    ("≤ 15 %", "≤ 5 %"),
    ("85 to 97 %", "88 to 94 %"),
    ("≤ 2.5", "≤ 1.8"),
)
"""Of each figure, what is wanted at least, and the aim."""


def blind_lines(
    scores: Sequence[BlindScore], before: Sequence[Sequence[BlindScore]]
) -> Iterator[str]:
    """Yield the section of the page, nothing if there are no scores.

    :param scores: of the blind set, none as long as it wasn't scored.
    :param before: of each earlier draw's.
    """
    draws = [*before, scores] if scores else [*before]
    if not draws:
        return
    *earlier, shown = draws
    yield INTRODUCTION
    yield DRAWS.format(latest=_ORDINALS[len(earlier)])
    names = [f"{_ORDINALS[number]} draw" for number in reversed(range(len(earlier)))]
    yield f"| {' | '.join(('figure', 'found', 'at least', 'aim', *names))} |"
    yield "|---" * (4 + len(names)) + "|"
    yield from figure_rows(LIMITS, shown, *reversed(earlier))
    yield ""
    yield from unprivileged_lines(share_fit.read_directories())
    yield ""
    yield from time_lines(guess_time.read_times())
    yield ""
    yield from score_table(shown)
    yield ""
    yield from failure_lines("blind" if scores else "scored")
    yield ""


def unprivileged_lines(rows: Sequence[share_fit.DirectoryRow]) -> Iterator[str]:
    """Yield how well recordings without root agree with those from a mount."""
    told = [share_fit.agreed(row) for row in rows if row["calls_told"] == "1"]
    others = [share_fit.agreed(row) for row in rows if row["calls_told"] != "1"]
    yield (
        "Recordings [without root or a mount](../how-to/record.md) of applications of "
        "the fit: blocks in common with a mount's ÷ union, median and least (at least "
        f"0.9, aim 0.97): {_median_and_least(told)} of {len(told)} where the kernel "
        f"reports each read; {_median_and_least(others)} of {len(others)} recorded "
        "without these reports."
    )


def time_lines(times: Sequence[GuessTime]) -> Iterator[str]:
    """Yield how long the guess takes on large payloads."""
    yield (
        "The time of the guess (for 1.2 GB at most 2 s, aim 0.5 s), beside reading the "
        "inventory, which all of the advisor needs. Medians of five runs on two cores "
        "of a virtual machine:"
    )
    yield ""
    yield "    .venv/bin/python study/guess_time.py TREE…"
    yield ""
    yield "| application | payload, GB | files | inventory, s | guess, s |"
    yield "|---" * 5 + "|"
    for each in times:
        yield (
            f"| {each.application} | {each.payload_bytes / 1e9:.2f} | "
            f"{each.files:,} | {each.inventory_s:.2f} | {each.guess_s:.2f} |"
        )


def _median_and_least(shares: Sequence[float]) -> str:
    return f"{statistics.median(shares):.3f} and {min(shares):.3f}"


def figure_rows(
    limits: Iterable[tuple[str, str]], *columns: Sequence[BlindScore]
) -> Iterator[str]:
    """Yield the rows of a table of figures.

    :param limits: least and aim of each figure, of the first column.
    :param columns: scores, each set of them a column.
    """
    found = ([*figures(each)] for each in columns)
    for wanted, first, *others in zip(limits, *found, strict=True):
        cells = (*first, *wanted, *(figure for _, figure in others))
        yield f"| {' | '.join(cells)} |"


def figures(scores: Sequence[BlindScore]) -> Iterator[tuple[str, str]]:
    """Yield the figures of all applications together, each counted once."""
    ratios = [each.read_per_expected for each in scores]
    for low, high in ((0.5, 2), (0.75, 1.33)):
        inside = _share(low <= ratio <= high for ratio in ratios)
        yield f"bytes read ÷ expected between {low} and {high}", inside
    recalls = [score.recall for score in scores]
    precisions = [score.precision for score in scores]
    medians = f"{statistics.median(recalls):.2f} / {statistics.median(precisions):.2f}"
    yield "recall / precision by bytes, median", medians
    on_base = [each.on_base for each in scores if each.verdict_on_base]
    contradicted, undecided = zip(
        *(
            (
                str(sum(each.contradicted for each in every)),
                _share(each.undecided for each in every),
            )
            for every in (scores, on_base)
            if every
        ),
        strict=True,
    )
    where = ": whole system; snap on a base" if on_base else ""
    contradictions = "verdicts that the recording contradicts"
    yield f"{contradictions}{where}", "; ".join(contradicted)
    yield f"undecided{where}", "; ".join(undecided)
    yield "recording inside the 90 % interval", _share(each.held for each in scores)
    width = statistics.median(each.width for each in scores)
    yield "width of that interval, high ÷ low, median", f"{width:.2f}"


def _share(which: Iterator[bool]) -> str:
    found = list(which)
    return f"{sum(found)} of {len(found)} ({sum(found) / len(found):.0%})"


_COLUMNS = (
    "application", "from", "drawn as", "kind, guessed", "MB read",
    "expected (interval)", "read ÷ expected", "inside", "recall", "precision",
    "s saved, recorded", "guessed (interval)", "verdict, recorded", "guessed",
)  # fmt: skip


def score_table(scores: Sequence[BlindScore]) -> Iterator[str]:
    """Yield the scores of each application."""
    on_base = any(each.verdict_on_base for each in scores)
    columns = (*_COLUMNS, *(("on a base, recorded", "guessed") if on_base else ()))
    yield f"| {' | '.join(columns)} |"
    yield "|---" * len(columns) + "|"
    for each in scores:
        low, expected, high = (
            f"{size / 1e6:.1f}"
            for size in (each.low_bytes, each.expected_bytes, each.high_bytes)
        )
        base = f" | {each.recorded_verdict_on_base} | {each.verdict_on_base}"
        yield (
            f"| {each.application} | {each.distribution.rpartition(' ')[2]} "
            f"| {each.stratum} | {each.kind} | {each.read_bytes / 1e6:.1f} "
            f"| {expected} ({low} to {high}) | {each.read_per_expected:.2f} "
            f"| {'yes' if each.held else 'no'} | {each.recall:.2f} "
            f"| {each.precision:.2f} | {each.recorded_saved_s:.2f} "
            f"| {each.saved_s:.2f} ({each.saved_low_s:.2f} to {each.saved_high_s:.2f}) "
            f"| {each.recorded_verdict} | {each.verdict}{base if on_base else ''} |"
        )


def _tried(which: str) -> list[Drawn]:
    return [row for row in read_drawn() if row.outcome and row.set == which]


def failure_lines(which: str) -> Iterator[str]:
    """Yield how many of a set of those drawn were recorded."""
    tried = _tried(which)
    failed = sum(row.outcome == "failed" for row in tried)
    yield (
        f"{len(tried)} were tried for this set, and {failed} couldn't be recorded: "
        "where one fails, the next of the draw takes its place."
    )

"""How well the guess does on what vendors publish, for ``accuracy.py``.

From the scores that ``vendor_blind.py`` keeps in ``data``, and from Debian's blind set,
scored again by the same guess.
"""

from __future__ import annotations

import csv
import statistics
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from accuracy_blind import figure_rows, score_table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from blind import BlindScore
    from vendor_draw import Drawn

RESIDENCY = Path(__file__).parent / "data" / "vendor-residency.csv"

LIMITS = (
    ("90 %", "97 %"),
    ("60 %", "80 %"),
    ("0.85 / 0.75", "0.93 / 0.88"),
    ("0", "0"),
    ("≤ 20 %", "≤ 8 %"),
    ("85 to 97 %", "88 to 94 %"),
    ("≤ 2.6", "≤ 1.8"),
)
"""Of each figure, what is wanted at least, and the aim."""

INTRODUCTION = """\
## Applications that vendors built

Most snaps aren't made of Debian's packages. A second corpus is made of what vendors
publish at PyPI, npm, Maven's and Go's, laid out as snapcraft does it and started by
launchers in the forms that vendors use. The
[sources](../../study/data/vendor-sources.yaml) were listed by kind before one of them
was downloaded. A seed [drew](../../study/data/vendor-drawn.csv) the order of work, each
one's launcher, and which are blind. A
[second](../../study/data/vendor-drawn-2.csv) to
[eleventh draw](../../study/data/vendor-drawn-11.csv) have blind sets of those left and
of more sources ([second](../../study/data/vendor-sources-2.yaml) to
[tenth list](../../study/data/vendor-sources-10.yaml)), which were listed and drawn
before one was built. The guess had learnt from the blind sets before. The eleventh has
{blind} of {kinds} kinds. Those of .NET, Electron, Flutter and of Node in one file are
other versions of what earlier lists have: no new ones were found.
Each was built, recorded from mounts, and scored once by

    sudo .venv/bin/python study/vendor_launches.py --trees TREES --cache CACHE --windows
    .venv/bin/python study/vendor_blind.py --trees TREES/blind

The counts and intervals are of Debian's applications and of vendors' other half, with
{by_hand} more that were chosen by hand, and of each blind set once it was scored
(`vendor_counts.py`): their ratios, and the counts of some. The base isn't part
of these payloads, so there is one verdict, for a snap that is packed with xz, on the
calibrated machine. The last column has Debian's blind set above, scored again by the
guess that has learnt from all of vendors' draws, after two faults were repaired that
this set had shown (of pyzo and mpc-ace):

    .venv/bin/python study/blind.py --trees DRAWN/blind --bases CACHE -o AGAIN
"""


def vendor_lines(
    draws: Sequence[Sequence[BlindScore]],
    again: Sequence[BlindScore],
    drawn: Sequence[Drawn],
    by_hand: int,
) -> Iterator[str]:
    """Yield the section of the page, nothing if there are no scores.

    :param draws: scores of each draw's blind set, in order.
    :param again: of Debian's blind set, by the guess that learnt from all draws.
    :param by_hand: number of the applications in the fit that weren't drawn.
    """
    *before, scores = [draw for draw in draws if draw]
    of_set = len({each.stratum for each in scores})
    yield INTRODUCTION.format(by_hand=by_hand, blind=len(scores), kinds=of_set)
    names = ["figure", "vendors' blind set", "at least", "aim"]
    names += [f"of draw {number}" for number in range(len(before), 0, -1)]
    columns = [scores, *reversed(before)]
    if again:
        names.append("Debian's")
        columns.append(again)
    yield f"| {' | '.join(names)} |"
    yield "|---" * len(names) + "|"
    yield from figure_rows(LIMITS, *columns)
    yield ""
    contradicted = ", ".join(
        f"{each.application} (guessed {each.verdict}, recorded "
        f"{each.recorded_verdict}: lzo saves {each.recorded_saved_s:.2f} s)"
        for each in scores
        if each.contradicted
    )
    sure = sum(not each.undecided for each in scores)
    yield f"Of {sure} verdicts, the recording contradicts: {contradicted or 'none'}."
    yield ""
    yield from residency_lines()
    yield ""
    yield from score_table(scores)
    yield ""
    kinds = len({row.kind for row in drawn if row.outcome == "recorded"})
    outcomes = Counter((row.set, row.outcome) for row in drawn if row.outcome)
    recorded, failed = (
        outcomes["fit", which] + outcomes["blind", which]
        for which in ("recorded", "failed")
    )
    yield (
        f"{recorded} of {kinds} kinds were recorded, {outcomes['blind', 'recorded']} "
        f"of them blind. {failed} couldn't be built or recorded, or are too large: the "
        "next of their kind took their place. The others of the list weren't tried."
    )
    yield ""


def residency_lines() -> Iterator[str]:
    """Yield how well recordings agree with residency on a mount made otherwise."""
    with RESIDENCY.open(newline="", encoding="utf-8") as file:
        rows = [[int(n) for n in row[1:]] for row in [*csv.reader(file)][1:]]
    shares = [
        common / (recorded + resident - common)
        for recorded, resident, common in rows
        if resident
    ]
    yield (
        "Recordings against residency on a mount that the advisor "
        "didn't make (`vendor_residency.py`), blocks in common ÷ union: median "
        f"{statistics.median(shares):.3f} (at least 0.97), worst {min(shares):.3f} (at "
        f"least 0.9), of {len(shares)} that end by themselves. seaweedfs, whose own "
        "launches have 0.86 to 0.92 in common, and the eleventh draw are compared with "
        "three: with what all of them read and what any did; the others with one each."
    )

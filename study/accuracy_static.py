"""How well launches are predicted from files alone, for ``accuracy.py``.

From what ``static_fit.py`` and ``static_accuracy.py`` keep in ``data``: every
application is left out of the counts that its guess is made of.
"""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING

from accuracy_model import TELLING_SHARE, costs_without, factors
from snapcraft_compression_advisor.codecs import SHIPPABLE
from snapcraft_compression_advisor.core.units import Interval
from snapcraft_compression_advisor.launch.model import (
    BlockSums,
    LaunchEstimate,
    block_cost,
)
from static_accuracy import BLOCK_FIELDS, BLOCKS, VERDICTS, read_rows
from static_fit import GUESSES, SCORES
from static_folds import spread

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from accuracy_data import Launches

INTRODUCTION = """\
## The same launches, predicted from files alone

If nothing was recorded, the advisor [guesses the blocks from files](launch-set.md). The
guesses are made and compared by

    .venv/bin/python study/static_fit.py --trees TREES --date DATE
    .venv/bin/python study/static_accuracy.py --trees TREES

The recordings are of applications of Debian 12 and 13
([versions](../../study/data/launch-packages.csv)), by residency, some chosen by hand
and some [drawn by a seed](../../study/data/drawn.csv). The table has all whose
recording succeeded. Each application is left out of the counts that its guess
is made of. "Closure" is the ELF closure of the programs started, with every block of
each file: what the advisor named before there were counts. Recall is the share of the
bytes read that were named. Precision is the share of the bytes named that were read.
"""

SECONDS = """\
The table shows the seconds that a codec adds to a cold launch over the uncompressed
image: measured, predicted from the recording, and predicted from files. For the last,
the application was left out of the counts, of the costs of blocks, and of the scale
factors of a launch. "Too small to tell" means that the codec adds less than 10 % of the
launch.
"""

WORST = """\
### The worst cases

By recall and precision:

- **critcl** (low recall): it starts gcc, Perl and a shell by words that it makes at run
  time. They are half of what it reads, and the search notes that it can't follow them.
- **gimp, supertuxkart** (low recall): they read their own data, which no library's
  name shows: karts and tracks, brushes and palettes. Most other applications read few
  of their own images and models at the start, so these blocks are expected in part, but
  not named.
- **krita**: it opens all of its 159 plug-ins; other applications open about half of
  their own code. The libraries of the plug-ins (Python, Qt Quick, OpenColorIO, exiv2:
  28 MB) are expected in part, but not named. Of a library for colours, 8 MB are named
  but not read.
- **falkon, chromium, thunderbird, firefox-esr**: one library or program has more than
  1,000 blocks and is read in part: 996 of 1,402 blocks of firefox's libxul, 1,633 of
  2,264 of Chromium, 423 of 1,004 of Qt WebEngine.
- **libLLVM**: the launches that open OpenGL read 482 to 565 of 895 blocks, in pieces
  shorter than a stretch. For gnome-calculator, 15 MB of it are named but not read, and
  4 MB are missed.
- **bmt** (lowest precision): a shell script that starts one of many others, by its
  arguments. With `--version` it starts none, so the Perl of these isn't read.
- **haskell-cracknum-utils** (low precision): it reads 2.6 of the 14 MB of a program
  that is linked statically; others of that size read most of theirs.
- **asciidoctor** (low precision): the program computes the path of its own
  library before it requires it, so most of its 200 small files aren't found. They are
  few bytes, but many seeks.
- **plater** (low recall): Python with wx, whose canvas for OpenGL is opened by a module
  that the search takes for one of GTK 3, so the driver isn't named: 500 blocks.
- **xineliboutput-sxfe, xsoldier, nestopia, vokoscreen-ng** (low precision): they link
  OpenGL, but their first window doesn't need it, so its driver stays closed: libLLVM
  and Mesa's driver are 64 to 90 MB that are named but not read. Other applications that
  link it the same way do open it. The interval spans both.
- **veyon-configurator, retext** (low recall): the only recorded applications on Qt 6
  widgets that open OpenGL's driver, the first for a plug-in of its own.

By the seconds that xz adds:

- **npm**: how much of ICU's data and of libnode a Node program reads depends on what it
  does. The other Node program of the corpus does little.
- **r-base, hugo**: much of the error isn't from the guess: the predictions from their
  recordings are also too small, by a quarter and a fifth.
- **meld**: nine tenths of what it reads are named, but only three quarters of the bytes
  are expected, since other launches read less of the same libraries.
- **python-scipy**: no other application of the corpus loads that many extension modules
  at once, and a larger share of SciPy's and OpenBLAS's large modules is read than of
  others.
"""


@dataclass(frozen=True, kw_only=True)
class Predicted:
    """Seconds that a codec adds to an application's cold launch.

    :param guessed: from files, ``recorded``: from the recorded launch; the interval
        of the guess holds what the costs, the launch and the guess leave open.
    :param telling: whether what was measured is more than noise.
    :param verdict_recorded: what the advisor says to each of both.
    """

    application: str
    codec: str
    guessed: Interval
    recorded_s: float
    measured_s: float
    telling: bool
    verdict_recorded: str
    verdict_guessed: str

    @property
    def error(self) -> float:
        """How far the guess's middle is off, relative."""
        return self.guessed.mid / self.measured_s - 1

    @property
    def held(self) -> bool:
        """Whether the interval holds what was measured."""
        return self.guessed.low <= self.measured_s <= self.guessed.high


def static_lines(all_launches: Sequence[Launches]) -> Iterator[str]:
    """Yield the section of the page.

    :param all_launches: what was measured.
    """
    yield INTRODUCTION
    yield from score_lines(read_rows(SCORES))
    yield ""
    yield SECONDS
    predicted = predict_all(all_launches)
    yield from seconds_lines(predicted)
    yield ""
    yield from figure_lines(predicted)
    yield ""
    yield WORST.rstrip("\n")


def score_lines(rows: Sequence[Mapping[str, str]]) -> Iterator[str]:
    """Yield which blocks are named, by application and over all.

    :param rows: of ``static-scores.csv``.
    """
    by_guess = {
        guess: [row for row in rows if row["guess"] == guess] for guess in GUESSES
    }
    yield (
        "| application | kind | MB read | closure: recall | precision "
        "| guess: recall | precision | read ÷ expected | runs ÷ expected |"
    )
    yield "|---" * 9 + "|"
    for old, new in zip(by_guess["closure"], by_guess["static"], strict=True):
        cells = (
            f"{float(row[figure]):.2f}"
            for row, figure in (
                (old, "recall"),
                (old, "precision"),
                (new, "recall"),
                (new, "precision"),
                (new, "read_expected"),
                (new, "runs_expected"),
            )
        )
        yield (
            f"| {new['application']} | {new['kind']} "
            f"| {int(new['read_bytes']) / 1e6:.0f} | " + " | ".join(cells) + " |"
        )
    yield ""
    yield "| figure | closure | guess | its kind left out too | at least | aim |"
    yield "|---" * 6 + "|"
    for figure, line, aim in (
        ("recall", "0.85", "0.92"),
        ("precision", "0.8", "0.88"),
    ):
        cells = (_median_and_worst(by_guess[guess], figure) for guess in GUESSES)
        yield f"| {figure}, median | " + " | ".join(cells) + f" | {line} | {aim} |"
    yield ""
    yield from _spread_lines(by_guess)


def _spread_lines(by_guess: Mapping[str, Sequence[Mapping[str, str]]]) -> Iterator[str]:
    share, unseen, seeks = (
        spread([float(row[figure]) for row in by_guess[guess]])
        for guess, figure in (
            ("static", "read_expected"),
            ("static-kind-left-out", "read_expected"),
            ("static", "runs_expected"),
        )
    )
    yield (
        f"Bytes read per byte expected, in nine of ten cases: {share.low:.2f} to "
        f"{share.high:.2f}, middle {share.mid:.2f}; for a kind that wasn't recorded "
        f"{unseen.low:.2f} to {unseen.high:.2f}. Runs of adjacent blocks per run "
        f"expected: {seeks.low:.2f} to {seeks.high:.2f}, middle {seeks.mid:.2f}. "
        f"({len(by_guess['static'])} applications.)"
    )


def _median_and_worst(rows: Sequence[Mapping[str, str]], figure: str) -> str:
    figures = [float(row[figure]) for row in rows]
    return f"{statistics.median(figures):.2f}, worst {min(figures):.2f}"


def predict_all(all_launches: Sequence[Launches]) -> list[Predicted]:
    """Predict every application whose guess is kept, from the others."""
    sums = {
        (row["application"], row["set"], row["codec"]): _sums(row)
        for row in read_rows(BLOCKS)
    }
    verdicts = {(row["application"], row["set"]): row for row in read_rows(VERDICTS)}
    return [
        _predict(each, codec, sums, verdicts, others)
        for each in all_launches
        if (each.name, "guessed") in verdicts
        for others in ([other for other in all_launches if other is not each],)
        for codec in SHIPPABLE
    ]


def seconds_lines(predicted: Sequence[Predicted]) -> Iterator[str]:
    """Yield what xz and lzo add, by application."""
    yield (
        "| application | codec | measured s | from the recording | from files "
        "(interval) | error | verdict from the recording | from files |"
    )
    yield "|---" * 8 + "|"
    for each in predicted:
        error = f"{each.error:+.0%}" if each.telling else "too small to tell"
        yield (
            f"| {each.application} | {each.codec} | {each.measured_s:.2f} "
            f"| {each.recorded_s:.2f} | {each.guessed.mid:.2f} "
            f"({each.guessed.low:.2f} to {each.guessed.high:.2f}) | {error} "
            f"| {each.verdict_recorded} | {each.verdict_guessed} |"
        )


def _sums(row: Mapping[str, str]) -> BlockSums:
    return BlockSums(**{field: float(row[field]) for field in BLOCK_FIELDS[3:]})


def _predict(
    launches: Launches,
    codec: str,
    sums: Mapping[tuple[str, str, str], BlockSums],
    verdicts: Mapping[tuple[str, str], Mapping[str, str]],
    others: Sequence[Launches],
) -> Predicted:
    name = launches.name
    factor = factors(others)[codec]
    costs = costs_without(name).decompress[codec]

    def alone(which: str) -> Interval:
        each = sums[name, which, codec]
        return block_cost(
            costs,
            each.compressed_blocks,
            each.compressed_raw_bytes,
            each.compressed_stored_bytes,
        )

    row = verdicts[name, "guessed"]
    decompress, nothing = alone("guessed"), Interval.exactly(0.0)
    guessed = LaunchEstimate(
        seeks=nothing,
        transfer=nothing,
        fill=nothing,
        decompress=Interval(
            low=decompress.low * factor.low,
            mid=decompress.mid * factor.mid,
            high=decompress.high * factor.high,
        ),
        read_share=Interval(
            low=float(row["read_low"]),
            mid=float(row["read_mid"]),
            high=float(row["read_high"]),
        ),
        seek_share=nothing,
        waited_share=Interval(
            low=float(row["waited_low"]),
            mid=float(row["waited_mid"]),
            high=float(row["waited_high"]),
        ),
    ).added_s
    measured_s = launches.added_s(codec)
    return Predicted(
        application=name,
        codec=codec,
        guessed=guessed,
        recorded_s=alone("recorded").mid * factor.mid * launches.waited_share,
        measured_s=measured_s,
        telling=measured_s > TELLING_SHARE * launches.base_s,
        verdict_recorded=_verdict(verdicts[name, "recorded"]),
        verdict_guessed=_verdict(row),
    )


def _verdict(row: Mapping[str, str]) -> str:
    return f"{row['verdict']} ({row['compression']})"


def figure_lines(predicted: Sequence[Predicted]) -> Iterator[str]:
    """Yield the figures asked for, beside their lines."""
    yield "| figure | found | at least | aim |"
    yield "|---|---|---|---|"
    for codec, least, aim in (
        ("xz", "median ≤ 30 %, worst ≤ 80 %", "median ≤ 12 %"),
        ("lzo", "", ""),
    ):
        errors = [abs(e.error) for e in predicted if e.telling and e.codec == codec]
        if errors:
            yield (
                f"| error of the seconds added, {codec} | median "
                f"{statistics.median(errors):.0%}, worst {max(errors):.0%} "
                f"({len(errors)} applications) | {least} | {aim} |"
            )
    by_application = {each.application: each for each in predicted}.values()
    same = sum(e.verdict_guessed == e.verdict_recorded for e in by_application)
    undecided = sum(e.verdict_guessed.startswith("undecided") for e in by_application)
    yield (
        f"| verdict as from the recording | {same} of {len(by_application)}, undecided "
        f"{undecided} | all, undecided at most twice | all, none undecided |"
    )
    held = sum(each.held for each in predicted)
    yield (
        f"| measured inside the interval | {held} of {len(predicted)} "
        f"({held / max(1, len(predicted)):.0%}) | 85 % | 90 % |"
    )

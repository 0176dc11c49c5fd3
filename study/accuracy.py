#!/usr/bin/env python3
"""Compare predicted launches with measured ones, from the data in the repository.

    .venv/bin/python study/accuracy.py -o docs/study/accuracy.md

For each application of ``launch.py``, the script fits the costs of blocks without that
application's blocks, and the scale factors of a launch without its launches. It
predicts what each codec adds to the recorded launch, and compares that with the
measurement. The page also has the predictions from files alone (``static_fit.py`` and
``static_accuracy.py``), the scores of the blind set (``blind.py``), and the published
launches of Chromium. The script needs no root, and the same data give the same page.
"""

from __future__ import annotations

import argparse
import itertools
import statistics
from pathlib import Path
from typing import TYPE_CHECKING

from accuracy_blind import blind_lines
from accuracy_data import CODECS, Launches, read_launches
from accuracy_model import (
    MEDIAN_OVER_MEAN,
    TELLING_SHARE,
    Prediction,
    factors,
    launch_spread,
    predict,
)
from accuracy_published import published_lines
from accuracy_static import static_lines
from accuracy_vendor import vendor_lines
from blind import read_scores, read_scores_before
from snapcraft_compression_advisor.advice.evidence import Evidence, Policy, Saving
from snapcraft_compression_advisor.advice.judging import recommend
from snapcraft_compression_advisor.core.units import Interval
from vendor_blind import DEBIAN_AGAIN, SCORES
from vendor_draw import SETS, drawn_before, read_drawn

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

FOLDER = Path(__file__).parent

INTRODUCTION = """\
# How well launches are predicted

Real applications from Debian 12 were started from real squashfs mounts in memory, so
the time that a codec adds is its decompression. The [cold
launches](../glossary.md#cold-launch) were measured by

    sudo xvfb-run -a .venv/bin/python study/launch.py --trees TREES

into `study/data/` (every launch in `launch-times.csv`). They are compared with the
predictions by

    .venv/bin/python study/accuracy.py -o docs/study/accuracy.md

Every application is predicted from the others. The model was fitted neither to its
[data blocks](../glossary.md#data-block) (`study/data/kernel-blocks.csv`) nor to its
launches. It knows only the application's [recording](../glossary.md#recording): which
blocks the launch reads, and how many processors it keeps busy. The tables compare the
time that a codec adds to a cold launch from the uncompressed image, and give the error
if that is more than 10 % of the launch. The figures in brackets are the predicted
[interval](../glossary.md#interval).

The applications are whole installed systems (base `bare`): libc, OpenGL's driver and
all other files that a launch reads are in the image. So the figures of one application
differ from those of a prime directory on base core24. The README's gnome-calculator
reads 298 blocks (recorded); 1,205 are read here. Of these, 877 are in files that it
doesn't have: 587 in OpenGL's driver (Mesa and libLLVM), 65 in librsvg, most others in
libraries of OpenGL and the base.

The [second part](#the-same-launches-predicted-from-files-alone) predicts the same
launches from files alone.
"""


def main() -> None:
    """Write the page."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("-o", "--output", type=Path)
    output = parser.parse_args().output
    text = "\n".join([*page(read_launches()), ""])
    if output is None:
        print(text)
    else:
        output.write_text(text, encoding="utf-8")


def page(all_launches: Sequence[Launches]) -> Iterator[str]:
    """Yield the page's lines."""
    predictions = {
        launches.name: predict(launches, [o for o in all_launches if o is not launches])
        for launches in all_launches
    }
    yield INTRODUCTION
    yield from launch_table(all_launches)
    yield ""
    yield from prediction_table(predictions)
    yield ""
    yield from summary(all_launches, predictions)
    yield ""
    yield from factor_lines(all_launches)
    yield ""
    yield from static_lines(all_launches)
    yield ""
    yield from blind_lines(read_scores(), read_scores_before())
    drawn = (*drawn_before(), *read_drawn())
    recorded = {row.source for row in drawn if row.outcome == "recorded"}
    by_hand = sum(path.stem not in recorded for path in SETS["fit"].glob("*.json"))
    again = read_scores(DEBIAN_AGAIN)
    draws = [read_scores(path) for path in SCORES]
    yield from vendor_lines(draws, again, drawn, by_hand)
    yield from published_lines(all_launches)


def launch_table(all_launches: Sequence[Launches]) -> Iterator[str]:
    """Yield the medians of the measured cold launches."""
    codecs = ("none", *CODECS)
    yield "Measured cold launches, seconds: median (standard deviation)."
    yield ""
    yield "| application | blocks read | " + " | ".join(codecs) + " |"
    yield "|---" * (len(codecs) + 2) + "|"
    for each in all_launches:
        cells = (
            f"{statistics.median(each.cold_s[c]):.2f} "
            f"({statistics.stdev(each.cold_s[c]):.2f})"
            for c in codecs
        )
        blocks = each.sums["none"].blocks
        yield f"| {each.name} | {blocks:,} | " + " | ".join(cells) + " |"


def prediction_table(
    predictions: Mapping[str, Sequence[Prediction]],
) -> Iterator[str]:
    """Yield what codecs add, predicted and measured."""
    yield "Seconds added: predicted / measured."
    yield ""
    yield "| application | " + " | ".join(CODECS) + " |"
    yield "|---" * (len(CODECS) + 1) + "|"
    for name, found in predictions.items():
        yield f"| {name} | " + " | ".join(map(_cell, found)) + " |"


def _cell(prediction: Prediction) -> str:
    added = prediction.added_s
    figures = (
        f"{added.mid:.2f} ({added.low:.2f} to {added.high:.2f}) / "
        f"{prediction.measured_s:.2f}"
    )
    return f"{figures}, {prediction.error:+.0%}" if prediction.telling else figures


def summary(
    all_launches: Sequence[Launches],
    predictions: Mapping[str, Sequence[Prediction]],
) -> Iterator[str]:
    """Yield the figures asked for."""
    every = [each for found in predictions.values() for each in found]
    telling = [each for each in every if each.telling]
    for title, codecs in (("xz", {"xz"}), ("other codecs", set(CODECS) - {"xz"})):
        errors = [abs(each.error) for each in telling if each.codec in codecs]
        yield (
            f"- error of the time added, {title}: median "
            f"{statistics.median(errors):.1%}, worst {max(errors):.1%} "
            f"({len(errors)} figures)"
        )
    right, told = _order_right(all_launches, predictions)
    yield (
        "- order of two codecs that differ by more than noise: right in "
        f"{right} of {told}"
    )
    same = sum(_verdicts_agree(each, predictions[each.name]) for each in all_launches)
    yield (
        f"- same recommendation as from the measurement: {same} of {len(all_launches)}"
    )
    held = sum(each.held for each in every)
    yield (
        f"- measured time inside the predicted interval: {held} of {len(every)} "
        f"({held / len(every):.0%})"
    )


def _order_right(
    all_launches: Sequence[Launches],
    predictions: Mapping[str, Sequence[Prediction]],
) -> tuple[int, int]:
    """Return of how many pairs of codecs that noise leaves apart the order is right."""
    right = told = 0
    for each in all_launches:
        for one, other in itertools.combinations(predictions[each.name], 2):
            difference_s = one.measured_s - other.measured_s
            if abs(difference_s) <= _noise_s(each, one.codec, other.codec):
                continue
            told += 1
            right += (one.added_s.mid > other.added_s.mid) == (difference_s > 0)
    return right, told


def _noise_s(launches: Launches, one: str, other: str) -> float:
    """Return two standard errors of the median difference of a round."""
    differences = launches.differences_s(one, other)
    error_s = statistics.stdev(differences) / len(differences) ** 0.5
    noise_s: float = 2 * MEDIAN_OVER_MEAN * error_s
    return noise_s


def _verdicts_agree(launches: Launches, found: Sequence[Prediction]) -> bool:
    """Return whether the policy says the same to predicted and to measured seconds."""
    by_codec = {each.codec: each for each in found}
    xz, lzo = by_codec["xz"], by_codec["lzo"]
    predicted, measured = (
        _choice(launches, seconds)
        for seconds in (
            xz.added_s.mid - lzo.added_s.mid,
            xz.measured_s - lzo.measured_s,
        )
    )
    return predicted == measured


def _choice(launches: Launches, seconds: float) -> tuple[str, str]:
    xz_bytes, lzo_bytes = (
        Interval.exactly(launches.image_bytes[codec]) for codec in ("xz", "lzo")
    )
    saving = Saving(app=launches.name, device="here", seconds=Interval.exactly(seconds))
    advice = recommend(
        Evidence(
            declared="xz",
            xz_bytes=xz_bytes,
            lzo_bytes=lzo_bytes,
            bytes_added=Interval.exactly(lzo_bytes.mid - xz_bytes.mid),
            savings=(saving,),
        ),
        Policy(),
    )
    return advice.compression, advice.verdict


def factor_lines(all_launches: Sequence[Launches]) -> Iterator[str]:
    """Yield what all launches together say, as the model has it."""
    yield (
        "Scale factors: the seconds that a launch waits, per second that its blocks "
        "take one after the other (`codecs`). The list has the median of the "
        "applications to which the codec adds "
        f"more than {TELLING_SHARE:.0%}, and where nine of ten lie. Launches of one "
        "application differ by "
        f"{launch_spread(all_launches):.0%} (relative standard deviation, median)."
    )
    yield ""
    for codec, factor in factors(all_launches).items():
        yield f"- {codec}: {factor.mid:.2f} ({factor.low:.2f} to {factor.high:.2f})"


if __name__ == "__main__":
    main()

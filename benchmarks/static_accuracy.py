#!/usr/bin/env python3
"""Foretell measured launches from files alone, each application left out of the fit.

    python3 benchmarks/static_accuracy.py --trees TREES [NAME…]
    python3 benchmarks/static_accuracy.py

The first guesses the launches of applications that were measured (``launch.py``), with
the counts of all other applications (``static_fit.py``), tries some blocks with xz and
lzo, and writes what the guessed and the recorded blocks come to:

    benchmarks/data/static-blocks.csv     sums of blocks by application, set and codec
    benchmarks/data/static-verdicts.csv   what the advisor says to each set

The second compares what the guess foretells with what was measured, and writes the
table into ``docs/launch-set.md``. What blocks cost, and what a launch makes of that, is
fitted without the application as well (``accuracy_model.py``).
"""

from __future__ import annotations

import argparse
import csv
import statistics
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from accuracy_data import DATA, Launches, read_launches
from accuracy_model import TELLING_SHARE, costs_without, factors
from snapcraft_compression_advisor.advice.evidence import Evidence, Policy, Saving
from snapcraft_compression_advisor.advice.policy import recommend
from snapcraft_compression_advisor.codecs import SHIPPABLE
from snapcraft_compression_advisor.launch.builtin_devices import DEFAULT_DEVICES
from snapcraft_compression_advisor.launch.launch_set import WAITED_SHARE
from snapcraft_compression_advisor.launch.model import (
    BlockSums,
    LaunchEstimate,
    block_cost,
    estimate_launch,
    seconds_saved,
    sum_blocks,
)
from snapcraft_compression_advisor.launch.profile import fit_profile, read_profile
from snapcraft_compression_advisor.launch.static.guess import static_launch_set
from snapcraft_compression_advisor.payload.source import DirectoryPayload
from snapcraft_compression_advisor.trial.sampled import Effort, run_sampled_trial
from snapcraft_compression_advisor.units import Interval
from static_data import LAUNCHES, count
from static_fit import PAGE, make_folds, read_applications, write_between

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from snapcraft_compression_advisor.launch.launch_set import LaunchSet
    from snapcraft_compression_advisor.launch.static.priors import Priors
    from snapcraft_compression_advisor.trial.result import TrialResult

BLOCKS = DATA / "static-blocks.csv"
VERDICTS = DATA / "static-verdicts.csv"
BLOCK_FIELDS = (
    "application", "set", "codec", "runs", "blocks", "raw_bytes", "stored_bytes",
    "compressed_blocks", "compressed_raw_bytes", "compressed_stored_bytes",
)  # fmt: skip
VERDICT_FIELDS = (
    "application", "set", "compression", "verdict", "read_low", "read_mid", "read_high",
)  # fmt: skip
TABLE_START, TABLE_END = "<!-- accuracy -->\n", "<!-- end of accuracy -->\n"
EFFORT = Effort(scales=(1,), narrow_enough=1.0, codecs=SHIPPABLE)


@dataclass(frozen=True, kw_only=True)
class Foretold:
    """Seconds that a codec adds to an application's cold launch.

    :param guessed: from files, ``recorded``: from the recorded launch; the interval
        of the guess holds what the costs, the launch and the guess leave open.
    """

    application: str
    codec: str
    guessed: Interval
    recorded_s: float
    measured_s: float
    telling: bool

    @property
    def error(self) -> float:
        """How far the guess's middle is off, relative."""
        return self.guessed.mid / self.measured_s - 1

    @property
    def held(self) -> bool:
        """Whether the interval holds what was measured."""
        return self.guessed.low <= self.measured_s <= self.guessed.high


def main() -> None:
    """Sum up the blocks of guesses, or compare."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--trees", type=Path)
    arguments = parser.parse_args()
    if arguments.trees is not None:
        names = arguments.names or [each.name for each in read_launches()]
        sum_up(names, arguments.trees)
    text = "\n".join([*_page(read_launches()), ""])
    print(text)
    write_between(PAGE, TABLE_START, TABLE_END, text)


def sum_up(names: Iterable[str], trees: Path) -> None:
    """Guess, try some blocks, and keep what comes of it."""
    applications = read_applications(trees)
    folds = make_folds(applications, [count(each) for each in applications])
    priors = {fold.application.name: fold.priors for fold in folds}
    for name in names:
        blocks, verdicts = _of_application(name, trees / name, priors[name])
        _replace_rows(BLOCKS, BLOCK_FIELDS, name, blocks)
        _replace_rows(VERDICTS, VERDICT_FIELDS, name, verdicts)
        print(f"{name}: done")


def _of_application(
    name: str, tree: Path, priors: Priors
) -> tuple[list[Sequence[object]], list[Sequence[object]]]:
    payload = DirectoryPayload(tree)
    profile = read_profile(LAUNCHES / f"{name}.json")
    sets = {
        "guessed": static_launch_set(payload, name, priors=priors),
        "recorded": fit_profile(profile, payload.inventory).launch_set,
    }
    trial = run_sampled_trial(
        payload,
        wanted={file.path for each in sets.values() for file in each.files},
        progress=lambda _message: None,
        decided=lambda _result: True,
        effort=EFFORT,
    )
    blocks: list[Sequence[object]] = []
    verdicts: list[Sequence[object]] = []
    for which, launch_set in sets.items():
        for codec in SHIPPABLE:
            sums = sum_blocks(launch_set, trial.codecs[codec])
            figures = (round(getattr(sums, field), 1) for field in BLOCK_FIELDS[3:])
            blocks.append((name, which, codec, *figures))
        share = launch_set.read_share
        verdicts.append(
            (name, which, *_advice(launch_set, trial), share.low, share.mid, share.high)
        )
    return blocks, verdicts


def _advice(launch_set: LaunchSet, trial: TrialResult) -> tuple[str, str]:
    """Return what the advisor says of a snap that is packed with xz now."""
    xz, lzo = trial.codecs["xz"], trial.codecs["lzo"]
    savings = [
        Saving(
            app=launch_set.app,
            device=device.name,
            seconds=seconds_saved(
                estimate_launch(launch_set, xz, device),
                estimate_launch(launch_set, lzo, device),
            ),
        )
        for device in DEFAULT_DEVICES
    ]
    advice = recommend(
        Evidence(
            declared="xz",
            xz_bytes=xz.image_bytes,
            lzo_bytes=lzo.image_bytes,
            bytes_added=trial.lzo_less_xz_bytes,
            savings=savings,
        ),
        Policy(),
    )
    return advice.compression, advice.verdict


def _replace_rows(
    path: Path, fields: Sequence[str], name: str, rows: Iterable[Sequence[object]]
) -> None:
    """Put an application's rows in place of those that the table has of it."""
    kept = [row for row in _rows(path) if row["application"] != name]
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(fields)
        writer.writerows([row[field] for field in fields] for row in kept)
        writer.writerows(rows)


def _rows(path: Path) -> list[dict[str, str]]:
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def _page(all_launches: Sequence[Launches]) -> Iterator[str]:
    sums = {
        (row["application"], row["set"], row["codec"]): _sums(row)
        for row in _rows(BLOCKS)
    }
    verdicts = {(row["application"], row["set"]): row for row in _rows(VERDICTS)}
    known = [each for each in all_launches if (each.name, "guessed") in verdicts]
    foretold = [
        _foretell(each, codec, sums, verdicts, others)
        for each in known
        for others in ([other for other in all_launches if other is not each],)
        for codec in SHIPPABLE
    ]
    yield (
        "| application | codec | measured s | from the recording | from files "
        "(interval) | error | verdict from the recording | from files |"
    )
    yield "|---" * 8 + "|"
    for each in foretold:
        said = [
            f"{row['verdict']} ({row['compression']})"
            for which in ("recorded", "guessed")
            for row in (verdicts[each.application, which],)
        ]
        error = f"{each.error:+.0%}" if each.telling else "too small to tell"
        yield (
            f"| {each.application} | {each.codec} | {each.measured_s:.2f} "
            f"| {each.recorded_s:.2f} | {each.guessed.mid:.2f} "
            f"({each.guessed.low:.2f} to {each.guessed.high:.2f}) | {error} "
            f"| {said[0]} | {said[1]} |"
        )
    yield ""
    yield from _summary(foretold, verdicts)


def _sums(row: Mapping[str, str]) -> BlockSums:
    return BlockSums(**{field: float(row[field]) for field in BLOCK_FIELDS[3:]})


def _foretell(
    launches: Launches,
    codec: str,
    sums: Mapping[tuple[str, str, str], BlockSums],
    verdicts: Mapping[tuple[str, str], Mapping[str, str]],
    others: Sequence[Launches],
) -> Foretold:
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
        waited_share=WAITED_SHARE,
    ).added_s
    measured_s = launches.added_s(codec)
    return Foretold(
        application=name,
        codec=codec,
        guessed=guessed,
        recorded_s=alone("recorded").mid * factor.mid * launches.waited_share,
        measured_s=measured_s,
        telling=measured_s > TELLING_SHARE * launches.base_s,
    )


def _summary(
    foretold: Sequence[Foretold], verdicts: Mapping[tuple[str, str], Mapping[str, str]]
) -> Iterator[str]:
    """Yield the figures asked for, beside their lines."""
    yield "| figure | found | at least | aim |"
    yield "|---|---|---|---|"
    for codec, least, aim in (
        ("xz", "median ≤ 30 %, worst ≤ 80 %", "median ≤ 12 %"),
        ("lzo", "", ""),
    ):
        errors = [abs(e.error) for e in foretold if e.telling and e.codec == codec]
        if errors:
            yield (
                f"| error of the seconds added, {codec} | median "
                f"{statistics.median(errors):.0%}, worst {max(errors):.0%} "
                f"({len(errors)} applications) | {least} | {aim} |"
            )
    names = list(dict.fromkeys(each.application for each in foretold))
    same = undecided = 0
    for name in names:
        recorded, guessed = verdicts[name, "recorded"], verdicts[name, "guessed"]
        said = [(row["compression"], row["verdict"]) for row in (recorded, guessed)]
        same += said[0] == said[1]
        undecided += guessed["verdict"] == "undecided"
    yield (
        f"| verdict as from the recording | {same} of {len(names)}, undecided "
        f"{undecided} | all, undecided at most twice | all, none undecided |"
    )
    held = sum(each.held for each in foretold)
    yield (
        f"| measured inside the interval | {held} of {len(foretold)} "
        f"({held / max(1, len(foretold)):.0%}) | 85 % | 90 % |"
    )


if __name__ == "__main__":
    main()

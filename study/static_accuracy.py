#!/usr/bin/env python3
"""Guess measured launches from files alone, each application left out of the fit.

    .venv/bin/python study/static_accuracy.py --trees TREES [NAME…]

The script guesses the launches of applications that were measured (``launch.py``), with
the counts of all other applications (``static_fit.py``). It tries some blocks with xz
and lzo, and writes the sums of the guessed and of the recorded blocks:

    study/data/static-blocks.csv     sums of blocks by application, set and codec
    study/data/static-verdicts.csv   the advisor's verdict for each set

``accuracy.py`` compares their predictions with the measurements.
"""

from __future__ import annotations

import argparse
import csv
from pathlib import Path
from typing import TYPE_CHECKING

from accuracy_data import DATA, read_launches
from snapcraft_compression_advisor.advice.evidence import Evidence, Policy, Saving
from snapcraft_compression_advisor.advice.judging import recommend
from snapcraft_compression_advisor.codecs import SHIPPABLE
from snapcraft_compression_advisor.devices.builtin_devices import default_devices
from snapcraft_compression_advisor.launch.fit import fit_profile
from snapcraft_compression_advisor.launch.guess.guess import static_launch_set
from snapcraft_compression_advisor.launch.model import (
    estimate_launch,
    seconds_saved,
    sum_blocks,
)
from snapcraft_compression_advisor.launch.profile import read_profile
from snapcraft_compression_advisor.payload.source import DirectoryPayload
from snapcraft_compression_advisor.trial.sampled import run_sampled_trial
from static_data import LAUNCHES, count
from static_fit import add_trees_argument, find_trees, read_applications
from static_folds import make_folds

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from snapcraft_compression_advisor.devices.device import DeviceProfile
    from snapcraft_compression_advisor.launch.guess.priors import Priors
    from snapcraft_compression_advisor.launch.launch_set import LaunchSet
    from snapcraft_compression_advisor.payload.source import Payload
    from snapcraft_compression_advisor.trial.result import TrialResult

BLOCKS = DATA / "static-blocks.csv"
VERDICTS = DATA / "static-verdicts.csv"
BLOCK_FIELDS = (
    "application", "set", "codec", "runs", "blocks", "raw_bytes", "stored_bytes",
    "compressed_blocks", "compressed_raw_bytes", "compressed_stored_bytes",
)  # fmt: skip
VERDICT_FIELDS = (
    "application", "set", "compression", "verdict", "read_low", "read_mid", "read_high",
    "waited_low", "waited_mid", "waited_high",
)  # fmt: skip


def main() -> None:
    """Sum up the blocks of guesses."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME")
    add_trees_argument(parser)
    arguments = parser.parse_args()
    names = arguments.names or [each.name for each in read_launches()]
    sum_up(names, arguments.trees)


def sum_up(names: Iterable[str], trees: Sequence[Path]) -> None:
    """Guess, try some blocks, and keep what comes of it."""
    found = find_trees(trees)
    applications = read_applications(trees)
    folds = make_folds(applications, [count(each) for each in applications])
    priors = {fold.application.name: fold.priors for fold in folds}
    for name in names:
        blocks, verdicts = _of_application(name, found[name], priors[name])
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
    trial = try_blocks(payload)
    blocks: list[Sequence[object]] = []
    verdicts: list[Sequence[object]] = []
    for which, launch_set in sets.items():
        for codec in SHIPPABLE:
            sums = sum_blocks(launch_set, trial.codecs[codec])
            figures = (round(getattr(sums, field), 1) for field in BLOCK_FIELDS[3:])
            blocks.append((name, which, codec, *figures))
        read, waited = launch_set.read_share, launch_set.waited_share
        verdicts.append(
            (
                name, which, *advice(launch_set, trial),
                read.low, read.mid, read.high, waited.low, waited.mid, waited.high,
            )
        )  # fmt: skip
    return blocks, verdicts


def try_blocks(payload: Payload) -> TrialResult:
    """Try some blocks of a payload."""
    return run_sampled_trial(payload, progress=lambda _message: None)


def savings(
    launch_set: LaunchSet, trial: TrialResult, devices: Sequence[DeviceProfile] = ()
) -> list[Saving]:
    """Return what lzo saves against xz on each device, by default the default ones."""
    xz, lzo = trial.codecs["xz"], trial.codecs["lzo"]
    return [
        Saving(
            app=launch_set.app,
            device=device.name,
            seconds=seconds_saved(
                estimate_launch(launch_set, xz, device),
                estimate_launch(launch_set, lzo, device),
            ),
        )
        for device in devices or default_devices()
    ]


def advice(
    launch_set: LaunchSet, trial: TrialResult, devices: Sequence[DeviceProfile] = ()
) -> tuple[str, str]:
    """Return what the advisor says of a snap that is packed with xz now."""
    xz, lzo = trial.codecs["xz"], trial.codecs["lzo"]
    said = recommend(
        Evidence(
            declared="xz",
            xz_bytes=xz.image_bytes,
            lzo_bytes=lzo.image_bytes,
            bytes_added=trial.lzo_less_xz_bytes,
            savings=savings(launch_set, trial, devices),
        ),
        Policy(),
    )
    return said.compression, said.verdict


def _replace_rows(
    path: Path, fields: Sequence[str], name: str, rows: Iterable[Sequence[object]]
) -> None:
    """Put an application's rows in place of those that the table has of it."""
    kept = [row for row in read_rows(path) if row["application"] != name]
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(fields)
        writer.writerows([row[field] for field in fields] for row in kept)
        writer.writerows(rows)


def read_rows(path: Path) -> list[dict[str, str]]:
    """Return the rows of a table, none if it isn't there."""
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


if __name__ == "__main__":
    main()

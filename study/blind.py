#!/usr/bin/env python3
"""Score the guess on the blind set, once.

    .venv/bin/python study/blind.py --trees DRAWN/blind --bases CACHE
    .venv/bin/python study/blind.py --trees TREES --set fit -o SCORES … [NAME…]

For each recorded application of the set (``data/drawn.csv``), the script guesses the
launch from files, as ``advise`` does, and compares it with the recording. It writes
``data/blind-scores-SEED.csv``, from which ``accuracy.py`` makes a section of
``docs/study/accuracy.md``. Nothing was fitted to a blind application, and nobody
looked at one before. So that this stays true, the script refuses to write over
scores: what is learnt from them goes into the next draw.

A tree is a whole system, but a snap ships only what its base lacks. So there are two
verdicts: of the tree as it is, and of the tree without the files of the minimal system
that ``launch_corpus.py`` keeps as ``CACHE/RELEASE/base-RELEASE``. Then neither the
bytes nor the reads of these files count.

``--set fit`` and ``--set scored`` try the script itself on applications that the guess
was fitted to.
"""

from __future__ import annotations

import argparse
import csv
import os
import sys
import tempfile
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING

from comparison import compare_launches
from draw import DATA, DISTRIBUTIONS, FOLDERS, SEED, SEEDS_BEFORE, read_drawn
from snap_metadata import snap_name
from snapcraft_compression_advisor.devices.device_file import read_device
from snapcraft_compression_advisor.launch.fit import fit_profile
from snapcraft_compression_advisor.launch.guess.guess import static_launch_set
from snapcraft_compression_advisor.launch.profile import read_profile
from snapcraft_compression_advisor.payload.source import DirectoryPayload
from static_accuracy import advice, savings, try_blocks

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from draw import Drawn
    from snapcraft_compression_advisor.devices.device import DeviceProfile
    from snapcraft_compression_advisor.launch.launch_set import LaunchSet
    from snapcraft_compression_advisor.trial.result import TrialResult

SCORES = DATA / f"blind-scores-{SEED}.csv"

DEVICE = DATA / "calibrated-device.yaml"
"""The machine that recorded most launches, as ``calibrate`` measured it."""


@dataclass(frozen=True, kw_only=True)
class BlindScore:
    """How the guess of one application does, by its recording.

    Expected bytes are those that the guess expects of all, its middle estimate.

    :param kind: as the guess tells it.
    :param low: of the interval that shall hold what was read in nine of ten cases;
        ``high`` its other end.
    :param recall: of the bytes read, those named; ``precision`` of those named, read.
    :param verdict: for a snap packed with xz, on the calibrated device;
        ``recorded_verdict`` likewise, from the recording.
    :param saved_s: by lzo in place of xz on this device, with the interval;
        ``recorded_saved_s`` likewise.
    :param verdict_on_base: of the snap without the minimal system;
        ``recorded_verdict_on_base`` likewise. Empty for the first draw.
    """

    application: str
    distribution: str
    stratum: str
    kind: str
    read_bytes: int
    expected_bytes: int
    low_bytes: int
    high_bytes: int
    recall: float
    precision: float
    verdict: str
    recorded_verdict: str
    device: str
    saved_s: float
    saved_low_s: float
    saved_high_s: float
    recorded_saved_s: float
    verdict_on_base: str = ""
    recorded_verdict_on_base: str = ""

    @property
    def on_base(self) -> BlindScore:
        """The score with the verdicts of the snap without the minimal system."""
        return replace(
            self,
            verdict=self.verdict_on_base,
            recorded_verdict=self.recorded_verdict_on_base,
        )

    @property
    def read_per_expected(self) -> float:
        """Bytes read per byte expected, without end if none was expected."""
        if not self.expected_bytes:
            return float("inf")
        return self.read_bytes / self.expected_bytes

    @property
    def held(self) -> bool:
        """Whether the interval holds what was read."""
        return self.low_bytes <= self.read_bytes <= self.high_bytes

    @property
    def width(self) -> float:
        """The interval's high end per its low end."""
        return self.high_bytes / self.low_bytes if self.low_bytes else float("inf")

    @property
    def undecided(self) -> bool:
        """Whether the guess leaves the verdict open."""
        return self.verdict.startswith("undecided")

    @property
    def contradicted(self) -> bool:
        """Whether the guess is sure, and the recording is of something else."""
        sure = not self.undecided and not self.recorded_verdict.startswith("undecided")
        return sure and self.verdict != self.recorded_verdict


def main(words: Sequence[str] | None = None) -> int:
    """Score the set.

    :param words: the arguments, by default the command line's.
    """
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--trees", metavar="DIR", type=Path, required=True)
    parser.add_argument("--bases", metavar="DIR", type=Path, required=True)
    parser.add_argument("--set", choices=list(FOLDERS), default="blind")
    parser.add_argument("-o", "--output", metavar="FILE", type=Path, default=SCORES)
    arguments = parser.parse_args(words)
    if arguments.set != "blind" and arguments.output == SCORES:
        parser.error("-o FILE is needed: these aren't scores of the blind set")
    if arguments.output == SCORES and arguments.names:
        parser.error("the blind set is scored as a whole")
    if arguments.output.exists():
        print(f"{arguments.output} is there: it is scored once.", file=sys.stderr)
        return 1
    drawn = [
        row
        for row in read_drawn()
        if row.set == arguments.set and row.outcome == "recorded"
        if not arguments.names or snap_name(row.package) in arguments.names
    ]
    wanted = {_tree(row, arguments.trees) for row in drawn}
    wanted |= {minimal_system(arguments.bases, row) for row in drawn}
    if missing := sorted(str(path) for path in wanted if not path.is_dir()):
        print(f"Missing: {', '.join(missing)}.", file=sys.stderr)
        return 1
    device = read_device(DEVICE)
    scores = [
        score(row, arguments.trees, minimal_system(arguments.bases, row), device)
        for row in drawn
    ]
    write_scores(arguments.output, scores)
    return 0


def _tree(row: Drawn, trees: Path) -> Path:
    return trees / snap_name(row.package)


def minimal_system(bases: Path, row: Drawn) -> Path:
    """Return the system that an application's tree was made from."""
    return bases / row.release / f"base-{row.release}"


def link_own_files(tree: Path, base: Path, target: Path) -> None:
    """Hard-link what a tree has beyond a minimal system to a new directory.

    A file is of the system if that has one at the same place.
    """
    for folder, _, names in os.walk(tree):
        place = Path(folder).relative_to(tree)
        (target / place).mkdir(parents=True)
        for name in names:
            if not os.path.lexists(base / place / name):
                link = target / place / name
                os.link(tree / place / name, link, follow_symlinks=False)


def score(row: Drawn, trees: Path, base: Path, device: DeviceProfile) -> BlindScore:
    """Guess an application's launch, and compare it with the recording.

    :param trees: directory of the payloads.
    :param base: the minimal system, which a snap wouldn't ship.
    :param device: on which seconds count.
    """
    name = snap_name(row.package)
    recording = FOLDERS[row.set] / f"{name}.json"
    found, sets = score_payload(trees / name, recording, device)
    with tempfile.TemporaryDirectory(dir=trees, prefix=".own-") as scratch:
        own = Path(scratch) / name
        link_own_files(trees / name, base, own)
        sets = [_within(own, each) for each in sets]
        own_trial = try_blocks(DirectoryPayload(own))
        on_base = [_verdict(each, own_trial, device) for each in sets]
    return replace(
        found,
        distribution=DISTRIBUTIONS[row.release],
        stratum=row.stratum,
        verdict_on_base=on_base[0],
        recorded_verdict_on_base=on_base[1],
    )


def score_payload(
    tree: Path, recording: Path, device: DeviceProfile
) -> tuple[BlindScore, Sequence[LaunchSet]]:
    """Return how the guess of a payload does, and what was guessed and recorded."""
    payload, profile = DirectoryPayload(tree), read_profile(recording)
    guessed = static_launch_set(payload, tree.name)
    recorded = fit_profile(profile, payload.inventory).launch_set
    compared = compare_launches(guessed.files, profile, payload.inventory)
    trial = try_blocks(payload)
    (saved,) = savings(guessed, trial, [device])
    (recorded_saved,) = savings(recorded, trial, [device])
    share = guessed.read_share
    found = BlindScore(
        application=tree.name,
        distribution="",
        stratum="",
        kind=guessed.basis.kind if guessed.basis is not None else "",
        read_bytes=compared.read_bytes,
        expected_bytes=round(compared.expected_bytes * share.mid),
        low_bytes=round(compared.expected_bytes * share.low),
        high_bytes=round(compared.expected_bytes * share.high),
        recall=round(compared.recall, 4),
        precision=round(compared.precision, 4),
        verdict=_verdict(guessed, trial, device),
        recorded_verdict=_verdict(recorded, trial, device),
        device=device.name,
        saved_s=round(saved.seconds.mid, 4),
        saved_low_s=round(saved.seconds.low, 4),
        saved_high_s=round(saved.seconds.high, 4),
        recorded_saved_s=round(recorded_saved.seconds.mid, 4),
    )
    return found, (guessed, recorded)


def _within(own: Path, launch_set: LaunchSet) -> LaunchSet:
    """Return what a launch reads of the files of a directory."""
    files = launch_set.files
    kept = tuple(file for file in files if os.path.lexists(own / file.path))
    return replace(launch_set, files=kept)


def _verdict(launch_set: LaunchSet, trial: TrialResult, device: DeviceProfile) -> str:
    compression, verdict = advice(launch_set, trial, [device])
    return f"{verdict} ({compression})"


def write_scores(path: Path, scores: Iterable[BlindScore]) -> None:
    """Write the scores, one row an application."""
    names = [field.name for field in fields(BlindScore)]
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, names, lineterminator="\n")
        writer.writeheader()
        writer.writerows(asdict(each) for each in scores)


def read_scores_before() -> list[list[BlindScore]]:
    """Return the scores of earlier draws."""
    return [read_scores(DATA / f"blind-scores-{seed}.csv") for seed in SEEDS_BEFORE]


def read_scores(path: Path = SCORES) -> list[BlindScore]:
    """Return the scores, none if the set wasn't scored yet."""
    if not path.exists():
        return []
    types = {"int": int, "float": float, "str": str}
    kinds = {each.name: types[str(each.type)] for each in fields(BlindScore)}
    with path.open(newline="", encoding="utf-8") as file:
        return [
            BlindScore(**{name: kinds[name](text) for name, text in row.items()})
            for row in csv.DictReader(file)
        ]


if __name__ == "__main__":
    sys.exit(main())

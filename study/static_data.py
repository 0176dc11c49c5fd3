"""Recorded launches and the files that a guess finds, for ``static_fit.py``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from snapcraft_compression_advisor.launch.guess.candidates import find_candidates
from snapcraft_compression_advisor.launch.guess.compare import NAMED_FROM, block_bytes
from snapcraft_compression_advisor.launch.guess.guess import expected_file, keys_of
from snapcraft_compression_advisor.launch.guess.priors import Counts
from snapcraft_compression_advisor.launch.model import expected_runs
from snapcraft_compression_advisor.launch.profile import read_profile
from snapcraft_compression_advisor.payload.source import DirectoryPayload
from snapcraft_compression_advisor.squashfs.entry import EntryKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from snapcraft_compression_advisor.launch.guess.candidates import Candidate
    from snapcraft_compression_advisor.launch.guess.guess import FileKeys
    from snapcraft_compression_advisor.launch.guess.priors import Priors
    from snapcraft_compression_advisor.launch.launch_set import LaunchFile
    from snapcraft_compression_advisor.payload.inventory import Entry
    from snapcraft_compression_advisor.payload.source import Payload

OWN_WEIGHT = 20
"""Files of its own that an application counts for, however many it has."""

LAUNCHES = Path(__file__).parent / "data" / "launches"


@dataclass(frozen=True, kw_only=True)
class Application:
    """One application: what its launch read, and what was found from its files.

    :param kind: as the guess tells it.
    :param read: by file identity, the entry and the blocks that were read.
    :param found: candidates with the classes of their blocks.
    """

    name: str
    kind: str
    read: dict[int, tuple[Entry, frozenset[int]]]
    found: tuple[tuple[Candidate, FileKeys], ...]

    def blocks_read(self, candidate: Candidate) -> frozenset[int]:
        """Return the blocks that were read of a file."""
        return self.read.get(candidate.entry.identity, (None, frozenset()))[1]


@dataclass(frozen=True, kw_only=True)
class Score:
    """How a guess does, in bytes of raw blocks.

    :param recall: of the bytes read, those named.
    :param precision: of the bytes named, those read.
    :param ratio: bytes read over bytes expected.
    :param runs_ratio: likewise of runs of adjacent blocks.
    """

    recall: float
    precision: float
    ratio: float
    runs_ratio: float
    read_bytes: int


def recorded_names() -> tuple[str, ...]:
    """Return the applications whose launches the repo keeps."""
    return tuple(sorted(path.stem for path in LAUNCHES.glob("*.json")))


def read_application(name: str, tree: Path) -> Application:
    """Read a recorded launch and find its candidates.

    :param tree: the application's payload.
    """
    payload: Payload = DirectoryPayload(tree)
    entries = payload.inventory.entries
    read = {}
    for file in read_profile(LAUNCHES / f"{name}.json").files:
        entry = entries.get(file.path)
        if entry is not None and entry.kind is EntryKind.FILE:
            blocks = (range(first, last + 1) for first, last in file.blocks)
            numbers = frozenset(number for run in blocks for number in run)
            read[entry.identity] = (entry, numbers)
    candidates = find_candidates(payload, name)
    return Application(
        name=name,
        kind=candidates.kind,
        read=read,
        found=tuple(
            (candidate, keys_of(payload, candidate))
            for candidate in candidates.files
            if candidate.entry.size_bytes
        ),
    )


def count(application: Application) -> tuple[Counts, Counts]:
    """Count what was read of the files and of the blocks that were found."""
    files, blocks = Counts(), Counts()
    for candidate, keys in application.found:
        read = application.blocks_read(candidate)
        if candidate.direct:
            files.add(candidate.way, read=int(bool(read)), counted=1)
        if read:
            for number, classes in enumerate(keys):
                for key in classes:
                    blocks.add(key, read=int(number in read), counted=1)
    return files, blocks


def weighed(files: Counts) -> Counts:
    """Return counts of which own files weigh the same for every application.

    A game with thousands of pictures says no more of those of another application than
    one with ten does.
    """
    result = Counts()
    for way, counted in files.counted.items():
        if way.startswith("own-"):
            share = files.read[way] / counted
            result.add(way, read=round(OWN_WEIGHT * share), counted=OWN_WEIGHT)
        else:
            result.add(way, read=files.read[way], counted=counted)
    return result


def score(application: Application, priors: Priors) -> Score:
    """Compare a guess by these priors with what was read."""
    named = hit = 0
    expected = 0.0
    files = []
    for candidate, keys in application.found:
        file = expected_file(candidate, keys, priors)
        if file is None:
            continue
        files.append(file)
        read = application.blocks_read(candidate)
        for first, last, share in file.ranges():
            for number in range(first, last + 1):
                size = block_bytes(file.size_bytes, number)
                expected += share * size
                if share >= NAMED_FROM:
                    named += size
                    hit += size if number in read else 0
    return _score(
        application,
        named=named,
        hit=hit,
        expected=expected,
        runs=expected_runs(*np.array([*file_runs(files)]).reshape(-1, 2).T),
    )


def file_runs(files: Iterable[LaunchFile]) -> Iterator[tuple[float, float]]:
    """Yield each block's share, and that of the block before it."""
    for file in files:
        end, before = 0, 0.0
        for first, last, share in file.ranges():
            if first != end:
                before = 0.0
            end = last + 1
            for _ in range(first, end):
                yield share, before
                before = share


def score_closure(application: Application) -> Score:
    """Score the ELF closure of the programs started, each file named whole."""
    named = hit = 0
    for candidate, _ in application.found:
        if candidate.way in ("started", "linked"):
            read = application.blocks_read(candidate)
            named += candidate.entry.size_bytes
            hit += sum(block_bytes(candidate.entry.size_bytes, n) for n in read)
    return _score(application, named=named, hit=hit, expected=named)


def missed(application: Application) -> Iterator[tuple[int, str]]:
    """Yield the files that were read and not found, with their bytes."""
    found = {candidate.entry.identity for candidate, _ in application.found}
    for identity, (entry, numbers) in application.read.items():
        if identity not in found:
            yield sum(block_bytes(entry.size_bytes, n) for n in numbers), entry.path


def _score(
    application: Application, *, named: int, hit: int, expected: float, runs: float = 0
) -> Score:
    read_runs = sum(
        number - 1 not in numbers
        for _, numbers in application.read.values()
        for number in numbers
    )
    read = sum(
        block_bytes(entry.size_bytes, number)
        for entry, numbers in application.read.values()
        for number in numbers
    )
    return Score(
        recall=hit / read if read else 1.0,
        precision=hit / named if named else 1.0,
        ratio=read / expected if expected else float("inf"),
        runs_ratio=read_runs / runs if runs else float("inf"),
        read_bytes=read,
    )

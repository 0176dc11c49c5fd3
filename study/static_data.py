"""Recorded launches and the files that a guess finds, for ``static_fit.py``."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from comparison import NAMED_FROM
from snapcraft_compression_advisor.launch.fit import waited_share
from snapcraft_compression_advisor.launch.guess.blindness import UNREACHED
from snapcraft_compression_advisor.launch.guess.candidates import (
    Search,
    find_candidates,
)
from snapcraft_compression_advisor.launch.guess.families import opens_windows
from snapcraft_compression_advisor.launch.guess.guess import (
    LEAST_SHARE,
    expected_file,
    keys_of,
    opened_share,
)
from snapcraft_compression_advisor.launch.guess.priors import (
    NO_WINDOWS,
    WINDOWS,
    Counts,
)
from snapcraft_compression_advisor.launch.guess.runtimes import UNKNOWN
from snapcraft_compression_advisor.launch.guess.traits import DRIVER_WAYS
from snapcraft_compression_advisor.launch.model import expected_runs
from snapcraft_compression_advisor.launch.profile import read_profile
from snapcraft_compression_advisor.payload.inventory import block_bytes
from snapcraft_compression_advisor.payload.source import DirectoryPayload
from snapcraft_compression_advisor.squashfs.entry import EntryKind

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from snapcraft_compression_advisor.launch.guess.blindness import Blindness
    from snapcraft_compression_advisor.launch.guess.candidates import (
        Candidate,
        Candidates,
    )
    from snapcraft_compression_advisor.launch.guess.guess import FileKeys
    from snapcraft_compression_advisor.launch.guess.priors import Priors
    from snapcraft_compression_advisor.launch.launch_set import LaunchFile
    from snapcraft_compression_advisor.payload.inventory import Entry
    from snapcraft_compression_advisor.payload.source import Payload

OWN_WEIGHT = 20
"""Files of its own that an application counts for, however many it has; likewise of
those of a class that a blind search doesn't reach."""

LAUNCHES = Path(__file__).parent / "data" / "launches"


Found: TypeAlias = "tuple[tuple[Candidate, FileKeys], ...]"


@dataclass(frozen=True, kw_only=True)
class Application:
    """One application: what its launch read, and what was found from its files.

    :param kind: as the guess tells it.
    :param read: by file identity, the entry and the blocks that were read.
    :param found: candidates with the classes of their blocks.
    :param reached: likewise, of a search that was made blind on purpose.
    :param unreached: likewise, what such a search doesn't reach.
    :param reference: the reference class that it belongs to; ``None`` if such a
        search misses nothing.
    :param beside: likewise, what comes into the guess because the search is blind by
        itself; empty if it isn't.
    :param blindness: how much the search missed.
    :param window: whether it seems to open windows.
    :param waited_share: what the launch waited for of the work on its blocks.
    :param possible: identities of files that may be read, of which none is expected.
    :param payload_bytes: of all its files.
    """

    name: str
    kind: str
    read: dict[int, tuple[Entry, frozenset[int]]]
    found: Found
    reached: Found = ()
    unreached: Found = ()
    reference: str | None = None
    beside: Found = ()
    blindness: Blindness | None = None
    window: bool = False
    waited_share: float = 1.0
    possible: frozenset[int] = frozenset()
    payload_bytes: int = 0
    payload_blocks: int = 0
    payload_files: int = 0

    @property
    def counted(self) -> Found:
        """All that its guess is made of."""
        return (*self.found, *self.beside)

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
    :param sure_ratio: as ``ratio``, without OpenGL's driver and what only may be read.
    :param expected_bytes: of all guessed blocks, times their shares.
    """

    recall: float
    precision: float
    ratio: float
    runs_ratio: float
    read_bytes: int
    expected_bytes: float = 0.0
    sure_ratio: float = 1.0


def recorded_names() -> tuple[str, ...]:
    """Return the applications whose launches the repo keeps."""
    return tuple(sorted(path.stem for path in LAUNCHES.glob("*.json")))


class BlindSearch(Search):
    """A search that doesn't reach beyond the programs started.

    Nothing is loaded by scripts, and nothing that opens windows is linked. What
    recorded launches read of the files unreached tells what other applications read of
    those that a search didn't reach.
    """

    def run_blindly(self, *, window: bool) -> Candidates:
        """Collect programs, and files as if these had told of no others.

        :param window: whether the app opens windows.
        """
        for program in self._app.programs.started:
            libraries = self._closure(program).files
            if window and any(opens_windows(entry.path) for entry in libraries):
                self._add_file(program, way="started", role="program")
            else:
                self._add(program, way="started", role="program", needs="linked")
        self._window = window
        self._follow_families()
        self._add_own_files()
        if window and self._reaches_windows():
            return self.result(UNKNOWN, None)
        return self.result(UNKNOWN, "program", self._reach_out())


def read_application(name: str, tree: Path, launches: Path = LAUNCHES) -> Application:
    """Read a recorded launch and find its candidates.

    :param tree: the application's payload.
    :param launches: directory of the recordings.
    """
    payload: Payload = DirectoryPayload(tree)
    entries = payload.inventory.entries
    read = {}
    profile = read_profile(launches / f"{name}.json")
    for file in profile.files:
        entry = entries.get(file.path)
        if entry is not None and entry.kind is EntryKind.FILE:
            blocks = (range(first, last + 1) for first, last in file.blocks)
            numbers = frozenset(number for run in blocks for number in run)
            read[entry.identity] = (entry, numbers)
    candidates = find_candidates(payload, name)
    search = BlindSearch(payload, name)
    blindly = search.run_blindly(window=candidates.window)
    misses = blindly.blindness and len(blindly.files) < len(candidates.files)
    reference = WINDOWS if candidates.window else NO_WINDOWS
    return Application(
        name=name,
        kind=candidates.kind,
        read=read,
        found=_with_keys(payload, candidates.files),
        reached=_with_keys(payload, blindly.files),
        unreached=_with_keys(payload, blindly.unreached),
        reference=reference if misses else None,
        beside=_with_keys(payload, candidates.unreached)
        if candidates.blindness == "program"
        else (),
        blindness=candidates.blindness,
        window=candidates.window,
        waited_share=waited_share(profile).mid,
        possible=frozenset(entry.identity for entry in candidates.possible),
        payload_bytes=payload.inventory.raw_bytes,
        payload_blocks=payload.inventory.data_blocks,
        payload_files=payload.inventory.file_count,
    )


def _with_keys(payload: Payload, candidates: Iterable[Candidate]) -> Found:
    return tuple(
        (candidate, keys_of(payload, candidate))
        for candidate in candidates
        if candidate.entry.size_bytes
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
    if application.reference:
        _count_unreached(application, files, blocks)
    return files, blocks


def _count_unreached(application: Application, files: Counts, blocks: Counts) -> None:
    """Count what was read of files that a blind search doesn't reach, by class.

    Their blocks are counted where a search finds them; here, only as of their class.
    """
    for candidate, keys in application.unreached:
        way = candidate.way
        if not (way.startswith(UNREACHED) and candidate.direct):
            continue
        read = application.blocks_read(candidate)
        files.add(way, read=int(bool(read)), counted=1)
        if read:
            for number, classes in enumerate(keys):
                for key in classes:
                    if way in key:
                        blocks.add(key, read=int(number in read), counted=1)


def weighed(files: Counts) -> Counts:
    """Return counts of which own files weigh the same for every application.

    A game with thousands of pictures says no more of those of another application than
    one with ten does.
    """
    result = Counts()
    for way, counted in files.counted.items():
        if way.startswith(("own-", UNREACHED)) and "toolkit" not in way:
            share = files.read[way] / counted
            result.add(way, read=round(OWN_WEIGHT * share), counted=OWN_WEIGHT)
        else:
            result.add(way, read=files.read[way], counted=counted)
    return result


def score(
    application: Application, priors: Priors, found: Found | None = None
) -> Score:
    """Compare a guess by these priors with what was read.

    :param found: the candidates, by default those that its guess is made of.
    """
    named = hit = 0
    expected = dict.fromkeys((False, True), 0.0)
    guessed = guessed_files(application.counted if found is None else found, priors)
    drivers = set()
    for candidate, file in guessed:
        read = application.blocks_read(candidate)
        is_driver = candidate.way.startswith(DRIVER_WAYS)
        if is_driver:
            drivers.add(candidate.entry.identity)
        for first, last, share in file.ranges():
            for number in range(first, last + 1):
                size = block_bytes(file.size_bytes, number)
                expected[is_driver] += share * size
                if share >= NAMED_FROM:
                    named += size
                    hit += size if number in read else 0
    runs = expected_runs(
        *np.array([*file_runs(file for _, file in guessed)]).reshape(-1, 2).T
    )
    sure_bytes = read_bytes(application, besides=drivers | application.possible)
    return replace(
        _score(
            application,
            named=named,
            hit=hit,
            expected=sum(expected.values()),
            runs=runs,
        ),
        sure_ratio=sure_bytes / expected[False] if expected[False] else math.inf,
    )


def guessed_files(found: Found, priors: Priors) -> list[tuple[Candidate, LaunchFile]]:
    """Return what is expected of candidates, as the guess does."""
    return [
        (candidate, file)
        for candidate, keys in found
        if (opened := opened_share(candidate, priors)) >= LEAST_SHARE
        and (file := expected_file(candidate, keys, priors, opened=opened))
    ]


def read_bytes(application: Application, *, besides: Collection[int] = ()) -> int:
    """Return what was read in bytes of raw blocks.

    :param besides: identities of files that don't count.
    """
    return sum(
        block_bytes(entry.size_bytes, number)
        for identity, (entry, numbers) in application.read.items()
        if identity not in besides
        for number in numbers
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
    read = read_bytes(application)
    return Score(
        recall=hit / read if read else 1.0,
        precision=hit / named if named else 1.0,
        ratio=read / expected if expected else float("inf"),
        runs_ratio=read_runs / runs if runs else float("inf"),
        read_bytes=read,
        expected_bytes=expected,
    )

"""The data blocks that a launch reads, guessed from files."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ...codecs.codec import DATA_BLOCK_BYTES
from ...payload.inventory import block_count
from ..launch_set import (
    WAITED_SHARE,
    GuessBasis,
    LaunchFile,
    LaunchSet,
    expected_blocks,
    filled_blocks,
    share_ranges,
)
from .block_classes import LINKING, block_keys, parts_of
from .candidates import find_candidates
from .priors import (
    NO_WINDOWS,
    WINDOWS,
    GuessedApp,
    Priors,
    Unseen,
    built_in_priors,
)
from .traits import DRIVER_WAYS, is_data

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ...core.units import Interval
    from ...payload.inventory import Entry
    from ...payload.source import Payload
    from .candidates import Candidate, Candidates

UNREACHED_SHARE, UNREACHED_SMALL_SHARE = 0.35, 0.05
"""Of the blocks of a payload whose program wasn't reached: those of large files, and of
small ones. That is what the middle one of the launches in ``study/data/vendor`` read of
them (large: 0.17 to 1; small, of payloads that have many: 0 to 0.16)."""

_LARGE_BYTES = 8 * DATA_BLOCK_BYTES

LEAST_SHARE = 0.02
"""Blocks that are read more rarely aren't listed: they would only lengthen the list."""

_TAIL = 0.05
"""Share of cases below an interval, and of those above it."""

_DIGITS = 2

FileKeys = tuple[tuple[str, ...], ...]


def static_launch_set(
    payload: Payload, app: str, *, priors: Priors | None = None
) -> LaunchSet:
    """Guess what a launch reads, each block with the chance that it is read."""
    known = priors or built_in_priors()
    candidates = find_candidates(payload, app)
    files = _expected(payload, candidates.files, known)
    unseen = _unseen(payload, candidates, files, known)
    guessed = GuessedApp(
        kind=candidates.kind,
        payload_blocks=payload.inventory.data_blocks,
        payload_files=payload.inventory.file_count,
        modules_missed=candidates.blindness == "modules",
    )
    read_share, seek_share = known.shares(files, guessed, unseen)
    counted = (*files, *unseen.files) if unseen else files
    read_share = with_driver_doubt(
        read_share, (*candidates.files, *candidates.unreached), counted, known
    )
    possible = _possible_share(candidates, counted)
    read_share, seek_share = (
        replace(share, high=share.high + possible) for share in (read_share, seek_share)
    )
    basis = GuessBasis(
        kind=candidates.kind,
        recorded=known.kinds.get(candidates.kind, ()),
        blind_spots=candidates.blind_spots,
    )
    waited_share = known.waited_share(candidates.kind)
    if unseen is not None:
        files = tuple(sorted((*files, *unseen.files), key=lambda file: file.path))
        if reference := known.references.get(unseen.reference or ""):
            basis = replace(basis, reference=reference.recorded)
        waited_share = WAITED_SHARE
    return LaunchSet(
        app=app,
        source="static",
        files=tuple(filter(None, (without_holes(payload, file) for file in files))),
        read_share=read_share,
        seek_share=seek_share,
        waited_share=waited_share,
        unresolved=candidates.unresolved,
        basis=basis,
    )


def _possible_share(candidates: Candidates, files: Iterable[LaunchFile]) -> float:
    """Return the bytes that may be read, but aren't expected, per byte that is.

    They count to the high end of an interval only.
    """
    possible = sum(entry.size_bytes for entry in candidates.possible)
    if not possible:  # as of most apps
        return 0.0
    expected = sum(file.expected_bytes for file in files)
    return possible / expected if expected else 0.0


def without_holes(payload: Payload, file: LaunchFile) -> LaunchFile | None:
    """Return a file's blocks that aren't holes, None if there are none.

    Storage delivers nothing of a hole.
    """
    kept = filled_blocks(file.ranges(), payload.data_ranges(file.path))
    if not kept:
        return None
    return replace(
        file,
        blocks=tuple((first, last) for first, last, _ in kept),
        shares=tuple(share for *_, share in kept) if file.shares else (),
    )


def with_driver_doubt(
    share: Interval,
    candidates: Iterable[Candidate],
    files: Sequence[LaunchFile],
    priors: Priors,
) -> Interval:
    """Widen a share by OpenGL's driver where it may be opened, or may not.

    All of it is read or nothing, in all ways that its files were found.

    :param candidates: all that were found.
    :param files: what is expected of them.
    """
    chances = {
        candidate.entry.path: opened_share(candidate, priors)
        for candidate in candidates
        if candidate.way.startswith(DRIVER_WAYS)
    }
    drivers = [file for file in files if file.path in chances]
    expected = sum(file.expected_blocks for file in drivers)
    opened = sum(file.expected_blocks / chances[file.path] for file in drivers)
    blocks = expected_blocks(files)
    if not 0 < expected < min(opened, blocks):
        return share
    low, high = share.low, share.high
    if expected / opened < 1 - _TAIL:
        low *= 1 - expected / blocks
    if expected / opened > _TAIL:
        high *= 1 + (opened - expected) / blocks
    return replace(share, low=low, high=high)


def _unseen(
    payload: Payload,
    candidates: Candidates,
    reached: Sequence[LaunchFile],
    priors: Priors,
) -> Unseen | None:
    """Return the files that weren't reached; None if the program was followed."""
    if candidates.blindness != "program":
        return None
    name = WINDOWS if candidates.window else NO_WINDOWS
    unreached = _expected(payload, candidates.unreached, priors)
    counted = expected_blocks((*reached, *unreached))
    reference = priors.references.get(name)
    least = reference.least_share if reference else 1.0
    if not candidates.lost and counted >= least * payload.inventory.data_blocks:
        return Unseen(files=unreached, reference=name)
    # All blocks of the payload say what those cost that are read.
    known = {file.path: file for file in unreached}
    entries = (candidate.entry for candidate in candidates.unreached)
    anything = (known.get(e.path) or _any_of(e) for e in entries if e.size_bytes)
    return Unseen(files=tuple(anything), reference=None)


def _any_of(entry: Entry) -> LaunchFile:
    """Return the expected reads of a file of which nothing is known."""
    large = entry.size_bytes >= _LARGE_BYTES
    return LaunchFile(
        path=entry.path,
        size_bytes=entry.size_bytes,
        blocks=((0, block_count(entry.size_bytes) - 1),),
        shares=(UNREACHED_SHARE if large else UNREACHED_SMALL_SHARE,),
    )


def _expected(
    payload: Payload, candidates: Iterable[Candidate], priors: Priors
) -> tuple[LaunchFile, ...]:
    found = []
    for candidate in candidates:
        opened = opened_share(candidate, priors)
        if opened >= LEAST_SHARE:
            keys = keys_of(payload, candidate)
            found.append(expected_file(candidate, keys, priors, opened=opened))
    return tuple(filter(None, found))


def opened_share(candidate: Candidate, priors: Priors) -> float:
    """Return the chance that a file is read at all."""
    under = priors.file_share(candidate.under) if candidate.under else 1.0
    return under * priors.file_share(candidate.way)


def keys_of(payload: Payload, candidate: Candidate) -> FileKeys:
    """Return for every block of a file the classes of :func:`block_keys`."""
    entry = candidate.entry
    program = candidate.role == "program" or candidate.way.endswith("-extension")
    is_elf = not is_data(entry.path)
    if payload.is_remote:  # a look at each file would take a data block
        is_elf = is_elf and (entry.executable or ".so" in entry.path)
    parts = parts_of(payload, entry, program=program) if is_elf else None
    return block_keys(candidate, parts, block_count(entry.size_bytes))


def expected_file(
    candidate: Candidate, keys: FileKeys, priors: Priors, *, opened: float
) -> LaunchFile | None:
    """Return the blocks of a file with their chances, ``None`` if none has any.

    :param opened: its :func:`opened_share`.
    """
    chances = [min(1.0, priors.block_share(classes)) for classes in keys]
    if keys and keys[0] and keys[0][0] == LINKING:
        chances[0] = 1.0  # who opens an ELF file reads its head
    shares = (round(opened * each, _DIGITS) for each in chances)
    read = {number: each for number, each in enumerate(shares) if each >= LEAST_SHARE}
    ranges = tuple(share_ranges(read))
    if not ranges:
        return None
    return LaunchFile(
        path=candidate.entry.path,
        size_bytes=candidate.entry.size_bytes,
        blocks=tuple((first, last) for first, last, _ in ranges),
        shares=tuple(share for *_, share in ranges),
    )

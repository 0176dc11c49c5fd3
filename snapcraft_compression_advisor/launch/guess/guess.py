"""The data blocks that a launch reads, guessed from files."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from ...payload.inventory import block_count
from ..launch_set import GuessBasis, LaunchFile, LaunchSet, share_ranges
from .block_classes import block_keys, parts_of
from .candidates import find_candidates
from .opengl import DRIVER_WAYS
from .own_files import is_data
from .priors import NO_WINDOWS, WINDOWS, Priors, Unseen, built_in_priors

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ...core.units import Interval
    from ...payload.source import Payload
    from .candidates import Candidate, Candidates

LEAST_SHARE = 0.02
"""Blocks that are read more rarely aren't listed: they would only lengthen the list."""

SURE = 0.9
"""Chance from which nothing else is expected: the interval is where nine of ten lie."""

_DIGITS = 2

FileKeys = tuple[tuple[str, ...], ...]


def static_launch_set(
    payload: Payload, app: str, *, priors: Priors | None = None
) -> LaunchSet:
    """Guess what a launch reads, each block with the chance that it is read.

    :param app: of the payload's ``meta/snap.yaml``.
    """
    known = priors or built_in_priors()
    candidates = find_candidates(payload, app)
    files = _expected(payload, candidates.files, known)
    unseen = _unseen(payload, candidates, known)
    read_share, seek_share = known.shares(
        files,
        payload_blocks=payload.inventory.data_blocks,
        payload_files=payload.inventory.file_count,
        kind=candidates.kind,
        unseen=unseen,
    )
    read_share = _with_doubts(read_share, _doubts(candidates, files, unseen, known))
    recorded, spots = known.kinds.get(candidates.kind, ()), candidates.blind_spots
    basis = GuessBasis(kind=candidates.kind, recorded=recorded, blind_spots=spots)
    if unseen is not None and unseen.program:
        files = tuple(sorted((*files, *unseen.files), key=lambda file: file.path))
        reference = known.references.get(unseen.reference)
        basis = replace(basis, reference=reference.recorded if reference else ())
    return LaunchSet(
        app=app,
        source="static",
        files=files,
        read_share=read_share,
        seek_share=seek_share,
        unresolved=candidates.unresolved,
        basis=basis,
    )


def _doubts(
    candidates: Candidates,
    files: Sequence[LaunchFile],
    unseen: Unseen | None,
    priors: Priors,
) -> Iterator[tuple[float, float]]:
    """Yield for what is read all or not at all the chance, and its part of the blocks.

    That is OpenGL's driver, found by one way or the other.
    """
    ways = {
        candidate.entry.path: (candidate.way, opened_share(candidate, priors))
        for candidate in (*candidates.files, *candidates.unreached)
        if candidate.way.startswith(DRIVER_WAYS)
    }
    counted = (*files, *unseen.files) if unseen and unseen.program else files
    blocks: dict[tuple[str, float], float] = {}
    for file in counted:
        if file.path in ways:
            key = ways[file.path]
            blocks[key] = blocks.get(key, 0.0) + file.expected_blocks
    expected = sum(file.expected_blocks for file in counted)
    for (_, chance), part in blocks.items():
        yield chance, part / expected


def _with_doubts(share: Interval, doubts: Iterable[tuple[float, float]]) -> Interval:
    """Widen a share by what is read all or not at all, unless that is nearly sure.

    :param doubts: the chance that a part is read, and the part that is expected of it:
        either nothing of it is read, or more than expected.
    """
    parts = [
        (part * share.mid, part * share.mid * (1 / chance - 1))
        for chance, part in doubts
        if 1 - SURE < chance < SURE
    ]
    if not parts:
        return share
    below = (share.mid - share.low) ** 2 + sum(less**2 for less, _ in parts)
    above = (share.high - share.mid) ** 2 + sum(more**2 for _, more in parts)
    return replace(
        share,
        low=max(min(share.low, LEAST_SHARE), share.mid - math.sqrt(below)),
        high=share.mid + math.sqrt(above),
    )


def _unseen(payload: Payload, candidates: Candidates, priors: Priors) -> Unseen | None:
    """Return what wasn't followed; ``None`` where all was."""
    if candidates.blindness is None:
        return None
    return Unseen(
        program=candidates.blindness == "program",
        files=_expected(payload, candidates.unreached, priors),
        reference=WINDOWS if candidates.window else NO_WINDOWS,
    )


def _expected(
    payload: Payload, candidates: Iterable[Candidate], priors: Priors
) -> tuple[LaunchFile, ...]:
    return tuple(
        file
        for candidate in candidates
        if opened_share(candidate, priors) >= LEAST_SHARE
        and (file := expected_file(candidate, keys_of(payload, candidate), priors))
    )


def opened_share(candidate: Candidate, priors: Priors) -> float:
    """Return the chance that a file is read at all."""
    under = priors.file_share(candidate.under) if candidate.under else 1.0
    return under * priors.file_share(candidate.way)


def keys_of(payload: Payload, candidate: Candidate) -> FileKeys:
    """Return for every block of a file the classes of :func:`block_keys`."""
    entry = candidate.entry
    parts = None if is_data(entry.path) else parts_of(payload, entry)
    return block_keys(candidate, parts, block_count(entry.size_bytes))


def expected_file(
    candidate: Candidate, keys: FileKeys, priors: Priors
) -> LaunchFile | None:
    """Return the blocks of a file with their chances, ``None`` where none has any."""
    opened = opened_share(candidate, priors)
    shares = (
        round(min(1.0, opened * priors.block_share(classes)), _DIGITS)
        for classes in keys
    )
    read = {number: each for number, each in enumerate(shares) if each >= LEAST_SHARE}
    ranges = tuple(share_ranges(read))
    if not ranges:
        return None
    return LaunchFile(
        path=candidate.entry.path,
        size_bytes=candidate.entry.size_bytes,
        blocks=tuple((first, last) for first, last, _ in ranges),
        shares=tuple(share for _, _, share in ranges),
    )

"""Why a guess expects a file of a launch, or why it doesn't."""

from __future__ import annotations

import posixpath
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from ...core.errors import UsageError
from .blindness import UNREACHED
from .candidates import find_candidates
from .families import all_families, compiled
from .guess import LEAST_SHARE, opened_share, static_launch_set
from .priors import built_in_priors
from .snap_paths import SnapPaths

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ...payload.inventory import Entry
    from ...payload.source import Payload
    from ..launch_set import BlindSpot, LaunchFile
    from .candidates import Candidate, Candidates
    from .families import Family

MOST_RULES = 5
"""Rules named that would bring in a file; a few name most files of a toolkit."""

MOST_SPOTS = 20
"""Blind spots named, of which a large program may have hundreds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """Why a file is expected, or not.

    :param path: of the file, links followed.
    :param sentences: the ways that lead to it, or what would have to be otherwise.
    """

    app: str
    path: str
    size_bytes: int
    expected_blocks: float
    sentences: tuple[str, ...]


def explain(payload: Payload, app: str, path: str) -> Explanation:
    """Explain what the guess makes of a file.

    :param path: relative to the payload, or as the snap sees it.
    :raises UsageError: if the payload has no such file.
    """
    named = entry = _file(payload, path)
    candidates = find_candidates(payload, app)
    known = (*candidates.files, *candidates.unreached)
    found = next((c for c in known if c.entry.identity == entry.identity), None)
    if found is None:
        found = next((c for c in known if _is_made_of(c.entry.path, entry.path)), None)
        entry = found.entry if found else entry
    expected = {
        payload.inventory.entries[file.path].identity: file
        for file in static_launch_set(payload, app).files
    }.get(entry.identity)
    reasons = _ways(found, expected) if found else _reasons(entry, candidates)
    instead = f"Python reads {entry.path} instead of {named.path}."
    return Explanation(
        app=app,
        path=entry.path,
        size_bytes=entry.size_bytes,
        expected_blocks=expected.expected_blocks if expected is not None else 0.0,
        sentences=(*((instead,) if entry is not named else ()), *reasons),
    )


def _is_made_of(compiled: str, source: str) -> bool:
    """Return whether Python compiled a file from a source."""
    folder, name = posixpath.split(source.removesuffix(".py"))
    start = posixpath.join(folder, "__pycache__", f"{name}.")
    return compiled.endswith(".pyc") and compiled.startswith(start)


def _file(payload: Payload, path: str) -> Entry:
    entry = SnapPaths(payload).shipped(path)
    if entry is not None:
        return entry
    name = posixpath.basename(path.rstrip("/"))
    paths = (entry.path for entry in payload.inventory.files())
    alike = next((p for p in paths if posixpath.basename(p) == name), None)
    message = f"The payload has no file {path!r}"
    example = "Specify a path relative to the payload, such as 'usr/bin/hello'."
    raise UsageError(
        message, resolution=f"Did you mean {alike!r}?" if alike else example
    )


def _ways(candidate: Candidate, expected: LaunchFile | None) -> Iterator[str]:
    """Yield how a file was found, and how often such a file is read."""
    priors, way = built_in_priors(), candidate.way
    yield _found(candidate)
    share = opened_share(candidate, priors)
    if expected is not None and share < LEAST_SHARE:
        yield (
            "The program that is started isn't known, so each block of the payload "
            "counts as one that it may read."
        )
        return
    read, counted = priors.files.read[way], priors.files.counted[way]
    recorded = (
        f"{read:,} of {counted:,} files that recorded launches had by this way were "
        "read"
        if counted
        else "no recorded launch had a file by this way, so the share is set by hand"
    )
    yield f"It is read in {share:.0%} of launches (estimated): {recorded}."
    if candidate.under:
        yield f"That is under the condition that {candidate.under!r} is read first."
    if share < LEAST_SHARE:
        yield f"Files below {LEAST_SHARE:.0%} aren't listed."


def _found(candidate: Candidate) -> str:
    by, way = candidate.by, candidate.way
    if way.startswith(UNREACHED):
        return (
            "The search didn't reach it; since it missed what the program does, files "
            f"of its class ({way.removeprefix(UNREACHED)}) count as well."
        )
    if way == "started" and candidate.role == "program":
        return "The app's command or one of its scripts starts or names it."
    if by and way.endswith(("-module", "-extension")):
        return f"{by} imports it (way {way!r})."
    if "/" in by and candidate.role in ("library", "distant"):
        return f"{by} links it (way {way!r})."
    return f"The way {way!r} names it" + (f", of {by}." if by else ".")


def _reasons(entry: Entry, candidates: Candidates) -> Iterator[str]:
    """Yield why a file wasn't found."""
    yield (
        "Nothing that the search followed starts, links, imports or names it, and no "
        "rule applies to it."
    )
    named = (family for family in all_families() if _names(family, entry))
    for family in islice(named, MOST_RULES):
        yield (
            f"The rule {family.name!r} would, if the launch started or mapped a file "
            f"whose name matches {family.trigger!r}."
        )
    near = sorted(candidates.blind_spots, key=lambda spot: not _is_named(entry, spot))
    for spot in near[:MOST_SPOTS]:
        what = f" ({spot.what})" if spot.what else ""
        if spot.reason == "unresolved-import":
            yield f"{spot.where} imports {spot.what!r}, but that leads to no file."
        else:
            yield f"Not followed: {spot.reason} in {spot.where}{what}."


def _is_named(entry: Entry, spot: BlindSpot) -> bool:
    """Return whether a file is of the package of an import that leads to none."""
    package = "/".join(spot.what.split("/")[: 2 if spot.what[:1] == "@" else 1])
    return spot.reason == "unresolved-import" and f"/{package}/" in f"/{entry.path}"


def _names(family: Family, entry: Entry) -> bool:
    folder, name = posixpath.split(entry.path)
    if family.trigger == ".*" or not compiled(family.file).fullmatch(name):
        return False
    place = posixpath.basename(folder) if family.beside else folder
    return compiled(family.folder).fullmatch(place) is not None

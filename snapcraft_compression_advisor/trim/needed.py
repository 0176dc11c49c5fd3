"""What launches need of a snap, before and after files are left out."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from copy import copy
from typing import Any

from ..launch.guess.candidates import find_candidates
from ..launches import LaunchAnalysis, Surroundings
from ..payload.inventory import Inventory
from ..payload.source import Payload
from ..payload.stack import StackedPayload


def without_files(payload: Payload, gone: Collection[str]) -> Payload:
    """Return a payload as it is without some of its files."""
    less: Any = copy(payload)
    less.inventory = Inventory(
        entries={
            path: entry
            for path, entry in payload.inventory.entries.items()
            if path not in gone
        }
    )
    found: Payload = less
    return found


Needs = Mapping[str, frozenset[str]]
"""By app: names of libraries and programs that a launch looks for in vain."""


def needed_files(
    payload: Payload, surroundings: Surroundings, launches: Iterable[LaunchAnalysis]
) -> tuple[frozenset[str], Needs]:
    """Return the files that launches of any app may read, and what they lack.

    These are what recordings name, and all that the search for a guess finds: programs
    that are started, their ELF closure, what they load with ``dlopen`` and what scripts
    import.

    A guess that is blind also counts files that the search didn't reach, by their
    kind: nothing says that these are needed.

    :returns: the files' paths; and by app what is missing already.
    """
    stacked = surroundings.stack_of(payload)
    needed: set[str] = set()
    missing: dict[str, frozenset[str]] = {}
    for app in payload.snap.apps:
        found = find_candidates(stacked, app)
        missing[app] = frozenset(each.name for each in found.unresolved)
        for file in found.files:
            path = _own_path(stacked, payload, file.entry.path)
            if path is not None:
                needed.add(path)
    for launch in launches:
        if launch.launch_set.source == "recorded":
            needed.update(read.path for read in launch.launch_set.files)
    return frozenset(needed), missing


def newly_missing(
    payload: Payload,
    surroundings: Surroundings,
    gone: Collection[str],
    before: Needs,
) -> Mapping[str, frozenset[str]]:
    """Return the files that launches lack once others are left out, and who lacks them.

    :param before: what they lack already.
    :returns: for each name the apps; empty if every closure is as complete.
    """
    stacked = surroundings.stack_of(without_files(payload, gone))
    lacking: dict[str, set[str]] = defaultdict(set)
    for app in payload.snap.apps:
        for each in find_candidates(stacked, app).unresolved:
            if each.name not in before[app]:
                lacking[each.name].add(app)
    return {name: frozenset(apps) for name, apps in lacking.items()}


def _own_path(stacked: Payload, payload: Payload, path: str) -> str | None:
    """Return a file's path in the payload; ``None`` if another snap has it."""
    if not isinstance(stacked, StackedPayload):
        return path
    layer, own = stacked.own_path(path)
    return own if layer.payload is payload else None

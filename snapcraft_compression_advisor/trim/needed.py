"""What launches need of a snap, before and after files are left out."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path

from ..launch.guess.candidates import find_candidates
from ..launches import LaunchAnalysis, Surroundings
from ..payload.inventory import Inventory
from ..payload.snap_yaml import SnapMetadata
from ..payload.source import Payload, PayloadKind
from ..payload.stack import StackedPayload


class Without:
    """A payload without some of its files.

    :param gone: their paths.
    """

    def __init__(self, payload: Payload, gone: Collection[str]) -> None:
        self._payload = payload
        self.inventory = Inventory(
            entries={
                path: entry
                for path, entry in payload.inventory.entries.items()
                if path not in gone
            }
        )

    @property
    def path(self) -> Path:
        """That of the whole payload."""
        return self._payload.path

    @property
    def kind(self) -> PayloadKind:
        """That of the whole payload."""
        return self._payload.kind

    @property
    def snap(self) -> SnapMetadata:
        """That of the whole payload."""
        return self._payload.snap

    @property
    def packed_with(self) -> str | None:
        """That of the whole payload."""
        return self._payload.packed_with

    def read(self, path: str, *, offset: int, length: int) -> bytes:
        """Return bytes of a regular file, fewer at its end."""
        return self._payload.read(path, offset=offset, length=length)

    def data_ranges(self, path: str) -> Sequence[tuple[int, int]]:
        """Return the parts of a regular file that aren't holes, start and end."""
        return self._payload.data_ranges(path)


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

    :param launches: of target apps, recorded or guessed.
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
    """Return what launches lack once files are left out, and who lacks it.

    :param before: what they lack already.
    :returns: for each name the apps; empty if every closure is as complete.
    """
    stacked = surroundings.stack_of(Without(payload, gone))
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

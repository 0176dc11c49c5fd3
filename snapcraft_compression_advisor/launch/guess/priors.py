"""How often a file is read that a rule names, and how much of it: counted.

The counts come from recorded launches (``study/static_fit.py`` writes
``priors.json``). A share is read over counted, drawn towards the share of the next
wider class as if that had been seen :data:`WEIGHT` times: a class that was seen once or
never says little by itself.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from ...core.units import Interval
from ..launch_set import WAITED_SHARE, expected_blocks
from .block_classes import MEMBER, NO_MEMBER
from .traits import DRIVER_WAYS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..launch_set import LaunchFile

WEIGHT = 4.0
"""How many observations the wider class counts as."""

UNKNOWN_SHARE = 0.5
"""Of the blocks of what no recorded launch tells anything."""

UNKNOWN_SHARES = {MEMBER: 0.9, NO_MEMBER: 0.1}
"""The same of archives whose program was followed: set by hand, as no application with
such an archive (Electron's) was recorded."""

UNKNOWN_FILE_SHARE = 0.75
"""Of files that a rule names and no recorded launch had: set by hand, since a rule is
written where such a file is expected."""

UNKNOWN_DRIVER_SHARE = 0.5
"""The same of OpenGL's driver: of what leads to it, one half opens it, one doesn't."""

UNLIKELY_FILE_SHARE = 0.1
"""The same of what only windows need, if none is expected, and of own files."""


@dataclass(frozen=True, slots=True)
class Counts:
    """What recorded launches read, by key.

    :param read: of the files or blocks counted, those that were read.
    :param counted: files or blocks.
    """

    read: Counter[str] = field(default_factory=Counter)
    counted: Counter[str] = field(default_factory=Counter)

    def add(self, key: str, *, read: int, counted: int) -> None:
        """Count files or blocks of a key."""
        self.read[key] += read
        self.counted[key] += counted


WINDOWS, NO_WINDOWS, MODULES = "windows", "no windows", "modules"
"""The reference classes.

Applications that open windows and those that don't, searched for blindly; and those of
which some modules couldn't be followed.
"""

_LEAST_READ = 0.001
"""Of what is expected of a payload; a launch reads a block of its program at least."""

FEWEST_WAITING = 3
"""Recorded launches of a kind from which they say what others of it wait for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """What applications of a class read, searched for blindly.

    :param read_share: recorded ÷ expected bytes, over applications of which all of
        their kind were left out.
    :param seek_share: the same of runs of blocks.
    :param recorded: the applications with recorded ÷ expected bytes.
    :param least_share: the lowest of them in bytes expected of the payload's. Where
        less is expected, it says nothing of how much more may be read.
    """

    read_share: Interval
    seek_share: Interval
    recorded: tuple[tuple[str, float], ...] = ()
    least_share: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class GuessedApp:
    """What a spread depends on beside the files.

    :param kind: of application.
    :param payload_blocks: of all the payload's files.
    :param modules_missed: whether some modules of the program weren't followed.
    """

    kind: str
    payload_blocks: int
    payload_files: int
    modules_missed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Unseen:
    """What a search didn't reach that is blind to what the program does.

    :param files: that it may read instead, or besides.
    :param reference: the name of a reference class, None if the launch may read
        anything from what was followed to all of the payload.
    """

    files: Sequence[LaunchFile]
    reference: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Priors:
    """Shares fitted on recorded launches.

    :param files: counts of files by way.
    :param blocks: counts of blocks by the keys of :func:`~.block_classes.block_keys`.
    :param read_share: recorded ÷ expected bytes, over applications left out.
    :param seek_share: the same of runs of blocks.
    :param unseen_share: recorded ÷ expected bytes if all applications of a kind were
        left out: for kinds that weren't recorded.
    :param kind_shares: by kind, recorded ÷ expected bytes.
    :param parallel_kinds: of which some recorded launch didn't wait for all of the work
        on its blocks.
    :param kinds: the applications recorded of each kind, with recorded ÷ expected.
    :param references: the reference classes of blind searches.
    """

    files: Counts
    blocks: Counts
    read_share: Interval
    seek_share: Interval
    unseen_share: Interval
    kind_shares: Mapping[str, Interval] = field(default_factory=dict)
    parallel_kinds: tuple[str, ...] = ()
    kinds: Mapping[str, tuple[tuple[str, float], ...]] = field(default_factory=dict)
    references: Mapping[str, Reference] = field(default_factory=dict)

    def shares(
        self,
        files: Sequence[LaunchFile],
        app: GuessedApp,
        unseen: Unseen | None = None,
    ) -> tuple[Interval, Interval]:
        """Return the shares read of expected bytes, and sought of expected runs.

        Never more than the whole payload.

        :param files: of the launch, as far as it was followed.
        :param unseen: what else may be read where the program wasn't followed.
        """
        if unseen is not None:
            return self._with_unseen(files, app, unseen)
        read, seeks = self.spread_of(app.kind), self.seek_share
        if app.modules_missed:
            reference = self._reference(MODULES, app)
            read = _spanned(read, reference.read_share)
            seeks = _spanned(seeks, reference.seek_share)
        return _up_to(read, app.payload_blocks, expected_blocks(files)), seeks

    def spread_of(self, kind: str) -> Interval:
        """Return the share that applications of a kind read of each byte expected."""
        if kind in self.kind_shares:
            return self.kind_shares[kind]
        return self.read_share if kind in self.kinds else self.unseen_share

    def waited_share(self, kind: str) -> Interval:
        """Return the share of the work on its blocks that a launch waits for."""
        few = len(self.kinds.get(kind, ())) < FEWEST_WAITING
        if few or kind in self.parallel_kinds:
            return WAITED_SHARE
        return Interval.exactly(1.0)

    def _reference(self, name: str, app: GuessedApp) -> Reference:
        """Return a reference class; of one without members, anything is possible."""
        return self.references.get(name) or Reference(
            read_share=Interval(low=1.0, mid=1.0, high=math.inf),
            seek_share=Interval(low=1.0, mid=1.0, high=max(1, app.payload_files)),
        )

    def _with_unseen(
        self, files: Sequence[LaunchFile], app: GuessedApp, unseen: Unseen
    ) -> tuple[Interval, Interval]:
        """Return the shares of all files, those unseen among them."""
        expected = expected_blocks(files)
        counted = expected + expected_blocks(unseen.files)
        if not counted:
            return Interval.exactly(1.0), self.seek_share
        seen = expected / counted
        most = max(self.seek_share.high, app.payload_files / max(1, len(files)))
        if unseen.reference is None:
            high = max(1.0, app.payload_blocks / counted)
            read = Interval(low=max(seen, _LEAST_READ), mid=1.0, high=high)
            return read, replace(read, high=min(most, high))
        reference = self._reference(unseen.reference, app)
        read, seeks = (
            _spanned(mixed, guess * seen)  # of all files, those that were followed
            for mixed, guess in (
                (reference.read_share, self.spread_of(app.kind)),
                (reference.seek_share, self.seek_share),
            )
        )
        return (
            _up_to(read, app.payload_blocks, counted),
            replace(seeks, high=min(seeks.high, most)),
        )

    def file_share(self, way: str) -> float:
        """Return the chance that a file found this way is read at all."""
        return _drawn(self.files, way, _expected_share(way), weight=1.0)

    def block_share(self, keys: Sequence[str]) -> float:
        """Return the chance that a block of a file that is read is read.

        :param keys: from wide to narrow.
        """
        share = UNKNOWN_SHARES.get(keys[0] if keys else "", UNKNOWN_SHARE)
        for key in keys:
            share = _drawn(self.blocks, key, share, weight=WEIGHT)
        return share


def _expected_share(way: str) -> float:
    """Return the chance if nothing is known: set by hand.

    A rule is written where such a file is expected, unless no window opens or it is one
    of many that lie in a program's own directory.
    """
    if way.endswith(", no window") or way.startswith(("own-", "unreached-")):
        return UNLIKELY_FILE_SHARE
    if way.startswith(DRIVER_WAYS):
        return UNKNOWN_DRIVER_SHARE
    return UNKNOWN_FILE_SHARE


def _drawn(counts: Counts, key: str, towards: float, *, weight: float) -> float:
    counted = counts.counted[key]
    return (counts.read[key] + weight * towards) / (counted + weight)


@cache
def built_in_priors() -> Priors:
    """Return the priors that come with the package."""
    text = files(__package__).joinpath("priors.json").read_bytes()
    return parse_priors(json.loads(text))


def parse_priors(document: Mapping[str, Any]) -> Priors:
    """Return the priors of the document that ``study/static_fit.py`` writes.

    An interval is a list of its ends there, and a count of what was read and of what
    was counted.
    """
    return Priors(
        files=_counts(document["files"]),
        blocks=_counts(document["blocks"]),
        read_share=Interval.around(*document["read_share"]),
        seek_share=Interval.around(*document["seek_share"]),
        unseen_share=Interval.around(*document["unseen_share"]),
        kind_shares={
            kind: Interval.around(*ends)
            for kind, ends in document["kind_shares"].items()
        },
        parallel_kinds=tuple(document["parallel_kinds"]),
        kinds={
            kind: tuple(recorded.items())
            for kind, recorded in document["kinds"].items()
        },
        references={
            name: Reference(
                read_share=Interval.around(*each["read_share"]),
                seek_share=Interval.around(*each["seek_share"]),
                recorded=tuple(each["recorded"].items()),
                least_share=each["least_share"],
            )
            for name, each in document["references"].items()
        },
    )


def _spanned(share: Interval, other: Interval) -> Interval:
    return replace(
        share, low=min(share.low, other.low), high=max(share.high, other.high)
    )


def _up_to(share: Interval, most_blocks: float, blocks: float) -> Interval:
    most = most_blocks / blocks if blocks else 1.0
    return replace(share, high=max(share.mid, min(share.high, most)))


def _counts(rows: Mapping[str, tuple[int, int]]) -> Counts:
    return Counts(
        read=Counter({key: read for key, (read, _) in rows.items()}),
        counted=Counter({key: counted for key, (_, counted) in rows.items()}),
    )

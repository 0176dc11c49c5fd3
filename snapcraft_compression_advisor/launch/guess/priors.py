"""How often a file is read that a rule names, and how much of it: counted.

The counts come from recorded launches (``study/static_fit.py`` writes
``priors.json``). A share is read over counted, drawn towards the share of the next
wider class as if that had been seen :data:`WEIGHT` times: a class that was seen once or
never says little by itself.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from datetime import date  # pydantic reads it at run time
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Annotated

import pydantic

from ...core.documents import DocumentKind
from ...core.units import MIB, Interval
from .block_classes import MEMBER, NO_MEMBER
from .opengl import DRIVER_WAYS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..launch_set import LaunchFile

WEIGHT = 4.0
"""How many observations the wider class counts as."""

UNKNOWN_SHARE = 0.5
"""Of the blocks of what no recorded launch tells anything."""

UNKNOWN_SHARES = {MEMBER: 0.9, NO_MEMBER: 0.1}
"""Likewise of archives whose program was followed: set by hand, as no application with
such an archive (Electron's) was recorded."""

UNKNOWN_FILE_SHARE = 0.75
"""Of files that a rule names and no recorded launch had: set by hand, since a rule is
written where such a file is expected."""

UNKNOWN_DRIVER_SHARE = 0.5
"""Likewise of OpenGL's driver: of what leads to it, one half opens it, one doesn't."""

UNLIKELY_FILE_SHARE = 0.1
"""Likewise of what only windows need, where none is expected, and of own files."""


Share = Annotated[float, pydantic.Field(ge=0.0, le=1.0)]
Ratio = Annotated[float, pydantic.Field(gt=0.0, allow_inf_nan=False)]
Number = Annotated[int, pydantic.Field(ge=0)]


def _ascending(ends: tuple[float, float, float]) -> tuple[float, float, float]:
    low, mid, high = ends
    if not low <= mid <= high:
        message = "low end, middle and high end must be in ascending order"
        raise ValueError(message)
    return ends


Ends = Annotated[tuple[Ratio, Ratio, Ratio], pydantic.AfterValidator(_ascending)]
"""Low end, middle, high end of read ÷ expected."""

Row = tuple[Number, Number]
"""Read, counted."""


class _Model(pydantic.BaseModel):
    # The parts of a document are read with the whole, never alone.
    model_config = pydantic.ConfigDict(
        defer_build=True, extra="forbid", frozen=True, strict=True
    )


class MedianAndWorst(_Model):
    """A figure over the applications, each left out of the counts when it was guessed.

    :param median: the middle application's.
    :param worst: the lowest.
    """

    median: Share
    worst: Share


class Fit(_Model):
    """Where the priors come from, and how well they do.

    :param fitted_on: the applications whose recorded launches were counted.
    :param fitted_at: the day.
    :param recall: of the bytes read, those named: applications left out.
    :param precision: of the bytes named, those read: applications left out.
    """

    fitted_on: Annotated[tuple[str, ...], pydantic.Field(min_length=2)]
    fitted_at: date
    recall: MedianAndWorst
    precision: MedianAndWorst


class ReferenceRow(_Model):
    """What a reference class read; fields as those of :class:`Reference`."""

    read_share: Ends
    seek_share: Ends
    least_share: Share
    recorded: dict[str, Ratio]


class PriorsDocument(_Model):
    """All of the file.

    :param fit: where it comes from.
    :param read_share: bytes read ÷ expected, over applications left out.
    :param seek_share: likewise, of runs of blocks.
    :param unseen_share: bytes, where all applications of a kind were left out.
    :param kinds: by kind, the applications recorded with read ÷ expected.
    :param files: counts of files by way.
    :param blocks: counts of blocks by class.
    :param references: by name, the reference classes of blind searches.
    """

    # Now, since threads are going to use it.
    model_config = pydantic.ConfigDict(defer_build=False)

    fit: Fit
    read_share: Ends
    seek_share: Ends
    unseen_share: Ends
    kinds: dict[str, dict[str, Ratio]]
    files: dict[str, Row]
    blocks: dict[str, Row]
    references: dict[str, ReferenceRow] = {}

    @pydantic.field_validator("files", "blocks")
    @classmethod
    def _read_of_counted(cls, rows: dict[str, Row]) -> dict[str, Row]:
        wrong = next((key for key, (read, of) in rows.items() if read > of), None)
        if wrong is not None:
            message = f"more of {wrong!r} were read than counted"
            raise ValueError(message)
        return rows


def read_document(text: bytes) -> PriorsDocument:
    """Read the file's text.

    :raises BadDataError: if it isn't such a document.
    """
    return _PRIORS.parse_json(text, where="priors.json")


_PRIORS = DocumentKind(
    model=PriorsDocument,
    name="launch priors",
    max_bytes=MIB,  # some ten times what they have
    broken="the launch priors of this installation are invalid",
    resolution="Reinstall snapcraft-compression-advisor.",
)


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


WINDOWS, NO_WINDOWS = "windows", "no windows"
"""The reference classes: applications that open windows, and those that don't."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """What applications of a class read, searched for blindly.

    :param read_share: recorded ÷ expected bytes, over applications of which all of
        their kind were left out.
    :param seek_share: likewise, of runs of blocks.
    :param recorded: the applications with recorded ÷ expected bytes.
    :param least_share: the lowest of them in bytes expected of the payload's. Where
        less is expected, it says nothing of how much more may be read.
    """

    read_share: Interval
    seek_share: Interval
    recorded: tuple[tuple[str, float], ...] = ()
    least_share: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Unseen:
    """What a blind search didn't reach.

    :param program: whether all that the program reads may be there; else, only some
        modules.
    :param files: that it may read instead, or besides.
    :param reference: the name of a reference class.
    """

    program: bool
    files: Sequence[LaunchFile]
    reference: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Priors:
    """Shares fitted on recorded launches.

    :param files: counts of files by way.
    :param blocks: counts of blocks by the keys of :func:`~.block_classes.block_keys`.
    :param read_share: recorded ÷ expected bytes, over applications left out.
    :param seek_share: likewise, of runs of blocks.
    :param unseen_share: recorded ÷ expected bytes where all applications of a kind were
        left out: for kinds that weren't recorded.
    :param kinds: the applications recorded of each kind, with recorded ÷ expected.
    :param references: the reference classes of blind searches.
    """

    files: Counts
    blocks: Counts
    read_share: Interval
    seek_share: Interval
    unseen_share: Interval
    kinds: Mapping[str, tuple[tuple[str, float], ...]] = field(default_factory=dict)
    references: Mapping[str, Reference] = field(default_factory=dict)

    def shares(
        self,
        files: Sequence[LaunchFile],
        *,
        payload_blocks: int,
        payload_files: int,
        kind: str | None = None,
        unseen: Unseen | None = None,
    ) -> tuple[Interval, Interval]:
        """Return what is read per byte expected, and sought per run expected.

        Never more than the whole payload.

        :param files: of the launch, as far as it was followed.
        :param payload_blocks: of all the payload's files.
        :param kind: of application, ``None`` where that isn't known.
        :param unseen: what wasn't followed. Its files count if a program's are
            among them; else they only raise the high ends.
        """
        read = self.unseen_share if kind and kind not in self.kinds else self.read_share
        expected = _blocks(files)
        if unseen is None:
            return _up_to(read, payload_blocks, expected), self.seek_share
        both = expected + _blocks(unseen.files)
        reference = self.references.get(unseen.reference)
        if reference is None:
            reference = Reference(
                read_share=Interval(low=1.0, mid=1.0, high=max(1, payload_blocks)),
                seek_share=Interval(low=1.0, mid=1.0, high=max(1, payload_files)),
            )
        counted = both if unseen.program else expected
        if not counted:
            return Interval.exactly(1.0), self.seek_share
        most = max(both, reference.least_share * payload_blocks) / counted
        seen = expected / counted
        read, seeks = (
            _spanning(mixed, guess, seen=seen, most=most, alone=not unseen.program)
            for mixed, guess in (
                (reference.read_share, read),
                (reference.seek_share, self.seek_share),
            )
        )
        most_files = payload_files / max(1, len(files))
        return (
            _up_to(read, payload_blocks, counted),
            replace(seeks, high=min(seeks.high, max(self.seek_share.high, most_files))),
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
    """Return the chance where nothing is known: set by hand.

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
    """Return the priors that come with the package.

    :raises BadDataError: if they aren't what was shipped.
    """
    text = files(__package__).joinpath("priors.json").read_bytes()
    return parse_priors(read_document(text))


def parse_priors(document: PriorsDocument) -> Priors:
    """Return the priors of a document."""
    return Priors(
        files=_counts(document.files),
        blocks=_counts(document.blocks),
        read_share=_interval(document.read_share),
        seek_share=_interval(document.seek_share),
        unseen_share=_interval(document.unseen_share),
        kinds={
            kind: tuple(recorded.items()) for kind, recorded in document.kinds.items()
        },
        references={
            name: Reference(
                read_share=_interval(each.read_share),
                seek_share=_interval(each.seek_share),
                recorded=tuple(each.recorded.items()),
                least_share=each.least_share,
            )
            for name, each in document.references.items()
        },
    )


def _blocks(files: Sequence[LaunchFile]) -> float:
    return sum(file.expected_blocks for file in files)


def _spanning(
    reference: Interval, guess: Interval, *, seen: float, most: float, alone: bool
) -> Interval:
    """Return a share that spans what a guess and what a reference class says.

    :param reference: share of all files: those that were followed and those unseen.
    :param guess: share of the files that were followed.
    :param seen: these, of the files that count.
    :param most: likewise, all files.
    :param alone: whether only those that were followed count.
    """
    low, high = guess.low * seen, max(guess.high * seen, reference.high * most)
    if alone:
        return replace(guess, high=high)
    return replace(reference, low=min(reference.low, low), high=high)


def _up_to(share: Interval, most_blocks: float, blocks: float) -> Interval:
    most = most_blocks / blocks if blocks else 1.0
    return replace(share, high=max(share.mid, min(share.high, most)))


def _interval(ends: Ends) -> Interval:
    low, mid, high = ends
    return Interval(low=low, mid=mid, high=high)


def _counts(rows: Mapping[str, Row]) -> Counts:
    return Counts(
        read=Counter({key: read for key, (read, _) in rows.items()}),
        counted=Counter({key: counted for key, (_, counted) in rows.items()}),
    )

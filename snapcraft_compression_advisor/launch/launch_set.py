"""The apps whose launch counts, and the data blocks that such a launch reads."""

from __future__ import annotations

import difflib
from bisect import bisect_left
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Literal

from ..codecs.codec import DATA_BLOCK_BYTES
from ..core.errors import UsageError
from ..core.units import Interval
from ..payload.inventory import block_bytes

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from ..payload.inventory import Inventory
    from ..payload.linkage import Unresolved
    from ..payload.snap_yaml import SnapMetadata


Source = Literal["static", "recorded"]
"""How it is known what a launch reads: guessed from files, or recorded."""

Method = Literal["residency", "directory"]
"""How a launch was recorded: from a mount, or from the payload's directory."""

BlindReason = Literal[
    "computed-command",
    "computed-import",
    "computed-program",
    "embedded-code",
    "limit-reached",
    "syntax-error",
    "unfollowed-runtime",
    "unreached-window",
    "unresolved-import",
]
"""Why a guess can't know all that a launch reads:

- ``computed-command``: a program is started that isn't found, as one whose name a
  shell script makes at run time;
- ``computed-import``: a script loads a module whose name it makes at run time;
- ``computed-program``: a script in another language than shell starts a program whose
  name it makes at run time;
- ``embedded-code``: the program holds code that names files, and that can't be read;
- ``limit-reached``: there is more to follow than the search follows;
- ``syntax-error``: a script can't be parsed;
- ``unfollowed-runtime``: a program is written in a language that isn't followed;
- ``unreached-window``: the app opens windows, but the search reached no toolkit;
- ``unresolved-import``: a script loads a module of a package that has no such file.
"""

WAITED_SHARE = Interval(low=0.8, mid=1.0, high=1.0)
"""What a launch waits for of the work on its blocks, where it wasn't recorded and is of
a kind that may work side by side, or has few recordings.

Of the 170 recorded launches in ``study/data/launches``, 165 waited for all of it. Of
eleven of the three kinds with some that didn't, ten waited for at least this.
"""

WindowEnd = Literal["drawn", "early", "reading", "blank"]
"""What the window that ended a launch showed: content, after which reading paused or
went on; or nothing up to the time limit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchFile:
    """A file that a launch reads.

    :param blocks: ranges of 128 KiB data blocks, first and last.
    :param shares: for each range, what of its blocks is expected to be read, 0 to 1;
        empty if all of them are.
    """

    path: str
    size_bytes: int
    blocks: tuple[tuple[int, int], ...]
    shares: tuple[float, ...] = ()

    def ranges(self) -> Iterator[tuple[int, int, float]]:
        """Yield each range's first and last block, and its share."""
        shares = self.shares or (1.0,) * len(self.blocks)
        for (first, last), share in zip(self.blocks, shares, strict=True):
            yield first, last, share

    @property
    def expected_blocks(self) -> float:
        """Data blocks that are expected to be read of it."""
        return sum((last - first + 1) * share for first, last, share in self.ranges())

    @property
    def expected_bytes(self) -> float:
        """Bytes of these blocks, by the share that is expected to be read."""
        return sum(
            share * block_bytes(self.size_bytes, number)
            for first, last, share in self.ranges()
            for number in range(first, last + 1)
        )

    @property
    def block_count(self) -> int:
        """Data blocks named."""
        return sum(last - first + 1 for first, last in self.blocks)


def expected_blocks(files: Iterable[LaunchFile]) -> float:
    """Return the data blocks that are expected to be read of files."""
    return sum(file.expected_blocks for file in files)


def share_ranges(shares: Mapping[int, float]) -> Iterator[tuple[int, int, float]]:
    """Yield runs of adjacent blocks of one share: first and last block, and share.

    :param shares: by the block's number.
    """
    places = enumerate(sorted(shares))
    for (_, share), run in groupby(
        places, lambda item: (item[1] - item[0], shares[item[1]])
    ):
        numbers = [number for _, number in run]
        yield numbers[0], numbers[-1], share


def filled_blocks(
    ranges: Iterable[tuple[int, int, float]], filled: Iterable[tuple[int, int]]
) -> list[tuple[int, int, float]]:
    """Return the data blocks of some that have a byte of data; the others are holes.

    :param ranges: first and last block, and share.
    :param filled: starts and ends of the file's data, in bytes.
    """
    ends = [
        (start // DATA_BLOCK_BYTES, (end - 1) // DATA_BLOCK_BYTES)
        for start, end in filled
    ]
    kept: list[tuple[int, int, float]] = []
    for first, last, share in ranges:
        for start, end in ends[bisect_left(ends, first, key=itemgetter(1)) :]:
            if start > last:
                break
            begin = max(first, start, kept[-1][1] + 1 if kept else 0)
            if begin <= min(last, end):
                kept.append((begin, min(last, end), share))
    return kept


@dataclass(frozen=True, slots=True, kw_only=True)
class BlindSpot:
    """What a guess could not follow.

    :param where: the file in question, relative to the payload; a module's or program's
        name where the payload holds no such file.
    :param what: the interpreter, limit, plug or name imported in question, else empty.
    """

    reason: BlindReason
    where: str
    what: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class GuessBasis:
    """What a guess of a launch rests on.

    :param kind: of application, by its toolkit or run time.
    :param recorded: applications of that kind whose launches were recorded, and what
        each read per byte that was expected without it.
    :param blind_spots: what the guess could not follow, if that widens its interval.
    :param reference: recorded applications that files were guessed by in place of that.
    """

    kind: str
    recorded: tuple[tuple[str, float], ...] = ()
    blind_spots: tuple[BlindSpot, ...] = ()
    reference: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchSet:
    """The data blocks that a cold launch of one app reads.

    :param source: ``static`` (guessed from files) or ``recorded``.
    :param files: sorted by path, each file once, with any number of links.
    :param read_share: bytes really read, per byte that is expected of these blocks.
    :param seek_share: seeks really made, per run that is expected of these blocks.
    :param waited_share: of the work on blocks, what the launch waits for.
    :param window: what the window that ended a recorded launch showed.
    :param unresolved: what the launch needs from elsewhere.
    """

    app: str
    source: Source
    files: tuple[LaunchFile, ...]
    read_share: Interval
    seek_share: Interval
    waited_share: Interval = WAITED_SHARE
    unresolved: tuple[Unresolved, ...] = ()
    basis: GuessBasis | None = None
    method: Method | None = None
    window: WindowEnd | None = None

    @property
    def missing_program(self) -> str | None:
        """What the app starts and the payload should hold, but doesn't."""
        started = (f"command of {self.app}", f"command-chain of {self.app}")
        for each in self.unresolved:
            if each.supplier == "missing" and each.needed_by in started:
                return each.name
        return None

    @property
    def data_blocks(self) -> int:
        """Data blocks named."""
        return sum(file.block_count for file in self.files)

    @property
    def expected_blocks(self) -> float:
        """Data blocks that are expected to be read of those named."""
        return expected_blocks(self.files)

    @property
    def read_of_named(self) -> float:
        """Of the blocks named, the share that a launch is expected to read."""
        if not self.data_blocks:
            return 1.0
        return min(1.0, self.expected_blocks * self.read_share.mid / self.data_blocks)

    @property
    def raw_bytes(self) -> int:
        """Length of the files named."""
        return sum(file.size_bytes for file in self.files)

    @property
    def read_bytes(self) -> Interval:
        """Bytes, uncompressed, that a launch reads."""
        return self.read_share * sum(file.expected_bytes for file in self.files)


def select_apps(
    snap: SnapMetadata, inventory: Inventory, *, requested: Sequence[str] = ()
) -> tuple[tuple[str, ...], str]:
    """Return the target apps, and why these.

    Those requested; else the app that is named after the snap; else those with a
    desktop file; else all that have a command.

    :returns: names, the deciding one first, and the reason in words.
    :raises UsageError: if the snap has no app of a requested name.
    """
    if requested:
        for name in requested:
            check_app(snap.name, snap.apps, name)
        return tuple(dict.fromkeys(requested)), "named"
    if snap.name in snap.apps:
        return (snap.name,), "named after the snap"
    shown = tuple(app for app in snap.apps if desktop_file(snap, inventory, app))
    if shown:
        return shown, "with a desktop file"
    return tuple(snap.apps), "all apps of the snap"


def desktop_file(snap: SnapMetadata, inventory: Inventory, name: str) -> str | None:
    """Return an app's desktop file, relative to the payload; ``None`` without one.

    One that snap.yaml names may be missing.
    """
    desktop = snap.apps[name].desktop
    if desktop is not None:
        return desktop
    usual = f"meta/gui/{name}.desktop"
    return usual if usual in inventory.entries else None


def check_app(snap: str, apps: Collection[str], name: str) -> None:
    """Raise a :class:`UsageError` if a snap has no app of a name."""
    if name in apps:
        return
    near = difflib.get_close_matches(name, apps, n=1)
    message = f"Snap {snap!r} has no app {name!r}"
    raise UsageError(
        message,
        resolution=(f"Did you mean {near[0]!r}? " if near else "")
        + f"Its apps: {', '.join(sorted(apps)) or 'none'}.",
    )

"""How much longer a launch takes than before, and because of which files."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Literal

from ..core.units import Interval, combined

if TYPE_CHECKING:  # rules that need no analysis load this
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from ..devices.device import DeviceProfile
    from ..launch.launch_set import LaunchFile, LaunchSet
    from ..launch.model import BlockSums, LaunchEstimate
    from .build import Build

_Part = tuple[Literal["same", "old", "new"], int, "LaunchEstimate"]
"""A launch's blocks of one group in one of the builds: the group, their sign, cost."""

Verdict = Literal["slower", "faster", "same", "undecided"]

UNNOTICED_S = 0.005
"""What prints as 0.00 s."""

_DEVICE_FIGURES = ("seeks", "transfer", "work")
_LAUNCH_FIGURES = ("seek_share", "read_share", "waited_share")


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchCause:
    """Why a launch takes more or less time; the middle of an estimate.

    :param path: of a file; ``None`` for the compression of files that didn't change.
    :param old_bytes: the file's length before; ``None`` if it is new.
    :param new_bytes: its length now; ``None`` if it is gone.
    :param unchanged: whether the file is the same, but other parts of it are read.
    """

    path: str | None
    seconds: float
    old_bytes: int | None = None
    new_bytes: int | None = None
    unchanged: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class FigureChange:
    """What one app's cold launch adds over a warm one, before and now; estimates."""

    app: str
    device: str
    old_s: Interval
    new_s: Interval
    change_s: Interval

    @property
    def verdict(self) -> Verdict:
        """Which way it went, as far as the whole interval tells."""
        change = self.change_s
        if max(abs(change.low), abs(change.high)) < UNNOTICED_S:
            return "same"
        if change.low > 0:
            return "slower"
        return "faster" if change.high < 0 else "undecided"


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchChange(FigureChange):
    """One app's launch in two builds: what is the same in both cancels out.

    :param causes: the largest first.
    :param source: ``static`` if either launch is guessed.
    """

    causes: tuple[LaunchCause, ...]
    source: Literal["static", "recorded"]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reads:
    """What one build's launch comes to, on whichever device.

    :param whole: all blocks.
    :param same: those of files that the other build's launch reads alike.
    :param rest: the whole less these: runs of blocks don't add up file by file.
    :param files: each file's alone.
    """

    build: Build
    launch_set: LaunchSet
    whole: BlockSums
    same: BlockSums
    rest: BlockSums
    files: Mapping[str, BlockSums]

    def estimate(self, sums: BlockSums, device: DeviceProfile) -> LaunchEstimate:
        """Return the cost of some of its blocks on a device."""
        from ..launch.model import cost_of_blocks  # noqa: PLC0415 # numpy

        return cost_of_blocks(sums, self.launch_set, self.build.codec, device)

    def seconds_by_file(self, device: DeviceProfile) -> dict[str, float]:
        """Return the middle of what each file's blocks cost."""
        return {
            path: self.estimate(sums, device).added_s.mid
            for path, sums in self.files.items()
        }


def compare_launches(
    old: Build,
    new: Build,
    devices: Sequence[DeviceProfile],
    unchanged: frozenset[str],
) -> Iterator[LaunchChange]:
    """Yield the change of every app that both builds have, device by device.

    :param unchanged: paths of files with the same contents in both.
    """
    old, new = _alike(old, new, unchanged)
    for app, now in new.launch_sets.items():
        before = old.launch_sets.get(app)
        if before is None or not (before.files and now.files):
            continue
        known = set(before.files)
        same = {
            file.path for file in now.files if file in known and file.path in unchanged
        }
        reads = (_reads(old, _like(before, now), same), _reads(new, now, same))
        for device in devices:
            yield _change(*reads, device, unchanged)


def _alike(old: Build, new: Build, unchanged: frozenset[str]) -> tuple[Build, Build]:
    """Return both builds, with unchanged files' blocks of the same size in both.

    A trial measures some blocks of a prime directory and estimates the others, so the
    same file would seem to have changed. An image's own figures go before a trial's.
    """
    if old.codec != new.codec or (old.measured and new.measured):
        return old, new
    if old.measured:
        return old, new.with_blocks_of(old, unchanged)
    return old.with_blocks_of(new, unchanged), new


def _reads(build: Build, launch_set: LaunchSet, same: set[str]) -> _Reads:
    from ..launch.model import BlockSums, sum_blocks  # noqa: PLC0415 # numpy

    def sums(files: Iterable[LaunchFile]) -> BlockSums:
        return sum_blocks(replace(launch_set, files=tuple(files)), build.trial)

    whole = sums(launch_set.files)
    shared = sums(file for file in launch_set.files if file.path in same)
    rest = {
        each.name: getattr(whole, each.name) - getattr(shared, each.name)
        for each in fields(BlockSums)
    }
    return _Reads(
        build=build,
        launch_set=launch_set,
        whole=whole,
        same=shared,
        rest=BlockSums(**rest),
        files={file.path: sums((file,)) for file in launch_set.files},
    )


def _like(before: LaunchSet, now: LaunchSet) -> LaunchSet:
    """Return the old launch with the new one's shares, if both are of a kind.

    What a guess of this kind of application misses, it misses in both builds.
    """
    if (before.source, before.basis) != (now.source, now.basis):
        return before
    return replace(
        before,
        read_share=now.read_share,
        seek_share=now.seek_share,
        waited_share=now.waited_share,
    )


def _change(
    old: _Reads, new: _Reads, device: DeviceProfile, unchanged: frozenset[str]
) -> LaunchChange:
    before, now = (each.estimate(each.whole, device).added_s for each in (old, new))
    parts: tuple[_Part, ...] = (
        ("same", -1, old.estimate(old.same, device)),
        ("same", 1, new.estimate(new.same, device)),
        ("old", -1, old.estimate(old.rest, device)),
        ("new", 1, new.estimate(new.rest, device)),
    )
    change = _combined(parts)
    # Where the builds are of two kinds of application, shares of the same differ too.
    drift = now.mid - before.mid - change.mid
    sources = (old.launch_set.source, new.launch_set.source)
    return LaunchChange(
        app=new.launch_set.app,
        device=device.name,
        old_s=before,
        new_s=now,
        change_s=change.map(lambda end: end + drift),
        causes=tuple(_causes(old, new, device, unchanged)),
        source="static" if "static" in sources else "recorded",
    )


def _combined(parts: Sequence[_Part]) -> Interval:
    """Return new less old, with the interval that the figures leave open.

    Both launches are on one device, so each figure of the device goes to its ends in
    both at once. So does what is uncertain of the launch if both read the same; of
    what only one of them reads, it is independent.
    """
    groups = dict.fromkeys(group for group, _, _ in parts)
    names = [
        *((group, share) for group in groups for share in _LAUNCH_FIGURES),
        *_DEVICE_FIGURES,
    ]

    def total(ends: Sequence[float]) -> float:
        """Return new less old, each figure at its low end, middle or high end."""
        at = dict(zip(names, map(int, ends), strict=True))
        seconds = 0.0
        for group, sign, each in parts:
            seek_share, read_share, waited_share = (
                getattr(each, name).ends[at[group, name]] for name in _LAUNCH_FIGURES
            )
            work = (each.fill + each.decompress).ends[at["work"]]
            transfer = each.transfer.ends[at["transfer"]]
            seconds += sign * (
                each.seeks.ends[at["seeks"]] * seek_share
                + (transfer + work * waited_share) * read_share
            )
        return seconds

    ends = [Interval(low=0, mid=1, high=2)] * len(names)
    return combined(total, ends, bounded=False)


def _causes(
    old: _Reads, new: _Reads, device: DeviceProfile, unchanged: frozenset[str]
) -> list[LaunchCause]:
    before, now = (each.seconds_by_file(device) for each in (old, new))
    alike = set(old.launch_set.files) & set(new.launch_set.files)
    same = {file.path for file in alike} & unchanged
    causes = [
        LaunchCause(
            path=path,
            seconds=now.get(path, 0.0) - before.get(path, 0.0),
            old_bytes=_length(old.build, path),
            new_bytes=_length(new.build, path),
            unchanged=path in unchanged,
        )
        for path in sorted((before.keys() | now.keys()) - same)
    ]
    if old.build.codec != new.build.codec:
        repacked = sum(now[path] - before[path] for path in sorted(same))
        causes.append(LaunchCause(path=None, seconds=repacked))
    return sorted(causes, key=lambda cause: (-abs(cause.seconds), cause.path or ""))


def _length(build: Build, path: str) -> int | None:
    entry = build.payload.inventory.entries.get(path)
    return None if entry is None else entry.size_bytes


def lost_text(app: str, names: Sequence[str]) -> str:
    """Return that an app may not start any more, in a sentence."""
    return (
        f"{app} needs {', '.join(names)}, which only the old build has: unless the "
        "base or a content snap brings it, the app doesn't start."
    )

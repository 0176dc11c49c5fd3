"""Two builds of a snap compared: the image, its files, its launches."""

from __future__ import annotations

import posixpath
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from itertools import starmap
from typing import TYPE_CHECKING, Literal

from ..advice.judging import SNAPCRAFT_DEFAULT
from ..core.units import Interval
from ..launch.fit import fit_profile
from ..launch.guess.guess import static_launch_set
from ..launch.launch_set import select_apps
from ..payload.source import SnapPayload
from ..refresh.estimate import check_names
from ..trial.sampled import run_sampled_trial
from .build import Build, prime_build, snap_build
from .files import NONE, FilesDifference, compare_files, unchanged_paths
from .launches import LaunchChange, compare_launches, lost_text

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from ..devices.device import DeviceProfile
    from ..launch.launch_set import LaunchSet
    from ..launch.profile import LaunchProfile
    from ..payload.source import Payload
    from ..trial.result import Progress, TrialResult


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One of the two builds, for a report: its figures without its payload."""

    path: Path
    codec: str
    image_bytes: Interval
    measured: bool
    files: int

    @property
    def origin(self) -> Literal["measured", "estimated"]:
        """How its size is known."""
        return "measured" if self.measured else "estimated"


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildDifference:
    """What changed from one build of a snap to the next.

    :param launches: of the target apps that both builds have.
    :param lost: by app, libraries that it needs, and that only the old build has.
    :param notes: what couldn't be compared, and why; plain sentences.
    """

    name: str
    old: Side
    new: Side
    files: FilesDifference
    launches: tuple[LaunchChange, ...]
    lost: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def image_change(self) -> Interval:
        """What the image grew by; nothing if it has the same files and size."""
        if self.old.image_bytes == self.new.image_bytes and not self.files.changes:
            return Interval.exactly(0)
        return self.new.image_bytes + -self.old.image_bytes

    @property
    def tables_change(self) -> Interval:
        """What of that belongs to no file: the image's tables and its padding."""
        files = sum((each.stored_change for each in self.files.changes), NONE)
        return self.image_change + -files + -self.files.repacked_bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class DifferenceRequest:
    """What is to be compared.

    :param apps: whose launches count; none leaves the choice to the advisor.
    :param profiles: recorded launches, of either build.
    :param codecs: what prime directories will be packed with, by path.
    :param trials: of prime directories that were tried before, by path.
    """

    devices: tuple[DeviceProfile, ...]
    apps: tuple[str, ...] = ()
    profiles: tuple[LaunchProfile, ...] = ()
    codecs: Mapping[Path, str | None]
    trials: Mapping[Path, TrialResult]


def compare_payloads(
    old: Payload, new: Payload, request: DifferenceRequest, *, progress: Progress
) -> BuildDifference:
    """Compare two builds of one snap.

    Sizes of built snaps are their own; those of prime directories are estimated.

    :raises BadDataError: if they aren't of one snap, or an image is broken.
    :raises UsageError: if neither has an app that is asked for.
    """
    check_names(old, new)
    for app in _named_apps(request):
        if app not in old.snap.apps:
            select_apps(new.snap, new.inventory, requested=(app,))  # refuses others
    progress("Comparing files")
    with ThreadPoolExecutor(max_workers=1) as beside:
        same = beside.submit(unchanged_paths, old, new)
        builds = [_build(each, request, progress=progress) for each in (old, new)]
        unchanged = same.result()
    before, now = builds
    files = compare_files(before, now, unchanged)
    launches: tuple[LaunchChange, ...] = ()
    if not any(each.unlike_snap_pack for each in builds):
        launches = tuple(compare_launches(before, now, request.devices, unchanged))
        if before.codec == now.codec and not files.changes:
            before, now = _of_one_size(before, now)
    lost = _lost(before, now)
    return BuildDifference(
        name=new.snap.name,
        old=_side(before),
        new=_side(now),
        files=files,
        launches=launches,
        lost=lost,
        notes=(*starmap(lost_text, lost.items()), *_notes(before, now)),
    )


def _of_one_size(old: Build, new: Build) -> tuple[Build, Build]:
    """Return two builds of the same files, whose images are of the same size.

    What a trial estimates of a prime directory, an image's own size says better.
    """
    if old.measured and new.measured:
        return old, new
    size = (old if old.measured else new).image_bytes
    return replace(old, image_bytes=size), replace(new, image_bytes=size)


def _build(
    payload: Payload, request: DifferenceRequest, *, progress: Progress
) -> Build:
    progress("Finding what a launch reads")
    launch_sets = _launch_sets(payload, request)
    if isinstance(payload, SnapPayload):
        return snap_build(payload, launch_sets)
    trial = request.trials.get(payload.path) or run_sampled_trial(
        payload, progress=progress
    )
    codec = request.codecs.get(payload.path) or SNAPCRAFT_DEFAULT
    return prime_build(payload, launch_sets, trial, codec=codec)


def _named_apps(request: DifferenceRequest) -> tuple[str, ...]:
    return request.apps or tuple(profile.app for profile in request.profiles)


def _launch_sets(payload: Payload, request: DifferenceRequest) -> dict[str, LaunchSet]:
    """Return the launch sets of the target apps that this build has."""
    profiles = {profile.app: profile for profile in request.profiles}
    named = _named_apps(request)
    apps: tuple[str, ...] = tuple(app for app in named if app in payload.snap.apps)
    if not named:
        apps, _ = select_apps(payload.snap, payload.inventory)
    return {
        app: fit_profile(profiles[app], payload.inventory).launch_set
        if app in profiles
        else static_launch_set(payload, app)
        for app in apps
    }


def _side(build: Build) -> Side:
    return Side(
        path=build.payload.path,
        codec=build.codec,
        image_bytes=build.image_bytes,
        measured=build.measured,
        files=build.payload.inventory.file_count,
    )


def _lost(old: Build, new: Build) -> Mapping[str, tuple[str, ...]]:
    """Return the libraries that launches lack by now, by app."""
    shipped = {posixpath.basename(path) for path in old.payload.inventory.entries}
    lost = {
        app: tuple(
            each.name
            for each in launch_set.unresolved
            if each.name in shipped
            and each.name
            not in {known.name for known in old.launch_sets[app].unresolved}
        )
        for app, launch_set in new.launch_sets.items()
        if app in old.launch_sets
    }
    return {app: names for app, names in lost.items() if names}


def _notes(old: Build, new: Build) -> list[str]:
    notes = [
        f"Launches aren't compared: {which} image isn't built as 'snap pack' builds "
        f"images ({build.unlike_snap_pack})."
        for which, build in (("the old", old), ("the new", new))
        if build.unlike_snap_pack
    ]
    for build, other, what in ((old, new, "gone"), (new, old, "new")):
        apps = sorted(build.launch_sets.keys() - other.launch_sets.keys())
        notes += [f"App {app} is {what}, so its launch isn't compared." for app in apps]
    notes += [
        f"It isn't known which files a launch of {app} reads."
        for app, launch_set in new.launch_sets.items()
        if app in old.launch_sets
        and not (launch_set.files and old.launch_sets[app].files)
    ]
    return notes

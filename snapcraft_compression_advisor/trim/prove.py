"""Whether a snap still starts, and reads the same, without what it needn't ship."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ..capture.packed_images import packed_images
from ..capture.recordings import recorded_profiles
from ..core.errors import AdvisorError
from ..core.scratch import scratch_directory
from ..payload.source import Payload, open_payload
from ..settings.lint_policy import Recording
from ..squashfs.mksquashfs import unpack
from .filters import emptied_directories
from .plan import TrimGroup, TrimPlan

if TYPE_CHECKING:
    from ..capture.recordings import Told
    from ..launch.profile import LaunchProfile, ProfileFile

LEAST_COMMON = 0.8
"""Of the blocks that two launches read: two recordings of one payload by different
methods have at least 0.9 in common (docs/accuracy.md). A start on another way has far
fewer."""

_ROOM = "Set TMPDIR to a directory on a larger disk."

Trial = Callable[[Sequence[TrimGroup]], Mapping[str, str]]
"""Leaves groups out, starts the apps, and returns what is wrong with which app."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AppProof:
    """How an app starts.

    :param problem: why it can't be started even with all files; then nothing is proven.
    :param common_share: of the blocks outside the files left out that launches before
        and after read, those that both do.
    """

    app: str
    problem: str | None = None
    common_share: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TakenBack:
    """A group that an app needs after all."""

    group: TrimGroup
    app: str
    problem: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """What became of a snap without some files.

    :param groups: that were left out in the end.
    :param apps: all of the snap's.
    :param before_bytes: of the image with all files, packed with the plan's codec.
    :param after_bytes: of the image without.
    """

    groups: tuple[TrimGroup, ...]
    apps: tuple[AppProof, ...]
    taken_back: tuple[TakenBack, ...]
    before_bytes: int
    after_bytes: int


def prove_trim(
    payload: Payload, plan: TrimPlan, told: Told, *, scratch: Path | None = None
) -> Proof:
    """Leave the sure groups out of a copy, start every app, and compare.

    A group without which an app doesn't start, or reads something else, is found by
    bisection and taken back.

    :param scratch: where copies and images go; the system's temporary directory by
        default.
    :raises AdvisorError: where no app can be started at all, or there is no room.
    """
    started = {app: _recorded(payload, app, told) for app in payload.snap.apps}
    profiles = {
        app: found for app, found in started.items() if not isinstance(found, str)
    }
    taken_back: list[TakenBack] = []
    common: dict[str, float] = {}

    def trial(groups: Sequence[TrimGroup]) -> Mapping[str, str]:
        with _without(payload, groups, scratch) as trimmed:
            return dict(_problems(trimmed, profiles, groups, told, common))

    groups = list(plan.sure)
    while profiles and (problems := trial(groups)):
        app, problem = next(iter(problems.items()))
        group = find_culprit(groups, trial)
        taken_back.append(TakenBack(group=group, app=app, problem=problem))
        groups.remove(group)
        if not groups:
            break
    before_bytes = _packed_bytes(payload, plan.codec, told, scratch)
    with _without(payload, groups, scratch) as trimmed:
        after_bytes = _packed_bytes(trimmed, plan.codec, told, scratch)
    return Proof(
        groups=tuple(groups),
        apps=tuple(
            AppProof(app=app, problem=found)
            if isinstance(found, str)
            else AppProof(app=app, common_share=common.get(app, 1.0))
            for app, found in started.items()
        ),
        taken_back=tuple(taken_back),
        before_bytes=before_bytes,
        after_bytes=after_bytes,
    )


def find_culprit(groups: Sequence[TrimGroup], trial: Trial) -> TrimGroup:
    """Return a group without which an app fails, by bisection.

    :param groups: all of which together make one fail; at least one.
    """
    left = list(groups)
    while len(left) > 1:
        half = left[: len(left) // 2]
        left = half if trial(half) else left[len(half) :]
    return left[0]


def _recorded(payload: Payload, app: str, told: Told) -> LaunchProfile | str:
    """Return a recorded launch, or why there is none."""
    wanted = Recording(app=app, required=True)
    try:
        (profile,) = recorded_profiles(payload, (wanted,), told)
    except AdvisorError as error:
        return str(error)
    return profile


def _problems(
    trimmed: Payload,
    profiles: Mapping[str, LaunchProfile],
    groups: Sequence[TrimGroup],
    told: Told,
    common: dict[str, float],
) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with apps that started before.

    :param common: is filled with the share of blocks that both launches read.
    """
    gone = frozenset(path for group in groups for path in group.files)
    for app, profile in profiles.items():
        after = _recorded(trimmed, app, told)
        if isinstance(after, str):
            yield app, after
            continue
        share = common_share(profile.files, after.files, gone)
        common[app] = share
        if share < LEAST_COMMON:
            yield app, f"its launch reads something else: {share:.0%} in common"


def common_share(
    before: Sequence[ProfileFile], after: Sequence[ProfileFile], gone: frozenset[str]
) -> float:
    """Return which share of the blocks read two launches have in common.

    :param gone: files that don't count.
    """
    one, other = ({*_blocks(files, gone)} for files in (before, after))
    return len(one & other) / len(one | other) if one | other else 1.0


def _blocks(
    files: Sequence[ProfileFile], gone: frozenset[str]
) -> Iterator[tuple[str, int]]:
    for file in files:
        if file.path not in gone:
            for first, last in file.blocks:
                yield from ((file.path, number) for number in range(first, last + 1))


@contextmanager
def _without(
    payload: Payload, groups: Sequence[TrimGroup], scratch: Path | None
) -> Iterator[Payload]:
    """Give a copy of a payload without some files; its files are hard links."""
    gone = {path for group in groups for path in group.files}
    with scratch_directory(scratch, resolution=_ROOM) as folder:
        tree = folder / "prime"
        if payload.kind == "snap":
            unpack(payload.path, tree)
        else:
            shutil.copytree(
                payload.path, tree, symlinks=True, copy_function=_link_or_copy
            )
        for path in gone:
            (tree / path).unlink()
        emptied = emptied_directories(gone, payload.inventory)
        for path in sorted(emptied, reverse=True):  # what is in one before it
            (tree / path).rmdir()
        with open_payload(tree) as trimmed:
            yield trimmed


def _link_or_copy(source: str, target: str) -> None:
    try:
        os.link(source, target, follow_symlinks=False)
    except OSError:  # another file system, or a file of somebody else
        shutil.copy2(source, target, follow_symlinks=False)


def _packed_bytes(
    payload: Payload, codec: str, told: Told, scratch: Path | None
) -> int:
    """Return the size of the image of a payload."""
    with packed_images(
        payload, (codec,), scratch=scratch, progress=told.progress
    ) as images:
        return images.paths[codec].stat().st_size

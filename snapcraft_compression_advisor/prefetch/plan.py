"""What of a launch is read ahead, in the order of the image."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from ..core.errors import BadDataError, UsageError
from ..launch.fit import fit_profile
from ..launch.launch_set import LaunchFile
from ..launch.profile import LaunchProfile
from ..payload.elf import ELF_MAGIC
from ..payload.layout import Layout, lay_out
from ..payload.source import Payload

LEAST_SHARE = 0.5
"""A block that a launch reads with less is rather left out."""

_SEED = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class PrefetchRange:
    """Adjacent data blocks of 128 KiB of a file, both ends included."""

    path: str
    first: int
    last: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PrefetchPlan:
    """What is read ahead of an app.

    :param ranges: in the order of the image.
    :param left_out_bytes: that the launch reads and that exceed the budget.
    :param fitting_share: of the profile's blocks that the payload has.
    """

    app: str
    ranges: tuple[PrefetchRange, ...]
    blocks: int
    raw_bytes: int
    budget_bytes: float
    left_out_bytes: int
    fitting_share: float


def list_text(ranges: Sequence[PrefetchRange]) -> str:
    """Return ranges as the program that is started first reads them."""
    return "".join(f"{each.first} {each.last} {each.path}\n" for each in ranges)


def plan_prefetch(
    payload: Payload, profile: LaunchProfile, budget_bytes: float
) -> PrefetchPlan:
    """Choose what is read ahead of a launch.

    Programs and libraries come first if the budget doesn't suffice: a launch links
    before it reads anything else.

    :raises UsageError: if the snap doesn't have the app.
    :raises BadDataError: if the payload has nothing of the profile.
    """
    app = payload.snap.apps.get(profile.app)
    if app is None or not app.command:
        message = f"Snap {payload.snap.name!r} has no app {profile.app!r} to start"
        apps = ", ".join(sorted(payload.snap.apps)) or "none"
        raise UsageError(message, resolution=f"Record one of its apps: {apps}.")
    fitted = fit_profile(profile, payload.inventory)
    layout = lay_out(payload)
    wanted = list(_blocks(payload, layout, fitted.launch_set.files))
    if not wanted:
        message = "The payload has none of the files in the launch profile"
        raise BadDataError(
            message, resolution="Use a profile of this snap, or record one."
        )
    raw_bytes = layout.raw_bytes()
    kept: list[_Block] = []
    kept_bytes = left_out_bytes = 0
    for block in wanted:
        size_bytes = int(raw_bytes[block.place])
        if kept_bytes + size_bytes > budget_bytes:
            left_out_bytes += size_bytes
            continue
        kept_bytes += size_bytes
        kept.append(block)
    return PrefetchPlan(
        app=profile.app,
        ranges=tuple(_ranges(kept)),
        blocks=len(kept),
        raw_bytes=kept_bytes,
        budget_bytes=budget_bytes,
        left_out_bytes=left_out_bytes,
        fitting_share=fitted.fitting_share,
    )


def wrong_ranges(payload: Payload, plan: PrefetchPlan) -> tuple[PrefetchRange, ...]:
    """Return as many other blocks, drawn by lot, that a list wrongly has.

    What reading them ahead changes isn't the merit of the right list.
    """
    layout = lay_out(payload)
    read = {
        layout.blocks_of(each.path).start + number
        for each in plan.ranges
        for number in range(each.first, each.last + 1)
    }
    others = [
        _Block(place=start + number, path=path, number=number)
        for path in layout.paths
        if _may_be_listed(path)
        for start in (layout.blocks_of(path).start,)
        for number in range(len(layout.blocks_of(path)))
        if start + number not in read
    ]
    chance = random.Random(_SEED)  # noqa: S311 # a sample, not a secret
    return tuple(_ranges(chance.sample(others, min(plan.blocks, len(others)))))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Block:
    """A block by its number in the image (``place``) and in its file."""

    place: int
    path: str
    number: int


def _blocks(
    payload: Payload, layout: Layout, files: Sequence[LaunchFile]
) -> Iterator[_Block]:
    """Yield the blocks of a launch, those of programs and libraries first."""
    linked = {
        each.path
        for each in files
        if payload.read(each.path, offset=0, length=len(ELF_MAGIC)) == ELF_MAGIC
    }
    for file in sorted(files, key=lambda each: each.path not in linked):
        places = layout.blocks_of(file.path)
        for first, last, share in file.ranges():
            if share < LEAST_SHARE or not _may_be_listed(file.path):
                continue
            for number in range(first, min(last + 1, len(places))):
                yield _Block(place=places[number], path=file.path, number=number)


def _may_be_listed(path: str) -> bool:
    """Return whether a path stands in one line."""
    return "\n" not in path and path.isprintable()


def _ranges(blocks: Sequence[_Block]) -> Iterator[PrefetchRange]:
    """Yield ranges of blocks in the order of the image."""
    ordered = sorted(blocks, key=lambda each: (each.place, each.path))
    runs = groupby(
        enumerate(ordered), key=lambda each: (each[1].path, each[1].number - each[0])
    )
    for (path, _), run in runs:
        numbers = [block.number for _, block in run]
        yield PrefetchRange(path=path, first=numbers[0], last=numbers[-1])

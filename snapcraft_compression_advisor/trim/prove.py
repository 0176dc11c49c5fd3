"""Whether a snap still starts, and reads the same, without what it needn't ship."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..capture.missed_files import can_trace, missed_files
from ..capture.recordings import isolated_request, recorded_profiles
from ..capture.samples import Difference, difference
from ..core.errors import AdvisorError
from ..payload.source import Payload
from .plan import TrimGroup, TrimPlan
from .without import AFTER, BEFORE, Starts, packed, timed, without

if TYPE_CHECKING:
    from ..capture.measure import Turns
    from ..launch.profile import LaunchProfile, ProfileFile

LEAST_COMMON = 0.93
"""Of the blocks that two launches from the same files read: the least of 24
applications that were recorded twice (study/data/directory-launches.csv)."""

_SHOWN_CHARACTERS = 300
"""Of the last line that an app printed."""
_STARTS = 3
"""So often has an app to fail that is to count as one that doesn't start."""

Trial = Callable[[Sequence[TrimGroup]], Mapping[str, str]]
"""Leaves groups out, starts the apps, and returns what is wrong with which app."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AppProof:
    """How an app starts.

    :param problem: why it can't be started even with all files; then nothing is proven.
    :param common_share: of the blocks outside the files left out that launches before
        and after read, those that both do.
    :param traced: whether the launch was also traced for files that were left out.
    :param turns: cold and warm launches ``before`` and ``after``, if they were timed.
    """

    app: str
    problem: str | None = None
    common_share: float | None = None
    traced: bool = False
    turns: Turns | None = None

    @property
    def saved(self) -> Difference | None:
        """How much faster cold launches are without the files."""
        if self.turns is None:
            return None
        return difference(self.turns.cold_s[BEFORE], self.turns.cold_s[AFTER])


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
    :param before_bytes: size of the image with all files, packed with the plan's codec.
    """

    groups: tuple[TrimGroup, ...]
    apps: tuple[AppProof, ...]
    taken_back: tuple[TakenBack, ...]
    before_bytes: int
    after_bytes: int


def prove_trim(
    payload: Payload,
    plan: TrimPlan,
    starts: Starts,
) -> Proof:
    """Leave the sure groups out of a copy, start every app, and compare.

    A group without which an app doesn't start, reads something else, or looks for what
    is gone, is found by bisection and taken back.

    :raises AdvisorError: if no app can be started at all, or there is no room.
    """
    started = {app: _recorded(payload, app, starts) for app in payload.snap.apps}
    profiles = {
        app: found for app, found in started.items() if not isinstance(found, str)
    }
    taken_back: list[TakenBack] = []
    common: dict[str, float] = {}

    def trial(groups: Sequence[TrimGroup]) -> Mapping[str, str]:
        with without(payload, groups) as trimmed:
            return dict(_problems(payload, trimmed, profiles, groups, starts, common))

    groups = list(plan.sure)
    while profiles and groups and (problems := trial(groups)):
        app, problem = next(iter(problems.items()))
        group = find_culprit(groups, trial)
        taken_back.append(TakenBack(group=group, app=app, problem=problem))
        groups.remove(group)
    with packed(payload, plan.codec, groups, starts) as images:
        before_bytes, after_bytes = (path.stat().st_size for path in images.values())
        turns = {
            app: timed(payload, app, images, starts) for app in profiles if starts.timed
        }
    return Proof(
        groups=tuple(groups),
        apps=tuple(
            AppProof(app=app, problem=found)
            if isinstance(found, str)
            else AppProof(
                app=app,
                common_share=common.get(app, 1.0),
                traced=can_trace(),
                turns=turns.get(app),
            )
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


def _recorded(payload: Payload, app: str, starts: Starts) -> LaunchProfile | str:
    """Return a recorded launch, or why there is none.

    An app that fails is started again: some fail by chance, with all files too. Of
    twelve launches of Debian 12's xsoldier, one did, and on a busy machine two in turn.
    """
    problem = ""
    for _ in range(_STARTS):
        try:
            (profile,) = recorded_profiles(
                payload, (starts.of(app),), starts.reporter, within=starts.within
            )
        except AdvisorError as error:  # noqa: PERF203 # a launch takes seconds
            words = [
                line[:_SHOWN_CHARACTERS] for line in (error.details or "").split("\n")
            ]
            sentences = filter(None, (str(error), words[-1], error.resolution))
            problem = ". ".join(sentences).removesuffix(".")
            starts.reporter.progress(f"{app} failed: {problem}")
        else:
            return profile
    return problem


def _problems(  # noqa: PLR0913, PLR0917 # what is compared, and how
    payload: Payload,
    trimmed: Payload,
    profiles: Mapping[str, LaunchProfile],
    groups: Sequence[TrimGroup],
    starts: Starts,
    common: dict[str, float],
) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with apps that started before.

    :param common: is filled with the share of blocks that both launches read.
    """
    gone = frozenset(path for group in groups for path in group.files)
    for app, profile in profiles.items():
        after = _recorded(trimmed, app, starts)
        if isinstance(after, str):
            yield app, after
            continue
        share, least = common_share(profile.files, after.files, gone), LEAST_COMMON
        if share < least:  # by chance, perhaps
            further = tuple(_recorded(each, app, starts) for each in (payload, trimmed))
            share, repeated = _best_share((profile, after), further, gone)
            least *= repeated
        common[app] = share
        if share < least:
            yield app, f"its launch reads something else: {share:.0%} in common"
        elif missed := _missed(payload, trimmed, app, groups, starts):
            yield app, f"it looks for {missed[0]}"


def _best_share(
    first: tuple[LaunchProfile, LaunchProfile],
    further: Sequence[LaunchProfile | str],
    gone: frozenset[str],
) -> tuple[float, float]:
    """Compare more launches if two, before and after, have little in common.

    :param further: one more each, or why the app didn't start this time.
    :returns: the most that one before and one after have in common, and what two before
        have; 1 if that isn't known.
    """
    before, after = (
        [one.files, *([] if isinstance(other, str) else [other.files])]
        for one, other in zip(first, further, strict=True)
    )
    best = max(common_share(one, other, gone) for one in before for other in after)
    return best, common_share(before[0], before[-1], gone)


def _missed(
    payload: Payload,
    trimmed: Payload,
    app: str,
    groups: Sequence[TrimGroup],
    starts: Starts,
) -> list[str]:
    """Return the files left out that a traced launch tries to open, sorted.

    A library that another snap brings is looked for in this one, too.
    """
    counted = {
        path
        for group in groups
        if group.reason != "supplied-libraries"
        for path in group.files
    }
    if not counted or not can_trace():
        return []
    wanted, reporter = starts.of(app), starts.reporter
    with isolated_request(
        trimmed, wanted, reporter, doing="Tracing", within=starts.within
    ) as request:
        return sorted(missed_files(payload, trimmed, request) & counted)


def common_share(
    before: Sequence[ProfileFile], after: Sequence[ProfileFile], gone: frozenset[str]
) -> float:
    """Return which share of the blocks read two launches have in common.

    :param gone: files that don't count.
    """
    one, other = (
        {
            (file.path, number)
            for file in files
            if file.path not in gone
            for first, last in file.blocks
            for number in range(first, last + 1)
        }
        for files in (before, after)
    )
    return len(one & other) / len(one | other) if one | other else 1.0

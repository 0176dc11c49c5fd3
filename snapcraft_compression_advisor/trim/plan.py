"""What could be left out of a snap, and what that would save."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

from ..core.units import Interval
from ..launches import estimates_of
from ..payload.references import goes_along, links_of, needed_directories, referrer
from ..payload.survey import take_survey
from .filters import filters_of
from .find import Reason, Trim, find_trims
from .needed import needed_files, newly_missing
from .sizes import TrimSizes, trim_sizes

if TYPE_CHECKING:
    from pathlib import Path

    from ..analysis import Analysis
    from ..launches import LaunchAnalysis, Surroundings
    from ..payload.source import Payload
    from ..trial.result import Progress

_ROUNDS = 8
"""At most, of leaving files out and looking what is missing."""

LEAST_SHARE = 1e-3
"""Of what can go in all: files of a kind that take less aren't worth a filter."""

NEEDED = "without it, {} lacks {}"


@dataclass(frozen=True, slots=True, kw_only=True)
class TrimGroup:
    """Files that could be left out for one reason.

    :param risk: why they may be needed all the same; ``None`` if nothing says so.
    :param files: the largest first, links after them.
    :param raw_bytes: uncompressed.
    :param image_bytes: by which the image shrinks; ``None`` if that isn't known. If
        nothing needs the files, this is without those of the groups before it.
    :param saved_s: by app and device, what a cold launch from the snap's own image is
        faster; apps without a launch that reads these files are left out.
    :param filters: by part, without hyphens; the part is empty if it isn't known.
    """

    reason: Reason
    risk: str | None
    files: tuple[str, ...]
    raw_bytes: int
    image_bytes: Interval | None
    saved_s: Mapping[str, Mapping[str, Interval]]
    filters: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class TrimPlan:
    """All that could be left out of a snap.

    :param codec: that its image has or will have.
    :param image_bytes: of the whole image.
    :param sure_bytes: by which it shrinks without all files that nothing needs.
    :param delta_share: size of a typical delta as a share of the image; ``None`` if
        it isn't known.
    :param groups: those that nothing needs first, then by bytes.
    :param small: further ones that nothing needs, but that take next to nothing.
    :param apps: whose launches were looked at.
    :param parts: of the project, as far as their files are known.
    """

    path: Path
    snap: str
    codec: str
    image_bytes: Interval | None
    sure_bytes: Interval | None
    delta_share: float | None
    groups: tuple[TrimGroup, ...]
    apps: tuple[str, ...]
    parts: tuple[str, ...]
    small: tuple[TrimGroup, ...] = ()

    @property
    def sure(self) -> tuple[TrimGroup, ...]:
        """Those that nothing is known to need."""
        return tuple(each for each in self.groups if each.risk is None)

    def only(self, proven: Sequence[TrimGroup]) -> TrimPlan:
        """Return a plan without groups that nothing seemed to need, but these."""
        kept = tuple(each for each in self.groups if each.risk or each in proven)
        if kept == self.groups:
            return self
        freed = (each.image_bytes for each in proven if each.image_bytes)
        off = sum(freed, Interval.exactly(0)) if self.sure_bytes else None
        return replace(self, groups=kept, sure_bytes=off)


def plan_trim(
    payload: Payload,
    analysis: Analysis,
    surroundings: Surroundings,
    parts: Mapping[str, frozenset[str]],
    *,
    progress: Progress,
) -> TrimPlan:
    """Find what could be left out, and what that would save.

    :param analysis: of the payload, for sizes and launches.
    :param parts: files by part, as far as they are known.
    :raises AdvisorError: if files can't be read.
    """
    progress("Finding files that needn't ship, and what launches need")
    trims = judged_trims(payload, surroundings, analysis.launches)
    unneeded = _with_links(payload, [each.path for each in trims if each.risk is None])
    codec = analysis.payload.declared_compression or "xz"
    progress("Compressing the files that nothing needs")
    sizes = trim_sizes(payload, analysis.trial, codec, unneeded)
    found = _groups(payload, analysis, trims, parts, sizes)
    sure = tuple(each for each in found if each.risk is None)
    worth = _worth_filters(sure, sizes) if sizes else sure
    names = {each.reason for each in worth}
    worth_paths = {path for each in worth for path in each.files}
    habits = analysis.policy.habits
    trial = analysis.trial.codecs.get(codec)
    return TrimPlan(
        path=payload.path,
        snap=payload.snap.name,
        codec=codec,
        image_bytes=trial.image_bytes if trial else None,
        sure_bytes=sizes.image_smaller(worth_paths) if sizes else None,
        delta_share=habits.delta_share if habits else None,
        groups=(*worth, *found[len(sure) :]),
        small=tuple(each for each in sure if each.reason not in names),
        apps=tuple(payload.snap.apps),
        parts=tuple(parts),
    )


def judged_trims(
    payload: Payload, surroundings: Surroundings, launches: Sequence[LaunchAnalysis]
) -> tuple[Trim, ...]:
    """Return the files that could be left out; risky if a launch may need them.

    :param launches: of target apps, recorded or guessed.
    """
    suppliers = surroundings.suppliers(payload.snap)
    survey = take_survey(payload, suppliers=suppliers)
    needed, missing = needed_files(payload, surroundings, launches)
    trims = tuple(
        replace(each, risk=each.risk or referrer(each.path, survey.references))
        for each in find_trims(payload, survey, suppliers)
        if each.path not in needed or each.reason == "supplied-libraries"
    )  # a library that another snap brings is read there instead
    for _ in range(_ROUNDS):
        sure = _with_links(payload, [each.path for each in trims if each.risk is None])
        lacking = newly_missing(payload, surroundings, sure, missing)
        doubted = tuple(_doubted(each, lacking) for each in trims)
        if doubted == trims:
            break
        trims = doubted
    return trims


def _doubted(trim: Trim, lacking: Mapping[str, frozenset[str]]) -> Trim:
    """Return a trim as risky where launches lack something without it."""
    name = trim.path.rpartition("/")[2]
    found = [each for each in lacking if name.startswith(each.rpartition("/")[2])]
    if trim.risk is not None or not found:
        return trim
    apps = ", ".join(sorted(lacking[found[0]]))
    return replace(trim, risk=NEEDED.format(apps, found[0]))


def _groups(
    payload: Payload,
    analysis: Analysis,
    trims: Sequence[Trim],
    parts: Mapping[str, frozenset[str]],
    sizes: TrimSizes | None,
) -> tuple[TrimGroup, ...]:
    by_key: dict[tuple[Reason, str | None], list[Trim]] = {}
    for trim in trims:
        by_key.setdefault((trim.reason, trim.risk), []).append(trim)
    codec = analysis.payload.declared_compression or "xz"
    groups = []
    for (reason, risk), found in by_key.items():
        largest = sorted(found, key=lambda each: (-each.size_bytes, each.path))
        files = [each.path for each in largest]
        paths = _with_links(payload, files)
        groups.append(
            TrimGroup(
                reason=reason,
                risk=risk,
                files=(*files, *sorted(paths.difference(files))),
                raw_bytes=sum(each.size_bytes for each in found),
                image_bytes=sizes.freed(paths) if sizes else None,
                saved_s=_saved_s(analysis, paths, codec),
                filters=_by_part(payload, paths, parts),
            )
        )
    return tuple(
        sorted(
            groups,
            key=lambda each: (
                each.risk is not None,
                -(each.image_bytes.mid if each.image_bytes else 0.0),
                each.reason,
            ),
        )
    )


def _worth_filters(
    sure: Sequence[TrimGroup], sizes: TrimSizes
) -> tuple[TrimGroup, ...]:
    """Return the groups that are worth filters, with sizes that add up.

    Contents that files of two groups have are stored once, and go with both of them.
    """

    def freed(groups: Sequence[TrimGroup]) -> Interval:
        return sizes.freed({path for each in groups for path in each.files})

    kept, least = list(sure), LEAST_SHARE * freed(sure).mid
    for each in reversed(sure):
        others = [other for other in kept if other is not each]
        if freed(kept).mid - freed(others).mid < least:
            kept = others
    totals = [freed(kept[:number]) for number in range(len(kept) + 1)]
    return tuple(
        replace(each, image_bytes=until - before)
        for each, (before, until) in zip(kept, pairwise(totals), strict=True)
    )


def _saved_s(
    analysis: Analysis, paths: frozenset[str], codec: str
) -> dict[str, dict[str, Interval]]:
    """Return the seconds that files' blocks add to cold launches, by app and device."""
    saved = {}
    for launch in analysis.launches:
        whole = launch.launch_set
        files = tuple(each for each in whole.files if each.path in paths)
        if files:
            estimates = estimates_of(
                replace(whole, files=files),
                analysis.trial,
                analysis.devices,
            )
            saved[whole.app] = {
                device: by_codec[codec].added_s
                for device, by_codec in estimates.items()
                if codec in by_codec
            }
    return saved


def _by_part(
    payload: Payload, paths: frozenset[str], parts: Mapping[str, frozenset[str]]
) -> dict[str, tuple[str, ...]]:
    """Return filters for the parts that brought some files."""
    found = {}
    known: set[str] = set()
    needed = needed_directories(payload.snap)
    for name, files in parts.items():
        own = paths & files
        if own:
            known |= own
            found[name] = filters_of(
                own, payload.inventory, present=files, needed=needed
            )
    left = paths - known
    if left:
        found[""] = filters_of(left, payload.inventory, needed=needed)
    return found


def _with_links(payload: Payload, paths: Collection[str]) -> frozenset[str]:
    """Return files with the links that go along with them, which would lead nowhere."""
    gone = set(paths)
    links = [each for each in links_of(payload) if goes_along(*each)]
    before = -1
    while before != len(gone):
        before = len(gone)
        gone.update(path for path, target in links if target in gone)
    return frozenset(gone)

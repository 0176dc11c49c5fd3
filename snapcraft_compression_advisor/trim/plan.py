"""What could be left out of a snap, and what that would save."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ..core.units import Interval
from ..launches import estimates_of
from ..payload.references import goes_along, links_of, needed_directories, referrer
from ..payload.survey import take_survey
from .filters import filters_of
from .find import Reason, Trim, find_trims, without_needed
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

NEEDED = "without it, {} lacks {}"


@dataclass(frozen=True, slots=True, kw_only=True)
class TrimGroup:
    """Files that could be left out for one reason.

    :param risk: why they may be needed all the same; ``None`` if nothing says so.
    :param files: the largest first, links after them.
    :param raw_bytes: uncompressed.
    :param image_bytes: by which the image shrinks; ``None`` if that isn't known.
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
    :param delta_share: size of a typical delta as a share of the image; ``None`` where
        nothing says so.
    :param groups: those that nothing needs first, then by bytes.
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

    @property
    def sure(self) -> tuple[TrimGroup, ...]:
        """Those that nothing is known to need."""
        return tuple(each for each in self.groups if each.risk is None)

    def only(self, proven: Sequence[TrimGroup]) -> TrimPlan:
        """Return a plan without groups that nothing seemed to need, but these."""
        kept = tuple(each for each in self.groups if each.risk or each in proven)
        return replace(self, groups=kept)


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
    sure = _with_links(payload, [each.path for each in trims if each.risk is None])
    codec = analysis.payload.declared_compression or "xz"
    progress("Compressing the files that nothing needs")
    sizes = trim_sizes(payload, analysis.trial, codec, sure)
    groups = _groups(payload, analysis, trims, parts, sizes)
    trial = analysis.trial.codecs.get(codec)
    return TrimPlan(
        path=payload.path,
        snap=payload.snap.name,
        codec=codec,
        image_bytes=trial.image_bytes if trial else None,
        sure_bytes=sizes.image_smaller(sure) if sizes else None,
        delta_share=_delta_share(analysis),
        groups=groups,
        apps=tuple(payload.snap.apps),
        parts=tuple(parts),
    )


def judged_trims(
    payload: Payload, surroundings: Surroundings, launches: Sequence[LaunchAnalysis]
) -> tuple[Trim, ...]:
    """Return what could be left out, risky where a launch may need it after all.

    :param launches: of target apps, recorded or guessed.
    """
    suppliers = _suppliers(payload, surroundings)
    survey = take_survey(payload, suppliers=suppliers)
    needed, missing = needed_files(payload, surroundings, launches)
    found = without_needed(tuple(find_trims(payload, survey, suppliers)), needed)
    trims = tuple(
        replace(each, risk=each.risk or referrer(each.path, survey.references))
        for each in found
    )
    for _ in range(_ROUNDS):
        sure = _with_links(payload, [each.path for each in trims if each.risk is None])
        lacking = newly_missing(payload, surroundings, sure, missing)
        doubted = tuple(_doubted(each, lacking) for each in trims)
        if doubted == trims:
            break
        trims = doubted
    return trims


def _suppliers(payload: Payload, surroundings: Surroundings) -> tuple[Payload, ...]:
    snap = payload.snap
    bases = (each for each in surroundings.bases if each.snap.name == snap.base_name)
    return (*bases, *surroundings.contents)


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
    groups = (
        _group(payload, analysis, reason, risk, found, parts, sizes)
        for (reason, risk), found in by_key.items()
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


def _group(  # noqa: PLR0913, PLR0917 # what a group is made of
    payload: Payload,
    analysis: Analysis,
    reason: Reason,
    risk: str | None,
    trims: Sequence[Trim],
    parts: Mapping[str, frozenset[str]],
    sizes: TrimSizes | None,
) -> TrimGroup:
    largest = sorted(trims, key=lambda each: (-each.size_bytes, each.path))
    files = [each.path for each in largest]
    paths = _with_links(payload, files)
    links = sorted(paths.difference(files))
    codec = analysis.payload.declared_compression or "xz"
    return TrimGroup(
        reason=reason,
        risk=risk,
        files=(*files, *links),
        raw_bytes=sum(each.size_bytes for each in trims),
        image_bytes=sizes.freed(paths) if sizes else None,
        saved_s=_saved_s(analysis, paths, codec),
        filters=_by_part(payload, paths, parts),
    )


def _saved_s(
    analysis: Analysis, paths: frozenset[str], codec: str
) -> dict[str, dict[str, Interval]]:
    """Return what the blocks of some files add to cold launches, by app and device."""
    saved = {}
    for launch in analysis.launches:
        whole = launch.launch_set
        files = tuple(each for each in whole.files if each.path in paths)
        if files:
            estimates = estimates_of(
                replace(whole, files=files, metadata_blocks=None),
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


def _delta_share(analysis: Analysis) -> float | None:
    habits = analysis.policy.habits
    return habits.delta_share if habits else None


def _with_links(payload: Payload, paths: Collection[str]) -> frozenset[str]:
    """Return files with the links that go along with them, which would lead nowhere."""
    gone = set(paths)
    links = [each for each in links_of(payload) if goes_along(*each)]
    before = -1
    while before != len(gone):
        before = len(gone)
        gone.update(path for path, target in links if target in gone)
    return frozenset(gone)

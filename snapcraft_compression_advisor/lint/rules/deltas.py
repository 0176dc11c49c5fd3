"""SCA603 to SCA607: what makes the delta from the previous build large."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING

from ...core.units import bytes_text, format_bytes
from ...settings.quantities import Share
from ..finding import (
    MOST_FILES,
    Evidence,
    Finding,
    Location,
    declared,
    estimated,
    measured,
)
from ..rule import Context, Judge, Rule, delta_name, no_baseline
from .budgets import NO_BUDGET

if TYPE_CHECKING:
    from ...diff.figures import BaselineDelta
    from ...refresh.changes import ChangeKind

LEAST_BYTES = 100_000
LEAST_SHARE = 0.01
"""What is worth a finding: so many bytes of the delta and so large a share of it."""

_WHEN = (
    "The finding needs at least 100 kB and 1 % of the delta. Bytes are estimated, with "
    "the snap's codec, in the delta that `refresh.deltas` names; by default in a plain "
    "one. Only the 10,000 files that add most to the delta are examined. Without the "
    "previous `.snap` as `--baseline`, the rule is skipped; without xdelta3 installed, "
    "the finding is undecided."
)
_OPTIONS: Mapping[str, str] = {
    "refresh.deltas": "what a refresh downloads: `xdelta3` or `snap-1-1-xdelta3`"
}


def _no_delta(context: Context) -> str | None:
    """Return why the delta from the baseline isn't known."""
    if context.baseline is None or context.baseline.delta is not None:
        return None
    return "the baseline is a report, not a built snap"


_DeltaRule = partial(
    Rule, severity="info", options=_OPTIONS, blocked=_no_delta, unasked=no_baseline
)


@Rule(
    id="SCA603",
    severity="error",
    summary="A refresh from the baseline downloads more than its budget.",
    fails_if="The delta from the baseline is larger than `max-refresh-size` (a "
    "percentage is of the image), even at the low end of its interval. If the interval "
    "includes the budget, the finding is undecided. xdelta3 makes the delta that "
    "`refresh.deltas` names, by default a plain one, as snapd asks for; a plain one to "
    "a prime directory is estimated, with the snap's codec. If the baseline is a "
    "report, or xdelta3 isn't installed, the finding is undecided. Without "
    "`--baseline` or without the budget, the rule is skipped.",
    why="Every user downloads the delta at each refresh, on metered links too. It can "
    "be thirty times as large as what was changed.",
    how_to_fix="See SCA604 to SCA607 for files that needn't be in the delta. Keep what "
    "changes often in few files. Or raise the budget.",
    options={
        "max-refresh-size": "a size with its unit, such as `20MB`, or a percentage "
        "of the image, such as `30%`",
        **_OPTIONS,
    },
    unasked=lambda context: (
        no_baseline(context) or (None if context.policy.max_refresh_size else NO_BUDGET)
    ),
)
def refresh_large(rule: Rule, context: Context) -> Iterator[Finding]:
    """Yield a finding if the delta is larger than its budget, or may be."""
    baseline, budget = context.baseline, context.policy.max_refresh_size
    if baseline is None or budget is None:
        return
    delta = baseline.delta
    image = context.analysis.image_bytes(delta.codec) if delta else None
    if delta is None or (image is None and isinstance(budget, Share)):
        allowed = (
            f"{budget.root:.0%} of the image"
            if isinstance(budget, Share)
            else format_bytes(budget)
        )
        why = f": {baseline.no_delta}" if baseline.no_delta else ""
        yield rule.finding(
            context,
            f"How much a refresh from the baseline downloads isn't known{why}; "
            f"{allowed} is allowed.",
            undecided=True,
        )
        return
    limit = budget
    if isinstance(limit, Share):
        limit = limit.root * (image.mid if image else 0.0)
    if delta.size_bytes.high <= limit:
        return
    undecided = delta.size_bytes.low <= limit
    within = ", which lies within that interval" if undecided else ""
    known = "a measured" if delta.size_bytes.known else "an estimated"
    yield rule.finding(
        context,
        f"A refresh from the baseline downloads {known} "
        f"{bytes_text(delta.size_bytes)} ({delta_name(delta)}); "
        f"{format_bytes(limit)} is allowed{within}.",
        evidence=_evidence(delta, limit),
        files=[change.path for change in delta.changes[:MOST_FILES]],
        undecided=undecided,
    )


def _judge_changes(kind: ChangeKind, one: str, several: str) -> Judge:
    """Return what yields one finding if changes of a kind are significant.

    :param one: what such a file does, after "1 file".
    :param several: what such files do.
    """

    def judge(rule: Rule, context: Context) -> Iterator[Finding]:
        """Yield the finding, if there is one."""
        baseline = context.baseline
        delta = baseline.delta if baseline else None
        if baseline and baseline.no_delta:
            yield rule.finding(
                context, f"Not checked: {baseline.no_delta}.", undecided=True
            )
        if delta is None:
            return
        found = [change for change in delta.changes if change.change == kind]
        added = sum(change.delta_bytes for change in found)
        if added < max(LEAST_BYTES, LEAST_SHARE * delta.size_bytes.mid):
            return
        share = min(1.0, added / delta.size_bytes.mid)
        what = f"1 file {one}, and adds"
        if len(found) > 1:
            what = f"{len(found)} files {several}, and add"
        yield rule.finding(
            context,
            f"{what} an estimated {format_bytes(added)} ({share:.0%}) to the "
            f"{delta_name(delta)}.",
            location=Location("payload", found[0].path) if len(found) == 1 else None,
            evidence=[
                estimated(change.path, format_bytes(change.delta_bytes))
                for change in found[:MOST_FILES]
            ],
            files=[change.path for change in found[:MOST_FILES]],
        )

    return judge


FILE_MOVED = _DeltaRule(
    id="SCA604",
    name="file-moved",
    remedy="Keep the paths of files the same from build to build",
    summary="Files are at other paths than in the baseline.",
    fails_if="A file has the contents of a file of the baseline at a path that this "
    f"build doesn't have, and the delta holds its contents again. {_WHEN}",
    why="In an image, files are in the order of their paths. xdelta3 finds contents "
    "again only within 32 MiB of where they were, so a file that moved may be in the "
    "delta as a whole.",
    how_to_fix="Keep version numbers and hashes out of the names of directories, or "
    "accept it once: the next delta is small again.",
    judge=_judge_changes("moved", "has moved", "have moved"),
)

ARCHIVE_RECOMPRESSED = _DeltaRule(
    id="SCA605",
    name="archive-recompressed",
    remedy="Build archives reproducibly, or store their members uncompressed",
    summary="Archives with the same contents were compressed again.",
    fails_if="An archive (jar, wheel, zip) or a compressed file (gzip, bzip2, "
    "xz) of at most 32 MiB differs from the baseline's, but holds the same. "
    f"{_WHEN}",
    why="An archive holds times, an order, and what a compressor made of its members. "
    "If any of these differ, so do all bytes after them. The image compresses the "
    "members anyway.",
    how_to_fix="Set SOURCE_DATE_EPOCH, sort the members, and pin the version of the "
    "tool: `jar --date`, `zip -X`, `gzip -n`. Or store the members uncompressed (`jar "
    "-0`, `zip -0`): the image is about as large, and the delta much smaller.",
    judge=_judge_changes(
        "recompressed", "is an archive packed again", "are archives packed again"
    ),
)

FILE_STAMPED = _DeltaRule(
    id="SCA606",
    name="file-stamped",
    remedy="Set SOURCE_DATE_EPOCH in the parts that make these files",
    summary="Files differ from the baseline's in a timestamp or a build id only.",
    fails_if="A file has the baseline's length, and differs in at most 64 bytes. "
    f"{_WHEN}",
    why="One byte that differs changes the whole compressed data block of 128 KiB "
    "that holds it, and so a plain delta by as much.",
    how_to_fix="Set SOURCE_DATE_EPOCH, which compilers, Python and most build tools "
    "follow, and leave out `__DATE__`, random build ids and host names.",
    judge=_judge_changes(
        "timestamp", "differs in a few bytes only", "differ in a few bytes only"
    ),
)

CACHE_UNSTABLE = _DeltaRule(
    id="SCA607",
    name="cache-unstable",
    remedy="Set the times of files before caches are made of them",
    summary="Caches differ from the baseline's, but their sources don't.",
    fails_if="A cache (of Python, fontconfig, mandb, an icon theme, schemas, MIME "
    "types, GIO, gdk-pixbuf or GTK) differs from the baseline's, but the files that it "
    f"is made of have the same paths and contents. {_WHEN}",
    why="Such a cache holds when its sources were changed, or in which order it found "
    "them. Tried with Debian 12's tools: Python's bytecode and the caches of "
    "fontconfig and mandb hold times; none depends on the order.",
    how_to_fix="Before the caches are made, set the times of their sources: `find "
    "$CRAFT_PRIME -exec touch -h -d @$SOURCE_DATE_EPOCH {} +`. Compile Python with "
    "`python3 -m compileall --invalidation-mode unchecked-hash`.",
    judge=_judge_changes(
        "cache",
        "is a cache of files that didn't change",
        "are caches of files that didn't change",
    ),
)


def _evidence(delta: BaselineDelta, limit: float) -> Iterator[Evidence]:
    yield declared("allowed size of a refresh", format_bytes(limit))
    known = measured if delta.size_bytes.known else estimated
    yield known(delta_name(delta), bytes_text(delta.size_bytes))
    for change in delta.changes[:MOST_FILES]:
        yield estimated(f"of that, {change.path}", format_bytes(change.delta_bytes))


RULES = (
    refresh_large,
    FILE_MOVED,
    ARCHIVE_RECOMPRESSED,
    FILE_STAMPED,
    CACHE_UNSTABLE,
)

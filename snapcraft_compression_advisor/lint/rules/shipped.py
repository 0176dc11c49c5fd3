"""SCA302 to SCA308: what needn't ship, with its bytes in the image."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from ...advice.evidence import download_seconds
from ...core.units import Interval, bytes_text, counted, format_bytes, percent
from ...payload.needless import NeedlessFile
from ..finding import MOST_FILES, Evidence, Finding, Gain, Location, estimated, measured
from ..rule import Context, Rule, no_sizes, priced_codec

if TYPE_CHECKING:
    from ...payload.needless import NeedlessKind

LEAST_BYTES = 100_000
LEAST_SHARE = 0.001
"""What is worth a finding: so many bytes of the image and so large a share of it."""

MOST_PAIRS = 10
"""Files whose like a finding's evidence names."""

_ShippedRule = partial(Rule, severity="warning", blocked=no_sizes)


def _needless_rule(rule: str, kind: NeedlessKind, name: str, what: str) -> Rule:
    """Return the rule that finds files of a kind which are significant, or may be.

    :param what: they are, at the start of a sentence.
    """

    def judge(rule: Rule, context: Context) -> Iterator[Finding]:
        for needless in context.survey.needless:
            if needless.kind == kind:
                yield from _judge_weight(rule, context, what, needless.files)

    return _ShippedRule(id=rule, name=name, judge=judge)


def _judge_weight(
    rule: Rule, context: Context, what: str, files: Sequence[NeedlessFile]
) -> Iterator[Finding]:
    """Yield one finding if files are significant, or may be.

    :param what: they are, at the start of a sentence.
    :param files: the largest first.
    """
    codec = priced_codec(context)
    if codec is None:
        return
    trial = context.analysis.trial.codecs
    with_xz = trial["xz"].image_bytes
    limit = max(LEAST_BYTES, LEAST_SHARE * with_xz.mid if with_xz else 0.0)
    sure = [file for file in files if file.doubt is None]
    stored, doubts = _stored_bytes(context, sure, codec), set[str]()
    if stored.low < limit:
        stored, sure = _stored_bytes(context, files, codec), [*files]
        if stored.high < limit:
            return
        doubts = {file.doubt for file in files if file.doubt is not None}
        doubts = doubts or {"their size may be below the threshold"}
    image = trial[codec].image_bytes if codec in trial else None
    share = f", {percent(stored.mid / image.mid)} of it" if image else ""
    link = context.analysis.policy.link_mbit_per_s
    message = (
        f"{what} ({counted(len(sure), 'file')}) take "
        f"{'' if stored.known else 'an estimated '}{bytes_text(stored)} of the image "
        f"with {codec}{share}"
    )
    yield rule.finding(
        context,
        f"{message}; but {'; '.join(sorted(doubts))}." if doubts else f"{message}.",
        location=_common_place(sure),
        evidence=_evidence(sure, codec, stored),
        files=[file.path for file in sure[:MOST_FILES]],
        gain=Gain(
            seconds=stored.map(partial(download_seconds, link_mbit_per_s=link)),
            of="download",
            where=f"{link:g} Mbit/s",
        ),
        undecided=bool(doubts),
    )


@_ShippedRule(id="SCA307")
def duplicated_content(rule: Rule, context: Context) -> Iterator[Finding]:
    """Yield a finding for libraries that are there in several versions."""
    what = "Other versions of libraries"
    found = [
        (
            NeedlessFile(path=copy.path, size_bytes=copy.size_bytes, doubt=copy.doubt),
            measured(f"{copy.path!r} is like", repr(copy.like)),
        )
        for copy in context.survey.copies
    ]
    yield from _judge_pairs(rule, context, what, found)


@_ShippedRule(id="SCA308")
def supplied_libraries(rule: Rule, context: Context) -> Iterator[Finding]:
    """Yield a finding for libraries that the base or a content snap has."""
    what = "Libraries that the base or a content snap provides"
    found = [
        (
            NeedlessFile(
                path=each.path,
                size_bytes=each.size_bytes,
                doubt=each.doubt or _doubt(each.supplier, same=each.same),
            ),
            Evidence(
                f"{each.path!r} is in",
                repr(each.supplier),
                "published" if each.same is None else "measured",
            ),
        )
        for each in context.survey.supplied
    ]
    yield from _judge_pairs(rule, context, what, found)


def _judge_pairs(
    rule: Rule,
    context: Context,
    what: str,
    found: Sequence[tuple[NeedlessFile, Evidence]],
) -> Iterator[Finding]:
    """Yield one finding if files are significant, with what they are like.

    :param found: files, and what each is like, or where it is.
    """
    pairs = {file.path: evidence for file, evidence in found}
    files = sorted(
        (file for file, _ in found), key=lambda file: (-file.size_bytes, file.path)
    )
    for finding in _judge_weight(rule, context, what, files):
        known = [pairs[path] for path in finding.files[:MOST_PAIRS]]
        yield replace(finding, evidence=(*finding.evidence, *known))


def _stored_bytes(
    context: Context, files: Sequence[NeedlessFile], codec: str
) -> Interval:
    """Return the bytes of the image that go with files, or with parts of them."""
    total = Interval.exactly(0)
    if (stored := context.analysis.trial.stored) is None:
        return total
    total = (
        stored.freed([each.path for each in files if not each.parts], codec) or total
    )
    for file in files:
        if file.parts:
            part = stored.freed_by_parts(file.path, file.parts, codec)
            total += part or Interval.exactly(0)
    return total


def _common_place(files: Sequence[NeedlessFile]) -> Location | None:
    """Return the directory that files have in common, if it isn't the root."""
    directories = {posixpath.dirname(file.path) for file in files}
    common = posixpath.commonpath(directories) if all(directories) else ""
    return Location("payload", common) if common else None


def _evidence(
    files: Sequence[NeedlessFile], codec: str, stored: Interval
) -> Iterator[Evidence]:
    known = measured if stored.known else estimated
    yield known(f"in the image with {codec}", bytes_text(stored))
    total = format_bytes(sum(file.size_bytes for file in files))
    yield measured("uncompressed", f"{total} in {counted(len(files), 'file')}")
    largest = f"largest, {files[0].path!r}, uncompressed"
    yield measured(largest, format_bytes(files[0].size_bytes))


def _doubt(supplier: str, *, same: bool | None) -> str | None:
    if same:
        return None
    if same is None:
        return f"only their names are known to be in {supplier!r}"
    return f"{supplier!r} has other builds of them"


RULES = (
    _needless_rule(
        "SCA302",
        "debug-symbols",
        "debug-symbols",
        "Debug information and symbol tables",
    ),
    _needless_rule(
        "SCA303", "static-libraries", "static-libraries", "Static libraries"
    ),
    _needless_rule(
        "SCA304", "development-files", "headers", "Headers and other files for builds"
    ),
    _needless_rule(
        "SCA305",
        "documentation",
        "documentation",
        "Manuals and packages' documentation",
    ),
    _needless_rule(
        "SCA306",
        "package-caches",
        "package-caches",
        "Caches and databases of package managers",
    ),
    duplicated_content,
    supplied_libraries,
)

"""SCA307 and SCA308: what the snap holds twice, or another snap brings."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from snapcraft_compression_advisor.lint.finding import Evidence
from snapcraft_compression_advisor.lint.rules.shipped import WHEN, NeedlessRule
from snapcraft_compression_advisor.payload.shipped.needless import NeedlessFile

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from snapcraft_compression_advisor.lint.context import Context
    from snapcraft_compression_advisor.lint.finding import Finding, Severity

MOST_PAIRS = 10
"""Files whose like a finding's evidence names."""


class DuplicatedContent(NeedlessRule):
    """Files that are in the image twice, or nearly."""

    id: ClassVar[str] = "SCA307"
    name: ClassVar[str] = "duplicated-content"
    what: ClassVar[str] = "Second copies and other versions of files"
    remedy: ClassVar[str] = "Ship one of them"
    summary: ClassVar[str] = "Contents are in the image twice, or in several versions."
    fails_if: ClassVar[str] = (
        "A built snap holds equal files with blocks of their own, or a library lies "
        "beside another version with the same soname, which has the links, and they "
        "weigh something. A library in two versions in two directories is undecided: "
        "which one is loaded depends on search paths. Equal files are stored once by "
        "`snap pack` and cost nothing but their names, so they aren't findings. " + WHEN
    )
    why: ClassVar[str] = (
        "The loader takes one version of a library; the others are downloaded for "
        "nothing, and may come to be loaded by accident. They come from parts that "
        "stage different versions."
    )
    how_to_fix: ClassVar[str] = (
        "Leave the older one out of its part with `stage` or `prime`. Equal files with "
        "blocks of their own come from packing with other options: use `snap pack`."
    )

    def check(self, context: Context) -> Iterator[Finding]:
        """Yield one finding where such files weigh something, or may."""
        likes = {copy.path: copy.like for copy in context.survey.copies}
        files = _largest_first(
            NeedlessFile(path=copy.path, size_bytes=copy.size_bytes, doubt=copy.doubt)
            for copy in context.survey.copies
        )
        yield from _with_pairs(self.judge(context, files), "is like", likes)


class SuppliedLibraries(NeedlessRule):
    """Libraries that the base or a content snap brings."""

    id: ClassVar[str] = "SCA308"
    name: ClassVar[str] = "supplied-libraries"
    severity: ClassVar[Severity] = "warning"
    what: ClassVar[str] = "Libraries that the base or a content snap brings"
    remedy: ClassVar[str] = "Leave these libraries to the base or the content snap"
    summary: ClassVar[str] = (
        "Libraries are shipped that the base or a content snap has."
    )
    fails_if: ClassVar[str] = (
        "Libraries are equal to those of the base or a content snap that was given "
        "(`--base`, `--content`), and weigh something. Where only their names are "
        "known to be in the base, or theirs are other builds, it is undecided. Of a "
        "classic snap, which doesn't run on its base's files, and of libc and "
        "libstdc++, nothing is said without the base itself. " + WHEN
    )
    why: ClassVar[str] = (
        "They are downloaded and cached twice, and miss the base's security updates."
    )
    how_to_fix: ClassVar[str] = (
        "Leave them out of the part (`prime: [-usr/lib/*/libz.so.*]`); try the "
        "application without them."
    )

    def check(self, context: Context) -> Iterator[Finding]:
        """Yield one finding where such libraries weigh something, or may."""
        suppliers = {each.path: each.supplier for each in context.survey.supplied}
        by_name = {each.path for each in context.survey.supplied if each.same is None}
        files = _largest_first(
            NeedlessFile(
                path=each.path,
                size_bytes=each.size_bytes,
                doubt=_doubt(each.supplier, same=each.same),
            )
            for each in context.survey.supplied
        )
        yield from _with_pairs(
            self.judge(context, files), "is in", suppliers, published=by_name
        )


def _doubt(supplier: str, *, same: bool | None) -> str | None:
    if same:
        return None
    if same is None:
        return f"that {supplier!r} has them is known by their names only"
    return f"those of {supplier!r} are other builds"


def _largest_first(files: Iterator[NeedlessFile]) -> Sequence[NeedlessFile]:
    return sorted(files, key=lambda file: (-file.size_bytes, file.path))


def _with_pairs(
    findings: Iterator[Finding],
    relation: str,
    others: Mapping[str, str],
    *,
    published: Collection[str] = (),
) -> Iterator[Finding]:
    """Say of each file what it is like, or where it is.

    :param published: of these it is known from a list.
    """
    for finding in findings:
        pairs = tuple(
            Evidence(
                label=f"{path!r} {relation}",
                text=repr(others[path]),
                origin="published" if path in published else "measured",
            )
            for path in finding.files[:MOST_PAIRS]
        )
        yield replace(finding, evidence=(*finding.evidence, *pairs))


RULES = (DuplicatedContent(), SuppliedLibraries())

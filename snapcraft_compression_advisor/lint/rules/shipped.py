"""SCA302 to SCA308: what needn't ship, with its bytes in the image."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from ...advice.evidence import download_seconds
from ...core.units import Interval, bytes_text, counted, format_bytes, percent
from ...payload.needless import NeedlessFile
from ..finding import (
    MOST_FILES,
    Evidence,
    Finding,
    Gain,
    Location,
    estimated,
    measured,
)
from ..rule import Context, Judge, Rule, no_sizes, priced_codec

if TYPE_CHECKING:
    from ...payload.needless import NeedlessKind

LEAST_BYTES = 100_000
LEAST_SHARE = 0.001
"""What is worth a finding: so many bytes of the image and so large a share of it."""

MOST_PAIRS = 10
"""Files whose like a finding's evidence names."""

_WHEN = (
    "Significant means at least 100 kB and 0.1 % of the image, by the size of the "
    "files' data blocks with the snap's codec. A built snap's sizes are exact, a prime "
    "directory's are estimated. If the interval includes the threshold, the finding is "
    "undecided."
)
_FILTERS = "`compression-advisor trim` prints the filters."
_PRINTED = "; 'compression-advisor trim' prints the filters"
_OPTIONS: Mapping[str, str] = {
    "select, ignore": "path patterns that leave files out, such as "
    "`SCA305:usr/share/doc/*`"
}

_ShippedRule = partial(Rule, severity="warning", options=_OPTIONS, blocked=no_sizes)


def _needless_judge(kind: NeedlessKind, what: str) -> Judge:
    """Return what yields one finding if files of a kind are significant, or may be.

    :param what: they are, at the start of a sentence.
    """

    def judge(rule: Rule, context: Context) -> Iterator[Finding]:
        for needless in context.survey.needless:
            if needless.kind == kind:
                yield from _judge_weight(rule, context, what, needless.files)

    return judge


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


DEBUG_SYMBOLS = _ShippedRule(
    id="SCA302",
    name="debug-symbols",
    remedy="Strip binaries, and leave out separate debug files",
    summary="The snap ships debug information or symbol tables.",
    fails_if="Separate debug files (`lib/debug`, `*.debug`, `*.dwp`), or sections of "
    "programs and libraries that `strip` would remove, are a significant part of the "
    "image. " + _WHEN,
    why="No launch reads them, but every user downloads them. They can be as large as "
    "all code.",
    how_to_fix="Build with `-s` or `install --strip`, or run `strip --strip-unneeded` "
    "in `override-build`, and test the program. Keep the debug files outside the snap. "
    "Files that `strip` would break aren't named: with bytes behind their sections (a "
    "single file of .NET, an AppImage), or with loaded bytes that no section names "
    "(single executables of node and bun, libraries of wheels).",
    judge=_needless_judge("debug-symbols", "Debug information and symbol tables"),
)

STATIC_LIBRARIES = _ShippedRule(
    id="SCA303",
    name="static-libraries",
    remedy="Leave '*.a' out of the snap" + _PRINTED,
    summary="The snap ships static libraries.",
    fails_if="Archives `lib/**/*.a` are a significant part of the image. If the snap "
    "also ships a compiler or linker, which may read them, the finding is "
    "undecided. " + _WHEN,
    why="Only linkers read them, and linked programs already contain what they need.",
    how_to_fix="Leave them out of the part with `prime: [-usr/lib/**/*.a]`, or "
    "configure with `--disable-static`. " + _FILTERS,
    judge=_needless_judge("static-libraries", "Static libraries"),
)

DEVELOPMENT_FILES = _ShippedRule(
    id="SCA304",
    name="headers",
    remedy="Leave headers and build files out of the snap" + _PRINTED,
    summary="The snap ships headers and other files that only builds read.",
    fails_if="`include` directories, pkg-config's `*.pc`, CMake's package files, "
    "libtool's `*.la`, `*.gir`, `*.vapi` and autoconf's `*.m4` are a significant part "
    "of the image. If the snap also ships a compiler, which may read them, the finding "
    "is undecided. " + _WHEN,
    why="Nothing reads them at run time. They come with `-dev` packages that were "
    "staged instead of used only for the build.",
    how_to_fix="Move `-dev` packages from `stage-packages` to `build-packages`, or "
    "leave the files out with `prime: [-usr/include, -usr/lib/*/pkgconfig]`. "
    + _FILTERS,
    judge=_needless_judge("development-files", "Headers and other files for builds"),
)

DOCUMENTATION = _ShippedRule(
    id="SCA305",
    name="documentation",
    remedy="Leave documentation out of the snap, except licences" + _PRINTED,
    summary="The snap ships documentation that its users can't read.",
    fails_if="Files below `share/doc`, `share/man`, `share/info`, `share/gtk-doc` and "
    "similar directories are a significant part of the image. Licences, copyright "
    "files and credits are left out. If an application may show the pages as its help "
    "(HTML, PDF, pictures), or the snap ships a reader for manual pages such as `man`, "
    "the finding is undecided. " + _WHEN,
    why="`man` and `info` on the host don't search snaps. Changelogs are already "
    "compressed, so the image's codec can't make them smaller.",
    how_to_fix="Leave them out of the part, but keep the licences: `prime: "
    "[-usr/share/man, -usr/share/info, -usr/share/doc/**/changelog*]`. " + _FILTERS,
    judge=_needless_judge("documentation", "Manuals and packages' documentation"),
)

PACKAGE_CACHES = _ShippedRule(
    id="SCA306",
    name="package-caches",
    remedy="Leave package managers' caches out of the snap" + _PRINTED,
    summary="The snap ships package managers' caches.",
    fails_if="Files that apt, dpkg, dnf, pip, uv, npm, cargo, gem and similar tools "
    "keep for themselves (`var/lib/apt`, `var/lib/dpkg`, `.cache/pip`, "
    "`.npm/_cacache`, …) are a significant part of the image. If the snap also ships "
    "apt, dpkg or rpm, which may need their data, the finding is undecided. " + _WHEN,
    why="They speed up the next installation, which never happens in a snap.",
    how_to_fix="Leave them out (`prime: [-var/lib/apt, -var/cache]`), or let the tool "
    "keep none: `pip install --no-cache-dir`, `npm ci --cache /tmp/npm`. " + _FILTERS,
    judge=_needless_judge("package-caches", "Caches and databases of package managers"),
)


@_ShippedRule(
    id="SCA307",
    remedy="Ship only one of them" + _PRINTED,
    summary="The snap ships a library in several versions.",
    fails_if="Libraries that are beside another version with the same soname, to "
    "which the links point, are a significant part of the image. If the versions are "
    "in two directories, the finding is undecided, because search paths decide which "
    "one is loaded. Equal files aren't findings: images store them once (SCA504 names "
    "those that don't). " + _WHEN,
    why="The loader takes one version of a library. The others, which come from parts "
    "that stage them, are downloaded for nothing, and may be loaded by accident.",
    how_to_fix="Leave the older version out of its part with `stage` or `prime`. "
    + _FILTERS,
)
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


@_ShippedRule(
    id="SCA308",
    remedy="Take these libraries from the base or the content snap" + _PRINTED,
    summary="The snap ships libraries that its base or a content snap has.",
    fails_if="Libraries identical to those of a base or content snap given with "
    "`--base` or `--content` are a significant part of the image. If only their names "
    "are known to be in the base, or the other snap has other builds, or an app's "
    "search path may not lead there, the finding is undecided. For a classic snap, and "
    "for libc and libstdc++, the rule needs the base itself. " + _WHEN,
    why="Users download and cache them twice, and they miss the base's security "
    "updates.",
    how_to_fix="Leave them out of the part (`prime: [-usr/lib/*/libz.so.*]`), and test "
    "the application without them. " + _FILTERS,
)
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
    """Return what goes from the image with files, or parts of them."""
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
    DEBUG_SYMBOLS,
    STATIC_LIBRARIES,
    DEVELOPMENT_FILES,
    DOCUMENTATION,
    PACKAGE_CACHES,
    duplicated_content,
    supplied_libraries,
)

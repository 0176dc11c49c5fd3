"""SCA302 to SCA306: what needn't ship, with its bytes in the image."""

from __future__ import annotations

import posixpath
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from snapcraft_compression_advisor.core.units import Interval, format_bytes
from snapcraft_compression_advisor.lint.figures import bytes_text, share_text
from snapcraft_compression_advisor.lint.finding import (
    MOST_FILES,
    Evidence,
    Finding,
    Fix,
    Location,
)
from snapcraft_compression_advisor.lint.places import current_codec, image_place
from snapcraft_compression_advisor.lint.select import make_selection

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from snapcraft_compression_advisor.analysis import Analysis
    from snapcraft_compression_advisor.lint.context import Context
    from snapcraft_compression_advisor.lint.finding import Severity
    from snapcraft_compression_advisor.payload.shipped.needless import (
        NeedlessFile,
        NeedlessKind,
    )

LEAST_BYTES = 100_000
LEAST_SHARE = 0.001
"""What is worth a finding: so many bytes of the image and so large a share of it."""

WHEN = (
    "Files weigh something where they take 100 kB of the image and a thousandth of it, "
    "by the sizes of their data blocks in it, with the codec that the snap is packed "
    "with or will be: exact for a built snap, else estimated from the trial. Where the "
    "interval reaches across that line, the finding is undecided."
)
_OPTIONS: Mapping[str, str] = {
    "select, ignore": "path patterns leave files out, as in `SCA305:usr/share/doc/*`"
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Weight:
    """What files come to.

    :param stored: bytes in the image that go with them; ``None`` where unknown.
    :param exact: whether that is measured.
    """

    codec: str
    stored: Interval | None
    exact: bool


class NeedlessRule:
    """What all rules of needless files do.

    :cvar kind: of the files.
    :cvar what: they are, at the start of a sentence.
    :cvar remedy: what to do about them, an imperative.
    """

    id: ClassVar[str]
    name: ClassVar[str]
    severity: ClassVar[Severity] = "warning"
    options: ClassVar[Mapping[str, str]] = _OPTIONS
    kind: ClassVar[NeedlessKind]
    what: ClassVar[str]
    remedy: ClassVar[str]
    summary: ClassVar[str]
    fails_if: ClassVar[str]
    why: ClassVar[str]
    how_to_fix: ClassVar[str]

    def check(self, context: Context) -> Iterator[Finding]:
        """Yield one finding where they weigh something, or may."""
        for needless in context.survey.needless:
            if needless.kind == self.kind:
                yield from self.judge(context, needless.files)

    def judge(
        self, context: Context, files: Sequence[NeedlessFile]
    ) -> Iterator[Finding]:
        """Yield one finding where files weigh something, or may.

        :param files: the largest first.
        """
        files = self._wanted(context, files)
        sure = [file for file in files if file.doubt is None]
        limit = least_bytes(context.analysis)
        weight = weigh(context, sure)
        if weight.stored is not None and weight.stored.low >= limit:
            yield self._finding(context, sure, weight, doubts=())
            return
        weight = weigh(context, files)
        if weight.stored is not None and weight.stored.high >= limit:
            doubts = sorted({file.doubt for file in files if file.doubt is not None})
            yield self._finding(
                context, files, weight, doubts=doubts or ("it may be less",)
            )

    def _wanted(
        self, context: Context, files: Sequence[NeedlessFile]
    ) -> Sequence[NeedlessFile]:
        """Leave out, and don't weigh, what the policy leaves out by its path."""
        selection = make_selection(context.policy)
        if not selection.is_by_path(self.id):
            return files
        return [file for file in files if selection.wants_path(self.id, file.path)]

    def _finding(
        self,
        context: Context,
        files: Sequence[NeedlessFile],
        weight: Weight,
        *,
        doubts: Sequence[str],
    ) -> Finding:
        message = (
            f"{self.what} ({_count(len(files))}) take {_size_text(context, weight)}"
        )
        message += f"; but {'; '.join(doubts)}." if doubts else "."
        return Finding(
            rule=self.id,
            name=self.name,
            severity="info" if doubts else self.severity,
            message=message,
            location=place_of(context, files),
            evidence=tuple(_evidence(files, weight)),
            files=tuple(file.path for file in files[:MOST_FILES]),
            fix=Fix(description=self.remedy),
            undecided=bool(doubts),
        )


class DebugSymbols(NeedlessRule):
    """Debug information and symbols that nothing loads."""

    id: ClassVar[str] = "SCA302"
    name: ClassVar[str] = "debug-symbols"
    kind: ClassVar[NeedlessKind] = "debug-symbols"
    what: ClassVar[str] = "Debug information and symbol tables"
    remedy: ClassVar[str] = "Strip binaries, and leave out separate debug files"
    summary: ClassVar[str] = "Debug information or symbol tables are shipped."
    fails_if: ClassVar[str] = (
        "Separate debug files (`lib/debug`, `*.debug`, `*.dwp`), or sections of "
        "programs and libraries that `strip` would take out, weigh something. " + WHEN
    )
    why: ClassVar[str] = (
        "No launch reads them, but every user downloads them. They may be as large as "
        "all code."
    )
    how_to_fix: ClassVar[str] = (
        "Build with `-s` or `install --strip`, or run `strip --strip-unneeded` in "
        "`override-build`; keep the debug files outside of the snap. Try the stripped "
        "program: a few (self-extracting ones) don't survive it."
    )


class StaticLibraries(NeedlessRule):
    """Static libraries, which only linkers read."""

    id: ClassVar[str] = "SCA303"
    name: ClassVar[str] = "static-libraries"
    kind: ClassVar[NeedlessKind] = "static-libraries"
    what: ClassVar[str] = "Static libraries"
    remedy: ClassVar[str] = "Leave '*.a' out of the snap"
    summary: ClassVar[str] = "Static libraries are shipped."
    fails_if: ClassVar[str] = (
        "Archives `lib/**/*.a` weigh something. Where a compiler or linker is shipped "
        "too, which may read them, it is undecided. " + WHEN
    )
    why: ClassVar[str] = "Only linkers read them; what is linked has them already."
    how_to_fix: ClassVar[str] = (
        "Leave them out of the part: `prime: [-usr/lib/**/*.a]`, or configure with "
        "`--disable-static`."
    )


class DevelopmentFiles(NeedlessRule):
    """Headers and other files that only builds read."""

    id: ClassVar[str] = "SCA304"
    name: ClassVar[str] = "headers"
    kind: ClassVar[NeedlessKind] = "development-files"
    what: ClassVar[str] = "Headers and other files for builds"
    remedy: ClassVar[str] = "Leave headers and build files out of the snap"
    summary: ClassVar[str] = (
        "Headers and other files that only builds read are shipped."
    )
    fails_if: ClassVar[str] = (
        "`include`, pkg-config's `*.pc`, CMake's package files, libtool's `*.la`, "
        "`*.gir`, `*.vapi` and autoconf's `*.m4` weigh something. Where a compiler is "
        "shipped too, which may read them, it is undecided. " + WHEN
    )
    why: ClassVar[str] = (
        "Nothing reads them at run time. They come with `-dev` packages that were "
        "staged instead of used for the build."
    )
    how_to_fix: ClassVar[str] = (
        "Move `-dev` packages from `stage-packages` to `build-packages`, or leave the "
        "files out: `prime: [-usr/include, -usr/lib/*/pkgconfig]`."
    )


class Documentation(NeedlessRule):
    """Manuals and packages' documentation."""

    id: ClassVar[str] = "SCA305"
    name: ClassVar[str] = "documentation"
    kind: ClassVar[NeedlessKind] = "documentation"
    what: ClassVar[str] = "Manuals and packages' documentation"
    remedy: ClassVar[str] = "Leave documentation out of the snap, licences excepted"
    summary: ClassVar[str] = "Documentation is shipped that nobody can read in a snap."
    fails_if: ClassVar[str] = (
        "Files below `share/doc`, `share/man`, `share/info`, `share/gtk-doc` and the "
        "like weigh something. Licences, copyright files and credits don't count. "
        "Pages that an application could show as its help (HTML, PDF, pictures) leave "
        "it undecided, and so do manual pages where `man` or another reader is "
        "shipped. " + WHEN
    )
    why: ClassVar[str] = (
        "`man` and `info` on the host don't look into snaps. Changelogs are compressed "
        "already, so the image's codec takes nothing off them."
    )
    how_to_fix: ClassVar[str] = (
        "Leave them out of the part, but keep the licences: `prime: "
        "[-usr/share/man, -usr/share/info, -usr/share/doc/**/changelog*]`."
    )


class PackageCaches(NeedlessRule):
    """What package managers left behind."""

    id: ClassVar[str] = "SCA306"
    name: ClassVar[str] = "package-caches"
    kind: ClassVar[NeedlessKind] = "package-caches"
    what: ClassVar[str] = "Caches and data bases of package managers"
    remedy: ClassVar[str] = "Leave package managers' caches out of the snap"
    summary: ClassVar[str] = "Package managers' caches are shipped."
    fails_if: ClassVar[str] = (
        "What apt, dpkg, dnf, pip, uv, npm, cargo, gem and the like keep for "
        "themselves (`var/lib/apt`, `var/lib/dpkg`, `.cache/pip`, `.npm/_cacache`, …) "
        "weighs something. Where apt, dpkg or rpm is shipped too, its data may be "
        "wanted, so that is undecided. " + WHEN
    )
    why: ClassVar[str] = "They serve the next installation, which a snap never sees."
    how_to_fix: ClassVar[str] = (
        "Leave them out of the part (`prime: [-var/lib/apt, -var/cache]`), or have the "
        "tool keep no cache: `pip install --no-cache-dir`, `npm ci --cache /tmp/npm`."
    )


def weigh(context: Context, files: Sequence[NeedlessFile]) -> Weight:
    """Return what files, or parts of them, come to in the image."""
    stored = context.analysis.trial.stored
    codec = current_codec(context)
    if stored is None or codec not in stored.codecs:
        return Weight(codec=codec, stored=None, exact=False)
    whole = stored.freed([file.path for file in files if not file.parts], codec)
    total = whole or Interval.exactly(0)
    for file in files:
        if file.parts:
            part = stored.freed_by_parts(file.path, file.parts, codec)
            total += part or Interval.exactly(0)
    return Weight(codec=codec, stored=total, exact=total.known)


def least_bytes(analysis: Analysis) -> float:
    """Return how many bytes of the image are worth a finding."""
    image = analysis.trial.codecs["xz"].image_bytes
    return max(LEAST_BYTES, LEAST_SHARE * image.mid if image else 0.0)


def place_of(context: Context, files: Sequence[NeedlessFile]) -> Location:
    """Return the directory that files have in common, or else the payload."""
    directories = {posixpath.dirname(file.path) for file in files}
    common = posixpath.commonpath(directories) if all(directories) else ""
    return Location(kind="payload", path=common) if common else image_place(context)


def _size_text(context: Context, weight: Weight) -> str:
    trial = context.analysis.trial.codecs.get(weight.codec)
    image = trial.image_bytes if trial else None
    stored = weight.stored or Interval.exactly(0)
    how = "" if weight.exact else "an estimated "
    share = f", {share_text(stored.mid, image.mid)} of it" if image else ""
    return f"{how}{bytes_text(stored)} of the image with {weight.codec}{share}"


def _evidence(files: Sequence[NeedlessFile], weight: Weight) -> Iterator[Evidence]:
    if weight.stored is not None:
        yield Evidence(
            label=f"in the image with {weight.codec}",
            text=bytes_text(weight.stored),
            origin="measured" if weight.exact else "estimated",
        )
    yield Evidence(
        label="uncompressed",
        text=f"{format_bytes(sum(file.size_bytes for file in files))} in "
        f"{_count(len(files))}",
        origin="measured",
    )
    largest = files[0]
    yield Evidence(
        label=f"largest, {largest.path!r}, uncompressed",
        text=format_bytes(largest.size_bytes),
        origin="measured",
    )


def _count(number: int) -> str:
    return f"{number:,} file" + ("" if number == 1 else "s")


NEEDLESS_RULES: tuple[NeedlessRule, ...] = (
    DebugSymbols(),
    StaticLibraries(),
    DevelopmentFiles(),
    Documentation(),
    PackageCaches(),
)


RULES = (
    DebugSymbols(),
    StaticLibraries(),
    DevelopmentFiles(),
    Documentation(),
    PackageCaches(),
)

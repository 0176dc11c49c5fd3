"""SCA210 to SCA216: caches in the snap that would save launches work."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING, ClassVar

from snapcraft_compression_advisor.lint.finding import (
    MOST_FILES,
    Evidence,
    Finding,
    Fix,
    Location,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from snapcraft_compression_advisor.analysis import LaunchAnalysis
    from snapcraft_compression_advisor.lint.context import Context
    from snapcraft_compression_advisor.lint.finding import Severity
    from snapcraft_compression_advisor.payload.caches.fault import (
        CacheFault,
        CacheKind,
    )

_IN_DIRECTORIES = ("fonts", "python-bytecode")
"""Kinds of caches that are many files in a directory."""

_WHEN = (
    "It is undecided where no launch that counts is known to use it, or where the "
    "running snap may have it from elsewhere; of a recorded launch that doesn't use "
    "it, nothing is said."
)
_OPTIONS: Mapping[str, str] = {
    "apps": "whose launch counts",
    "launch-profile": "recorded launches, which decide what is used",
}


class CacheRule:
    """What all rules of caches do.

    :cvar kind: of the cache.
    :cvar what: it is, at the start of a sentence.
    :cvar remedy: what to do about it, an imperative.
    """

    id: ClassVar[str]
    name: ClassVar[str]
    severity: ClassVar[Severity] = "warning"
    options: ClassVar[Mapping[str, str]] = _OPTIONS
    kind: ClassVar[CacheKind]
    what: ClassVar[str]
    remedy: ClassVar[str]
    summary: ClassVar[str]
    fails_if: ClassVar[str]
    why: ClassVar[str]
    how_to_fix: ClassVar[str]

    def check(self, context: Context) -> Iterator[Finding]:
        """Yield a finding for each cache of the kind that is missing or stale."""
        for fault in context.survey.caches:
            if fault.kind != self.kind:
                continue
            use = used_by_launch(fault, context.analysis.launches)
            doubt = fault.doubt or (
                None if use else "no launch that counts is known to use it"
            )
            if not _ruled_out(fault, context.analysis.launches):
                yield self._finding(fault, use, doubt)

    def _finding(
        self, fault: CacheFault, use: tuple[str, ...], doubt: str | None
    ) -> Finding:
        where = "in " if fault.kind in _IN_DIRECTORIES else ""
        message = (
            f"{self.what} ({where}{fault.path!r}) is {fault.state}: {fault.reason} "
            f"({_count(fault.source_count, 'file')})"
        )
        message += f"; but {doubt}." if doubt else "."
        return Finding(
            rule=self.id,
            name=self.name,
            severity="info" if doubt else self.severity,
            message=message,
            location=Location(kind="payload", path=fault.path),
            evidence=tuple(_evidence(fault, use)),
            files=(use if fault.kind == "python-bytecode" else ())[:MOST_FILES]
            or fault.sources[:MOST_FILES],
            fix=Fix(description=self.remedy),
            undecided=doubt is not None,
        )


class SettingsSchemas(CacheRule):
    """``gschemas.compiled`` is missing or stale."""

    id: ClassVar[str] = "SCA210"
    name: ClassVar[str] = "settings-schemas-cache"
    kind: ClassVar[CacheKind] = "settings-schemas"
    what: ClassVar[str] = "The compiled form of settings' schemas"
    remedy: ClassVar[str] = "Run glib-compile-schemas on the directory when building"
    summary: ClassVar[str] = (
        "`gschemas.compiled` is missing or doesn't know all schemas."
    )
    fails_if: ClassVar[str] = (
        "A directory `glib-2.0/schemas` holds `*.gschema.xml`, but no "
        "`gschemas.compiled`, or one that lacks a schema or a key of these files. "
        "Contents are compared, not times. " + _WHEN
    )
    why: ClassVar[str] = (
        "GSettings reads nothing but the compiled form. A launcher has to compile the "
        "schemas into the user's data before the application starts, or it aborts."
    )
    how_to_fix: ClassVar[str] = (
        "Compile them in the part that brings the last of them: "
        "`glib-compile-schemas $CRAFT_PRIME/usr/share/glib-2.0/schemas` in "
        "`override-prime`."
    )


class ImageLoaders(CacheRule):
    """``loaders.cache`` is missing or stale."""

    id: ClassVar[str] = "SCA211"
    name: ClassVar[str] = "image-loaders-cache"
    kind: ClassVar[CacheKind] = "image-loaders"
    what: ClassVar[str] = "gdk-pixbuf's list of image loaders"
    remedy: ClassVar[str] = "Run gdk-pixbuf-query-loaders when building"
    summary: ClassVar[str] = "gdk-pixbuf's `loaders.cache` is missing or incomplete."
    fails_if: ClassVar[str] = (
        "A directory `gdk-pixbuf-2.0/…/loaders` holds modules, but there is no "
        "`loaders.cache` beside it, or it doesn't name all of them. " + _WHEN
    )
    why: ClassVar[str] = (
        "gdk-pixbuf knows its loaders from this list only. Without it, a launcher "
        "loads every module to write one, or images don't show."
    )
    how_to_fix: ClassVar[str] = (
        "Write the list when building, with the paths that the modules have in the "
        "running snap: `gdk-pixbuf-query-loaders > …/2.10.0/loaders.cache`."
    )


class InputMethods(CacheRule):
    """``immodules.cache`` is missing or stale."""

    id: ClassVar[str] = "SCA212"
    name: ClassVar[str] = "input-methods-cache"
    kind: ClassVar[CacheKind] = "input-methods"
    what: ClassVar[str] = "GTK's list of input methods"
    remedy: ClassVar[str] = "Run gtk-query-immodules when building"
    summary: ClassVar[str] = "GTK's `immodules.cache` is missing or incomplete."
    fails_if: ClassVar[str] = (
        "A directory `gtk-2.0/…/immodules` or `gtk-3.0/…/immodules` holds modules, but "
        "there is no `immodules.cache` beside it, or it doesn't name all of them. "
        + _WHEN
    )
    why: ClassVar[str] = (
        "GTK knows its input methods from this list only. Without it, a launcher loads "
        "every module to write one, or input methods don't work."
    )
    how_to_fix: ClassVar[str] = (
        "Write the list when building, with the paths that the modules have in the "
        "running snap: `gtk-query-immodules-3.0 > …/3.0.0/immodules.cache`."
    )


class IconTheme(CacheRule):
    """``icon-theme.cache`` is missing or stale."""

    id: ClassVar[str] = "SCA213"
    name: ClassVar[str] = "icon-theme-cache"
    kind: ClassVar[CacheKind] = "icon-theme"
    what: ClassVar[str] = "The cache of an icon theme"
    remedy: ClassVar[str] = "Run gtk-update-icon-cache on the theme when building, last"
    summary: ClassVar[str] = "An icon theme's cache is missing or passed over."
    fails_if: ClassVar[str] = (
        "A theme below `share/icons` has 100 icons or more, GTK or Qt is there to look "
        "for them, and `icon-theme.cache` is missing, or lacks some of the icons. In a "
        "built snap also if the cache is older than the theme's directory, by the "
        "times that the image records: GTK and Qt compare them. A prime directory's "
        "times may be of its copying and aren't looked at. " + _WHEN
    )
    why: ClassVar[str] = (
        "Without the cache, a launch lists every directory of the theme: hundreds of "
        "reads of the image's tables. An icon that a valid cache lacks isn't found."
    )
    how_to_fix: ClassVar[str] = (
        "Run `gtk-update-icon-cache --force $CRAFT_PRIME/usr/share/icons/THEME` in "
        "`override-prime` of the part that is primed last, so that nothing changes the "
        "directory after it."
    )


class Fonts(CacheRule):
    """fontconfig's caches are missing or stale."""

    id: ClassVar[str] = "SCA214"
    name: ClassVar[str] = "font-cache"
    kind: ClassVar[CacheKind] = "fonts"
    what: ClassVar[str] = "fontconfig's cache"
    remedy: ClassVar[str] = "Run fc-cache when building, or ship fewer fonts"
    summary: ClassVar[str] = (
        "fontconfig has no cache of the snap's fonts that it takes."
    )
    fails_if: ClassVar[str] = (
        "Ten fonts or more below `usr/share/fonts` are in directories without a cache "
        "in `var/cache/fontconfig`, or with one that fontconfig passes over: it was "
        "made of a directory with a time in nanoseconds, which images don't keep, or, "
        "in a built snap, of another time than the image records. Caches are found by "
        "the path that a directory has at run time; where neither a layout nor the "
        "base `bare` fixes that, a missing cache is undecided. " + _WHEN
    )
    why: ClassVar[str] = (
        "Without a cache the first launch of every user, after every refresh too, "
        "opens every font to write one."
    )
    how_to_fix: ClassVar[str] = (
        "Set the fonts' directories to a whole second (`touch -d "
        "@$SOURCE_DATE_EPOCH`), run `fc-cache`, and have layouts for "
        "`/usr/share/fonts` and `/var/cache/fontconfig`; or ship no fonts but use "
        "those of the desktop."
    )


class GioModules(CacheRule):
    """``giomodule.cache`` is missing or stale."""

    id: ClassVar[str] = "SCA215"
    name: ClassVar[str] = "gio-modules-cache"
    kind: ClassVar[CacheKind] = "gio-modules"
    what: ClassVar[str] = "GIO's list of modules"
    remedy: ClassVar[str] = "Run gio-querymodules on the directory when building"
    summary: ClassVar[str] = "`giomodule.cache` is missing or doesn't know all modules."
    fails_if: ClassVar[str] = (
        "A directory `gio/modules` holds modules (`lib*.so`), but no "
        "`giomodule.cache`, or one that doesn't name all of them, or, in a built snap, "
        "is older than one by the times that the image records, as GIO compares them. "
        + _WHEN
    )
    why: ClassVar[str] = (
        "GIO loads every module that the list doesn't name, with all libraries that it "
        "needs, just to ask what it is for."
    )
    how_to_fix: ClassVar[str] = (
        "Run `gio-querymodules $CRAFT_PRIME/usr/lib/$CRAFT_ARCH_TRIPLET/gio/modules` "
        "in `override-prime`."
    )


class PythonBytecode(CacheRule):
    """Python's bytecode is missing or stale."""

    id: ClassVar[str] = "SCA216"
    name: ClassVar[str] = "python-bytecode"
    kind: ClassVar[CacheKind] = "python-bytecode"
    what: ClassVar[str] = "Python bytecode"
    remedy: ClassVar[str] = "Run python3 -m compileall on the directory when building"
    summary: ClassVar[str] = "Python compiles modules at every launch."
    fails_if: ClassVar[str] = (
        "A module that a launch imports has no bytecode of the snap's or its base's "
        "Python, or has some of another length or, where it says so, another hash of "
        "the source; in a built snap also if it names another time than the image "
        "records for the source, as Python compares them. Tests aren't looked at, nor "
        "bytecode that Python doesn't check. Of stale bytecode, up to 128 files of a "
        "directory are looked at. " + _WHEN
    )
    why: ClassVar[str] = (
        "A snap can't be written to, so Python can't keep what it compiles: it does so "
        "again at every launch, for every module."
    )
    how_to_fix: ClassVar[str] = (
        "Compile when building, in a way that no time can spoil: `python3 -m "
        "compileall -q --invalidation-mode unchecked-hash DIRECTORY`, with the Python "
        "that the snap runs on."
    )


def used_by_launch(
    fault: CacheFault, launches: tuple[LaunchAnalysis, ...]
) -> tuple[str, ...]:
    """Return what the launches that count read that makes them need a cache.

    :returns: of bytecode, sources; else libraries, those of other snaps by their names.
    """
    sources = frozenset(fault.sources)
    found: dict[str, None] = {}
    for launch in launches:
        files = [file.path for file in launch.launch_set.files]
        elsewhere = [each.name for each in launch.launch_set.unresolved]
        if fault.kind == "python-bytecode":
            found.update(dict.fromkeys(path for path in files if path in sources))
            continue
        stems = frozenset(fault.readers)
        found.update(
            dict.fromkeys(
                path
                for path in (*files, *elsewhere)
                if posixpath.basename(path).partition(".so")[0] in stems
            )
        )
    return tuple(found)


def _ruled_out(fault: CacheFault, launches: tuple[LaunchAnalysis, ...]) -> bool:
    """Tell whether all launches are recorded and none of them uses a cache."""
    return (
        bool(launches)
        and all(launch.launch_set.source == "recorded" for launch in launches)
        and not used_by_launch(fault, launches)
    )


def _evidence(fault: CacheFault, use: tuple[str, ...]) -> Iterator[Evidence]:
    yield Evidence(
        label="files to make it from" if fault.state == "missing" else "files it lacks",
        text=f"{fault.source_count:,}",
        origin="estimated" if fault.source_count > len(fault.sources) else "measured",
    )
    if use and fault.kind == "python-bytecode":
        text = f"{len(use)}, such as {use[0]!r}"
        yield Evidence(
            label="of these, read by a launch", text=text, origin="estimated"
        )
    elif use:
        yield Evidence(label="used by a launch", text=repr(use[0]), origin="estimated")


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


CACHE_RULES: tuple[CacheRule, ...] = (
    SettingsSchemas(),
    ImageLoaders(),
    InputMethods(),
    IconTheme(),
    Fonts(),
    GioModules(),
    PythonBytecode(),
)


RULES = (
    SettingsSchemas(),
    ImageLoaders(),
    InputMethods(),
    IconTheme(),
    Fonts(),
    GioModules(),
    PythonBytecode(),
)

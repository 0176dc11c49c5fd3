"""SCA210 to SCA216: caches in the snap that would save launches work."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING

from ...core.units import counted
from ..finding import MOST_FILES, Evidence, Finding, Location
from ..rule import Context, Judge, Rule

if TYPE_CHECKING:
    from ...launches import LaunchAnalysis
    from ...payload.caches import CacheFault, CacheKind

_IN_DIRECTORIES = ("fonts", "python-bytecode")
"""Kinds of caches that are many files in a directory."""

_WHEN = (
    "If no target app's launch is known to use the cache, or the running snap may get "
    "it from elsewhere, the finding is undecided. If a recorded launch doesn't use it, "
    "the rule doesn't fire."
)
_WHEN_LISTED = (
    "A module that needs a library which neither the snap nor its base is known to "
    f"have can't be loaded, so it isn't expected in the list. {_WHEN}"
)
_OPTIONS: Mapping[str, str] = {
    "apps": "target apps",
    "launch-profile": "recorded launches, which decide what is used",
}


def _unread(context: Context) -> str | None:
    """Return which cache or list couldn't be read."""
    unread = context.survey.unread
    return f"{unread[0]!r} is too large to be read" if unread else None


_CacheRule = partial(Rule, severity="warning", options=_OPTIONS, blocked=_unread)


def _cache_judge(kind: CacheKind, what: str) -> Judge:
    """Return what yields a finding for each cache of a kind that is missing or stale.

    :param what: it is, at the start of a sentence.
    """

    def judge(rule: Rule, context: Context) -> Iterator[Finding]:
        launches = context.analysis.launches
        for fault in context.survey.caches:
            if fault.kind == kind and not _ruled_out(fault, launches):
                yield _finding(rule, context, what, fault)

    return judge


def _finding(rule: Rule, context: Context, what: str, fault: CacheFault) -> Finding:
    use = used_by_launch(fault, context.analysis.launches)
    doubt = fault.doubt or (
        None if use else "no target app's launch is known to use it"
    )
    where = "in " if fault.kind in _IN_DIRECTORIES else ""
    message = (
        f"{what} ({where}{fault.path!r}) is {fault.state}: {fault.reason} "
        f"({counted(fault.source_count, 'file')})"
    )
    used = use if fault.kind == "python-bytecode" else ()
    return rule.finding(
        context,
        f"{message}; but {doubt}." if doubt else f"{message}.",
        location=Location("payload", fault.path),
        evidence=tuple(_evidence(fault, use)),
        files=(used or fault.sources)[:MOST_FILES],
        undecided=doubt is not None,
    )


SETTINGS_SCHEMAS = _CacheRule(
    id="SCA210",
    name="settings-schemas-cache",
    remedy="Run glib-compile-schemas on the directory during the build",
    summary="`gschemas.compiled` is missing or incomplete.",
    fails_if="A directory `glib-2.0/schemas` contains `*.gschema.xml` files, but has "
    "no `gschemas.compiled`, or one that lacks a schema or a key of these files. "
    "The rule compares contents, not times. " + _WHEN,
    why="GSettings reads only the compiled form. Without it, a launcher has to compile "
    "the schemas into the user's data before the application starts, or the "
    "application aborts.",
    how_to_fix="Compile the schemas in `override-prime` of the part that is primed "
    "last: `glib-compile-schemas $CRAFT_PRIME/usr/share/glib-2.0/schemas`.",
    judge=_cache_judge("settings-schemas", "The compiled form of settings' schemas"),
)

IMAGE_LOADERS = _CacheRule(
    id="SCA211",
    name="image-loaders-cache",
    remedy="Run gdk-pixbuf-query-loaders during the build",
    summary="gdk-pixbuf's `loaders.cache` is missing or incomplete.",
    fails_if="A directory `gdk-pixbuf-2.0/…/loaders` contains modules, but there is "
    "no `loaders.cache` beside it, or the cache doesn't name all of them. "
    + _WHEN_LISTED,
    why="gdk-pixbuf knows its loaders only from this list. Without it, a launcher has "
    "to load every module to write one, or images aren't shown.",
    how_to_fix="Write the list during the build, with the paths that the modules have "
    "in the running snap: `gdk-pixbuf-query-loaders > …/2.10.0/loaders.cache`.",
    judge=_cache_judge("image-loaders", "gdk-pixbuf's list of image loaders"),
)

INPUT_METHODS = _CacheRule(
    id="SCA212",
    name="input-methods-cache",
    remedy="Run gtk-query-immodules during the build",
    summary="GTK's `immodules.cache` is missing or incomplete.",
    fails_if="A directory `gtk-2.0/…/immodules` or `gtk-3.0/…/immodules` contains "
    "modules, but there is no `immodules.cache` beside it, or the cache doesn't "
    "name all of them. " + _WHEN_LISTED,
    why="GTK knows its input methods only from this list. Without it, a launcher has "
    "to load every module to write one, or input methods don't work.",
    how_to_fix="Write the list during the build, with the paths that the modules have "
    "in the running snap: `gtk-query-immodules-3.0 > …/3.0.0/immodules.cache`.",
    judge=_cache_judge("input-methods", "GTK's list of input methods"),
)

ICON_THEME = _CacheRule(
    id="SCA213",
    name="icon-theme-cache",
    remedy="Run gtk-update-icon-cache on the theme at the end of the build",
    summary="An icon theme's cache is missing or ignored.",
    fails_if="A theme below `share/icons` has at least 100 icons, GTK or Qt is there "
    "to look them up, and `icon-theme.cache` is missing or, in a built snap, older "
    "than the theme's directory, so that GTK and Qt ignore it. In a prime directory, "
    "times may come from copying, so the rule doesn't compare them. It doesn't read "
    "the cache. " + _WHEN,
    why="Without the cache, a launch lists every directory of the theme, which takes "
    "hundreds of reads of the image's tables.",
    how_to_fix="Run `gtk-update-icon-cache --force "
    "$CRAFT_PRIME/usr/share/icons/THEME` in `override-prime` of the part that is "
    "primed last.",
    judge=_cache_judge("icon-theme", "The cache of an icon theme"),
)

FONTS = _CacheRule(
    id="SCA214",
    name="font-cache",
    remedy="Run fc-cache during the build, or ship fewer fonts",
    summary="fontconfig has no valid cache of the snap's fonts.",
    fails_if="At least ten fonts below `usr/share/fonts` are in directories without a "
    "cache in `var/cache/fontconfig`, or with one that fontconfig ignores: made when "
    "the directory's time had nanoseconds, which images don't keep, or, in a built "
    "snap, for another time than the image records. fontconfig finds caches by the "
    "directory's path at run time; unless a layout or the base `bare` fixes that path, "
    "a missing cache is undecided. " + _WHEN,
    why="Without a cache, every user's first launch, also after each refresh, opens "
    "every font to write one.",
    how_to_fix="Set the times of the font directories to a whole second (`touch -d "
    "@$SOURCE_DATE_EPOCH`), run `fc-cache`, and add layouts for `/usr/share/fonts` and "
    "`/var/cache/fontconfig`. Or ship no fonts, and use those of the desktop.",
    judge=_cache_judge("fonts", "fontconfig's cache"),
)

GIO_MODULES = _CacheRule(
    id="SCA215",
    name="gio-modules-cache",
    remedy="Run gio-querymodules on the directory during the build",
    summary="`giomodule.cache` is missing or incomplete.",
    fails_if="A directory `gio/modules` contains modules (`lib*.so`), but has no "
    "`giomodule.cache`, or one that doesn't name all of them, or that is, in a built "
    "snap, older than a module, so that GIO ignores its entry. " + _WHEN_LISTED,
    why="GIO loads every module that isn't in the list, with all libraries that the "
    "module needs, only to ask what it is for.",
    how_to_fix="Run `gio-querymodules "
    "$CRAFT_PRIME/usr/lib/$CRAFT_ARCH_TRIPLET/gio/modules` in `override-prime`.",
    judge=_cache_judge("gio-modules", "GIO's list of modules"),
)

PYTHON_BYTECODE = _CacheRule(
    id="SCA216",
    name="python-bytecode",
    remedy="Run python3 -m compileall on the directory during the build",
    summary="Python compiles modules at every launch.",
    fails_if="A module that a launch imports has no bytecode for the Python of the "
    "snap or its base, or has bytecode made from a source of another length; in a "
    "built snap, also of another time than the image records; in a prime directory, of "
    "one later than SOURCE_DATE_EPOCH, which a pack gives the sources. The rule skips "
    "tests, and bytecode that Python checks by a hash or not at all. It checks up to "
    "128 bytecode files of a directory. " + _WHEN,
    why="A snap is read-only, so Python can't keep what it compiles: it compiles the "
    "modules again at every launch.",
    how_to_fix="Compile during the build, in a way that doesn't depend on times: "
    "`python3 -m compileall -q --invalidation-mode unchecked-hash DIRECTORY`, with the "
    "Python that the snap uses.",
    judge=_cache_judge("python-bytecode", "Python bytecode"),
)


_BYTECODE = re.compile(r"__pycache__/([^/.]+)\.[^/]+\.pyc\Z")
"""Bytecode, which a guess has in the place of its source even if it is stale."""


def used_by_launch(
    fault: CacheFault, launches: tuple[LaunchAnalysis, ...]
) -> tuple[str, ...]:
    """Return what the target apps' launches read that makes them need a cache.

    :returns: of bytecode, sources; else libraries, those of other snaps by their names.
    """
    sources = frozenset(fault.sources)
    found: dict[str, None] = {}
    for launch in launches:
        files = [file.path for file in launch.launch_set.files]
        elsewhere = [each.name for each in launch.launch_set.unresolved]
        if fault.kind == "python-bytecode":
            read = (_BYTECODE.sub(r"\1.py", path) for path in files)
            found.update(dict.fromkeys(path for path in read if path in sources))
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
    """Return whether all launches are recorded and none of them uses a cache."""
    return (
        bool(launches)
        and all(launch.launch_set.source == "recorded" for launch in launches)
        and not used_by_launch(fault, launches)
    )


def _evidence(fault: CacheFault, use: tuple[str, ...]) -> Iterator[Evidence]:
    yield Evidence(
        "files to build it from" if fault.state == "missing" else "files it lacks",
        f"{fault.source_count:,}",
        "estimated" if fault.source_count > len(fault.sources) else "measured",
    )
    if use and fault.kind == "python-bytecode":
        text = f"{len(use)}, such as {use[0]!r}"
        yield Evidence("of these, read by a launch", text, "estimated")
    elif use:
        yield Evidence("used by a launch", repr(use[0]), "estimated")


RULES = (
    SETTINGS_SCHEMAS,
    IMAGE_LOADERS,
    INPUT_METHODS,
    ICON_THEME,
    FONTS,
    GIO_MODULES,
    PYTHON_BYTECODE,
)

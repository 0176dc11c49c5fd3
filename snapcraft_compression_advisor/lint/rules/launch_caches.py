"""SCA210 to SCA216: caches in the snap that would save launches work."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...core.units import counted
from ..finding import MOST_FILES, Evidence, Finding, Location
from ..rule import Context, Rule

if TYPE_CHECKING:
    from ...launches import LaunchAnalysis
    from ...payload.caches import CacheFault, CacheKind

_IN_DIRECTORIES = ("fonts", "python-bytecode")
"""Kinds of caches that are many files in a directory."""


def _unread(context: Context) -> str | None:
    """Return the cache or list that couldn't be read, if any."""
    unread = context.survey.unread
    return f"{unread[0]!r} is too large to be read" if unread else None


def _cache_rule(rule: str, kind: CacheKind, name: str, what: str) -> Rule:
    """Return the rule that finds caches of a kind which are missing or stale.

    :param what: they are, at the start of a sentence.
    """

    def judge(rule: Rule, context: Context) -> Iterator[Finding]:
        launches = context.analysis.launches
        for fault in context.survey.caches:
            if fault.kind == kind and not _ruled_out(fault, launches):
                yield _finding(rule, context, what, fault)

    return Rule(id=rule, name=name, severity="warning", judge=judge, blocked=_unread)


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


_BYTECODE = re.compile(r"__pycache__/([^/.]+)\.[^/]+\.pyc\Z")
"""Bytecode, which a guess has in the place of its source even if it is stale."""


def used_by_launch(
    fault: CacheFault, launches: tuple[LaunchAnalysis, ...]
) -> tuple[str, ...]:
    """Return the files of the target apps' launches that make these need a cache.

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
    _cache_rule(
        "SCA210",
        "settings-schemas",
        "settings-schemas-cache",
        "The compiled form of settings' schemas",
    ),
    _cache_rule(
        "SCA211",
        "image-loaders",
        "image-loaders-cache",
        "gdk-pixbuf's list of image loaders",
    ),
    _cache_rule(
        "SCA212", "input-methods", "input-methods-cache", "GTK's list of input methods"
    ),
    _cache_rule(
        "SCA213", "icon-theme", "icon-theme-cache", "The cache of an icon theme"
    ),
    _cache_rule("SCA214", "fonts", "font-cache", "fontconfig's cache"),
    _cache_rule("SCA215", "gio-modules", "gio-modules-cache", "GIO's list of modules"),
    _cache_rule("SCA216", "python-bytecode", "python-bytecode", "Python bytecode"),
)

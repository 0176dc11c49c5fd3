"""First runs of an application: in a new home directory, which has none of its caches.

Libraries keep what they work out once (fontconfig, GSettings, icon themes, MIME types)
in the user's home, by themselves or through programs that a command-chain starts.
"""

from __future__ import annotations

import posixpath
import re
import stat
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from ..core.trees import entries_below
from .exec_trace import Exec, Exit, exec_trace
from .home import launch_home
from .mount import Mount
from .samples import RunTime

_FILES = {
    "fonts": r"(?:.*/)?fontconfig/.+\.cache-\w+",
    "settings-schemas": r"(?:.*/)?gschemas\.compiled",
    "icon-theme": r"(?:.*/)?icon-theme\.cache",
    "mime-types": r"(?:.*/)?mime/(?:mime\.cache|globs2?|magic|types|aliases)",
    "image-loaders": r"(?:.*/)?loaders\.cache",
    "input-methods": r"(?:.*/)?immodules\.cache",
    "gio-modules": r"(?:.*/)?giomodule\.cache",
    "python-bytecode": r"(?:.*/)?__pycache__/[^/]+\.pyc",
    "qml": r"(?:.*/)?qmlcache/[^/]+",
    "kde-services": r"(?:.*/)?ksycoca\w+",
    "gstreamer-plugins": r"(?:.*/)?gstreamer-1\.0/registry\.[^/]+",
    "shaders": r"(?:.*/)?(?:mesa_shader_cache\w*|GLCache|GPUCache|GrShaderCache)/.+",
}
"""Files of the caches that libraries keep, by kind; those of lint's rules have the
names that they have there."""
KINDS = {kind: re.compile(pattern) for kind, pattern in _FILES.items()}

_PROGRAMS = {
    "fc-cache": "fonts",
    "glib-compile-schemas": "settings-schemas",
    "gtk-update-icon-cache": "icon-theme",
    "gtk4-update-icon-cache": "icon-theme",
    "update-mime-database": "mime-types",
    "gdk-pixbuf-query-loaders": "image-loaders",
    "gtk-query-immodules-2.0": "input-methods",
    "gtk-query-immodules-3.0": "input-methods",
    "gio-querymodules": "gio-modules",
    "gst-plugin-scanner": "gstreamer-plugins",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeCache:
    """The caches of a kind that a first run made.

    :param kind: ``CacheKind`` where lint has a rule for it.
    :param files: that it wrote into its home.
    :param program_s: what programs that make such caches took, seconds; ``None`` where
        none was seen: a library then does it in the application itself.
    """

    kind: str
    files: int
    size_bytes: int
    program_s: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredCaches:
    """What first runs were measured to spend on caches.

    :param making_s: on all that they make in a new home, seconds.
    """

    making_s: float
    made: tuple[MadeCache, ...]


@dataclass(frozen=True, slots=True)
class FirstRun:
    """One launch in a new home, and what caches it made there."""

    time: RunTime
    caches: tuple[MadeCache, ...]


FirstLaunch = Callable[[Mount], FirstRun]
"""Launches once in a new home."""


def first_run(launch: Callable[[Path], RunTime]) -> FirstRun:
    """Launch in a new home, and look what caches are in it then.

    :param launch: launches with a home directory.
    :raises AdvisorError: where the launch fails.
    """
    with launch_home() as home:
        with exec_trace() as trace:
            timed = launch(home)
            program_s = _program_seconds(trace.events(), trace.exits())
        return FirstRun(timed, tuple(_made(home, program_s)))


def _made(home: Path, program_s: dict[str, float]) -> Iterator[MadeCache]:
    found: dict[str, list[int]] = defaultdict(list)
    for entry in entries_below(home):
        name = posixpath.relpath(entry.path, home)
        for kind, pattern in KINDS.items():
            if pattern.fullmatch(name):
                with suppress(OSError):  # gone meanwhile
                    status = entry.stat(follow_symlinks=False)
                    if stat.S_ISREG(status.st_mode):
                        found[kind].append(status.st_size)
    for kind in sorted({*found, *program_s}):
        yield MadeCache(
            kind=kind,
            files=len(found[kind]),
            size_bytes=sum(found[kind]),
            program_s=program_s.get(kind),
        )


def _program_seconds(execs: Iterable[Exec], exits: Iterable[Exit]) -> dict[str, float]:
    """Return what programs took that make a kind of caches, those that have ended."""
    ended = {each.pid: each.at_s for each in exits}
    found: dict[str, float] = defaultdict(float)
    for each in execs:
        kind = _PROGRAMS.get(posixpath.basename(each.program))
        if kind is not None and each.pid in ended:
            found[kind] += max(0.0, ended[each.pid] - each.at_s)
    return dict(found)

"""Files of a payload that a launch from a part of it looks for in vain, by strace."""

from __future__ import annotations

import os
import posixpath
import re
import shutil
from collections.abc import Iterable, Iterator
from dataclasses import replace

from ..core.scratch import scratch_directory
from ..payload.inventory import PathResolver
from ..payload.source import Payload
from ..squashfs.entry import EntryKind
from .page_cache import named_files
from .snap_environment import launch_home
from .start import LaunchRequest, time_launch

_STRACE = "strace"
_OPENING = ("open", "openat", "openat2", "execve", "execveat")
_MISSED = re.compile(
    rf"(?:\d+ +)?(?:{'|'.join(_OPENING)})"
    r'\((?:[^"<]*(?:<(?P<base>/[^>]*)>)?, )?"(?P<path>(?:[^"\\]|\\.)*)".* = -1 '
)
"""A call that failed, as ``strace -f -y`` writes it."""


def can_trace() -> bool:
    """Return whether strace is installed."""
    return shutil.which(_STRACE) is not None


def missed_files(
    payload: Payload, trimmed: Payload, request: LaunchRequest
) -> frozenset[str]:
    """Return the files of a payload that a launch without them tries to open.

    :param trimmed: a directory with a part of the payload's files.
    :raises AdvisorError: if the launch fails.
    """
    with launch_home(request.home) as home, scratch_directory() as scratch:
        log = scratch / "strace.log"
        traced_by = (
            # A snap's own PATH isn't the tracer's.
            shutil.which(_STRACE) or _STRACE, "-f", "-qq", "-y", "-s", "0",
            "-e", f"trace={','.join(f'?{name}' for name in _OPENING)}",
            "-e", "status=failed", "-e", "signal=none", "-o", str(log),
        )  # fmt: skip
        found: frozenset[str] = frozenset()

        def look() -> None:
            nonlocal found
            # What it does as it is ended comes behind.
            with log.open(encoding="utf-8", errors="surrogateescape") as lines:
                found = frozenset(_files(payload, missed_paths(lines)))

        command = replace(request.command, traced_by=traced_by)
        request = replace(request, command=command)
        time_launch(request, trimmed.path, home, frozen=look)
        return found


def missed_paths(lines: Iterable[str]) -> Iterator[str]:
    """Yield the absolute paths that calls of a log tried to open in vain."""
    for line in lines:
        call = _MISSED.match(line)
        if call is not None:
            yield posixpath.join(call["base"] or "", _unescaped(call["path"]))


def _unescaped(text: str) -> str:
    """Replace C escapes, which stand for bytes."""
    raw = text.encode("ascii", "ignore").decode("unicode_escape")
    return os.fsdecode(raw.encode("latin-1"))


def _files(payload: Payload, paths: Iterable[str]) -> Iterator[str]:
    """Yield the payload's files of these paths, each under its first name."""
    place = re.compile(rf"/snap/{re.escape(payload.snap.name)}/[^/]+/(.+)")
    resolver = PathResolver(payload.inventory, snap_name=payload.snap.name)
    first = {each.identity: each.path for each in named_files(payload.inventory)}
    for found in filter(None, map(place.fullmatch, paths)):
        entry = resolver.locate(found[1]).entry
        if entry is not None and entry.kind is EntryKind.FILE:
            yield first.get(entry.identity, entry.path)

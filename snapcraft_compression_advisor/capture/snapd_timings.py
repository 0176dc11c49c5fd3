"""What snapd measured of a snap on some machine, from the output of its commands.

snapd's ``cmd/snap/cmd_debug_timings.go``, ``cmd/snap/cmd_changes.go`` and
``osutil/strace/timing.go`` write these tables. They may follow each other in a file.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from ..core.errors import BadDataError, NoInputError
from ..core.files import read_regular
from ..core.printable import printable
from ..core.units import MIB

_MAX_BYTES = MIB
"""A change of a hundred snaps takes a tenth of it."""

_COMMANDS = (
    "'snap debug timings CHANGE', 'snap changes --abs-time' and 'snap run --trace-exec'"
)
_HEAD = re.compile(r"ID\s+Status\s+(?:Doing\s+Undoing(\s+Label)?|Spawn\s+Ready)\s+Summ")
_TASK = re.compile(
    r"(?P<id>\d+)\s+(?P<status>\w+)\s+(?P<ready>-|\d+ms)\s+(?:-|\d+ms)\s+(?P<rest>\S.*)"
)
_CHANGE = re.compile(
    r"(?P<id>\d+)\s+(?P<status>\w+)\s+(?P<spawn>\S+)\s+(?P<ready>\S+)\s+(?P<rest>\S.*)"
)
_PROGRAM = re.compile(r"\s+(\d+\.\d{3})s (\S.*)")
_RUN = re.compile(r"Slowest \d+ exec calls during snap run:")
_RUN_TOTAL = re.compile(r"Total time: (\d+\.\d{3})s")
_NAME = re.compile(r'"(?P<quoted>[^"/]+)"|(?P<connected>[a-z0-9_-]+):[a-z0-9-]+')


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapdTask:
    """A task of a change, or a whole change.

    :param kind: as snapd names it inside; empty without ``--verbose``.
    """

    id: str
    summary: str
    seconds: float
    kind: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class StartedProgram:
    """A program of ``snap run --trace-exec``, until it started the next or ended."""

    program: str
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapdTimings:
    """What snapd measured of one snap.

    :param tasks: of ``snap debug timings``, in its order.
    :param changes: of ``snap changes``, in its order; whole seconds.
    :param programs: the slowest ones of a run that strace traced.
    :param run_s: of that run, until all its processes had ended.
    """

    tasks: tuple[SnapdTask, ...] = ()
    changes: tuple[SnapdTask, ...] = ()
    programs: tuple[StartedProgram, ...] = ()
    run_s: float | None = None


def read_snapd_timings(paths: Sequence[Path], *, snap: str) -> SnapdTimings:
    """Read what snapd's commands printed about a snap; what isn't of it is left out.

    A run says nothing of its snap, and is taken for one of it.

    :raises NoInputError: where a file can't be read.
    :raises BadDataError: where a file has none of the tables, or nothing about it.
    """
    tasks: list[SnapdTask] = []
    changes: list[SnapdTask] = []
    programs: list[StartedProgram] = []
    run_s: float | None = None
    for path in paths:
        text = _read(path)
        found = [*_rows(text, path)]
        named = {name.partition("_")[0] for _, row in found for name in _names(row)}
        run = _RUN.search(text)
        if snap not in named and run is None:
            raise _nothing(path, snap, [row for _, row in found])
        own = [(table, row) for table, row in found if _is_about(row, snap)]
        tasks += [row for table, row in own if table == "tasks"]
        changes += [row for table, row in own if table == "changes"]
        if run is not None:
            programs += _programs(text[run.end() :])
            total = _RUN_TOTAL.search(text, run.end())
            run_s = float(total[1]) if total else run_s
    return SnapdTimings(
        tasks=tuple(tasks),
        changes=tuple(changes),
        programs=tuple(programs),
        run_s=run_s,
    )


def _read(path: Path) -> str:
    try:
        content = read_regular(path, _MAX_BYTES)
    except (OSError, ValueError) as error:  # ValueError: a null byte in the path
        reason = error.strerror if isinstance(error, OSError) else error
        message = f"Cannot read the timings {str(path)!r}: {reason}"
        raise NoInputError(message, resolution="Check its path.") from error
    if len(content) > _MAX_BYTES:
        message = f"The timings {str(path)!r} have more than 1 MiB"
        raise BadDataError(message, resolution=f"Give the output of {_COMMANDS}.")
    return content.decode(errors="replace")


def _rows(text: str, path: Path) -> Iterator[tuple[str, SnapdTask]]:
    """Yield the rows of all tables that took a known time, with their table."""
    row = None
    for line in text.splitlines():
        head = _HEAD.match(line)
        if head is not None:
            row = _CHANGE if "Spawn" in head[0] else _TASK
            labelled = bool(head[1])
            continue
        match = row.fullmatch(line.rstrip()) if row else None
        if match is None or match["ready"] == "-":
            continue
        if row is _CHANGE:
            yield "changes", _change(match, path)
        else:
            yield "tasks", _task(match, labelled=labelled)


def _task(match: re.Match[str], *, labelled: bool) -> SnapdTask:
    kind, _, summary = match["rest"].partition(" ") if labelled else ("", "", "")
    return SnapdTask(
        id=match["id"],
        kind=kind,
        summary=summary.strip() or match["rest"],
        seconds=int(match["ready"].removesuffix("ms")) / 1000,
    )


def _change(match: re.Match[str], path: Path) -> SnapdTask:
    try:
        spawn, ready = map(_moment, (match["spawn"], match["ready"]))
        seconds = (ready - spawn).total_seconds()
    except (TypeError, ValueError) as error:  # TypeError: one of them without a zone
        message = f"The changes in {str(path)!r} have no times to the second"
        raise BadDataError(
            message, resolution="Use the output of 'snap changes --abs-time'."
        ) from error
    return SnapdTask(id=match["id"], summary=match["rest"], seconds=max(0.0, seconds))


def _moment(text: str) -> datetime:
    # Python 3.10 doesn't know the Z of RFC 3339.
    return datetime.fromisoformat(re.sub("Z$", "+00:00", text))


def _programs(text: str) -> Iterator[StartedProgram]:
    for line in text.splitlines()[1:]:
        match = _PROGRAM.fullmatch(line.rstrip())
        if match is None:
            return
        yield StartedProgram(program=match[2], seconds=float(match[1]))


def _is_about(row: SnapdTask, snap: str) -> bool:
    """Tell whether a summary names a snap, or no snap at all.

    Of a task on a file, snapd names only that: ``Prepare snap "/tmp/x.snap" (x1)``.
    """
    names = _names(row)
    return not names or any(name.partition("_")[0] == snap for name in names)


def _names(row: SnapdTask) -> list[str]:
    found = _NAME.finditer(row.summary)
    return [each["quoted"] or each["connected"] for each in found]


def _nothing(path: Path, snap: str, rows: Iterable[SnapdTask]) -> BadDataError:
    others = dict.fromkeys(name for row in rows for name in _names(row))
    if not others:
        return BadDataError(
            f"{str(path)!r} has no timings of snapd",
            resolution=f"Give the output of {_COMMANDS}.",
        )
    named = printable(", ".join(others))
    return BadDataError(
        f"{str(path)!r} has no timings of snap {snap!r}",
        details=f"It has timings of {named}.",
        resolution="Give the timings of the change that installed this snap.",
    )

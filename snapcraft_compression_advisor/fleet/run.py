"""A run: snaps that the data set doesn't have, made into rows of it."""

from __future__ import annotations

import hashlib
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..core.child import run_child
from ..core.errors import NoInputError, ToolError
from .bounded import Engine
from .columns import KNOWN, Row
from .dataset import Dataset
from .sources import Snap
from .task import CHECK_PATH, FleetRequest

_PROGRAM = (
    "import sys; sys.path[:] = {path!r}; "
    "from snapcraft_compression_advisor.fleet.task import print_digests; "
    "print_digests(sys.argv[1:])"
)
Progress = Callable[[str], None]

_ROWS_PER_FILE = 256
_FLUSH_S = 10.0
"""What a run that is killed loses at most, and what two runs may do twice."""
_MINUTE_S = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """Counts of a run.

    :param found: snaps that the sources stand for.
    :param there: snaps whose rows were there already.
    :param added: new rows.
    :param failed: new rows with an error.
    """

    found: int
    there: int
    added: int
    failed: int


def run_fleet(
    snaps: Sequence[Snap], dataset: Dataset, engine: Engine, *, progress: Progress
) -> Summary:
    """Add what is missing to a data set; interrupted, what is ready is kept.

    :raises AdvisorError: if rows can't be made or written.
    """
    todo = [snap for snap in snaps if not dataset.has(snap)]
    waiting: list[Row] = []
    added = failed = 0
    start = written = time.monotonic()
    try:
        for done, row in enumerate(engine(todo) if todo else (), start=1):
            waiting.append(row)
            failed += KNOWN not in row and row.get("error") is not None
            now = time.monotonic()
            # Once it is reported, the row isn't lost any more.
            progress(_pace(done, len(todo), now - start))
            if len(waiting) >= _ROWS_PER_FILE or now - written >= _FLUSH_S:
                batch, waiting, written = waiting, [], now
                added += dataset.add(batch)
    finally:
        added += dataset.add(waiting)
    return Summary(
        found=len(snaps), there=len(snaps) - added, added=added, failed=failed
    )


def settings_digest(request: FleetRequest, *, limit_s: float) -> str:
    """Return a digest of all that rows depend on besides the snaps.

    :param limit_s: time after which reading files has failed.
    :raises NoInputError: if a base or content snap, or a profile, can't be read.
    :raises ToolError: if that takes longer.
    """
    loaded, folder = request.lint.loaded, request.launch_profiles
    profiles = sorted(folder.glob("*.json")) if folder else []
    files = [*request.bases, *request.contents, *profiles]
    names = [path.name for path in profiles]
    settings = (loaded.settings, loaded.devices, loaded.profiles)
    known = (*settings, len(request.bases), names)
    text = repr(known) + (_digests(files, limit_s) if files else "")
    return hashlib.sha256(text.encode()).hexdigest()


def _digests(files: Sequence[Path], limit_s: float) -> str:
    """Return the digests of files, which a process of its own reads."""
    program = _PROGRAM.format(path=sys.path)
    command = (sys.executable, "-c", program, *map(str, files))
    try:
        ran = run_child(command, limit_s=limit_s)
    except subprocess.TimeoutExpired as error:
        message = f"Reading {len(files)} files takes longer than {limit_s:g} s"
        raise ToolError(message, resolution="Raise --time-limit.") from error
    if ran.returncode:
        message = ran.stderr.strip() or "A process that reads files was ended"
        raise NoInputError(message, resolution=CHECK_PATH)
    return ran.stdout


def _pace(done: int, count: int, took_s: float) -> str:
    rate = done / max(took_s, 1e-3)
    left_s = (count - done) / rate
    left = f"{left_s:.0f} s"
    if left_s >= _MINUTE_S:
        hours, minutes = divmod(round(left_s / _MINUTE_S), _MINUTE_S)
        left = f"{hours} h {minutes:02} min" if hours else f"{minutes} min"
    return f"{done:,} of {count:,} snaps, {rate * _MINUTE_S:,.0f} a minute, {left} left"

"""A run: snaps that the data set doesn't have, made into rows of it."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Sequence

from ..core.frozen import frozen
from .columns import KNOWN, Row
from .dataset import Dataset
from .pool import Engine
from .sources import Snap
from .task import FleetRequest, file_digest

Progress = Callable[[str], None]

_ROWS_PER_FILE = 256
_FLUSH_S = 10.0
"""What a run that is killed loses at most, and what two runs may do twice."""
_MINUTE_S = 60


@frozen
class Summary:
    """What came of a run.

    :param found: snaps that the sources stand for.
    :param there: of these, those whose rows were there already.
    :param added: rows that are new.
    :param failed: of these, those of an error.
    """

    found: int
    there: int
    added: int
    failed: int


def run_fleet(
    snaps: Sequence[Snap], dataset: Dataset, engine: Engine, *, progress: Progress
) -> Summary:
    """Add what is missing to a data set; interrupted, what is ready is kept.

    :raises AdvisorError: where rows can't be made or written.
    """
    todo = [snap for snap in snaps if not dataset.has(snap)]
    pace = _Pace(len(todo))
    waiting: list[Row] = []
    added = failed = 0
    try:
        for row in engine.rows(todo) if todo else ():
            waiting.append(row)
            failed += KNOWN not in row and row.get("error") is not None
            progress(pace.after_one())  # once said, the row isn't lost any more
            if len(waiting) >= _ROWS_PER_FILE or pace.is_time_to_write():
                batch, waiting = waiting, []
                added += dataset.add(batch)
    finally:
        added += dataset.add(waiting)
    return Summary(
        found=len(snaps), there=len(snaps) - added, added=added, failed=failed
    )


def settings_digest(request: FleetRequest) -> str:
    """Return a digest of all that rows depend on besides the snaps.

    :raises NoInputError: where a base or content snap, or a profile, can't be read.
    """
    lint, folder = request.lint, request.launch_profiles
    others = [file_digest(str(path)) for path in (*request.bases, *request.contents)]
    told = repr((lint.policy, lint.devices, lint.profiles, others))
    for path in sorted(folder.glob("*.json")) if folder else ():
        told += f"{path.name} {file_digest(str(path))}"
    return hashlib.sha256(told.encode()).hexdigest()


class _Pace:
    """How fast a run is, as people read it."""

    def __init__(self, count: int) -> None:
        self._count, self._done = count, 0
        self._start = self._written = time.monotonic()

    def after_one(self) -> str:
        """Count a snap and return how far the run is."""
        self._done += 1
        took_s = max(time.monotonic() - self._start, 1e-3)
        rate = self._done / took_s
        left_s = (self._count - self._done) / rate
        return (
            f"{self._done:,} of {self._count:,} snaps, {rate * _MINUTE_S:,.0f} a "
            f"minute, {_span(left_s)} left"
        )

    def is_time_to_write(self) -> bool:
        """Tell whether rows have waited long enough; then count from now."""
        now = time.monotonic()
        if now - self._written < _FLUSH_S:
            return False
        self._written = now
        return True


def _span(seconds: float) -> str:
    if seconds < _MINUTE_S:
        return f"{seconds:.0f} s"
    minutes = round(seconds / _MINUTE_S)
    hours, minutes = divmod(minutes, _MINUTE_S)
    return f"{hours} h {minutes:02} min" if hours else f"{minutes} min"

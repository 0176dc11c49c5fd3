"""A run: snaps that the data set doesn't have, made into rows of it."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Sequence

from ..core.frozen import frozen
from .columns import KNOWN, Row
from .dataset import Dataset
from .engines import Engine
from .sources import Snap
from .task import FleetRequest, file_digest

Progress = Callable[[str], None]

_ROWS_PER_FILE = 256
_FLUSH_S = 10.0
"""What a run that is killed loses at most, and what two runs may do twice."""
_MINUTE_S = 60


@frozen
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


def settings_digest(request: FleetRequest) -> str:
    """Return a digest of all that rows depend on besides the snaps.

    :raises NoInputError: if a base or content snap, or a profile, can't be read.
    """
    lint, folder = request.lint, request.launch_profiles
    others = [file_digest(str(path)) for path in (*request.bases, *request.contents)]
    text = repr((lint.policy, lint.devices, lint.profiles, others))
    for path in sorted(folder.glob("*.json")) if folder else ():
        text += f"{path.name} {file_digest(str(path))}"
    return hashlib.sha256(text.encode()).hexdigest()


def _pace(done: int, count: int, took_s: float) -> str:
    rate = done / max(took_s, 1e-3)
    left_s = (count - done) / rate
    left = f"{left_s:.0f} s"
    if left_s >= _MINUTE_S:
        hours, minutes = divmod(round(left_s / _MINUTE_S), _MINUTE_S)
        left = f"{hours} h {minutes:02} min" if hours else f"{minutes} min"
    return f"{done:,} of {count:,} snaps, {rate * _MINUTE_S:,.0f} a minute, {left} left"

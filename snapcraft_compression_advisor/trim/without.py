"""A payload without some files: a copy, its image, and how apps are started."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from ..capture.images import payload_copy
from ..capture.recordings import NOTHING_BESIDE
from ..core.errors import ToolError
from ..payload.references import needed_directories
from ..payload.source import Payload, open_payload
from ..payload.stack import layers_of
from ..settings.parts import Recording
from ..squashfs.entry import EntryKind
from ..trial.exact import run_exact_trial
from .filters import emptied_directories
from .plan import TrimGroup

if TYPE_CHECKING:
    from ..capture.isolation import Isolation
    from ..capture.recordings import Reporter
    from ..launches import Surroundings
    from ..trial.result import Progress


@dataclass(frozen=True, slots=True, kw_only=True)
class Starts:
    """How apps are started.

    :param recordings: of the settings, for their events and timeouts; one that names no
        app serves those that none names.
    """

    reporter: Reporter
    recordings: Sequence[Recording] = ()
    within: Isolation = NOTHING_BESIDE

    def of(self, app: str) -> Recording:
        """Return the launch of an app, which has to be possible."""
        known = {each.app: each for each in self.recordings}
        found = known.get(app) or known.get(None) or Recording()
        return found.model_copy(update={"app": app, "required": True})


@contextmanager
def seeing(
    starts: Starts, payload: Payload, surroundings: Surroundings
) -> Iterator[Starts]:
    """Give starts whose apps see their base and content snaps, images unpacked.

    A content snap whose place the payload lacks isn't seen, as snapd would refuse it.
    """
    with ExitStack() as until:

        def directory(other: Payload) -> Path:
            if other.kind == "prime":
                return other.path.absolute()
            return until.enter_context(payload_copy(other))

        machine, contents = starts.within.machine, {}
        for layer in layers_of(surroundings.stack_of(payload))[1:]:
            entry = payload.inventory.entries.get(layer.place)
            if layer.role == "base":
                machine = directory(layer.payload)
            elif entry is not None and entry.kind is EntryKind.DIRECTORY:
                contents[layer.place] = directory(layer.payload)
        within = replace(starts.within, machine=machine, contents=contents)
        yield replace(starts, within=within)


@contextmanager
def without(payload: Payload, groups: Sequence[TrimGroup]) -> Iterator[Payload]:
    """Give a copy of a payload without some files, and without emptied directories."""
    gone = {path for group in groups for path in group.files}
    with payload_copy(payload) as tree:
        for path in gone:
            (tree / path).unlink()
        emptied = emptied_directories(
            gone, payload.inventory, needed_directories(payload.snap)
        )
        for path in sorted(emptied, reverse=True):  # what is in one before it
            (tree / path).rmdir()
        with open_payload(tree) as trimmed:
            yield trimmed


def packed_bytes(payload: Payload, codec: str, progress: Progress) -> int:
    """Return the size of a payload's image.

    :raises AdvisorError: if it can't be packed.
    """
    trial = run_exact_trial(payload, progress=progress, names=(codec,))
    size = trial.codecs[codec].image_bytes
    if size is None:
        message = f"This mksquashfs can't pack with {codec}"
        raise ToolError(message, resolution="Install squashfs-tools.")
    return int(size.mid)

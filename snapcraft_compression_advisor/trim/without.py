"""A payload without some files: a copy, its image, launches timed from it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from ..capture.images import packed_images, payload_copy
from ..capture.measure import Turns, Variant, launch_in_turns
from ..capture.recordings import NOTHING_BESIDE, isolated_request
from ..payload.references import needed_directories
from ..payload.source import Payload, open_payload
from ..payload.stack import layers_of
from ..settings.parts import Recording
from ..squashfs.entry import EntryKind
from .filters import emptied_directories
from .plan import TrimGroup

if TYPE_CHECKING:
    from ..capture.isolation import Isolation
    from ..capture.recordings import Reporter
    from ..launches import Surroundings

BEFORE, AFTER = "before", "after"


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
    starts: Starts,
    payload: Payload,
    surroundings: Surroundings,
    scratch: Path | None = None,
) -> Iterator[Starts]:
    """Give starts whose apps see their base and content snaps, images unpacked.

    A content snap whose place the payload lacks isn't seen, as snapd would refuse it.
    """
    with ExitStack() as until:

        def directory(other: Payload) -> Path:
            if other.kind == "prime":
                return other.path.absolute()
            return until.enter_context(payload_copy(other, scratch))

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
def without(
    payload: Payload, groups: Sequence[TrimGroup], scratch: Path | None
) -> Iterator[Payload]:
    """Give a copy of a payload without some files, and without emptied directories."""
    gone = {path for group in groups for path in group.files}
    with payload_copy(payload, scratch) as tree:
        for path in gone:
            (tree / path).unlink()
        emptied = emptied_directories(
            gone, payload.inventory, needed_directories(payload.snap)
        )
        for path in sorted(emptied, reverse=True):  # what is in one before it
            (tree / path).rmdir()
        with open_payload(tree) as trimmed:
            yield trimmed


def packed(
    payload: Payload,
    codec: str,
    groups: Sequence[TrimGroup],
    timed: tuple[Iterable[str], Starts, int],
    scratch: Path | None,
) -> tuple[int, int, Mapping[str, Turns]]:
    """Return the sizes of both images, and launches from them.

    :param timed: the apps, how they are started, and how many launches of each.
    """
    apps, starts, runs = timed
    pack = partial(
        packed_images,
        scratch=scratch,
        progress=starts.reporter.progress,
        to_mount=runs > 0,
    )
    with (
        without(payload, groups, scratch) as trimmed,
        pack(payload, (codec,)) as whole,
        pack(trimmed, (codec,)) as less,
    ):
        images = {BEFORE: whole.paths[codec], AFTER: less.paths[codec]}
        turns = {
            app: _turns(payload, app, images, starts, runs) for app in apps if runs
        }
        before_bytes, after_bytes = (path.stat().st_size for path in images.values())
    return before_bytes, after_bytes, turns


def _turns(
    payload: Payload, app: str, images: Mapping[str, Path], starts: Starts, runs: int
) -> Turns:
    wanted, reporter = starts.of(app), starts.reporter
    progress = reporter.progress
    with isolated_request(
        payload, wanted, reporter, doing="Timing", within=starts.within
    ) as request:
        variants = {
            name: Variant(image=image, command=request.command)
            for name, image in images.items()
        }
        return launch_in_turns(variants, request, rounds=runs, progress=progress)

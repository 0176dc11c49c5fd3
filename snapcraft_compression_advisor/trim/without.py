"""A payload without some files: a copy, its image, launches timed from it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from ..capture.images import packed_images, payload_copy
from ..capture.measure import Turns, launch_in_turns
from ..capture.page_cache import drop_file_cache
from ..capture.recordings import NOTHING_BESIDE, isolated_request
from ..capture.snap_environment import launch_home
from ..capture.start import time_launch
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
    :param timed: cold launches to time before and after, in turns; 0 for none.
    """

    reporter: Reporter
    recordings: Sequence[Recording] = ()
    within: Isolation = NOTHING_BESIDE
    timed: int = 0

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


@contextmanager
def packed(
    payload: Payload, codec: str, groups: Sequence[TrimGroup], starts: Starts
) -> Iterator[dict[str, Path]]:
    """Give the images with all files and without some, to be mounted if it is timed."""
    pack = partial(
        packed_images,
        codecs=(codec,),
        scratch=None,
        progress=starts.reporter.progress,
        to_mount=starts.timed > 0,
    )
    with (
        without(payload, groups) as trimmed,
        pack(payload) as whole,
        pack(trimmed) as less,
    ):
        yield {BEFORE: whole.paths[codec], AFTER: less.paths[codec]}


def timed(
    payload: Payload, app: str, images: Mapping[str, Path], starts: Starts
) -> Turns:
    """Return an app's launches from both images.

    Of what is cached, the images' own pages are dropped before a cold one: what belongs
    to the machine and to the base is warm, as it is if other snaps run.
    """
    reporter = starts.reporter
    with (
        isolated_request(
            payload, starts.of(app), reporter, doing="Timing", within=starts.within
        ) as request,
        launch_home() as home,
    ):
        return launch_in_turns(
            images,
            lambda mount: time_launch(request, mount.root, home),
            rounds=starts.timed,
            make_cold=drop_file_cache,
            warm_up=True,
            progress=reporter.progress,
        )

"""Whether reading ahead makes cold launches faster here, by launches in turns."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from ..capture.images import packed_images, payload_copy
from ..capture.measure import Variant, launch_in_turns
from ..capture.mount import recorded_kernel
from ..capture.recordings import isolated_request
from ..capture.samples import Difference, Sample, difference
from ..launch.launch_set import LaunchFile
from ..launch.profile import RecordedKernel
from ..payload.source import Payload, open_payload
from ..settings.parts import LAUNCH_TIMEOUT_S, Recording
from .plan import PrefetchPlan, PrefetchRange, wrong_ranges
from .program import FOLDER, add_to_command_chain, write_files

if TYPE_CHECKING:
    from ..capture.page_cache import Storage
    from ..capture.recordings import Reporter
    from ..capture.start import Command

WITHOUT, WITH, WRONG = "without", "with", "wrong"


@dataclass(frozen=True, slots=True, kw_only=True)
class PrefetchProof:
    """Cold and warm launches without reading ahead, with it, and with a wrong list.

    :param storage: where the image was.
    :param modes: how the kernel reads squashfs, as far as that is known.
    :param processors: that the launches could use.
    :param cold_s: by ``without``, ``with``, ``wrong``; in the order of the rounds.
    :param warm_s: right after those.
    """

    codec: str
    storage: Storage
    kernel: str
    modes: RecordedKernel | None
    processors: int
    cold_s: Mapping[str, Sample]
    warm_s: Mapping[str, Sample]

    @property
    def saved(self) -> Difference | None:
        """What reading ahead saves of a cold launch."""
        return difference(self.cold_s[WITHOUT], self.cold_s[WITH])

    @property
    def saved_by_wrong(self) -> Difference | None:
        """What reading the wrong blocks saves, which should be nothing."""
        return difference(self.cold_s[WITHOUT], self.cold_s[WRONG])

    @property
    def added_warm(self) -> Difference | None:
        """What the program adds to a warm launch."""
        return difference(self.warm_s[WITH], self.warm_s[WITHOUT])

    @property
    def is_clear(self) -> bool:
        """Whether it is faster than without, and than with a wrong list.

        Both at the confidence of 95 %.
        """
        found = (self.saved, difference(self.cold_s[WRONG], self.cold_s[WITH]))
        return all(each is not None and each.saved_s.low > 0 for each in found)

    @property
    def is_loss(self) -> bool:
        """Whether it is slower than without, at the confidence of 95 %."""
        return self.saved is not None and self.saved.saved_s.high < 0


def prove_prefetch(  # noqa: PLR0913 # what, and how
    payload: Payload,
    plan: PrefetchPlan,
    reporter: Reporter,
    *,
    codec: str,
    rounds: int,
    until: str | None = None,
    timeout_s: float = LAUNCH_TIMEOUT_S,
    scratch: Path | None = None,
) -> PrefetchProof:
    """Launch an app from one image in all three ways, in turns.

    :param until: what ends a launch, as in settings.
    :param scratch: where the copy and the image go, in memory or on the disk to prove
        it for; the system's temporary directory by default.
    :raises AdvisorError: if the app can't be started, or there is no room.
    """
    with payload_copy(payload, scratch) as tree:
        write_files(tree, plan.app, plan.ranges, payload.snap)
        wrong, others = f"{plan.app}-wrong", wrong_ranges(payload, plan)
        write_files(tree, wrong, others, payload.snap)
        add_to_command_chain(tree, plan.app)
        with (
            open_payload(tree) as changed,
            packed_images(
                changed, (codec,), scratch=scratch, progress=reporter.progress
            ) as images,
            isolated_request(
                payload, Recording(
                    app=plan.app, required=True, until=until, timeout=timeout_s
                ),
                reporter,
            ) as request,
        ):  # fmt: skip
            readers = {WITHOUT: (), WITH: (plan.app,), WRONG: (wrong,)}
            found = launch_in_turns(
                {
                    name: Variant(
                        image=images.paths[codec],
                        command=_read_first(request.command, apps),
                    )
                    for name, apps in readers.items()
                },
                request,
                rounds=rounds,
                progress=reporter.progress,
                warmed=[_file(each) for each in (*plan.ranges, *others)],
            )
    return PrefetchProof(
        codec=codec,
        storage=found.storage,
        kernel=platform.release(),
        modes=recorded_kernel(),
        processors=found.processors,
        cold_s=found.cold_s,
        warm_s=found.warm_s,
    )


def _read_first(command: Command, apps: tuple[str, ...]) -> Command:
    """Return a command behind the programs that read what is listed for apps."""
    before = (f"$SNAP/{FOLDER}/{app}" for app in apps)
    return replace(command, words=(*before, *command.words))


def _file(each: PrefetchRange) -> LaunchFile:
    blocks = ((each.first, each.last),)
    return LaunchFile(path=each.path, size_bytes=0, blocks=blocks)

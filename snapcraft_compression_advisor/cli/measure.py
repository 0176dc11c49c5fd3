"""``compression-advisor measure``: launches timed from real mounts."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import ClassVar

from ..capture.first_run import FirstLaunch, first_run
from ..capture.home import launch_home
from ..capture.launch_event import window_doubt
from ..capture.measure import (
    WALKS_AT_MOST,
    Launch,
    MeasureRequest,
    measure,
    timed_here,
)
from ..capture.page_cache import fit_for_replay, replay
from ..capture.precision import LEAST_ROUNDS, MOST_ROUNDS, Precision
from ..capture.samples import PLAIN_COPIES, RunTime
from ..capture.start import time_launch
from ..codecs import CODECS, SHIPPABLE
from ..core.errors import UsageError
from ..core.terminal import emit
from ..launch.fit import FittedProfile
from ..launch.profile import read_profile
from ..payload.source import Payload, find_payload, open_payload
from ..report.measure import measure_json, measure_page
from ..report.measure_stack import stack_json, stack_page
from ..report.model import Page
from ..settings.quantities import Share, seconds_or_share
from .arguments import (
    PATH,
    Arguments,
    Command,
    details,
    format_argument,
    output_argument,
    quantity,
    whole_number,
)
from .launch_arguments import (
    LAUNCH_ARGUMENTS,
    READ_AHEAD_ARGUMENT,
    chosen_launch,
    confined,
    launch_display,
    launch_options,
)
from .measure_stack import measured_stack
from .pages import FORMATS, write_page
from .write import check_outputs, write_output

DEFAULT_RUNS = 10
"""As many as the published study of snaps took."""

_ALL = 0.995
"""From here on, a share prints as 100 %."""


class MeasureCommand(Command):
    """Pack, mount, launch and time, with every codec."""

    name = "measure"
    overview = (
        "Pack the payload with each codec, mount each image, and time cold and "
        "warm launches, alternating between the codecs. With --launch-profile, "
        "the reads of a recorded launch are replayed instead: no app is started "
        "and no display is needed.\n\n"
        "As root, the kernel mounts the images, and the caches of the whole "
        "system are dropped before each cold launch. Otherwise, squashfuse mounts "
        "them."
    )

    arguments: ClassVar[Arguments] = {
        **PATH,
        "--launch-profile FILE": "a recorded launch, whose reads are replayed "
        "(default: none, the app is started)",
        **LAUNCH_ARGUMENTS,
        "--base SNAP…": "the base snap or its directory: launches are measured over "
        "separate mounts, with every combination of codecs; requires root (default: "
        "none, this machine's root is used)",
        "--content SNAP…": "a content snap that the snap's plugs ask for, or its "
        "directory, likewise; may be repeated (default: none)",
        "--codec": details(
            "a codec to measure; may be repeated (default: "
            f"{', '.join(CODECS)}, if available; with --base or --content "
            f"{' and '.join(SHIPPABLE)})",
            action="append",
            choices=tuple(CODECS),
            default=[],
        ),
        "--compare": details(
            "also measure the same files without squashfs: in a directory, as 'snap "
            "try' has them, or on ext4, as a Debian package has them; may be repeated; "
            "requires root (default: neither)",
            action="append",
            choices=PLAIN_COPIES,
            default=[],
        ),
        "--runs COUNT": details(
            "cold and warm launches with each codec; with --until-precise, the fewest "
            f"(default: {DEFAULT_RUNS})",
            type=whole_number(least=1),
            default=DEFAULT_RUNS,
        ),
        "--until-precise SECONDS|PERCENT": details(
            "go on until the seconds that lzo saves over xz are known to ± this: "
            "seconds (0.1, 50ms), or percent of the slower codec's cold launch "
            "(default: none, --runs decides)",
            type=quantity(seconds_or_share),
        ),
        "--max-runs COUNT": details(
            f"with --until-precise: the most runs (default: {MOST_ROUNDS})",
            type=whole_number(least=LEAST_ROUNDS),
        ),
        "--first-run": "also time first runs, in a new home directory without caches "
        "of fonts, settings, icons and MIME types: what they spend on making these, on "
        "reading and decompressing, and on the app's own work",
        "--walk": f"also time reading every file, up to {WALKS_AT_MOST} times with "
        "each codec",
        **format_argument(FORMATS),
        **output_argument(),
        "--scratch DIR": "directory for the temporary images; one in memory (/dev/shm) "
        "shows decompression alone (default: TMPDIR, else /tmp)",
        **READ_AHEAD_ARGUMENT,
    }

    def run(self, parsed_args: argparse.Namespace) -> None:
        """Measure, and report."""
        check_outputs(parsed_args.output)
        codecs = tuple(dict.fromkeys(parsed_args.codec)) or tuple(CODECS)
        path = parsed_args.path or find_payload(Path.cwd())
        if parsed_args.base or parsed_args.content:
            stacked = measured_stack(parsed_args, path)
            _write(parsed_args, stack_page(stacked), stack_json(stacked))
            return
        precision = chosen_precision(parsed_args, codecs)
        replayed = parsed_args.launch_profile is not None
        with (
            open_payload(path) as payload,
            _launch(parsed_args, payload) as (launch, first_launch),
        ):  # fmt: skip
            request = MeasureRequest(
                launch=launch,
                first_launch=first_launch if parsed_args.first_run else None,
                method="replay" if replayed else "launch",
                codecs=codecs,
                compare=tuple(dict.fromkeys(parsed_args.compare)),
                runs=parsed_args.runs,
                precision=precision,
                walk=parsed_args.walk,
                warm_up=not replayed,
                read_ahead_kb=parsed_args.read_ahead_kb,
                scratch=parsed_args.scratch,
            )
            measurement = measure(payload, request, emit.progress)
        _write(parsed_args, measure_page(measurement), measure_json(measurement))


def _write(parsed_args: argparse.Namespace, page: Page, document: str) -> None:
    if parsed_args.format == "json":
        write_output(document, parsed_args.output)
    else:
        write_page(page, parsed_args.format, parsed_args.output)


def chosen_precision(
    parsed_args: argparse.Namespace, codecs: Sequence[str]
) -> Precision | None:
    """Return when there are enough runs; ``None`` where their number is fixed.

    :raises UsageError: where the options don't fit together.
    """
    wanted, most = parsed_args.until_precise, parsed_args.max_runs
    if wanted is None:
        if most is None:
            return None
        message = "--max-runs needs --until-precise"
        raise UsageError(message, resolution="Set the number of runs with --runs.")
    if missing := [name for name in SHIPPABLE if name not in codecs]:
        message = f"--until-precise compares xz with lzo: {missing[0]} is missing"
        raise UsageError(message, resolution=f"Add --codec {missing[0]}.")
    precision = Precision(
        reach=wanted.root if isinstance(wanted, Share) else wanted,
        is_share=isinstance(wanted, Share),
        least_rounds=max(parsed_args.runs, LEAST_ROUNDS),
        most_rounds=most or MOST_ROUNDS,
    )
    if precision.least_rounds > precision.most_rounds:
        message = f"--runs {parsed_args.runs} exceeds {precision.most_rounds} at most"
        raise UsageError(message, resolution="Set --max-runs higher.")
    return precision


@contextmanager
def _launch(
    parsed_args: argparse.Namespace, payload: Payload
) -> Iterator[tuple[Launch, FirstLaunch | None]]:
    """Return what is timed: the reads of the profile, or a real launch."""
    if parsed_args.launch_profile is not None:
        if parsed_args.first_run:
            message = "Both --launch-profile and --first-run are given"
            raise UsageError(
                message, resolution="Leave out one: a first run starts the app."
            )
        yield _replayed(parsed_args, payload), None
        return
    options = launch_options(parsed_args)
    with ExitStack() as stack:
        stack.enter_context(launch_display(options))
        kept_home = stack.enter_context(launch_home(parsed_args.home))
        command, event, timeout_s = chosen_launch(options, payload)
        command = stack.enter_context(confined(command, options, payload))

        def start(root: Path, home: Path) -> RunTime:
            launched = time_launch(command, root, event, timeout_s=timeout_s, home=home)
            if (doubt := window_doubt(launched.window)) is not None:
                emit.progress(f"Warning: {doubt}")
            return RunTime(
                wall_s=launched.wall_s,
                user_s=launched.user_s,
                system_s=launched.system_s,
            )

        yield (
            lambda mount: start(mount.root, kept_home),
            lambda mount: first_run(partial(start, mount.root)),
        )


def _replayed(parsed_args: argparse.Namespace, payload: Payload) -> Launch:
    if parsed_args.app is not None or parsed_args.command_word:
        message = "Both a launch profile and an app or command are given"
        raise UsageError(
            message,
            resolution="Specify one: --launch-profile FILE, --app NAME or -- COMMAND….",
        )
    recorded = read_profile(parsed_args.launch_profile)
    fitted = fit_for_replay(recorded, payload.inventory)
    for warning in replay_warnings(fitted):
        emit.progress(f"Warning: {warning}", permanent=True)
    files = fitted.launch_set.files
    return lambda mount: timed_here(partial(replay, mount.root, files))


def replay_warnings(fitted: FittedProfile) -> Iterator[str]:
    """Yield in what a replay differs from the launch, as far as that is known."""
    if fitted.fitting_share < 1:
        yield (
            f"the payload has {fitted.fitting_share:.0%} of the launch profile's "
            "blocks; the others are not replayed"
        )
    launch_set = fitted.launch_set
    if launch_set.read_of_named < _ALL:
        how = "guessed" if launch_set.source == "static" else "traced"
        yield (
            f"the launch profile was {how}: a launch reads about "
            f"{launch_set.read_of_named:.0%} of the blocks that it names, and all of "
            "them are replayed"
        )

"""``compression-advisor measure``: launches timed from real mounts."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, ClassVar, Literal

from pydantic import BaseModel, Field

from ..capture.first_run import FirstLaunch, MadeCache, MeasuredCaches, first_run
from ..capture.home import launch_home
from ..capture.launch_event import window_doubt
from ..capture.measure import (
    WALKS_AT_MOST,
    Launch,
    MeasureRequest,
    measure,
    timed_here,
)
from ..capture.measure_stack import (
    StackLaunch,
    StackMeasurement,
    StackRequest,
    measure_stack,
)
from ..capture.page_cache import fit_for_replay, replay
from ..capture.precision import LEAST_ROUNDS, MOST_ROUNDS, Precision
from ..capture.recordings import found_isolation
from ..capture.samples import PLAIN_COPIES, RunTime
from ..capture.start import Launched, time_launch
from ..codecs import CODECS, SHIPPABLE
from ..core.documents import DocumentKind
from ..core.errors import BadDataError, UsageError
from ..core.terminal import emit
from ..core.units import MIB
from ..launch.fit import FittedProfile, fit_layer
from ..launch.launch_set import LaunchFile
from ..launch.profile import LaunchProfile, read_profile
from ..payload.source import Payload, find_payload, open_payload
from ..payload.stack import Layer, layers_of, stack_of
from ..payload.stack_check import check_stack
from ..report.measure import measure_json, measure_page
from ..report.measure_stack import stack_json, stack_page
from ..report.model import Page
from ..settings.quantities import Share, seconds_or_share
from ..squashfs.entry import EntryKind
from .arguments import (
    PATH,
    Arguments,
    Command,
    details,
    format_argument,
    output_argument,
    quantity,
    stack_arguments,
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
from .pages import FORMATS, write_page
from .write import check_outputs, write_output

DEFAULT_RUNS = 10
"""As many as the published study of snaps took."""

_ALL = 0.995
"""From here on, a share prints as 100 %."""

_NOT_OF_STACKS = (
    "compare", "walk", "first_run", "until_precise", "max_runs", "chroot",
    "unconfined",
)  # fmt: skip
"""Options whose measurements are of one mount."""


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
        "them. With --base or --content, which require root, launches are measured "
        "over separate mounts, with every combination of codecs."
    )

    arguments: ClassVar[Arguments] = {
        **PATH,
        "--launch-profile FILE": "a recorded launch, whose reads are replayed "
        "(default: none, the app is started)",
        **LAUNCH_ARGUMENTS,
        **stack_arguments("none"),
        "--codec": details(
            "a codec to measure; may be repeated (default: "
            f"{', '.join(CODECS)}, if available; with --base or --content "
            f"{' and '.join(SHIPPABLE)})",
            action="append",
            choices=tuple(CODECS),
            default=[],
        ),
        "--compare": details(
            "also measure the same files without squashfs: in a directory or on ext4; "
            "may be repeated; requires root (default: neither)",
            action="append",
            choices=PLAIN_COPIES,
            default=[],
        ),
        "--runs COUNT": details(
            "cold and warm launches with each codec; with --until-precise, the fewest",
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
        "--first-run": "also time first runs, in a new home directory without caches",
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
        path = parsed_args.path or find_payload(Path.cwd())
        if parsed_args.base or parsed_args.content:
            stacked = _measured_stack(parsed_args, path)
            _write(parsed_args, stack_page(stacked), stack_json(stacked))
            return
        codecs = tuple(dict.fromkeys(parsed_args.codec)) or tuple(CODECS)
        precision = chosen_precision(parsed_args, codecs)
        replayed = parsed_args.launch_profile is not None
        with (
            open_payload(path) as payload,
            _launch(parsed_args, payload) as (launch, first_launch),
        ):
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
    """Return when there are enough runs, or None if their number is fixed.

    :raises UsageError: if the options don't fit together.
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
        fitted = fit_for_replay(_profile(parsed_args), payload.inventory)
        for warning in replay_warnings(fitted):
            emit.progress(f"Warning: {warning}", permanent=True)
        files = fitted.launch_set.files
        yield lambda mount: timed_here(partial(replay, mount.root, files)), None
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
            return _run_time(launched)

        yield (
            lambda mount: start(mount.root, kept_home),
            lambda mount: first_run(partial(start, mount.root)),
        )


def _run_time(launched: Launched) -> RunTime:
    return RunTime(
        wall_s=launched.wall_s, user_s=launched.user_s, system_s=launched.system_s
    )


def _profile(parsed_args: argparse.Namespace) -> LaunchProfile:
    """Return the recorded launch, whose app is that of the profile.

    :raises UsageError: if an app or a command is given too.
    """
    if parsed_args.app is not None or parsed_args.command_word:
        message = "Both a launch profile and an app or command are given"
        raise UsageError(
            message,
            resolution="Specify one: --launch-profile FILE, --app NAME or -- COMMAND….",
        )
    return read_profile(parsed_args.launch_profile)


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


def _measured_stack(parsed_args: argparse.Namespace, path: Path) -> StackMeasurement:
    """Measure launches of a snap over its base and content snaps.

    :raises AdvisorError: if the options or snaps don't fit together, or a launch fails.
    """
    for name in _NOT_OF_STACKS:
        if getattr(parsed_args, name):
            option = f"--{name.replace('_', '-')}"
            message = f"{option} can't be combined with --base or --content"
            raise UsageError(message, resolution="Leave out one of the two.")
    with ExitStack() as stack:
        payload, *others = (
            stack.enter_context(open_payload(each))
            for each in (path, *parsed_args.base, *parsed_args.content)
        )
        bases = others[: len(parsed_args.base)]
        contents = others[len(parsed_args.base) :]
        check_stack([payload], bases=bases, contents=contents)
        layers = layers_of(stack_of(payload, bases=bases, contents=contents))
        launching = _replayed_stack if parsed_args.launch_profile else _started_stack
        request = StackRequest(
            layers=layers,
            launch=stack.enter_context(launching(parsed_args, layers)),
            method="replay" if parsed_args.launch_profile else "launch",
            codecs=tuple(dict.fromkeys(parsed_args.codec)) or SHIPPABLE,
            runs=parsed_args.runs,
            warm_up=not parsed_args.launch_profile,
            read_ahead_kb=parsed_args.read_ahead_kb,
            scratch=parsed_args.scratch,
        )
        return measure_stack(request, emit.progress)


@contextmanager
def _replayed_stack(
    parsed_args: argparse.Namespace, layers: Sequence[Layer]
) -> Iterator[StackLaunch]:
    """Return what reads of each mount what a recorded launch read of it."""
    profile = _profile(parsed_args)
    own = fit_for_replay(profile, layers[0].payload.inventory).launch_set.files
    files: list[Sequence[LaunchFile]] = [own]
    for layer in layers[1:]:
        inventory = layer.payload.inventory
        fitted = fit_layer(profile, layer.role, layer.name, inventory)
        if fitted is None:
            message = f"The launch profile doesn't say what was read of {layer.name!r}"
            raise UsageError(
                message, resolution="Record the launch with 'record --installed'."
            )
        files.append(fitted.launch_set.files)

    def read(places: Sequence[Path]) -> float:
        return sum(map(replay, places, files))

    yield lambda places: timed_here(partial(read, places))


@contextmanager
def _started_stack(
    parsed_args: argparse.Namespace, layers: Sequence[Layer]
) -> Iterator[StackLaunch]:
    """Return what starts the app with the base's mount as its root directory."""
    payload = layers[0].payload
    _check_places(payload, layers)
    options = launch_options(parsed_args)
    with (
        launch_display(options),
        launch_home(parsed_args.home) as home,
        found_isolation(payload) as isolation,
    ):
        command, event, timeout_s = chosen_launch(options, payload)

        def start(places: Sequence[Path]) -> RunTime:
            """Launch the app once from where the layers are mounted."""
            mounts = dict(zip([layer.place for layer in layers], places, strict=True))
            own, machine = mounts.pop(""), mounts.pop("/", Path("/"))
            placed = replace(isolation, machine=machine, contents=mounts)
            return _run_time(
                time_launch(
                    replace(command, isolation=placed),
                    own,
                    event,
                    timeout_s=timeout_s,
                    home=home,
                )
            )

        yield start


def _check_places(payload: Payload, layers: Sequence[Layer]) -> None:
    """Refuse a content snap whose place the app's snap doesn't have."""
    for layer in layers:
        entry = payload.inventory.entries.get(layer.place)
        if layer.role == "content" and (
            entry is None or entry.kind is not EntryKind.DIRECTORY
        ):
            message = (
                f"Content snap {layer.name!r} can't be mounted: {payload.snap.name!r} "
                f"has no directory {layer.place!r}"
            )
            raise UsageError(
                message, resolution="Create the directory in a part of the snap."
            )


class _FirstRun(BaseModel):
    caches_s: Annotated[float, Field(ge=0, allow_inf_nan=False)]


class _Codec(BaseModel):
    first_run: _FirstRun | None = None


class _Made(BaseModel):
    kind: str
    files: Annotated[int, Field(ge=0)]
    size_bytes: Annotated[int, Field(ge=0)]
    program_s: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None


class _Measurement(BaseModel):
    """What is read of a measurement."""

    schema_version: Literal[1] = Field(alias="schema")
    codecs: dict[str, _Codec]
    made_caches: list[_Made] = []


_MEASUREMENT = DocumentKind(
    model=_Measurement,
    name="measurement",
    max_bytes=16 * MIB,
    broken="{where!r} is not a report of 'measure --format json'",
    resolution="Measure again with this version of the advisor.",
)


def read_measured_caches(path: Path) -> MeasuredCaches:
    """Return what first runs spend on caches.

    Making them doesn't depend on the codec, so what differs between codecs is noise,
    and the least counts.

    :raises AdvisorError: if the file can't be read, or measured no first runs.
    """
    report = _MEASUREMENT.parse_json(_MEASUREMENT.read(path), where=str(path))
    spent = [
        each.first_run.caches_s for each in report.codecs.values() if each.first_run
    ]
    if not spent:
        message = f"{str(path)!r} holds no first runs"
        raise BadDataError(
            message, resolution="Measure them: measure --first-run --format json."
        )
    made = (each.model_dump() for each in report.made_caches)
    return MeasuredCaches(
        making_s=min(spent), made=tuple(MadeCache(**each) for each in made)
    )

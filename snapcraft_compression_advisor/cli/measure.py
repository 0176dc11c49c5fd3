"""``measure`` and ``calibrate``: launches and this machine, timed from real mounts."""

from __future__ import annotations

import argparse
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import ClassVar

from ..capture.calibrate import CalibrationRequest, calibrate
from ..capture.cost_fit import MINIMUM_BLOCKS
from ..capture.launch_event import window_doubt
from ..capture.measure import Launch, measure, timed_here
from ..capture.mount import Mount
from ..capture.page_cache import fit_for_replay, replay
from ..capture.samples import RunTime
from ..capture.snap_environment import launch_home
from ..capture.start import time_launch
from ..codecs import CODECS
from ..core.terminal import emit, printable
from ..devices.device_file import device_text
from ..launch.fit import FittedProfile
from ..launch.profile import read_profile
from ..payload.source import Payload, find_payload, open_payload
from ..report.measure import measure_json, measure_page
from .commands import (
    PATH,
    Arguments,
    Command,
    details,
    exclude,
    output_arguments,
    whole_number,
)
from .record import LAUNCH_ARGUMENTS, open_launch
from .write import check_outputs, note, warn, write_output, write_page

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
        "The kernel mounts the images, and the caches of the whole system are "
        "dropped before each cold launch: that requires root. Images in memory "
        "(TMPDIR=/dev/shm) show decompression alone."
    )

    arguments: ClassVar[Arguments] = {
        **PATH,
        "--launch-profile FILE": "a recorded launch, whose reads are replayed "
        "(default: none, the app is started)",
        **LAUNCH_ARGUMENTS,
        "--codec": details(
            "a codec to measure; may be repeated (default: "
            f"{', '.join(CODECS)}, if available)",
            action="append",
            choices=tuple(CODECS),
            default=[],
        ),
        "--runs COUNT": details(
            "cold and warm launches with each codec",
            type=whole_number(least=1),
            default=DEFAULT_RUNS,
        ),
        **output_arguments(),
    }

    def run(self, parsed_args: argparse.Namespace) -> None:
        """Measure, and report."""
        check_outputs(parsed_args.output)
        path = parsed_args.path or find_payload(Path.cwd())
        codecs = tuple(dict.fromkeys(parsed_args.codec)) or tuple(CODECS)
        with (
            open_payload(path) as payload,
            _launch(parsed_args, payload) as launch,
        ):
            measurement = measure(
                payload,
                launch,
                emit.progress,
                method="launch" if parsed_args.launch_profile is None else "replay",
                codecs=codecs,
                runs=parsed_args.runs,
            )
        write_page(measure_page(measurement), parsed_args, measure_json(measurement))


@contextmanager
def _launch(parsed_args: argparse.Namespace, payload: Payload) -> Iterator[Launch]:
    """Return the launch to time: the reads of the profile, or a real one."""
    if parsed_args.launch_profile is not None:
        started = parsed_args.app is not None or parsed_args.command_word
        exclude(
            {"a launch profile": True, "an app or command": started},
            "Specify one: --launch-profile FILE, --app NAME or -- COMMAND….",
        )
        profile = read_profile(parsed_args.launch_profile)
        fitted = fit_for_replay(profile, payload.inventory)
        for warning in replay_warnings(fitted):
            warn(warning)
        files = fitted.launch_set.files
        yield lambda mount: timed_here(partial(replay, mount.root, files))
        return
    with (
        open_launch(parsed_args, payload) as chosen,
        launch_home(parsed_args.home) as home,
    ):

        def launch(mount: Mount) -> RunTime:
            launched = time_launch(chosen, mount.root, home)
            if (doubt := window_doubt(launched.window)) is not None:
                emit.progress(f"Warning: {doubt}")
            return launched

        yield launch


def replay_warnings(fitted: FittedProfile) -> Iterator[str]:
    """Yield in what a replay differs from the launch, as far as that is known."""
    if fitted.fitting_share < 1:
        yield (
            f"the payload has {fitted.fitting_share:.0%} of the launch profile's "
            "blocks; the others are not replayed"
        )
    launch_set = fitted.launch_set
    if launch_set.read_of_named < _ALL:
        yield (
            f"the launch profile was guessed: a launch reads about "
            f"{launch_set.read_of_named:.0%} of the blocks that it names, and all of "
            "them are replayed"
        )


_NOISY = 0.05
_DURATION = "Calibrating takes about a minute: leave the machine idle"
"""49 s on a server of two processors, with the default blocks and rounds."""
_NAME = re.compile(r"[a-z0-9][a-z0-9.-]{0,63}")


def _profile_name(text: str) -> str:
    if not _NAME.fullmatch(text):
        message = (
            f"{text!r} contains characters other than lower-case letters, "
            "digits, '-' and '.'"
        )
        raise argparse.ArgumentTypeError(message)
    return text


class CalibrateCommand(Command):
    """Measure this machine for its device profile."""

    name = "calibrate"
    overview = (
        "Time cold reads of this machine's files from memory and from storage with "
        "each codec, and fit a device profile for 'advise --device FILE'. It requires "
        "root; keep the machine idle."
    )

    arguments: ClassVar[Arguments] = {
        "-o, --output FILE": "write the profile to this file (default: the standard "
        "output)",
        "--name NAME": details(
            "name of the profile in reports",
            type=_profile_name,
            default="this-machine",
        ),
        "--storage DIR": "a directory on the storage to measure (default: TMPDIR, else "
        "/tmp)",
        "--sample DIR": details(
            "sample the files in this directory", default=Path("/usr")
        ),
        "--blocks COUNT": details(
            "number of blocks to read",
            type=whole_number(least=MINIMUM_BLOCKS * 4, most=5000),
            default=400,
        ),
        "--rounds COUNT": details(
            "number of times to read each block with each codec",
            type=whole_number(least=1, most=100),
            default=5,
        ),
    }

    def run(self, parsed_args: argparse.Namespace) -> None:
        """Measure, and write the profile."""
        check_outputs(parsed_args.output)
        request = CalibrationRequest(
            name=parsed_args.name,
            storage=parsed_args.storage or Path(tempfile.gettempdir()),
            sample=parsed_args.sample,
            blocks=parsed_args.blocks,
            rounds=parsed_args.rounds,
        )
        note(_DURATION)
        calibration = calibrate(request, emit.progress)
        for codec, reason in calibration.unavailable.items():
            warn(f"{codec} isn't in the profile: {printable(reason)}")
        if calibration.storage_in_memory:
            warn(
                "the storage is memory, so reading it costs almost nothing; name a "
                "directory on a disk with --storage DIR"
            )
        noisy = [name for name, each in calibration.error.items() if each > _NOISY]
        if noisy:
            warn(
                f"times are uncertain by more than {_NOISY:.0%} with "
                f"{', '.join(noisy)}; calibrate again while the machine is idle"
            )
        write_output(device_text(calibration.device), parsed_args.output)

"""``compression-advisor calibrate``: a device profile of this machine."""

from __future__ import annotations

import argparse
import re
import tempfile
from pathlib import Path
from typing import ClassVar

from ..capture.calibrate import CalibrationRequest, calibrate
from ..capture.cost_fit import MINIMUM_BLOCKS
from ..core.printable import printable
from ..core.terminal import emit
from ..devices.device_file import device_text
from .commands import Arguments, Command, details, whole_number
from .write import check_outputs, note, warn, write_output

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

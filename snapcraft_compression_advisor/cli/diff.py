"""``compression-advisor diff``: what changed from one build to the next."""

from __future__ import annotations

import argparse
from typing import ClassVar

from ..core.terminal import emit
from ..devices.builtin_devices import DEFAULT_NAMES
from ..devices.device_file import choose_devices
from ..diff.difference import DifferenceRequest, compare_payloads
from ..launch.profile import read_profile
from ..payload.source import Payload, open_payload
from ..report.diff import diff_json, diff_page
from .arguments import Arguments, Command, format_argument, output_argument
from .find_project import find_project
from .pages import FORMATS, write_page
from .write import check_outputs, write_output


class DiffCommand(Command):
    """Compare two builds."""

    name = "diff"
    overview = (
        "Compare two builds of the same snap: how much the image grew, how much "
        "longer a cold launch takes, which files caused it, and whether the "
        "compression changed.\n\n"
        "Sizes of built snaps are measured; those of prime directories are "
        "estimated. The exit status is 0 whether or not anything changed; use "
        "'lint --baseline' to fail on regressions."
    )

    arguments: ClassVar[Arguments] = {
        "OLD": "the earlier build: a .snap or a prime directory",
        "NEW": "the later build: a .snap or a prime directory",
        "--app NAME…": "a target app; may be repeated (default: as for 'advise')",
        "--device NAME|FILE…": "a device profile to estimate for, as for 'advise'; may "
        f"be repeated (default: {', '.join(DEFAULT_NAMES)})",
        "--launch-profile FILE…": "a recorded launch of either build, to use in place "
        "of the guess; may be repeated (default: none)",
        **format_argument(FORMATS),
        **output_argument(),
    }

    def run(self, parsed_args: argparse.Namespace) -> None:
        """Print the difference."""
        check_outputs(parsed_args.output)
        devices = choose_devices(parsed_args.device)
        profiles = tuple(map(read_profile, parsed_args.launch_profile))
        with open_payload(parsed_args.old) as old, open_payload(parsed_args.new) as new:
            request = DifferenceRequest(
                devices=devices,
                apps=tuple(parsed_args.app),
                profiles=profiles,
                codecs={each.path: _declared(each) for each in (old, new)},
                trials={},
            )
            difference = compare_payloads(old, new, request, progress=emit.progress)
        if parsed_args.format == "json":
            write_output(diff_json(difference), parsed_args.output)
        else:
            page = diff_page(difference)
            write_page(page, parsed_args.format, parsed_args.output)


def _declared(payload: Payload) -> str | None:
    """Return what the project beside a prime directory says."""
    if payload.kind != "prime":
        return None
    project = find_project(payload, None)
    return None if project is None else project.compression

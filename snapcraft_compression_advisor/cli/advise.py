"""``compression-advisor advise``: which compression suits a payload."""

from __future__ import annotations

import argparse
import math
from pathlib import Path
from typing import TYPE_CHECKING

from craft_cli import BaseCommand, emit

from snapcraft_compression_advisor.advice.evidence import Policy
from snapcraft_compression_advisor.advice.project_file import (
    declared_compression,
    find_project_file,
)
from snapcraft_compression_advisor.analysis import Request, analyse
from snapcraft_compression_advisor.cli.set_compression import set_compression
from snapcraft_compression_advisor.cli.write import write_output
from snapcraft_compression_advisor.errors import AdvisorError, NoInputError
from snapcraft_compression_advisor.launch.builtin_devices import DEFAULT_DEVICES
from snapcraft_compression_advisor.launch.device_file import choose_devices
from snapcraft_compression_advisor.launch.profile import read_profile
from snapcraft_compression_advisor.output.json_report import render_json
from snapcraft_compression_advisor.output.text import render_text
from snapcraft_compression_advisor.payload.find_payload import find_payload
from snapcraft_compression_advisor.payload.source import open_payload

if TYPE_CHECKING:
    from snapcraft_compression_advisor.analysis import Analysis

RENDERERS = {"text": render_text, "json": render_json}
_DEFAULTS = Policy()


def _positive(text: str) -> float:
    value = float(text)
    if not math.isfinite(value) or value <= 0:
        message = f"{text!r} is not a positive number"
        raise argparse.ArgumentTypeError(message)
    return value


class AdviseCommand(BaseCommand):
    """Pack with every codec, estimate launches, recommend."""

    name = "advise"
    common = True
    help_msg = "Advise which compression suits a prime directory or a built snap"
    overview = (
        "Try every squashfs codec on a prime directory or a built snap, work out "
        "which data blocks a launch reads, estimate what a cold launch costs with "
        "each codec, and recommend xz or lzo.\n\n"
        "Nothing is changed unless --set is given and the verdict is 'change'."
    )

    def fill_parser(self, parser: argparse.ArgumentParser) -> None:
        """Add the command's arguments."""
        parser.add_argument(
            "path",
            metavar="PATH",
            nargs="?",
            type=Path,
            help="a prime directory or a .snap (default: 'prime' here, else the one "
            ".snap here)",
        )
        parser.add_argument(
            "--app",
            metavar="NAME",
            action="append",
            default=[],
            help="an app whose launch counts; may be given again, the first decides "
            "(default: the app that bears the snap's name, else those with a desktop "
            "file, else all)",
        )
        parser.add_argument(
            "--device",
            metavar="NAME|FILE",
            action="append",
            default=[],
            help="a device profile to estimate for, built in ('devices' lists them) or "
            "a YAML file ('calibrate' makes one); may be given again, lzo has to gain "
            "on each (default: "
            f"{', '.join(device.name for device in DEFAULT_DEVICES)})",
        )
        parser.add_argument(
            "--launch-profile",
            metavar="FILE",
            action="append",
            type=Path,
            default=[],
            help="a recorded launch to use in place of the guess; its app counts "
            "unless others are named; may be given again",
        )
        _add_output_arguments(parser)
        _add_policy_arguments(parser)

    def run(self, parsed_args: argparse.Namespace) -> int | None:
        """Print the advice, and follow it where that is asked for."""
        path = parsed_args.path or find_payload(Path.cwd())
        request = Request(
            devices=choose_devices(parsed_args.device),
            apps=tuple(parsed_args.app),
            profiles=tuple(map(read_profile, parsed_args.launch_profile)),
            policy=_policy(parsed_args),
            declared_compression=_declared(path, parsed_args.project_dir),
            exact=parsed_args.exact,
        )
        with open_payload(path) as payload:
            analysis = analyse(payload, request, progress=emit.progress)
        write_output(RENDERERS[parsed_args.format](analysis), parsed_args.output)
        if parsed_args.project_dir is not None:
            _follow(analysis, parsed_args.project_dir)
        return None


def _add_output_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--exact",
        action="store_true",
        help="pack the whole payload with every codec, which takes minutes, rather "
        "than try some of its blocks",
    )
    parser.add_argument(
        "--format", choices=tuple(RENDERERS), default="text", help="default: text"
    )
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        type=Path,
        help="write the report there instead of the standard output",
    )
    parser.add_argument(
        "--set",
        metavar="PROJECT_DIR",
        dest="project_dir",
        nargs="?",
        const=Path(),
        type=Path,
        help="set the compression in that project's snapcraft.yaml (default: of the "
        "project here) if the verdict is 'change'",
    )


def _add_policy_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--min-saving",
        metavar="SECONDS",
        type=_positive,
        default=_DEFAULTS.min_saving_s,
        help="what lzo has to save per cold launch, about what people notice "
        f"(default: {_DEFAULTS.min_saving_s:g})",
    )
    parser.add_argument(
        "--max-launches",
        metavar="COUNT",
        type=_positive,
        default=_DEFAULTS.max_launches,
        help="cold launches within which the larger download has to pay for itself; "
        f"about those between two refreshes (default: {_DEFAULTS.max_launches:g})",
    )
    parser.add_argument(
        "--link",
        metavar="MBIT_PER_S",
        type=_positive,
        default=_DEFAULTS.link_mbit_per_s,
        help=f"speed of that download (default: {_DEFAULTS.link_mbit_per_s:g})",
    )
    parser.add_argument(
        "--deciding-apps",
        choices=("first", "every"),
        default=_DEFAULTS.deciding_apps,
        help="whether the first app that counts decides or every one has to gain "
        f"(default: {_DEFAULTS.deciding_apps})",
    )


def _policy(parsed_args: argparse.Namespace) -> Policy:
    return Policy(
        min_saving_s=parsed_args.min_saving,
        max_launches=parsed_args.max_launches,
        link_mbit_per_s=parsed_args.link,
        deciding_apps=parsed_args.deciding_apps,
    )


def _declared(path: Path, project_dir: Path | None) -> str | None:
    """Return what snapcraft.yaml says: of the project named, else beside prime."""
    if project_dir is not None:
        return declared_compression(find_project_file(project_dir))
    if not path.is_dir():
        return None
    try:
        return declared_compression(find_project_file(path.resolve().parent))
    except NoInputError:
        return None
    except AdvisorError as error:
        emit.progress(f"Warning: {error}", permanent=True)
        return None


def _follow(analysis: Analysis, project_dir: Path) -> None:
    advice = analysis.recommendation
    if advice.verdict == "change":
        set_compression(project_dir, advice.compression, dry_run=False)
    else:
        emit.progress(
            f"Nothing to set: the verdict is '{advice.verdict}'", permanent=True
        )

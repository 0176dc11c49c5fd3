"""The settings of ``advise``: the project's file, and the options that go before it."""

from __future__ import annotations

import argparse
import math
from pathlib import Path
from typing import TYPE_CHECKING

from craft_cli import emit

from snapcraft_compression_advisor.advice.evidence import Policy
from snapcraft_compression_advisor.advice.lint_policy import LintPolicy
from snapcraft_compression_advisor.advice.policy_file import (
    POLICY_FILE_NAME,
    read_policy,
)
from snapcraft_compression_advisor.cli.find_project import find_project_folder
from snapcraft_compression_advisor.errors import BadDataError, UsageError
from snapcraft_compression_advisor.launch.apps import select_apps
from snapcraft_compression_advisor.launch.builtin_devices import DEFAULT_DEVICES
from snapcraft_compression_advisor.launch.device_file import choose_devices
from snapcraft_compression_advisor.launch.profile import read_profile
from snapcraft_compression_advisor.rules.lint import LintRequest, analysis_request
from snapcraft_compression_advisor.rules.policy_devices import policy_devices

if TYPE_CHECKING:
    from snapcraft_compression_advisor.analysis import Request
    from snapcraft_compression_advisor.payload.source import Payload

_DEFAULTS = Policy()
_ADVICE_OPTIONS = ("min_saving", "max_launches", "link_mbit_per_s", "deciding_apps")


def _positive(text: str) -> float:
    value = float(text)
    if not math.isfinite(value) or value <= 0:
        message = f"{text!r} is not a positive number"
        raise argparse.ArgumentTypeError(message)
    return value


def add_settings_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that :func:`chosen_requests` reads."""
    parser.add_argument(
        "--policy",
        metavar="FILE",
        type=Path,
        help=f"the project's settings (default: {POLICY_FILE_NAME} beside the snap's "
        "snapcraft.yaml, else here); other options go before them",
    )
    parser.add_argument(
        "--app",
        metavar="NAME",
        action="append",
        default=[],
        help="an app whose launch counts; may be given again, the first decides "
        "(default: the settings', else the app that bears the snap's name, else those "
        "with a desktop file, else all)",
    )
    parser.add_argument(
        "--device",
        metavar="NAME|FILE",
        action="append",
        default=[],
        help="a device profile to estimate for, built in ('devices' lists them) or "
        "a YAML file ('calibrate' makes one); may be given again, lzo has to gain "
        "on each (default: the settings', else "
        f"{', '.join(device.name for device in DEFAULT_DEVICES)})",
    )
    parser.add_argument(
        "--launch-profile",
        metavar="FILE",
        action="append",
        default=[],
        help="a recorded launch to use in place of the guess; its app counts "
        "unless others are named; may be given again (default: the settings')",
    )
    _add_advice_arguments(parser)


def _add_advice_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--min-saving",
        metavar="SECONDS",
        type=_positive,
        help="what lzo has to save per cold launch, about what people notice "
        f"(default: the settings', else {_DEFAULTS.min_saving_s:g})",
    )
    parser.add_argument(
        "--max-launches",
        metavar="COUNT",
        type=_positive,
        help="cold launches within which the larger download has to pay for itself; "
        "about those between two refreshes (default: the settings', else "
        f"{_DEFAULTS.max_launches:g})",
    )
    parser.add_argument(
        "--link",
        metavar="MBIT_PER_S",
        type=_positive,
        dest="link_mbit_per_s",
        help="speed of that download (default: the settings', else "
        f"{_DEFAULTS.link_mbit_per_s:g})",
    )
    parser.add_argument(
        "--deciding-apps",
        choices=("first", "every"),
        help="whether the first app that counts decides or every one has to gain "
        f"(default: the settings', else {_DEFAULTS.deciding_apps})",
    )


def chosen_requests(
    parsed_args: argparse.Namespace, payload: Payload, project_dir: Path | None
) -> tuple[Request, LintRequest]:
    """Return what is to be found out about a payload, and what to check it against.

    :param project_dir: of the payload, where it is named.
    :raises AdvisorError: where the settings, or a file that they name, can't be read
        or aren't what they should be.
    """
    path = parsed_args.policy or _find_settings(payload, project_dir)
    policy = LintPolicy() if path is None else read_policy(path)
    if path is not None:
        emit.progress(f"Settings from {path}", permanent=True)
    policy = _with_options(policy, parsed_args)
    try:
        lint = LintRequest(
            policy=policy,
            # Budgets of other devices than those that an option names don't count.
            devices=choose_devices(parsed_args.device)
            if parsed_args.device
            else policy_devices(policy),
            profiles=tuple(read_profile(Path(each)) for each in policy.launch_profile),
        )
        request = analysis_request(payload, lint, None)
        select_apps(payload.snap, payload.inventory, requested=request.apps)
    except UsageError as error:
        if path is None or parsed_args.device or parsed_args.app:
            raise
        message = f"{path}: {error}"  # a name in the file, not an argument
        raise BadDataError(message, resolution=error.resolution) from error
    return request, lint


def _find_settings(payload: Payload, project_dir: Path | None) -> Path | None:
    """Return the settings' file: the project's own, else that here."""
    folder = find_project_folder(payload, project_dir)
    folders = (Path(),) if folder is None else (folder, Path())
    places = (each / POLICY_FILE_NAME for each in folders)
    return next((place for place in places if place.exists()), None)


def _with_options(policy: LintPolicy, parsed_args: argparse.Namespace) -> LintPolicy:
    given = {name: getattr(parsed_args, name) for name in _ADVICE_OPTIONS}
    advice = {name: value for name, value in given.items() if value is not None}
    return policy.model_copy(
        update={
            "apps": tuple(parsed_args.app) or policy.apps,
            "devices": tuple(parsed_args.device) or policy.devices,
            "launch_profile": tuple(parsed_args.launch_profile)
            or policy.launch_profile,
            "advice": policy.advice.model_copy(update=advice),
        }
    )

"""The policy of ``advise`` and ``lint``: its file, and options that go before it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from craft_cli import emit

from snapcraft_compression_advisor.core.errors import BadDataError, UsageError
from snapcraft_compression_advisor.devices.builtin_devices import DEFAULT_NAMES
from snapcraft_compression_advisor.launch.profile import read_profile
from snapcraft_compression_advisor.lint.all_rules import ALL_RULES
from snapcraft_compression_advisor.lint.lint import LintRequest
from snapcraft_compression_advisor.lint.policy_devices import policy_devices
from snapcraft_compression_advisor.lint.select import check_selectors
from snapcraft_compression_advisor.settings.lint_policy import LintPolicy
from snapcraft_compression_advisor.settings.policy_file import (
    POLICY_FILE_NAME,
    read_policy,
)

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from snapcraft_compression_advisor.devices.device import DeviceProfile

    Change = Callable[[LintPolicy], LintPolicy]
    ChooseDevices = Callable[[LintPolicy], tuple[DeviceProfile, ...]]


def add_policy_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that :func:`policy_request` reads, and ``--policy``."""
    parser.add_argument(
        "--policy",
        metavar="FILE",
        type=Path,
        help="what the project asks for; other options go before it (default: "
        f"{POLICY_FILE_NAME} beside the snap's snapcraft.yaml, else here, else none)",
    )
    parser.add_argument(
        "--app",
        metavar="NAME",
        action="append",
        default=[],
        help="an app whose launch counts; may be given again, the first decides "
        "(default: the policy's, else the app named after the snap, else those with a "
        "desktop file, else all)",
    )
    parser.add_argument(
        "--device",
        metavar="NAME|FILE",
        action="append",
        default=[],
        help="a device profile to estimate for, built in ('devices' lists them) or "
        "a YAML file ('calibrate' makes one); may be given again, lzo has to gain "
        "on each (default: the policy's, else "
        f"{', '.join(DEFAULT_NAMES)})",
    )
    parser.add_argument(
        "--launch-profile",
        metavar="FILE",
        action="append",
        default=[],
        help="a recorded launch to use in place of the guess; its app counts "
        "unless others are named; may be given again (default: the policy's, else "
        "none)",
    )


def policy_request(
    parsed_args: argparse.Namespace,
    file: Path | None,
    *,
    change: Change,
    devices: ChooseDevices = policy_devices,
) -> LintRequest:
    """Return what a payload is to be checked against.

    :param file: the policy's; ``None`` where there is none.
    :param change: makes the changes that a command's own options ask for.
    :param devices: those of the resulting policy.
    :raises AdvisorError: where the policy, or a file that it names, can't be read or
        isn't what it should be; where options and policy contradict each other.
    """
    policy = LintPolicy()
    if file is not None:
        policy = read_policy(file)
        selectors = (*policy.select, *policy.ignore, *policy.severity)
        check_selectors(selectors, ALL_RULES, where=str(file))
        emit.progress(f"Settings from {file}", permanent=True)
    policy = change(_with_options(policy, parsed_args))
    try:
        chosen = devices(policy)
    except UsageError as error:
        if file is None or parsed_args.device:
            raise
        message = f"{file}: {error}"  # a name in the file, not an argument
        raise BadDataError(message, resolution=error.resolution) from error
    return LintRequest(
        policy=policy,
        policy_path=None if file is None or parsed_args.app else str(file),
        devices=chosen,
        profiles=tuple(read_profile(Path(each)) for each in policy.launch_profile),
    )


def _with_options(policy: LintPolicy, parsed_args: argparse.Namespace) -> LintPolicy:
    return policy.model_copy(
        update={
            "apps": tuple(parsed_args.app) or policy.apps,
            "devices": tuple(parsed_args.device) or policy.devices,
            "launch_profile": tuple(parsed_args.launch_profile)
            or policy.launch_profile,
        }
    )

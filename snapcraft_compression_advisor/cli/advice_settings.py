"""What ``advise`` is to find out, by the policy and the options."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from snapcraft_compression_advisor.advice.evidence import Policy
from snapcraft_compression_advisor.cli.arguments import quantity
from snapcraft_compression_advisor.cli.find_project import find_policy
from snapcraft_compression_advisor.cli.policy import (
    add_policy_arguments,
    policy_request,
)
from snapcraft_compression_advisor.devices.device_file import choose_devices
from snapcraft_compression_advisor.lint.lint import analysis_request, check_apps
from snapcraft_compression_advisor.lint.policy_devices import policy_devices
from snapcraft_compression_advisor.settings.policy_model import seconds_or_share
from snapcraft_compression_advisor.settings.quantities import LINK, parse_count

if TYPE_CHECKING:
    import argparse
    from pathlib import Path

    from snapcraft_compression_advisor.analysis import Request
    from snapcraft_compression_advisor.devices.device import DeviceProfile
    from snapcraft_compression_advisor.lint.lint import LintRequest
    from snapcraft_compression_advisor.payload.source import Payload
    from snapcraft_compression_advisor.settings.lint_policy import LintPolicy

_DEFAULTS = Policy()
_ADVICE_OPTIONS = ("min_saving", "max_launches", "link_mbit_per_s", "deciding_apps")


def add_settings_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that :func:`chosen_requests` reads."""
    add_policy_arguments(parser)
    parser.add_argument(
        "--min-saving",
        metavar="SECONDS|PERCENT",
        type=quantity(seconds_or_share),
        help="what lzo has to save per cold launch, about what people notice: 0.5, "
        "500ms, or a share in percent of what reading and decompressing add to it with "
        f"xz (default: the policy's, else {_DEFAULTS.min_saving_s:g}s)",
    )
    parser.add_argument(
        "--max-launches",
        metavar="COUNT",
        type=quantity(parse_count),
        help="cold launches within which the larger download has to pay for itself; "
        "about those between two refreshes (default: the policy's, else "
        f"{_DEFAULTS.max_launches:g})",
    )
    parser.add_argument(
        "--link",
        metavar="MBIT/S",
        type=quantity(LINK.parse),
        dest="link_mbit_per_s",
        help="speed of that download: 8.5, 100Mbit/s, 1Gbit/s (default: the policy's, "
        f"else {_DEFAULTS.link_mbit_per_s:g}Mbit/s)",
    )
    parser.add_argument(
        "--deciding-apps",
        choices=("first", "every"),
        help="whether the first target app decides or every one has to gain "
        f"(default: the policy's, else {_DEFAULTS.deciding_apps})",
    )


def chosen_requests(
    parsed_args: argparse.Namespace, payload: Payload, project_dir: Path | None
) -> tuple[Request, LintRequest]:
    """Return what is to be found out about a payload, and what to check it against.

    :param project_dir: of the payload, where it is named.
    :raises AdvisorError: where the policy, or a file that it names, can't be read or
        isn't what it should be.
    """
    lint = policy_request(
        parsed_args,
        parsed_args.policy or find_policy(payload.path, project_dir),
        change=partial(_with_options, parsed_args=parsed_args),
        devices=partial(_devices, named=parsed_args.device),
    )
    check_apps(payload, lint)
    return analysis_request(payload, lint, None), lint


def _with_options(policy: LintPolicy, parsed_args: argparse.Namespace) -> LintPolicy:
    given = {name: getattr(parsed_args, name) for name in _ADVICE_OPTIONS}
    advice = {name: value for name, value in given.items() if value is not None}
    return policy.model_copy(update={"advice": policy.advice.model_copy(update=advice)})


def _devices(policy: LintPolicy, *, named: list[str]) -> tuple[DeviceProfile, ...]:
    """Return the devices; budgets of others than those named as options don't count."""
    return choose_devices(named) if named else policy_devices(policy)

"""The policy of a lint run: its file, and the options that go before it."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import get_args

import pydantic

from snapcraft_compression_advisor.advice.lint_policy import (
    LintPolicy,
    Selector,
    SeverityName,
    contradictions,
)
from snapcraft_compression_advisor.advice.policy_file import (
    POLICY_FILE_NAME,
    read_policy,
)
from snapcraft_compression_advisor.errors import BadDataError, UsageError
from snapcraft_compression_advisor.launch.profile import read_profile
from snapcraft_compression_advisor.rules.all_rules import ALL_RULES
from snapcraft_compression_advisor.rules.lint import LintRequest
from snapcraft_compression_advisor.rules.policy_devices import policy_devices
from snapcraft_compression_advisor.rules.select import check_selectors

_SELECTOR: pydantic.TypeAdapter[str] = pydantic.TypeAdapter(Selector)


def add_policy_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that :func:`chosen_request` reads."""
    parser.add_argument(
        "--policy",
        metavar="FILE",
        type=Path,
        help=f"the policy (default: {POLICY_FILE_NAME} here, if there is one)",
    )
    for option, help_text in (
        ("--select", "rules to check instead of those that the policy selects"),
        ("--ignore", "rules not to check besides those that the policy ignores"),
    ):
        parser.add_argument(
            option,
            metavar="RULES",
            action="append",
            type=_selectors,
            default=[],
            help=f"{help_text}: ids (SCA101) or families (SCA1), alone or with a path "
            "pattern (SCA303:usr/lib/*), with commas between; may be given again",
        )
    parser.add_argument(
        "--fail-on",
        choices=get_args(SeverityName),
        help="the least severe finding that makes the exit status 1 (default: the "
        "policy's, else error)",
    )
    _add_launch_arguments(parser)


def _add_launch_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--app",
        metavar="NAME",
        action="append",
        default=[],
        help="an app whose launch counts, as for 'advise', instead of the policy's",
    )
    parser.add_argument(
        "--device",
        metavar="NAME|FILE",
        action="append",
        default=[],
        help="a device profile, as for 'advise', instead of the policy's",
    )
    parser.add_argument(
        "--launch-profile",
        metavar="FILE",
        action="append",
        default=[],
        help="a recorded launch, as for 'advise', instead of the policy's",
    )


def chosen_request(parsed_args: argparse.Namespace) -> LintRequest:
    """Return what payloads are to be checked against.

    :raises AdvisorError: where the policy, or a file that it names, can't be read or
        isn't what it should be; where options and policy contradict each other.
    """
    policy, where = _read_policy(parsed_args.policy)
    check_selectors(
        (*policy.select, *policy.ignore, *policy.severity), ALL_RULES, where=where
    )
    policy = _with_options(policy, parsed_args)
    try:
        devices = policy_devices(policy)
    except UsageError as error:
        if parsed_args.device:
            raise
        message = f"{where}: {error}"  # a name in the file, not an argument
        raise BadDataError(message, resolution=error.resolution) from error
    return LintRequest(
        policy=policy,
        policy_path=None if parsed_args.app else where,
        devices=devices,
        profiles=tuple(read_profile(Path(each)) for each in policy.launch_profile),
    )


def _read_policy(path: Path | None) -> tuple[LintPolicy, str]:
    if path is None:
        path = Path(POLICY_FILE_NAME)
        if not path.exists():
            return LintPolicy(), POLICY_FILE_NAME
    return read_policy(path), str(path)


def _with_options(policy: LintPolicy, parsed_args: argparse.Namespace) -> LintPolicy:
    select = tuple(each for group in parsed_args.select for each in group)
    ignore = tuple(each for group in parsed_args.ignore for each in group)
    try:
        check_selectors((*select, *ignore), ALL_RULES, where="--select, --ignore")
    except BadDataError as error:  # an argument, not data
        raise UsageError(str(error), resolution=error.resolution) from error
    changed = policy.model_copy(
        update={
            "select": select or policy.select,
            "ignore": (*policy.ignore, *ignore),
            "fail_on": parsed_args.fail_on or policy.fail_on,
            "apps": tuple(parsed_args.app) or policy.apps,
            "devices": tuple(parsed_args.device) or policy.devices,
            "launch_profile": tuple(parsed_args.launch_profile)
            or policy.launch_profile,
        }
    )
    for problem in contradictions(changed):
        raise UsageError(problem, resolution="Change the options or the policy.")
    return changed


def _selectors(text: str) -> list[str]:
    try:
        return [_SELECTOR.validate_python(each.strip()) for each in text.split(",")]
    except pydantic.ValidationError as error:
        problem = error.errors(include_url=False)[0]["msg"]
        raise argparse.ArgumentTypeError(
            problem.removeprefix("Value error, ")
        ) from error

"""What each payload of a lint run is checked against."""

from __future__ import annotations

import argparse
from functools import partial
from typing import TYPE_CHECKING, get_args

import pydantic

from snapcraft_compression_advisor.cli.find_project import find_policy
from snapcraft_compression_advisor.cli.policy import (
    add_policy_arguments,
    policy_request,
)
from snapcraft_compression_advisor.core.errors import BadDataError, UsageError
from snapcraft_compression_advisor.lint.all_rules import ALL_RULES
from snapcraft_compression_advisor.lint.select import check_selectors
from snapcraft_compression_advisor.settings.lint_policy import (
    LintPolicy,
    Selector,
    SeverityName,
    contradictions,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from snapcraft_compression_advisor.lint.lint import LintRequest

_SELECTOR: pydantic.TypeAdapter[str] = pydantic.TypeAdapter(Selector)


def add_lint_policy_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that :func:`chosen_requests` reads."""
    add_policy_arguments(parser)
    for option, help_text, default in (
        ("--select", "rules to check", "the policy's, else all"),
        ("--ignore", "rules not to check besides those that the policy ignores", ""),
    ):
        parser.add_argument(
            option,
            metavar="RULES",
            action="append",
            type=_selectors,
            default=[],
            help=f"{help_text}: ids (SCA101) or families (SCA1), alone or with a path "
            "pattern (SCA303:usr/lib/*), with commas between; may be given again "
            f"(default: {default or 'none'})",
        )
    parser.add_argument(
        "--fail-on",
        choices=get_args(SeverityName),
        help="the least severe finding that makes the exit status 1 (default: the "
        "policy's, else error)",
    )


def chosen_requests(
    parsed_args: argparse.Namespace, paths: Iterable[Path]
) -> dict[Path, LintRequest]:
    """Return what each payload is to be checked against, by its own project's policy.

    Payloads with the same policy have the same request.

    :raises AdvisorError: where a policy, or a file that it names, can't be read or
        isn't what it should be; where options and policy contradict each other.
    """
    files = {
        path: parsed_args.policy or find_policy(path, parsed_args.project)
        for path in paths
    }
    change = partial(_with_options, parsed_args=parsed_args)
    by_file: Mapping[Path | None, LintRequest] = {
        file: policy_request(parsed_args, file, change=change)
        for file in dict.fromkeys(files.values())
    }
    return {path: by_file[file] for path, file in files.items()}


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

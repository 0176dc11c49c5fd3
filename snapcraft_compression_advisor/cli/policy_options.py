"""The policy of a command: its file, and options that precede it."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Literal, get_args, get_origin

from ..core.errors import BadDataError, UsageError
from ..core.terminal import emit
from ..lint.request import LintRequest
from ..settings.lint_policy import LintPolicy
from ..settings.load import load_settings, overlay, setting
from ..settings.policy_file import POLICY_FILE_NAME
from ..settings.policy_parts import Option
from .arguments import Arguments, details

_OPTIONS: Mapping[str, Option] = {
    name: each
    for name, field in LintPolicy.model_fields.items()
    for each in field.metadata
    if isinstance(each, Option)
}
"""Options by the names of the keys that they set."""


def _options(*names: str) -> Arguments:
    """Return arguments that set keys of the policy."""
    found = {}
    for name in names:
        field, option = LintPolicy.model_fields[name], _OPTIONS[name]
        text = option.text or str(field.description)
        if option.unset is not None:
            text = f"{text} (default: the policy's, else {option.unset})"
        choices = get_origin(field.annotation) is Literal and get_args(field.annotation)
        found[option.usage] = details(text, type=None, choices=choices or None)
    return found


POLICY_ARGUMENTS: Arguments = {
    "--policy FILE": "the project's policy; other options override it (default: "
    f"{POLICY_FILE_NAME} of the project, else in the current directory)",
    **_options("apps", "devices", "launch_profile"),
}
ADVICE_ARGUMENTS: Arguments = {
    **POLICY_ARGUMENTS,
    **_options("min_saving", "max_launches", "link", "deciding_apps"),
}
RULE_ARGUMENTS: Arguments = {
    **POLICY_ARGUMENTS,
    **_options("select", "ignore", "fail_on"),
}


def policy_options(parsed_args: argparse.Namespace) -> LintPolicy:
    """Return the policy that a command's options make, each checked as its key is.

    :raises UsageError: if the value of one is broken, or a rule doesn't exist.
    """
    policy = LintPolicy()
    for key, option in _OPTIONS.items():
        flag = option.usage.split()[0]
        value = getattr(parsed_args, flag.strip("-").replace("-", "_"), None)
        if key in ("select", "ignore"):
            value = [each.strip() for text in value or () for each in text.split(",")]
        if value in (None, []):
            continue
        try:
            made = setting(key.replace("_", "-"), value, label=f"argument {flag}")
            policy = overlay(policy, made)
        except BadDataError as error:
            raise UsageError(str(error), resolution="Correct it.") from error
    try:
        _check_rules((*policy.select, *policy.ignore), where="--select, --ignore")
    except BadDataError as error:  # an argument, not data
        raise UsageError(str(error), resolution=error.resolution) from error
    return policy


def lint_request(
    file: Path | None, options: LintPolicy, *, narrow: bool = False
) -> LintRequest:
    """Return what a payload is to be checked against.

    :param file: the policy's, or None.
    :param narrow: as for
        :func:`~snapcraft_compression_advisor.settings.load.load_settings`.
    :raises AdvisorError: if the policy, or a file that it names, can't be read or isn't
        what it should be; if options and policy contradict each other.
    """
    settings = load_settings(file, options, check_rules=_check_rules, narrow=narrow)
    if file is not None:
        emit.progress(f"Settings from {file}", permanent=True)
    return LintRequest(
        policy=settings.policy,
        policy_path=settings.policy_path,
        devices=settings.devices,
        profiles=settings.profiles,
    )


def _check_rules(texts: Iterable[str], *, where: str) -> None:
    """Refuse selectors that select no rule."""
    wanted = tuple(texts)
    if wanted:  # advice has none, and needs no rules
        from ..lint.all_rules import ALL_RULES  # noqa: PLC0415
        from ..lint.run import check_selectors  # noqa: PLC0415

        check_selectors(wanted, ALL_RULES, where=where)

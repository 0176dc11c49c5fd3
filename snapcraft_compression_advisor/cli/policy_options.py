"""The policy of a command: its file, and options that go before it."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from pathlib import Path
from typing import get_args

from ..advice.evidence import Policy
from ..core.errors import BadDataError, UsageError
from ..core.terminal import emit
from ..devices.builtin_devices import DEFAULT_NAMES
from ..lint.request import LintRequest
from ..settings.lint_policy import LintPolicy, SeverityName
from ..settings.load import Sources, load_settings, overlay, setting
from ..settings.policy_file import POLICY_FILE_NAME
from .arguments import Arguments, details

_KEYS = {"app": "apps", "device": "devices", "deciding_apps": "deciding-apps",
    "fail_on": "fail-on", "ignore": "ignore", "launch_profile": "launch-profile",
    "link": "link", "max_launches": "max-launches", "min_saving": "min-saving",
    "select": "select"}  # fmt: skip
"""Keys of the policy that options set, by the options' names in Python."""
_DEFAULTS = Policy()


def _option(key: str, default: str, more: str = "") -> str:
    """Return what an option does that sets a key of the policy.

    :param default: if the policy doesn't set it.
    """
    text = f"{LintPolicy.model_fields[key].description}{more}"
    return f"{text} (default: the policy's, else {default})"


POLICY_ARGUMENTS: Arguments = {
    "--policy FILE": "the project's policy; other options override it (default: "
    f"{POLICY_FILE_NAME} of the project, else in the current directory)",
    "--app NAME…": _option(
        "apps",
        "the app named after the snap, else those with a desktop file, else all",
        "; may be repeated",
    ),
    "--device NAME|FILE…": "a device profile to estimate for, built in ('devices' "
    "lists them) or a file ('calibrate' makes one), with a system's kernel "
    "(nvme-laptop@ubuntu-22.04) or a share of the users (nvme-laptop=0.7); may be "
    f"repeated (default: the policy's, else {', '.join(DEFAULT_NAMES)})",
    "--launch-profile FILE…": details(
        "a recorded launch to use in place of the guess; may be repeated (default: "
        "the policy's, else none)",
        type=None,
    ),
}
ADVICE_ARGUMENTS: Arguments = {
    **POLICY_ARGUMENTS,
    "--min-saving SECONDS|PERCENT": _option(
        "min_saving", f"{_DEFAULTS.min_saving_s:g}s"
    ),
    "--max-launches COUNT": _option("max_launches", f"{_DEFAULTS.max_launches:g}"),
    "--link MBIT/S": _option("link", f"{_DEFAULTS.link_mbit_per_s:g}Mbit/s"),
    "--deciding-apps": details(
        _option("deciding_apps", _DEFAULTS.deciding_apps), choices=("first", "every")
    ),
}
_SELECTORS = (
    "ids (SCA101) or families (SCA1), alone or with a path pattern "
    "(SCA303:usr/lib/*), separated by commas; may be repeated"
)
RULE_ARGUMENTS: Arguments = {
    **POLICY_ARGUMENTS,
    "--select RULES…": f"rules to check: {_SELECTORS} (default: the policy's, else "
    "all)",
    "--ignore RULES…": "rules not to check, in addition to those that the policy "
    "ignores; written as for --select (default: none)",
    "--fail-on": details(
        "the least severe finding that makes the exit status 1 (default: the policy's, "
        "else error)",
        choices=get_args(SeverityName),
    ),
}


def policy_options(parsed_args: argparse.Namespace) -> LintPolicy:
    """Return the policy that a command's options make, each checked as its key is.

    :raises UsageError: if the value of one is broken, or a rule doesn't exist.
    """
    policy = LintPolicy()
    for name, key in _KEYS.items():
        value = getattr(parsed_args, name, None)
        if name in ("select", "ignore"):
            value = [each.strip() for text in value or () for each in text.split(",")]
        if value in (None, []):
            continue
        label = f"argument --{name.replace('_', '-')}"
        try:
            policy = overlay(policy, setting(key, value, label=label))
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
    settings = load_settings(
        Sources(file=file, options=options), check_rules=_check_rules, narrow=narrow
    )
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

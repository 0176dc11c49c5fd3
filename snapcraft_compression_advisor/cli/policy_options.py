"""The policy of ``advise`` and ``lint``: its file, and options that go before it."""

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

_KEYS = {"--app": "apps", "--device": "devices"}
"""Keys of options that have one of several values."""
_DEFAULTS = Policy()


def _option(key: str, more: str = "", *, default: str | None = None) -> str:
    """Return what an option does that sets a key of the policy.

    :param key: of the model.
    :param more: what else is to be said of the option.
    :param default: if the policy doesn't set it; the model's own and this by default.
    """
    field = LintPolicy.model_fields[key]
    otherwise = field.default if default is None else default
    return f"{field.description}{more} (default: the policy's, else {otherwise})"


POLICY_ARGUMENTS: Arguments = {
    "--policy FILE": "the project's policy; other options override it (default: "
    f"{POLICY_FILE_NAME} in the project's directory or beside its snapcraft.yaml, "
    "else in the current directory, else none)",
    "--app NAME…": _option(
        "apps",
        "; may be repeated",
        default="the app named after the snap, else those with a desktop file, else "
        "all",
    ),
    "--device NAME|FILE…": "a device profile to estimate for, built in ('devices' "
    "lists them) or a YAML file ('calibrate' makes one), with a system's kernel after "
    "it if it has another: nvme-laptop@ubuntu-22.04; may be repeated, lzo must "
    "gain on each, or on average if each has its share of the users: nvme-laptop=0.7 "
    f"(default: the policy's, else {', '.join(DEFAULT_NAMES)})",
    "--launch-profile FILE…": details(
        "a recorded launch to use in place of the guess; its app is the target app "
        "unless others are named; may be repeated (default: the policy's, else none)",
        type=None,
    ),
}
ADVICE_ARGUMENTS: Arguments = {
    **POLICY_ARGUMENTS,
    "--min-saving SECONDS|PERCENT": _option(
        "min_saving", default=f"{_DEFAULTS.min_saving_s:g}s"
    ),
    "--max-launches COUNT": _option(
        "max_launches", default=f"{_DEFAULTS.max_launches:g}"
    ),
    "--link MBIT/S": _option(
        "link",
        ": 8.5, 100Mbit/s, 1Gbit/s",
        default=f"{_DEFAULTS.link_mbit_per_s:g}Mbit/s",
    ),
    "--deciding-apps": details(_option("deciding_apps"), choices=("first", "every")),
}
"""What :func:`advice_options` reads, and ``--policy``."""
_SELECTOR_FORM = (
    "ids (SCA101) or families (SCA1), alone or with a path pattern "
    "(SCA303:usr/lib/*), separated by commas; may be repeated"
)
RULE_ARGUMENTS: Arguments = {
    **POLICY_ARGUMENTS,
    "--select RULES…": f"rules to check: {_SELECTOR_FORM} (default: the policy's, else "
    "all)",
    "--ignore RULES…": "rules not to check, in addition to those that the policy "
    f"ignores: {_SELECTOR_FORM} (default: none)",
    "--fail-on": details(
        "the least severe finding that makes the exit status 1 (default: the policy's, "
        "else error)",
        choices=get_args(SeverityName),
    ),
}
"""What :func:`rule_options` reads, and ``--policy``."""


def payload_options(parsed_args: argparse.Namespace) -> LintPolicy:
    """Return the policy that the options of :data:`POLICY_ARGUMENTS` make.

    :raises UsageError: if the value of one is broken.
    """
    return _options(parsed_args, "--app", "--device", "--launch-profile")


def advice_options(parsed_args: argparse.Namespace) -> LintPolicy:
    """Return the policy that the options of ``advise`` make.

    :raises UsageError: as :func:`payload_options`.
    """
    names = ("--min-saving", "--max-launches", "--link", "--deciding-apps")
    return overlay(payload_options(parsed_args), _options(parsed_args, *names))


def rule_options(parsed_args: argparse.Namespace) -> LintPolicy:
    """Return the policy that the options of ``lint`` make.

    :raises UsageError: as :func:`payload_options`, or if a rule doesn't exist.
    """
    rules = _options(parsed_args, "--select", "--ignore", "--fail-on")
    try:
        _check_rules((*rules.select, *rules.ignore), where="--select, --ignore")
    except BadDataError as error:  # an argument, not data
        raise UsageError(str(error), resolution=error.resolution) from error
    return overlay(payload_options(parsed_args), rules)


def lint_request(
    file: Path | None, options: LintPolicy, *, narrow: bool = False
) -> LintRequest:
    """Return what a payload is to be checked against.

    :param file: the policy's; ``None`` where there is none.
    :param narrow: as for
        :func:`~snapcraft_compression_advisor.settings.load.load_settings`.
    :raises AdvisorError: where the policy, or a file that it names, can't be read or
        isn't what it should be; where options and policy contradict each other.
    """
    settings = load_settings(
        Sources(file=file, options=options),
        check_rules=_check_rules,
        narrow=narrow,
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
    """Refuse selectors that speak of no rule."""
    wanted = tuple(texts)
    if wanted:  # advice has none, and needs no rules
        from ..lint.all_rules import ALL_RULES  # noqa: PLC0415
        from ..lint.run import check_selectors  # noqa: PLC0415

        check_selectors(wanted, ALL_RULES, where=where)


def _options(parsed_args: argparse.Namespace, *options: str) -> LintPolicy:
    """Return the policy that some options make, each checked as the policy's key is.

    :raises UsageError: if the value of one is broken.
    """
    policy = LintPolicy()
    for option in options:
        key = _KEYS.get(option, option.removeprefix("--"))
        value = getattr(parsed_args, option.removeprefix("--").replace("-", "_"))
        if option in ("--select", "--ignore"):
            value = [each.strip() for text in value for each in text.split(",")]
        if value in (None, []):
            continue
        try:
            one = setting(key, value, label=f"argument {option}")
        except BadDataError as error:
            raise UsageError(str(error), resolution="Correct it.") from error
        policy = overlay(policy, one)
    return policy

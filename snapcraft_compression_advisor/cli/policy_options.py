"""The policy of ``advise`` and ``lint``: its file, and options that go before it."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import get_args

import pydantic

from ..advice.evidence import Policy
from ..core.errors import BadDataError, UsageError
from ..core.terminal import emit
from ..devices.builtin_devices import DEFAULT_NAMES
from ..lint.request import LintRequest
from ..settings.lint_policy import AdvicePolicy, LintPolicy, Selector, SeverityName
from ..settings.load import POLICY_FILE_NAME, Sources, load_settings
from ..settings.quantities import LINK, parse_count, parse_devices, seconds_or_share
from .arguments import Arguments, details, quantity

_DEFAULTS = Policy()
_ADVICE_OPTIONS = ("min_saving", "max_launches", "link_mbit_per_s", "deciding_apps")
_COMMON_OPTIONS = (("apps", "app"), ("devices", "device"), ("launch_profile",) * 2)


@cache
def _selector() -> pydantic.TypeAdapter[str]:
    return pydantic.TypeAdapter(Selector)


def _selectors(text: str) -> list[str]:
    try:
        return [_selector().validate_python(each.strip()) for each in text.split(",")]
    except pydantic.ValidationError as error:
        problem = error.errors(include_url=False)[0]["msg"]
        raise argparse.ArgumentTypeError(
            problem.removeprefix("Value error, ")
        ) from error


POLICY_ARGUMENTS: Arguments = {
    "--policy FILE": "the project's policy; other options override it (default: "
    f"{POLICY_FILE_NAME} beside the snap's snapcraft.yaml, else in the current "
    "directory, else none)",
    "--app NAME…": "a target app; may be repeated, the first decides (default: the "
    "policy's, else the app named after the snap, else those with a desktop file, else "
    "all)",
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
    "--min-saving SECONDS|PERCENT": details(
        "time that lzo must save per cold launch, about what people notice: 0.5, "
        "500ms, or a percentage of the time that reading and decompressing add "
        f"with xz (default: the policy's, else {_DEFAULTS.min_saving_s:g}s)",
        type=quantity(seconds_or_share),
    ),
    "--max-launches COUNT": details(
        "number of cold launches within which the larger download must pay for "
        "itself; about as many as between two refreshes (default: the policy's, "
        f"else {_DEFAULTS.max_launches:g})",
        type=quantity(parse_count),
    ),
    "--link MBIT/S": details(
        "speed of that download: 8.5, 100Mbit/s, 1Gbit/s (default: the policy's, "
        f"else {_DEFAULTS.link_mbit_per_s:g}Mbit/s)",
        type=quantity(LINK.parse),
        dest="link_mbit_per_s",
    ),
    "--deciding-apps": details(
        "whether the first target app decides or every one must gain (default: the "
        f"policy's, else {_DEFAULTS.deciding_apps})",
        choices=("first", "every"),
    ),
}
"""What :func:`advice_options` reads, and ``--policy``."""
_SELECTOR_FORM = (
    "ids (SCA101) or families (SCA1), alone or with a path pattern "
    "(SCA303:usr/lib/*), separated by commas; may be repeated"
)
RULE_ARGUMENTS: Arguments = {
    **POLICY_ARGUMENTS,
    "--select RULES…": details(
        f"rules to check: {_SELECTOR_FORM} (default: the policy's, else all)",
        type=_selectors,
    ),
    "--ignore RULES…": details(
        "rules not to check, in addition to those that the policy ignores: "
        f"{_SELECTOR_FORM} (default: none)",
        type=_selectors,
    ),
    "--fail-on": details(
        "the least severe finding that makes the exit status 1 (default: the policy's, "
        "else error)",
        choices=get_args(SeverityName),
    ),
}
"""What :func:`rule_options` reads, and ``--policy``."""


def payload_options(parsed_args: argparse.Namespace) -> LintPolicy:
    """Return the policy that the options of :data:`POLICY_ARGUMENTS` make."""
    return _options(parsed_args, {})


def advice_options(parsed_args: argparse.Namespace) -> LintPolicy:
    """Return the policy that the options of ``advise`` make."""
    advice = _given({name: getattr(parsed_args, name) for name in _ADVICE_OPTIONS})
    changed = AdvicePolicy().model_copy(update=advice) if advice else None
    return _options(parsed_args, {"advice": changed})


def common_options(parsed_args: argparse.Namespace) -> LintPolicy:
    """Return the policy that the options of every command make."""
    return _options(parsed_args, {})


def rule_options(parsed_args: argparse.Namespace) -> LintPolicy:
    """Return the policy that the options of ``lint`` make.

    :raises UsageError: where they name a rule that there isn't.
    """
    select = tuple(each for group in parsed_args.select for each in group)
    ignore = tuple(each for group in parsed_args.ignore for each in group)
    try:
        _check_rules((*select, *ignore), where="--select, --ignore")
    except BadDataError as error:  # an argument, not data
        raise UsageError(str(error), resolution=error.resolution) from error
    given = {"select": select, "ignore": ignore, "fail_on": parsed_args.fail_on}
    return _options(parsed_args, given)


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


def _options(
    parsed_args: argparse.Namespace, others: Mapping[str, object]
) -> LintPolicy:
    common = {key: tuple(getattr(parsed_args, name)) for key, name in _COMMON_OPTIONS}
    try:
        devices = parse_devices(common["devices"])
    except ValueError as error:
        message = f"argument --device: {error}"
        raise UsageError(message, resolution="Correct the shares.") from error
    given = {**common, "devices": devices, **others}
    return LintPolicy().model_copy(update=_given(given))


def _given(values: Mapping[str, object]) -> dict[str, object]:
    return {key: value for key, value in values.items() if value not in (None, ())}

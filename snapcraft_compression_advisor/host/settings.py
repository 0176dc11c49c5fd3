"""The settings of a pack: the part's, the policy file's, the environment's."""

from __future__ import annotations

import difflib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import pydantic

from snapcraft_compression_advisor.core.errors import AdvisorError, BadDataError
from snapcraft_compression_advisor.host.errors import SettingsError
from snapcraft_compression_advisor.host.refusal import ENVIRONMENT_PREFIX
from snapcraft_compression_advisor.launch.profile import read_profile
from snapcraft_compression_advisor.lint.all_rules import ALL_RULES
from snapcraft_compression_advisor.lint.policy_devices import policy_devices
from snapcraft_compression_advisor.lint.select import check_selectors
from snapcraft_compression_advisor.settings.lint_policy import (
    LintPolicy,
    contradictions,
)
from snapcraft_compression_advisor.settings.policy_file import (
    POLICY_FILE_NAME,
    beside,
    read_policy,
)
from snapcraft_compression_advisor.settings.policy_model import PolicyModel

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from snapcraft_compression_advisor.devices.device import DeviceProfile
    from snapcraft_compression_advisor.launch.profile import LaunchProfile

PLUGIN = "compression-advisor"
"""Name of the extension, of the build plugin, and before each of its properties."""

INSTANCE_PATH_VARIABLE = f"{ENVIRONMENT_PREFIX}INSTANCE_PATH"
"""Directory to mount into build instances; no setting of a pack."""

PLACES: Mapping[str, tuple[str, ...]] = {
    "mode": ("pack", "mode"),
    "override-declared": ("pack", "override-declared"),
    "report": ("pack", "report"),
    "devices": ("devices",),
    "apps": ("apps",),
    "launch-profile": ("launch-profile",),
    "max-size-growth": ("advice", "max-size-growth"),
    "min-launch-gain": ("advice", "min-saving"),
    "max-cold-start": ("budgets", "cold-start"),
}
"""Where in the policy each setting of a part or of the environment stands."""

_LISTS = frozenset({"devices", "apps", "launch-profile"})
_TRUTHS = {
    "true": True,
    "yes": True,
    "1": True,
    "false": False,
    "no": False,
    "0": False,
}
_Model = TypeVar("_Model", bound=PolicyModel)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What the project asks of a pack, files read.

    :param policy: all sources together.
    :param devices: that it names, those of its budgets included.
    :param profiles: recorded launches.
    """

    policy: LintPolicy
    devices: tuple[DeviceProfile, ...]
    profiles: tuple[LaunchProfile, ...]


def read_settings(
    project_dir: Path,
    parts: Mapping[str, Mapping[str, object]],
    environment: Mapping[str, str],
) -> Settings:
    """Read all settings; the environment goes before the file, that before the part.

    :param project_dir: where ``compression-advisor.yaml`` may be.
    :param parts: of the project, by name.
    :raises SettingsError: where one is broken, or they contradict each other.
    """
    try:
        policy = LintPolicy()
        for source in _sources(project_dir, parts, environment):
            policy = overlay(policy, source)
        for problem in contradictions(policy):
            message = f"The compression advisor's settings contradict: {problem}"
            raise BadDataError(message, resolution="Change one of them.")
        check_selectors(
            (*policy.select, *policy.ignore, *policy.severity),
            ALL_RULES,
            where=POLICY_FILE_NAME,
        )
        return Settings(
            policy=policy,
            devices=policy_devices(policy),
            profiles=tuple(read_profile(Path(each)) for each in policy.launch_profile),
        )
    except AdvisorError as error:
        raise SettingsError.of(error) from error


def part_policy(name: str, properties: Mapping[str, object]) -> LintPolicy:
    """Return the policy that a part of the plugin ``compression-advisor`` has.

    :param name: of the part.
    :param properties: ``compression-advisor-mode`` and so on; others are left alone.
    :raises BadDataError: where one is broken.
    """
    prefix = f"{PLUGIN}-"
    policy = LintPolicy()
    for key, value in properties.items():
        if key.startswith(prefix) and value is not None:
            label = f"{key} of part {name}"
            policy = overlay(policy, _one(key.removeprefix(prefix), value, label))
    return policy


def environment_policy(environment: Mapping[str, str]) -> LintPolicy:
    """Return the policy that ``SNAPCRAFT_COMPRESSION_ADVISOR_*`` has.

    Lists have commas between; ``max-cold-start`` is a list of ``DEVICE=SECONDS``. An
    empty variable counts as unset.

    :raises BadDataError: where one is broken or unknown.
    """
    policy = LintPolicy()
    for variable, text in sorted(environment.items()):
        if not variable.startswith(ENVIRONMENT_PREFIX) or not text:
            continue
        if variable == INSTANCE_PATH_VARIABLE:
            continue
        key = variable.removeprefix(ENVIRONMENT_PREFIX).lower().replace("_", "-")
        value = _environment_value(key, text)
        policy = overlay(policy, _one(key, value, f"The variable {variable}"))
    return policy


def overlay(below: _Model, above: _Model) -> _Model:
    """Return a policy with what another one sets in its place, key by key."""
    changed: dict[str, object] = {}
    for name in above.model_fields_set:
        value, covered = getattr(above, name), getattr(below, name)
        both = isinstance(value, PolicyModel) and isinstance(covered, PolicyModel)
        changed[name] = overlay(covered, value) if both else value
    return below.model_copy(update=changed)


def _sources(
    project_dir: Path,
    parts: Mapping[str, Mapping[str, object]],
    environment: Mapping[str, str],
) -> Sequence[LintPolicy]:
    """Return the sources that there are, the weakest first."""
    here = project_dir / POLICY_FILE_NAME
    ours = [name for name, part in parts.items() if part.get("plugin") == PLUGIN]
    if len(ours) > 1:
        message = f"Parts {' and '.join(ours)} all have the plugin {PLUGIN!r}"
        raise BadDataError(message, resolution="Keep the settings in one of them.")
    sources = [beside(here, part_policy(name, parts[name])) for name in ours]
    if os.path.lexists(here):  # a broken link isn't passed over
        sources.append(read_policy(here))
    return [*sources, beside(here, environment_policy(environment))]


def _one(key: str, value: object, label: str) -> LintPolicy:
    """Return the policy that a single setting makes.

    :param label: what errors call it.
    """
    if key not in PLACES:
        near = difflib.get_close_matches(key, PLACES, n=1)
        hint = f"Did you mean {near[0]!r}? " if near else ""
        message = f"{label}: the compression advisor has no setting {key!r}"
        raise BadDataError(message, resolution=f"{hint}It has {', '.join(PLACES)}.")
    document = value
    for section in reversed(PLACES[key]):
        document = {section: document}
    try:
        return LintPolicy.model_validate(document)
    except pydantic.ValidationError as error:
        problem = error.errors(include_url=False, include_input=False)[0]
        text = problem["msg"].removeprefix("Value error, ")
        message = f"{label} is broken: {text}"
        raise BadDataError(message, resolution="Correct it.") from error


def _environment_value(key: str, text: str) -> object:
    if key in _LISTS:
        return [each.strip() for each in text.split(",")]
    if key == "max-cold-start":
        pairs = [each.partition("=") for each in text.split(",")]
        return {device.strip(): seconds.strip() for device, _, seconds in pairs}
    if key == "override-declared":
        return _TRUTHS.get(text.lower(), text)
    return text

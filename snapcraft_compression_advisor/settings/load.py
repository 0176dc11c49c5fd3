"""Load the settings: those of a command line, a CI run and a pack, in one precedence.

Options go before the environment, that before compression-advisor.yaml, that before
the part of snapcraft's plugin, and all of them before the defaults.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import pydantic

from ..core.errors import BadDataError, UsageError
from ..devices.builtin_devices import default_devices, find_device
from ..devices.builtin_kernels import with_kernels
from ..devices.device import DeviceProfile
from .file import POLICY, describe_setting, parse_policy
from .parts import PolicyModel
from .settings import Settings, contradictions

if TYPE_CHECKING:
    from ..launch.profile import LaunchProfile


PLUGIN = "compression-advisor"
"""Name of the extension, of the build plugin, and before each of its properties."""

ENVIRONMENT_PREFIX = "SNAPCRAFT_COMPRESSION_ADVISOR_"

INSTANCE_PATH_VARIABLE = f"{ENVIRONMENT_PREFIX}INSTANCE_PATH"
"""Directory to mount into build instances; no setting of a pack."""

SETTINGS = tuple(
    str(field.alias)
    for name, field in Settings.model_fields.items()
    if name != "schema_version"
)
"""Names of all settings, the same wherever one is set."""

_Model = TypeVar("_Model", bound=PolicyModel)


def read_policy(path: Path) -> Settings:
    """Read a policy file; files that it names become relative to the process.

    :raises AdvisorError: if it can't be read, or isn't a policy.
    """
    return parse_policy(POLICY.read(path), where=str(path), folder=path.parent)


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedSettings:
    """What is asked of a payload, files read.

    :param policy_path: the file that names the apps, for errors, if one does.
    :param devices: that the policy names, those of its budgets included.
    """

    policy: Settings
    policy_path: str | None
    devices: tuple[DeviceProfile, ...]
    profiles: tuple[LaunchProfile, ...]


def load_settings(
    file: Path | None,
    above: Settings,
    *,
    below: Settings | None = None,
    check_rules: Callable[..., None],
    narrow: bool = False,
) -> LoadedSettings:
    """Read the file with settings, and what all settings name.

    :param above: policy that precedes the file, such as that of options.
    :param below: policy that it precedes.
    :param check_rules: refuses selectors that select no rule.
    :param narrow: whether options may leave out apps and devices that have a budget,
        which then doesn't count.
    :raises AdvisorError: if a file can't be read or isn't what it should be, or
        policies contradict each other.
    """
    from_file = Settings()
    if file is not None:
        from_file = read_policy(file)
        selectors = (*from_file.select, *from_file.ignore, *from_file.severity)
        check_rules(selectors, where=str(file))
    policy = reduce(overlay, (below or Settings(), from_file, above))
    for problem in () if narrow else contradictions(policy):
        message = f"The settings contradict each other: {problem}"
        raise UsageError(message, resolution="Change one of them.")
    set_above = above.model_fields_set
    narrowed = narrow and "devices" in set_above
    try:
        devices = _devices(policy, () if narrowed else policy.max_cold_start)
    except UsageError as error:
        if file is None or "devices" in set_above:
            raise
        message = f"{file}: {error}"  # a name in the file, not an argument
        raise BadDataError(message, resolution=error.resolution) from error
    profiles: tuple[LaunchProfile, ...] = ()
    if policy.launch_profile:
        # Few projects have recorded a launch.
        from ..launch.profile import read_profile

        profiles = tuple(read_profile(Path(each)) for each in policy.launch_profile)
    is_of_file = file is not None and "apps" not in set_above
    return LoadedSettings(
        policy=policy,
        policy_path=str(file) if is_of_file else None,
        devices=devices,
        profiles=profiles,
    )


def overlay(below: _Model, above: _Model) -> _Model:
    """Return a policy with what another one sets in its place, key by key.

    What it ignores comes on top of what the other one does.
    """
    changed: dict[str, object] = {}
    for name in above.model_fields_set:
        value, covered = getattr(above, name), getattr(below, name)
        if isinstance(value, PolicyModel) and isinstance(covered, PolicyModel):
            value = overlay(covered, value)
        changed[name] = (*covered, *value) if name == "ignore" else value
    return below.model_copy(update=changed)


def _devices(policy: Settings, budgets: Iterable[str]) -> tuple[DeviceProfile, ...]:
    """Return the devices that the policy names, and those that only budgets name."""
    devices = default_devices()
    if policy.devices:
        # Reads files: only if devices are named.
        from ..devices.device_file import choose_devices

        devices = choose_devices(tuple(policy.devices))
    names = {device.name for device in devices}
    lacking = [name for name in budgets if name not in names]
    if lacking and policy.devices:
        first, known = lacking[0], ", ".join(sorted(names))
        message = f"Device {first!r} has a budget, but isn't one of the devices named"
        resolution = f"Add it, or remove the budget. Devices: {known}."
        raise UsageError(message, resolution=resolution)
    kept = {*policy.max_cold_start}
    if isinstance(policy.devices, Mapping):  # shares are of these, on average
        kept |= names
    devices = (*devices, *map(find_device, lacking))
    return with_kernels(devices, policy.kernels, kept=kept)


def part_policy(
    properties: Mapping[str, object],
    label: Callable[[str], str] = str,
    *,
    folder: Path | None = None,
) -> Settings:
    """Return the policy that a part of the plugin ``compression-advisor`` has.

    :param label: returns what errors call a property.
    :param folder: that files are relative to.
    :raises BadDataError: if one is broken.
    """
    prefix = f"{PLUGIN}-"
    settings = (
        setting(key.removeprefix(prefix), value, label=label(key), folder=folder)
        for key, value in properties.items()
        if key.startswith(prefix) and value is not None
    )
    return reduce(overlay, settings, Settings())


def plugin_policy(
    parts: Mapping[str, Mapping[str, object]],
    find_key: Callable[[str, str], str],
    *,
    folder: Path,
) -> Settings:
    """Return the policy of the plugin's part.

    :param folder: that files are relative to.
    :param find_key: returns where a part's key stands, as ``FILE:LINE: ``, for errors.
    :raises BadDataError: if it is broken, or several parts have the plugin.
    """
    ours = [name for name, part in parts.items() if part.get("plugin") == PLUGIN]
    if len(ours) > 1:
        message = f"Parts {' and '.join(ours)} all have the plugin {PLUGIN!r}"
        raise BadDataError(message, resolution="Keep the settings in one of them.")
    if not ours:
        return Settings()
    (name,) = ours
    return part_policy(
        parts[name],
        lambda key: f"{find_key(name, key)}{key} of part {name}",
        folder=folder,
    )


def environment_policy(environment: Mapping[str, str], *, folder: Path) -> Settings:
    """Return the policy that ``SNAPCRAFT_COMPRESSION_ADVISOR_*`` has.

    Their values are written as in the file. An empty variable counts as unset.

    :param folder: that files are relative to.
    :raises BadDataError: if one is broken or unknown.
    """
    policy = Settings()
    for variable, text in sorted(environment.items()):
        if not variable.startswith(ENVIRONMENT_PREFIX) or not text:
            continue
        if variable != INSTANCE_PATH_VARIABLE:
            key = variable.removeprefix(ENVIRONMENT_PREFIX).lower().replace("_", "-")
            value = POLICY.load_yaml(text.encode(), where=variable)
            made = setting(key, value, label=variable, folder=folder)
            policy = overlay(policy, made)
    return policy


def setting(
    key: str, value: object, *, label: str, folder: Path | None = None
) -> Settings:
    """Return the policy that a single setting makes.

    :param label: what errors call it.
    :param folder: that files are relative to; that of the process by default.
    :raises BadDataError: if there is no such setting, or its value is broken.
    """
    try:
        return Settings.model_validate({key: value}, context=folder)
    except pydantic.ValidationError as error:
        problem = describe_setting(error.errors(include_url=False)[0])
        message = f"{label}: {problem.removeprefix(f'{key}: ')}"
        resolution = f"Correct it. There are: {', '.join(SETTINGS)}."
        raise BadDataError(message, resolution=resolution) from error

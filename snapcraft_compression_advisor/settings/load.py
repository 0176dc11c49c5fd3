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
from .file import POLICY, describe_setting, parse_settings
from .parts import SettingsModel
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

_Model = TypeVar("_Model", bound=SettingsModel)


def read_settings_file(path: Path) -> Settings:
    """Read a policy file; files that it names become relative to the process.

    :raises AdvisorError: if it can't be read, or isn't a policy.
    """
    return parse_settings(POLICY.read(path), where=str(path), folder=path.parent)


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedSettings:
    """Settings, with the files read that they name.

    :param policy_path: the file that names the apps, for errors, if one does.
    :param devices: that they name, those of its budgets included.
    """

    settings: Settings
    policy_path: str | None = None
    devices: tuple[DeviceProfile, ...]
    profiles: tuple[LaunchProfile, ...] = ()


def load_settings(
    file: Path | None,
    above: Settings,
    *,
    below: Settings | None = None,
    check_rules: Callable[..., None],
    narrow: bool = False,
) -> LoadedSettings:
    """Read the file with settings, and what all settings name.

    :param above: those that precede the file, such as options.
    :param below: those that it precedes.
    :param check_rules: refuses selectors that select no rule.
    :param narrow: whether options may leave out apps and devices that have a budget,
        which then doesn't count.
    :raises AdvisorError: if a file can't be read or isn't what it should be, or
        settings contradict each other.
    """
    from_file = Settings()
    if file is not None:
        from_file = read_settings_file(file)
        selectors = (*from_file.select, *from_file.ignore, *from_file.severity)
        check_rules(selectors, where=str(file))
    settings = reduce(overlay, (below or Settings(), from_file, above))
    for problem in () if narrow else contradictions(settings):
        message = f"The settings contradict each other: {problem}"
        raise UsageError(message, resolution="Change one of them.")
    set_above = above.model_fields_set
    narrowed = narrow and "devices" in set_above
    try:
        devices = _devices(settings, () if narrowed else settings.max_cold_start)
    except UsageError as error:
        if file is None or "devices" in set_above:
            raise
        message = f"{file}: {error}"  # a name in the file, not an argument
        raise BadDataError(message, resolution=error.resolution) from error
    profiles: tuple[LaunchProfile, ...] = ()
    if settings.launch_profile:
        # Few projects have recorded a launch.
        from ..launch.profile import read_profile

        profiles = tuple(read_profile(Path(each)) for each in settings.launch_profile)
    is_of_file = file is not None and "apps" not in set_above
    return LoadedSettings(
        settings=settings,
        policy_path=str(file) if is_of_file else None,
        devices=devices,
        profiles=profiles,
    )


def overlay(below: _Model, above: _Model) -> _Model:
    """Return settings with what others set in their place, key by key.

    What these ignore comes on top of what the others do.
    """
    changed: dict[str, object] = {}
    for name in above.model_fields_set:
        value, covered = getattr(above, name), getattr(below, name)
        if isinstance(value, SettingsModel) and isinstance(covered, SettingsModel):
            value = overlay(covered, value)
        changed[name] = (*covered, *value) if name == "ignore" else value
    return below.model_copy(update=changed)


def _devices(settings: Settings, budgets: Iterable[str]) -> tuple[DeviceProfile, ...]:
    """Return the devices that settings name, and those that only budgets name."""
    devices = default_devices()
    if settings.devices:
        # Reads files: only if devices are named.
        from ..devices.device_file import choose_devices

        devices = choose_devices(tuple(settings.devices))
    names = {device.name for device in devices}
    lacking = [name for name in budgets if name not in names]
    if lacking and settings.devices:
        first, known = lacking[0], ", ".join(sorted(names))
        message = f"Device {first!r} has a budget, but isn't one of the devices named"
        resolution = f"Add it, or remove the budget. Devices: {known}."
        raise UsageError(message, resolution=resolution)
    kept = {*settings.max_cold_start}
    if isinstance(settings.devices, Mapping):  # shares are of these, on average
        kept |= names
    devices = (*devices, *map(find_device, lacking))
    return with_kernels(devices, settings.kernels, kept=kept)


def part_settings(
    properties: Mapping[str, object],
    label: Callable[[str], str] = str,
    *,
    folder: Path | None = None,
) -> Settings:
    """Return the settings that a part of the plugin ``compression-advisor`` has.

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


def plugin_settings(
    parts: Mapping[str, Mapping[str, object]],
    find_key: Callable[[str, str], str],
    *,
    folder: Path,
) -> Settings:
    """Return the settings of the plugin's part.

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
    return part_settings(
        parts[name],
        lambda key: f"{find_key(name, key)}{key} of part {name}",
        folder=folder,
    )


def environment_settings(environment: Mapping[str, str], *, folder: Path) -> Settings:
    """Return the settings that ``SNAPCRAFT_COMPRESSION_ADVISOR_*`` have.

    Their values are written as in the file. An empty variable counts as unset.

    :param folder: that files are relative to.
    :raises BadDataError: if one is broken or unknown.
    """
    settings = Settings()
    for variable, text in sorted(environment.items()):
        if not variable.startswith(ENVIRONMENT_PREFIX) or not text:
            continue
        if variable != INSTANCE_PATH_VARIABLE:
            key = variable.removeprefix(ENVIRONMENT_PREFIX).lower().replace("_", "-")
            value = POLICY.load_yaml(text.encode(), where=variable)
            made = setting(key, value, label=variable, folder=folder)
            settings = overlay(settings, made)
    return settings


def setting(
    key: str, value: object, *, label: str, folder: Path | None = None
) -> Settings:
    """Return the settings that a single one makes.

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

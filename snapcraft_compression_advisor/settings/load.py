"""Settings of a command line, a CI run and a pack: found, read, in one precedence.

Options go before the environment, that before compression-advisor.yaml, that before
the part of snapcraft's plugin, and all of them before the defaults. What is wrong with
the file is said with its line.
"""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar, get_args

import pydantic
from pydantic_core import ErrorDetails
from ruamel.yaml import YAML
from ruamel.yaml.nodes import MappingNode, Node, SequenceNode

from snapcraft_compression_advisor_plugin import POLICY_FILE_NAMES, POLICY_FOLDERS

from ..core.documents import DocumentKind, describe_problem
from ..core.errors import BadDataError, UsageError
from ..core.units import KIB
from ..devices.builtin_devices import default_devices, find_device
from ..devices.builtin_kernels import with_kernels
from ..devices.device import DeviceProfile
from .parts import SettingsModel
from .settings import Settings, contradictions

if TYPE_CHECKING:
    from ..launch.profile import LaunchProfile

POLICY_FILE_NAME = POLICY_FILE_NAMES[0]
POLICY_PLACES = (
    f"settings are read from {POLICY_FILE_NAME} in the project's directory or beside "
    "its snapcraft.yaml"
)

_LOOKS_LIKE_ONE = re.compile(
    r"\.?compression[-_. ]?advis[eo]r(\.ya?ml(\.txt)?|\.json|\.toml)?", re.IGNORECASE
)
_NEAR = 0.7
"""Least likeness of a key that may be meant."""
_SHOWN_VALUE = 80
"""Characters of a value that errors repeat."""

POLICY = DocumentKind(
    model=Settings,
    name="policy",
    max_bytes=64 * KIB,
    broken="{where}{line}",
    resolution="Correct it; 'compression-advisor schema compression-advisor' prints "
    "its schema.",
)

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


def find_policy_file(project_dir: Path) -> Path | None:
    """Return a project's policy file: in its folder, or beside its snapcraft.yaml.

    :raises BadDataError: if there are two.
    """
    found = [*_policy_files(project_dir)]
    if len(found) > 1:
        message = f"There are several policy files: {', '.join(map(str, found))}"
        raise BadDataError(message, resolution="Keep one of them.")
    return found[0] if found else None


def ignored_policy_files(project_dir: Path) -> list[Path]:
    """Return files that look like a project's policy file, but aren't read as it.

    The project and the folders in it are searched, if it has a snapcraft.yaml. No link
    is followed: a prime directory may be taken for a project.
    """
    places = (project_dir / folder / "snapcraft.yaml" for folder in POLICY_FOLDERS)
    if not any(each.is_file() for each in places):
        return []
    read, root = {*_policy_files(project_dir)}, Path(os.path.realpath(project_dir))
    return sorted(
        each
        for pattern in ("*", "*/*", "build-aux/snap/*", "snap/local/*")
        for each in project_dir.glob(pattern)
        if _LOOKS_LIKE_ONE.fullmatch(each.name) and each not in read
        if not each.is_dir()
        if Path(os.path.realpath(each.parent))
        == root / each.parent.relative_to(project_dir)
    )


def _policy_files(project_dir: Path) -> Iterator[Path]:
    places = (project_dir / folder for folder in POLICY_FOLDERS)
    files = (place / name for place in places for name in POLICY_FILE_NAMES)
    return (file for file in files if os.path.lexists(file))  # a broken link is read


def parse_settings(
    content: bytes, *, where: str, folder: Path | None = None
) -> Settings:
    """Return the settings that a policy file has; an empty one has all defaults.

    :param folder: that files are relative to; that of the process by default.
    :raises BadDataError: if it is no policy file, one of another version, or one that
        contradicts itself.
    """
    document = POLICY.load_yaml(content, where=where)
    document = {} if document is None else document
    try:
        return Settings.model_validate(document, context=folder)
    except pydantic.ValidationError as error:
        root = YAML(typ="safe", pure=True).compose(content)
        problems = [
            f"{where}:{_line(root, each['loc'])}: {describe_setting(each)}"
            for each in error.errors(include_url=False)
        ]
        details = "\n".join(problems) if len(problems) > 1 else None
        raise BadDataError(
            problems[0], details=details, resolution=POLICY.resolution
        ) from error


def _line(root: Node, loc: Sequence[int | str]) -> int:
    """Return the line of a key, from 1: the last one of its path that is written."""
    node, line = root, int(root.start_mark.line) + 1
    for part in loc:
        if isinstance(node, MappingNode):
            entries = [each for each in node.value if each[0].value == str(part)]
            if not entries:
                continue  # of a union, pydantic's path names the form
            key, node = entries[0]
            line = int(key.start_mark.line) + 1
        elif isinstance(node, SequenceNode) and part in range(len(node.value)):
            node = node.value[int(part)]
            line = int(node.start_mark.line) + 1
    return line


def describe_setting(item: ErrorDetails) -> str:
    """Return the fault of a setting, with its value, in one line."""
    if item["type"] == "extra_forbidden":
        return _unknown_key(item["loc"])
    text, value = describe_problem(item).removeprefix("file: "), repr(item["input"])
    is_shown = len(value) <= _SHOWN_VALUE and not isinstance(item["input"], dict)
    if item["type"] == "missing" or not is_shown or value in text:
        return text
    return f"{text}, not {value}"


def _unknown_key(loc: Sequence[int | str]) -> str:
    """Return that there is no such key, and the one that may be meant."""
    known = {path.rpartition(".")[2]: path for path in _paths(Settings)}
    # As it is written here, from how it may be written elsewhere.
    leaf = str(loc[-1]).lower().replace("_", "-").rpartition(".")[2]
    leaf = re.sub("^(--|(snapcraft-)?compression-advisor-)", "", leaf)
    message = f"unknown key {'.'.join(map(str, loc))!r}"
    for near in difflib.get_close_matches(leaf, known, n=1, cutoff=_NEAR):
        return f"{message}; did you mean {known[near]!r}?"
    return message


def _paths(model: type[SettingsModel], prefix: str = "") -> Iterator[str]:
    """Yield all keys, such as ``record.app``, those with others below them last."""
    for field in model.model_fields.values():
        pending: list[object] = [field.annotation]
        while pending:
            each = pending.pop()
            pending += get_args(each)
            if isinstance(each, type) and issubclass(each, SettingsModel):
                yield from _paths(each, f"{prefix}{field.alias}.")
        yield f"{prefix}{field.alias}"


def read_settings_file(path: Path) -> Settings:
    """Read a policy file; files that it names become relative to the process.

    :raises AdvisorError: if it can't be read, or isn't one.
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
    return LoadedSettings(
        settings=settings,
        policy_path=str(file) if file and "apps" not in set_above else None,
        devices=devices,
        profiles=profiles,
    )


def overlay(below: _Model, above: _Model) -> _Model:
    """Return settings, with others in their place for each key that these set.

    The lists of what is ignored are joined.
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
    properties: Mapping[str, object], of: str = "", *, folder: Path | None = None
) -> Settings:
    """Return the settings that a part of the plugin ``compression-advisor`` has.

    :param of: which part, for errors.
    :param folder: that files are relative to.
    :raises BadDataError: if one is broken.
    """
    prefix = f"{PLUGIN}-"
    values = (
        (f"{key}{of}", key.removeprefix(prefix), value)
        for key, value in properties.items()
        if key.startswith(prefix) and value is not None
    )
    return settings_of(values, folder=folder)


def plugin_settings(
    parts: Mapping[str, Mapping[str, object]], *, folder: Path
) -> Settings:
    """Return the settings of the plugin's part.

    :param folder: that files are relative to.
    :raises BadDataError: if it is broken, or several parts have the plugin.
    """
    ours = [name for name, part in parts.items() if part.get("plugin") == PLUGIN]
    if len(ours) > 1:
        message = f"Parts {' and '.join(ours)} all have the plugin {PLUGIN!r}"
        raise BadDataError(message, resolution="Keep the settings in one of them.")
    for name in ours:
        return part_settings(parts[name], f" of part {name}", folder=folder)
    return Settings()


def environment_settings(environment: Mapping[str, str], *, folder: Path) -> Settings:
    """Return the settings that ``SNAPCRAFT_COMPRESSION_ADVISOR_*`` have.

    Their values are written as in the file. An empty variable counts as unset.

    :param folder: that files are relative to.
    :raises BadDataError: if one is broken or unknown.
    """
    values = (
        (
            variable,
            variable.removeprefix(ENVIRONMENT_PREFIX).lower().replace("_", "-"),
            POLICY.load_yaml(text.encode(), where=variable),
        )
        for variable, text in sorted(environment.items())
        if variable.startswith(ENVIRONMENT_PREFIX) and text
        if variable != INSTANCE_PATH_VARIABLE
    )
    return settings_of(values, folder=folder)


def settings_of(
    values: Iterable[tuple[str, str, object]], *, folder: Path | None = None
) -> Settings:
    """Return the settings that are made one by one.

    :param values: what errors call each, its name and its value.
    :param folder: that files are relative to; that of the process by default.
    :raises BadDataError: if there is no such setting, or its value is broken.
    """
    settings = Settings()
    for label, key, value in values:
        try:
            made = Settings.model_validate({key: value}, context=folder)
        except pydantic.ValidationError as error:
            problem = describe_setting(error.errors(include_url=False)[0])
            message = f"{label}: {problem.removeprefix(f'{key}: ')}"
            known = "" if key in SETTINGS else f" There are: {', '.join(SETTINGS)}."
            raise BadDataError(message, resolution=f"Correct it.{known}") from error
        settings = overlay(settings, made)
    return settings

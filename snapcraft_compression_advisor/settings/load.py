"""Load the settings: those of a command line, a CI run and a pack, in one precedence.

Options go before the environment, that before compression-advisor.yaml, that before
the part of snapcraft's plugin, and all of them before the defaults.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeVar, get_args

import pydantic
from pydantic_core import ErrorDetails

from ..core.documents import DocumentKind, describe_problem
from ..core.errors import BadDataError, UsageError
from ..core.frozen import frozen
from ..core.units import KIB
from ..devices.builtin_devices import default_devices, find_device
from ..devices.builtin_kernels import with_kernels
from ..devices.device import DeviceProfile
from .lint_policy import SCHEMA, LintPolicy, contradictions
from .quantities import PolicyModel

if TYPE_CHECKING:
    from ..launch.profile import LaunchProfile


class CheckRules(Protocol):
    """Refuses selectors that select no rule."""

    def __call__(self, texts: Iterable[str], *, where: str) -> None:
        """Check selectors.

        :param where: the file that they are from.
        :raises BadDataError: where one selects none.
        """


PLUGIN = "compression-advisor"
"""Name of the extension, of the build plugin, and before each of its properties."""

ENVIRONMENT_PREFIX = "SNAPCRAFT_COMPRESSION_ADVISOR_"

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

_FILE_LISTS = ("launch_profile", "bases", "contents")
_LISTS = frozenset({"devices", "apps", "launch-profile"})
_TRUTHS = {
    **dict.fromkeys(("true", "yes", "1"), True),
    **dict.fromkeys(("false", "no", "0"), False),
}
_Model = TypeVar("_Model", bound=PolicyModel)

POLICY_FILE_NAME = "compression-advisor.yaml"
SCHEMA_COMMAND = "compression-advisor schema compression-advisor"


def read_policy(path: Path) -> LintPolicy:
    """Read a policy file; files that it names become relative to the process.

    :raises NoInputError: where it isn't there or can't be read.
    :raises BadDataError: where it is no policy, one of another version, or one that
        contradicts itself.
    """
    return beside(path, parse_policy(POLICY.read(path), where=str(path)))


def parse_policy(content: bytes, *, where: str) -> LintPolicy:
    """Return the policy that a file's content is; an empty one has all defaults.

    :param where: what errors call it.
    :raises BadDataError: as :func:`read_policy`.
    """
    document = POLICY.load_yaml(content, where=where)
    document = {} if document is None else document
    version = document.get("schema", SCHEMA) if isinstance(document, dict) else SCHEMA
    if version != SCHEMA:
        message = f"{where!r} is a policy of version {version!r}, not {SCHEMA}"
        raise BadDataError(
            message,
            resolution="Use a version of the advisor that supports it, or follow "
            f"{SCHEMA_COMMAND!r}.",
        )
    return POLICY.check(document, where=where)


def beside(path: Path, policy: LintPolicy) -> LintPolicy:
    """Return a policy whose files are relative to its own file's directory.

    :param path: where the policy comes from; what it names lies beside that.
    """
    folder, pack = path.parent, policy.pack
    changed: dict[str, object] = {}
    for name in _FILE_LISTS:
        if named := getattr(policy, name):
            changed[name] = tuple(str(folder / each) for each in named)
    if policy.devices:
        changed["devices"] = _devices_beside(folder, policy.devices)
    if pack.report is not None:
        changed["pack"] = pack.model_copy(update={"report": str(folder / pack.report)})
    refresh = policy.refresh
    if refresh is not None and refresh.previous is not None:
        previous = str(folder / refresh.previous)
        changed["refresh"] = refresh.model_copy(update={"previous": previous})
    return policy.model_copy(update=changed)


def _devices_beside(
    folder: Path, devices: tuple[str, ...] | Mapping[str, float]
) -> tuple[str, ...] | dict[str, float]:
    """Return devices with their files in a folder; one file has one share."""
    placed = [str(folder / each) if _is_file_name(each) else each for each in devices]
    if not isinstance(devices, Mapping):
        return tuple(placed)
    shares = dict.fromkeys(placed, 0.0)
    for name, share in zip(placed, devices.values(), strict=True):
        shares[name] += share
    return shares


def _is_file_name(device: str) -> bool:
    """Tell whether a device is a file, as ``--device`` does."""
    return "/" in device or device.endswith((".yaml", ".yml"))


def _problem(item: ErrorDetails) -> str:
    place = ".".join(str(part) for part in item["loc"])
    if item["type"] == "extra_forbidden":
        near = difflib.get_close_matches(
            str(item["loc"][-1]), _keys_beside(item["loc"]), n=1
        )
        hint = f"; did you mean {near[0]!r}?" if near else ""
        return f"unknown key {place!r}{hint}"
    return describe_problem(item).removeprefix("file: ")


def _keys_beside(loc: Sequence[int | str]) -> list[str]:
    """Return the keys that are known where an unknown one stands."""
    model: type[PolicyModel] = LintPolicy
    for part in loc[:-1]:
        by_key = {field.alias: field for field in model.model_fields.values()}
        if part in by_key:
            annotation = by_key[str(part)].annotation
            model = next(
                each
                for each in (annotation, *get_args(annotation))
                if isinstance(each, type) and issubclass(each, PolicyModel)
            )
    return [field.alias or "" for field in model.model_fields.values()]


POLICY = DocumentKind(
    model=LintPolicy,
    name="policy",
    max_bytes=64 * KIB,
    broken="{where!r} is not a valid policy",
    resolution=f"Correct it; {SCHEMA_COMMAND!r} prints its schema.",
    describe=_problem,
)


@frozen
class Sources:
    """Where settings come from, the weakest first.

    :param parts: of the project, by name; that of the plugin counts.
    :param file: compression-advisor.yaml; ``None`` where there is none.
    :param environment: variables.
    :param options: what a command line sets; its ``ignore`` adds to the file's.
    :param folder: that files are relative to which the part or a variable names.
    """

    parts: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    file: Path | None = None
    environment: Mapping[str, str] = field(default_factory=dict)
    options: LintPolicy = field(default_factory=LintPolicy)
    folder: Path = Path()


@frozen
class Settings:
    """What is asked of a payload, files read.

    :param policy: all sources together.
    :param policy_path: the file that names the apps, for errors; ``None`` where none or
        another source does.
    :param devices: that the policy names, those of its budgets included.
    :param profiles: recorded launches.
    """

    policy: LintPolicy
    policy_path: str | None
    devices: tuple[DeviceProfile, ...]
    profiles: tuple[LaunchProfile, ...]


def load_settings(
    sources: Sources, *, check_rules: CheckRules, narrow: bool = False
) -> Settings:
    """Read all settings, and what they name.

    :param check_rules: refuses selectors that select no rule.
    :param narrow: whether options may leave out apps and devices that have a budget,
        which then doesn't count.
    :raises AdvisorError: where a source, or a file that it names, can't be read or
        isn't what it should be; where sources contradict each other.
    """
    beside_file = sources.folder / POLICY_FILE_NAME
    from_file = LintPolicy()
    if sources.file is not None:
        from_file = read_policy(sources.file)
        selectors = (*from_file.select, *from_file.ignore, *from_file.severity)
        check_rules(selectors, where=str(sources.file))
    above = (
        beside(beside_file, _environment_policy(sources.environment)),
        sources.options,
    )
    below = beside(beside_file, _plugin_policy(sources.parts))
    policy = reduce(overlay, (below, from_file, *above))
    for problem in () if narrow else contradictions(policy):
        message = f"The settings contradict each other: {problem}"
        raise UsageError(message, resolution="Change one of them.")
    set_above = {name for each in above for name in each.model_fields_set}
    return Settings(
        policy=policy,
        policy_path=None
        if sources.file is None or "apps" in set_above
        else str(sources.file),
        devices=_devices(
            policy,
            without_budgets=narrow and "devices" in sources.options.model_fields_set,
            file=None if "devices" in set_above else sources.file,
        ),
        profiles=_profiles(policy),
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


def _devices(
    policy: LintPolicy, *, without_budgets: bool, file: Path | None
) -> tuple[DeviceProfile, ...]:
    """Return the devices that the policy names, and those that only budgets name.

    :param file: that names them, where it is one.
    :raises AdvisorError: where there is no such device or kernel, a budget's isn't one
        of those named, or a device's file can't be read or isn't a profile.
    """
    try:
        devices = _named_devices(policy)
        names = {device.name for device in devices}
        budgets = () if without_budgets else policy.budgets.cold_start
        lacking = [name for name in budgets if name not in names]
        if lacking and policy.devices:
            raise _unnamed(lacking[0], names)
        kept = {*policy.budgets.cold_start}
        if isinstance(policy.devices, Mapping):  # shares are of these, on average
            kept |= names
        devices = (*devices, *map(find_device, lacking))
        return with_kernels(devices, policy.kernels, kept=kept)
    except UsageError as error:
        if file is None:
            raise
        message = f"{file}: {error}"  # a name in the file, not an argument
        raise BadDataError(message, resolution=error.resolution) from error


def _named_devices(policy: LintPolicy) -> tuple[DeviceProfile, ...]:
    if not policy.devices:
        return default_devices()
    # Reads files: only where devices are named.
    from ..devices.device_file import choose_devices

    return choose_devices(tuple(policy.devices))


def _profiles(policy: LintPolicy) -> tuple[LaunchProfile, ...]:
    if not policy.launch_profile:
        return ()
    # Few projects have recorded a launch.
    from ..launch.profile import read_profile

    return tuple(read_profile(Path(each)) for each in policy.launch_profile)


def _unnamed(device: str, names: Iterable[str]) -> UsageError:
    return UsageError(
        f"Device {device!r} has a budget, but isn't one of the devices named",
        resolution="Add it, or remove the budget. Devices: "
        f"{', '.join(sorted(names))}.",
    )


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


def _plugin_policy(parts: Mapping[str, Mapping[str, object]]) -> LintPolicy:
    ours = [name for name, part in parts.items() if part.get("plugin") == PLUGIN]
    if len(ours) > 1:
        message = f"Parts {' and '.join(ours)} all have the plugin {PLUGIN!r}"
        raise BadDataError(message, resolution="Keep the settings in one of them.")
    return part_policy(ours[0], parts[ours[0]]) if ours else LintPolicy()


def _environment_policy(environment: Mapping[str, str]) -> LintPolicy:
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

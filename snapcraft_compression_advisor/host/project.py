"""The project that is packed, as far as the advisor needs it, and its settings' part.

That is the part of the build plugin ``compression-advisor``, which builds nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

import pydantic
from craft_parts.plugins import Plugin, PluginProperties

from ..core.errors import AdvisorError, NoInputError
from ..core.terminal import emit
from ..lint.run import check_selectors
from ..project.project_file import (
    ProjectFile,
    find_project_file,
    read_project,
    read_project_file,
)
from ..settings.load import (
    PLUGIN,
    SETTINGS,
    LoadedSettings,
    environment_settings,
    find_policy_file,
    load_settings,
    part_settings,
    plugin_settings,
)
from .guard import blaming_settings

Parts = dict[str, dict[str, object]]


def read_host_project(directory: Path) -> ProjectFile | None:
    """Return what snapcraft.yaml says, by its path in the folder; None if there's none.

    :raises AdvisorError: if it can't be read.
    """
    try:
        file = find_project_file(directory)
    except NoInputError:
        return None
    return read_project(file.relative_to(directory), read_project_file(file))


def read_settings(
    directory: Path,
    parts: Mapping[str, Mapping[str, object]],
    environment: Mapping[str, str],
) -> LoadedSettings:
    """Read the settings of a pack.

    :param directory: of the project.
    :param parts: of the project, by name.
    :raises SettingsError: if one is broken, or they contradict each other.
    """
    with blaming_settings():
        return load_settings(
            find_policy_file(directory),
            environment_settings(environment, folder=directory),
            below=plugin_settings(parts, folder=directory),
            check_rules=check_selectors,
        )


def raw_parts(document: Mapping[str, object]) -> Parts:
    """Return the parts of a snapcraft.yaml whose extensions aren't applied.

    Only what the extension ``compression-advisor`` does to them is done here.

    :param document: the loaded YAML, not validated.
    """
    parts = {name: dict(part) for name, part in _mappings(document.get("parts"))}
    marked = [
        name
        for name, app in _mappings(document.get("apps"))
        if PLUGIN in _list(app.get("extensions"))
    ]
    if marked:
        mark_apps(parts, marked)
    return parts


def mark_apps(parts: Parts, apps: list[str]) -> None:
    """Make apps count: in the plugin's part, or in a new one."""
    key = f"{PLUGIN}-apps"
    ours = [part for part in parts.values() if part.get("plugin") == PLUGIN]
    if not ours:
        parts[f"{PLUGIN}/settings"] = {"plugin": PLUGIN, key: apps}
    for part in ours:
        named = [str(each) for each in _list(part.get(key))]
        part[key] = list(dict.fromkeys((*apps, *named)))


def _mappings(value: object) -> Iterator[tuple[str, Mapping[str, object]]]:
    for name, each in value.items() if isinstance(value, dict) else ():
        if isinstance(each, dict):
            yield str(name), each


def _list(value: object) -> list[object]:
    if isinstance(value, str):
        return [value]
    return list(value) if isinstance(value, list) else []


def project_apps(services: Any) -> list[str] | None:
    """Return the names of the project's apps; None if they aren't known."""
    try:
        apps = services.get("project").get_raw().get("apps")
    except Exception as error:  # noqa: BLE001 # no project: each version has its own
        emit.debug(f"No apps are known: {error}")
        return None
    return list(apps) if isinstance(apps, dict) else None


def project_parts(services: Any) -> Parts:
    """Return the project's parts: with extensions and grammar if it is rendered."""
    try:
        rendered = services.get("project").get()
        return {name: dict(part) for name, part in rendered.parts.items()}
    except Exception as error:  # noqa: BLE001 # core22, or no project: each version has its own
        emit.debug(f"Parts are read directly from snapcraft.yaml: {error}")
    try:
        return raw_parts(services.get("project").get_raw())
    except Exception as error:  # noqa: BLE001 # as above
        emit.debug(f"No parts are known: {error}")
        return {}


class _Checked(PluginProperties, frozen=True):
    """The settings, checked as those of the policy file are."""

    plugin: Literal["compression-advisor"] = "compression-advisor"
    source: str | None = None

    @pydantic.model_validator(mode="before")
    @classmethod
    def _check_settings(cls, data: object) -> object:
        if isinstance(data, dict):
            try:
                part_settings(data)
            except AdvisorError as error:
                sentences = filter(None, (str(error), error.resolution))
                raise ValueError(". ".join(sentences)) from error
        return data

    @classmethod
    def get_build_properties(cls) -> list[str]:
        """Return none: no setting changes what is built."""
        return []


# Their types are loose: what is wrong with a value is said by the model of settings,
# in the same words wherever they come from.
_PROPERTIES: dict[str, Any] = {
    f"{PLUGIN}-{name}".replace("-", "_"): (Any, None) for name in SETTINGS
}
AdvisorPluginProperties = pydantic.create_model(
    "AdvisorPluginProperties", __base__=_Checked, **_PROPERTIES
)


class AdvisorPlugin(Plugin):
    """Builds nothing."""

    properties_class = AdvisorPluginProperties
    supports_strict_mode = True

    def get_build_snaps(self) -> set[str]:
        """Need no snap."""
        return set()

    def get_build_packages(self) -> set[str]:
        """Need no package."""
        return set()

    def get_build_environment(self) -> dict[str, str]:
        """Need no variable."""
        return {}

    def get_build_commands(self) -> list[str]:
        """Run nothing."""
        return []

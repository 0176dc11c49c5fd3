"""The build plugin ``compression-advisor``: builds nothing, carries the settings."""

from __future__ import annotations

from typing import Any, Literal

import pydantic
from craft_parts.plugins import Plugin, PluginProperties

from ..core.errors import AdvisorError
from ..settings.load import PLUGIN, SETTINGS, part_policy


class _Checked(PluginProperties, frozen=True):
    """The settings, checked as those of the policy file are."""

    plugin: Literal["compression-advisor"] = "compression-advisor"
    source: str | None = None

    @pydantic.model_validator(mode="before")
    @classmethod
    def _check_settings(cls, data: object) -> object:
        if isinstance(data, dict):
            try:
                part_policy(data)
            except AdvisorError as error:
                raise ValueError(_sentence(error)) from error
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


def _sentence(error: AdvisorError) -> str:
    return f"{error}. {error.resolution}" if error.resolution else str(error)

"""The extension ``compression-advisor``: marks apps whose launch counts.

Only snapcraft can import this module.
"""

from __future__ import annotations

from typing import Any

from snapcraft.extensions.extension import Extension

from ..settings.load import PLUGIN
from .project import mark_apps

SUPPORTED_BASES = ("core22", "core24", "core26")


class CompressionAdvisorExtension(Extension):  # type: ignore[misc] # snapcraft is no dependency
    """Adds the part that carries the settings, and to it the apps that are marked."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._marked: set[str] = set()

    @staticmethod
    def get_supported_bases() -> tuple[str, ...]:
        """Return the bases whose pack the advisor hooks into."""
        return SUPPORTED_BASES

    @staticmethod
    def get_supported_confinement() -> tuple[str, ...]:
        """Return all of them: the extension leaves the app as it is."""
        return ("strict", "devmode", "classic")

    @staticmethod
    def is_experimental(base: str | None) -> bool:  # noqa: ARG004 # the same for all
        """Return that it is stable."""
        return False

    def get_root_snippet(self) -> dict[str, Any]:
        """Change nothing of the snap."""
        return {}

    def get_app_snippet(self, *, app_name: str) -> dict[str, Any]:
        """Note the app, and change nothing of it."""
        self._marked.add(app_name)
        return {}

    def get_part_snippet(self, *, plugin_name: str) -> dict[str, Any]:
        """Add the apps to the user's own part, before those that it names."""
        if plugin_name != PLUGIN:
            return {}
        return {f"{PLUGIN}-apps": self._apps()}

    def get_parts_snippet(self) -> dict[str, Any]:
        """Add a part where the user has none."""
        parts = self.yaml_data.get("parts", {})
        if any(part.get("plugin") == PLUGIN for part in parts.values()):
            return {}
        added: dict[str, dict[str, object]] = {}
        mark_apps(added, self._apps())
        return added

    def _apps(self) -> list[str]:
        """Return the marked apps in the project's order; snapcraft has them in none."""
        return [app for app in self.yaml_data.get("apps", {}) if app in self._marked]

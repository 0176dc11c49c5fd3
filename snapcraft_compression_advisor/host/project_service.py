"""What an application knows of its project, whatever its version."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from snapcraft_compression_advisor_plugin import may_enforce

from ..core.terminal import emit
from .guard import judging

if TYPE_CHECKING:
    from .advisor import Advisor
    from .project import Parts

FindAdvisor = Callable[[], "Advisor | None"]
"""Returns who gives the advice, always the same; ``None`` where nobody can."""


def finding_advisor(services: Any, project_dir: Path) -> FindAdvisor:
    """Return a function that returns an advisor, always the same.

    It returns ``None`` where the advisor can't be loaded, having said so once.

    :raises CannotJudgeError: in that case, where the settings may say ``enforce``.
    """

    @functools.cache
    def find_advisor() -> Advisor | None:
        return judging(
            lambda: advisor_here(services, project_dir),
            what="no advice, because it can't be loaded",
            enforces=lambda: may_enforce(project_dir, os.environ),
        )

    return find_advisor


def advisor_here(services: Any, project_dir: Path | None = None) -> Advisor:
    """Return an advisor on the project of an application's services.

    :param services: the application's service factory.
    :param project_dir: the project's folder; here by default.
    """
    # Every snapcraft command comes by; few need what takes so long to import.
    from .advisor import Advisor  # noqa: PLC0415

    directory = (project_dir or Path()).absolute()
    return Advisor(
        find_project_dir=lambda: directory,
        find_parts=lambda: project_parts(services),
        find_apps=lambda: project_apps(services),
    )


def project_apps(services: Any) -> list[str] | None:
    """Return the names of the project's apps; ``None`` where they aren't known."""
    try:
        apps = services.get("project").get_raw().get("apps")
    except Exception as error:  # noqa: BLE001 # no project: each version has its own
        emit.debug(f"No apps are known: {error}")
        return None
    return list(apps) if isinstance(apps, dict) else None


def project_parts(services: Any) -> Parts:
    """Return the project's parts: with extensions and grammar where it is rendered."""
    try:
        rendered = services.get("project").get()
        return {name: dict(part) for name, part in rendered.parts.items()}
    except Exception as error:  # noqa: BLE001 # core22, or no project: each version has its own
        emit.debug(f"Parts are read directly from snapcraft.yaml: {error}")
    from .project import raw_parts  # noqa: PLC0415

    try:
        return raw_parts(services.get("project").get_raw())
    except Exception as error:  # noqa: BLE001 # likewise
        emit.debug(f"No parts are known: {error}")
        return {}

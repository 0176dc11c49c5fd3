"""``write``: the advised compression, in snapcraft.yaml."""

from __future__ import annotations

from typing import TYPE_CHECKING

from craft_cli import emit

from snapcraft_compression_advisor.core.errors import NoInputError
from snapcraft_compression_advisor.project.project_file import apply_edit, plan_edit

if TYPE_CHECKING:
    from snapcraft_compression_advisor.host.artifact import Decision
    from snapcraft_compression_advisor.host.project import HostProject


def write_key(project: HostProject, decision: Decision) -> None:
    """Set what a decision packs with in snapcraft.yaml, in that one line.

    :raises AdvisorError: where it can't be done; the file is as it was.
    """
    if project.file is None or project.says is None:
        message = "there is no snapcraft.yaml here"
        raise NoInputError(message, resolution="Pack in the project's folder.")
    name = decision.analysis.payload.name
    if decision.artifact.component is None and project.says.name != name:
        message = f"{project.says.path} isn't that of snap {name!r}"
        raise NoInputError(message, resolution="Pack in the project's folder.")
    component = decision.artifact.component
    edit = plan_edit(
        project.file,
        decision.compression,
        component=component,
        where=str(project.says.path),
    )
    if edit.changes:
        apply_edit(edit)
        of = "" if component is None else f" of component {component}"
        emit.progress(
            f"  {project.says.path}: compression{of} set to {decision.compression}",
            permanent=True,
        )

"""``write``: the advised compression, in snapcraft.yaml."""

from __future__ import annotations

from typing import TYPE_CHECKING

from craft_cli import emit

from snapcraft_compression_advisor.core.errors import NoInputError
from snapcraft_compression_advisor.project.edit import Edit
from snapcraft_compression_advisor.project.project_file import (
    apply_edit,
    read_project_file,
)
from snapcraft_compression_advisor.project.splice import set_root_compression
from snapcraft_compression_advisor.project.splice_component import (
    set_component_compression,
)

if TYPE_CHECKING:
    from pathlib import Path

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
    edit = plan_key(
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


def plan_key(
    path: Path, compression: str, *, component: str | None, where: str
) -> Edit:
    """Return the edit that sets a compression; write nothing.

    :param path: of snapcraft.yaml, read anew: another key may have been written to it.
    :param component: whose key, rather than the snap's.
    :param where: what errors call the file.
    :raises AdvisorError: where it can't be read, or edited in one line.
    """
    before = read_project_file(path)
    if component is None:
        after = set_root_compression(before, compression, where=where)
    else:
        after = set_component_compression(before, component, compression, where=where)
    return Edit(path=path, before=before, after=after)

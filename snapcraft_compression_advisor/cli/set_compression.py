"""``compression-advisor set``: the ``compression`` key of a snapcraft.yaml."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from craft_cli import emit

from ..codecs import SHIPPABLE
from ..project.project_file import apply_edit, find_project_file, plan_edit
from .arguments import Arguments, Command, details
from .write import write_output

if TYPE_CHECKING:
    import argparse


class SetCommand(Command):
    """Change one line of snapcraft.yaml."""

    name = "set"
    help_msg = "Set the compression in a project's snapcraft.yaml"
    overview = (
        "Change or insert the 'compression' key of a project's snapcraft.yaml. No "
        "other line changes: comments, quotes, order and line endings are kept."
    )

    arguments: ClassVar[Arguments] = {
        "[PROJECT_DIR]": details(
            "directory of snapcraft.yaml or snap/snapcraft.yaml (default: the current "
            "directory)",
            default=Path(),
        ),
        "--compression": details(
            "the codec to pack with (required)", choices=SHIPPABLE, required=True
        ),
        "--dry-run": "print the change as a unified diff without making it",
    }

    def run(self, parsed_args: argparse.Namespace) -> None:
        """Make the change, or show it."""
        set_compression(
            parsed_args.project_dir,
            parsed_args.compression,
            dry_run=parsed_args.dry_run,
        )


def set_compression(
    project_dir: Path,
    compression: str,
    *,
    component: str | None = None,
    dry_run: bool = False,
) -> None:
    """Set the compression of a project, or of a component of it, and say so.

    :raises AdvisorError: where there is no snapcraft.yaml, or one that can't be
        edited safely; the file is as it was.
    """
    edit = plan_edit(find_project_file(project_dir), compression, component=component)
    key = f"{edit.path}: compression{'' if component is None else f' of {component}'}"
    if not edit.changes:
        emit.progress(f"{key} is already {compression}", permanent=True)
    elif dry_run:
        write_output(edit.diff(), None)
    else:
        apply_edit(edit)
        emit.progress(f"{key} set to {compression}", permanent=True)

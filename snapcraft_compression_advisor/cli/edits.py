"""Changes to snapcraft.yaml: ``compression-advisor set``, and the fixes of ``lint``."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

from ..codecs import SHIPPABLE
from ..core.frozen import frozen
from ..core.terminal import emit
from ..lint.finding import Finding, LintReport
from ..project.edit import Edit, merge_edits
from ..project.project_file import apply_edit, find_project_file, plan_edit
from ..project.project_lines import read_project_lines
from .arguments import Arguments, Command, details
from .write import write_output


class SetCommand(Command):
    """Change one line of snapcraft.yaml."""

    name = "set"
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
        write_output(edit.diff(), None, kept="patch")
    else:
        apply_edit(edit)
        emit.progress(f"{key} set to {compression}", permanent=True)


@frozen
class PlannedFixes:
    """One file's fixes.

    :param edit: all of them at once.
    :param findings: that it fixes, also those whose fix is part of a larger one of
        the same payload.
    :param left: findings whose fix isn't fixed: its fix conflicts.
    """

    edit: Edit
    findings: tuple[Finding, ...]
    left: tuple[Finding, ...]


def plan_fixes(report: LintReport) -> tuple[PlannedFixes, ...]:
    """Return what the safe fixes of all payloads come to, file by file.

    :raises BadDataError: where they can't be made together.
    """
    by_path: dict[Path, list[tuple[int, Finding, Edit]]] = {}
    for number, payload in enumerate(report.payloads):
        for finding in payload.findings:
            fix = finding.fix
            if fix is not None and fix.safe and fix.edit is not None:
                by_path.setdefault(fix.edit.path, []).append(
                    (number, finding, fix.edit)
                )
    return tuple(map(_plan, by_path.values()))


def _plan(fixes: Sequence[tuple[int, Finding, Edit]]) -> PlannedFixes:
    edit, made = merge_edits([each for _, _, each in fixes])
    read_project_lines(edit.after, where=str(edit.path))  # has to be YAML still
    numbers = {number for (number, _, _), fits in zip(fixes, made, strict=True) if fits}
    findings: list[Finding] = []
    left: list[Finding] = []
    for (number, finding, _), fits in zip(fixes, made, strict=True):
        (findings if fits or number in numbers else left).append(finding)
    return PlannedFixes(edit=edit, findings=tuple(findings), left=tuple(left))


def apply_fixes(report: LintReport) -> LintReport:
    """Make the safe fixes, say so, and return what is left.

    :raises AdvisorError: where a file can't be written; it is as it was.
    """
    fixed: list[Finding] = []
    for plan in plan_fixes(report):
        apply_edit(plan.edit)
        fixed += plan.findings
        names = ", ".join(dict.fromkeys(each.rule for each in plan.findings))
        emit.progress(f"{plan.edit.path}: fixed {names}", permanent=True)
        for finding in plan.left:
            message = f"{plan.edit.path}: {finding.rule} isn't fixed: its fix conflicts"
            emit.progress(f"{message} with another payload's", permanent=True)
    numbers = {id(finding) for finding in fixed}
    payloads = (
        replace(
            each, findings=tuple(one for one in each.findings if id(one) not in numbers)
        )
        for each in report.payloads
    )
    return replace(report, payloads=tuple(payloads))


def fixes_diff(report: LintReport) -> str:
    """Return the safe fixes as a unified diff."""
    return "".join(plan.edit.diff() for plan in plan_fixes(report))

"""Changes to snapcraft.yaml: ``set``, and what ``--fix`` and ``--diff`` ask for."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

from ..codecs import SHIPPABLE
from ..lint.finding import Finding, LintReport
from ..project.edit import Edit, apply_edit, merge_edits, plan_edit
from ..project.project_file import find_project_file
from .commands import EDITS, Arguments, Command, details
from .write import note, write_output


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
        "--diff": EDITS["--diff"],
    }

    def run(self, parsed_args: argparse.Namespace) -> None:
        """Make the change, or show it."""
        folder, compression = parsed_args.project_dir, parsed_args.compression
        set_compression(folder, compression, diff=parsed_args.diff)


def set_compression(
    project_dir: Path,
    compression: str,
    *,
    component: str | None = None,
    diff: bool = False,
    output: Path | None = None,
) -> None:
    """Set the compression of a project, or of a component of it, or show the change.

    :param diff: whether to write a patch instead.
    :raises AdvisorError: if there is no snapcraft.yaml, or it can't be edited safely.
    """
    edit = plan_edit(find_project_file(project_dir), compression, component=component)
    key = f"{edit.path}: compression{'' if component is None else f' of {component}'}"
    if change_file(edit, diff=diff, output=output):
        note(f"{key} set to {compression}")
    elif not edit.changes:
        note(f"{key} is already {compression}")


def change_file(edit: Edit, *, diff: bool, output: Path | None) -> bool:
    """Make a change to a project file, or write it as a patch; whether it was made."""
    if edit.changes and diff:
        write_output(edit.diff(), output, kept="patch")
    elif edit.changes:
        apply_edit(edit)
    return edit.changes and not diff


def _planned_fixes(report: LintReport) -> Iterator[tuple[Edit, dict[int, Finding]]]:
    """Yield the safe fixes of all payloads as one edit of each file.

    :returns: with each, the findings that it fixes, by identity. A fix that is made
        also counts for others of its payload.
    """
    by_path: dict[Path, list[tuple[int, Finding, Edit]]] = {}
    for number, payload in enumerate(report.payloads):
        for finding in payload.findings:
            fix = finding.fix
            if fix is not None and fix.safe and fix.edit is not None:
                known = by_path.setdefault(fix.edit.path, [])
                known.append((number, finding, fix.edit))
    for path, fixes in by_path.items():
        edit, made = merge_edits([each for _, _, each in fixes])
        payloads = {fix[0] for fix, fits in zip(fixes, made, strict=True) if fits}
        for number, finding, _ in fixes:
            if number not in payloads:
                message = f"{path}: {finding.rule} isn't fixed: its fix conflicts"
                note(f"{message} with another payload's")
        yield edit, {id(each): each for number, each, _ in fixes if number in payloads}


def apply_fixes(report: LintReport) -> LintReport:
    """Make the safe fixes, say so, and return what is left."""
    fixed: dict[int, Finding] = {}
    for edit, findings in _planned_fixes(report):
        apply_edit(edit)
        fixed |= findings
        names = ", ".join(dict.fromkeys(each.rule for each in findings.values()))
        note(f"{edit.path}: fixed {names}")
    payloads = (
        replace(
            each, findings=tuple(one for one in each.findings if id(one) not in fixed)
        )
        for each in report.payloads
    )
    return replace(report, payloads=tuple(payloads))


def fixes_diff(report: LintReport) -> str:
    """Return the safe fixes as a unified diff."""
    return "".join(edit.diff() for edit, _ in _planned_fixes(report))

"""Make the safe fixes of findings, or show them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from craft_cli import emit

from ..project.edit import merge_edits
from ..project.project_file import apply_edit
from ..project.project_lines import read_project_lines

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from ..lint.finding import Finding, LintReport
    from ..project.edit import Edit


@dataclass(frozen=True, slots=True, kw_only=True)
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

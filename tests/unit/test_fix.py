"""Safe fixes of several findings and payloads, made together."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from lint_contexts import MUCH, make_context
from snapcraft_compression_advisor.cli.edits import apply_fixes, fixes_diff, plan_fixes
from snapcraft_compression_advisor.core.errors import BadDataError
from snapcraft_compression_advisor.lint.all_rules import ALL_RULES
from snapcraft_compression_advisor.lint.finding import (
    Finding,
    Fix,
    LintedPayload,
    LintReport,
    Location,
)
from snapcraft_compression_advisor.lint.project import read_project
from snapcraft_compression_advisor.lint.run import make_selection, run_rules
from snapcraft_compression_advisor.project.edit import Edit

if TYPE_CHECKING:
    from pathlib import Path

BEFORE = "name: x\nconfinement: strict\n"
LZO = "name: x\ncompression: lzo\nconfinement: strict\n"
XZ = "name: x\ncompression: xz\nconfinement: strict\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    path = tmp_path / "snapcraft.yaml"
    path.write_text(BEFORE)
    return path


def finding(
    path: Path, after: str, *, rule: str = "SCA101", safe: bool = True
) -> Finding:
    edit = Edit(path=path, before=BEFORE.encode(), after=after.encode())
    return Finding(
        rule=rule,
        name="n",
        severity="warning",
        message="m",
        location=Location(kind="project", path=str(path), line=1),
        fix=Fix(description="d", safe=safe, edit=edit),
    )


def report(*payloads: tuple[Finding, ...]) -> LintReport:
    return LintReport(
        version="1",
        payloads=tuple(
            LintedPayload(path=f"p{number}", snap_name="x", findings=findings)
            for number, findings in enumerate(payloads)
        ),
    )


def left(fixed: LintReport) -> list[str]:
    return [each.rule for payload in fixed.payloads for each in payload.findings]


def test_fix_of_the_more_important_rule_takes_the_place_of_the_other(
    project: Path,
) -> None:
    made = report((finding(project, LZO), finding(project, XZ, rule="SCA103")))
    assert left(apply_fixes(made)) == []
    assert project.read_text() == LZO


def test_fix_that_contradicts_another_payload_is_left(project: Path) -> None:
    made = report((finding(project, LZO),), (finding(project, XZ, rule="SCA102"),))
    assert left(apply_fixes(made)) == ["SCA102"]
    assert project.read_text() == LZO


def test_same_fix_of_two_payloads_is_made_once(project: Path) -> None:
    made = report((finding(project, LZO),), (finding(project, LZO),))
    assert left(apply_fixes(made)) == []
    assert project.read_text() == LZO


def test_unsafe_fix_is_left(project: Path) -> None:
    made = report((finding(project, LZO, safe=False),))
    assert left(apply_fixes(made)) == ["SCA101"]
    assert fixes_diff(made) == ""
    assert project.read_text() == BEFORE


def test_project_that_changed_meanwhile_is_left_alone(project: Path) -> None:
    made = report((finding(project, LZO),))
    project.write_text("name: y\n")
    with pytest.raises(BadDataError, match="has changed since it was read"):
        apply_fixes(made)
    assert project.read_text() == "name: y\n"


def test_fixes_that_break_the_file_together_are_refused(project: Path) -> None:
    made = report((finding(project, "name: x\nname: y\n" + BEFORE),))
    with pytest.raises(BadDataError, match="already"):
        plan_fixes(made)


def test_all_findings_on_a_project_are_fixed_at_once(tmp_path: Path) -> None:
    path = tmp_path / "snapcraft.yaml"
    text = "name: x\nbase: core24\ncomponents:\n  c:\n    type: standard\n"
    path.write_text(text)
    context = make_context(saves=MUCH, project=read_project(path, text.encode()))
    findings = run_rules(context, ALL_RULES, make_selection(context.policy))
    fixed = apply_fixes(report(findings))
    assert not {"SCA101", "SCA103"} & set(left(fixed))
    assert path.read_text() == (
        "name: x\nbase: core24\ncompression: lzo\n"
        "components:\n  c:\n    type: standard\n    compression: xz\n"
    )

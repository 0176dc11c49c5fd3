"""Payloads linted: rules selected, findings in order, fixes made together."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from lint_contexts import MUCH, make_context, make_project
from snapcraft_compression_advisor.cli import lint
from snapcraft_compression_advisor.cli.edits import apply_fixes, fixes_diff, plan_fixes
from snapcraft_compression_advisor.core.errors import BadDataError, UsageError
from snapcraft_compression_advisor.lint.finding import (
    Finding,
    Fix,
    LintedPayload,
    LintReport,
    Location,
)
from snapcraft_compression_advisor.lint.project import read_project
from snapcraft_compression_advisor.lint.request import LintRequest
from snapcraft_compression_advisor.lint.rules import ALL_RULES
from snapcraft_compression_advisor.lint.run import (
    Selection,
    check_selectors,
    find_rule,
    make_selection,
    run_rules,
)
from snapcraft_compression_advisor.project.edit import Edit, merge_edits
from snapcraft_compression_advisor.settings.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_mock import MockerFixture

    from snapcraft_compression_advisor.lint.rule import Context


REQUEST = LintRequest(policy=Settings(), devices=())


def test_payloads_that_cannot_be_read_are_outcomes_with_a_status(
    tmp_path: Path,
) -> None:
    (tmp_path / "no.snap").write_bytes(b"no image")
    outcomes = [
        lint.lint_path(tmp_path / name, REQUEST) for name in ("nowhere", "no.snap")
    ]
    assert [status for _, status in outcomes] == [os.EX_NOINPUT, os.EX_DATAERR]
    assert all(linted.error for linted, _ in outcomes)


def test_a_disk_that_fails_is_an_outcome_too(
    tmp_path: Path, mocker: MockerFixture
) -> None:
    mocker.patch.object(
        lint, "open_payload", side_effect=OSError(5, "Input/output error")
    )
    linted, status = lint.lint_path(tmp_path / "a.snap", REQUEST)
    assert status == os.EX_IOERR
    assert "Input/output error" in (linted.error or "")


def selection(*ignored: str, **policy: object) -> Selection:
    return make_selection(Settings.model_validate(policy), ignored=ignored)


class Fake:
    """A rule that finds what it is told to."""

    id = "SCA303"
    name = "static-libraries"
    severity = "warning"
    summary = fails_if = why = how_to_fix = ""
    options: dict[str, str] = {}  # noqa: RUF012 # the protocol's ClassVar

    def __init__(self, *findings: Finding) -> None:
        self.findings = findings

    def check(self, context: Context) -> Iterator[Finding]:
        del context
        yield from self.findings


def finding_on(*files: str, undecided: bool = False, path: str = "prime") -> Finding:
    return Finding(
        rule="SCA303",
        name="static-libraries",
        severity="info" if undecided else "warning",
        message="m",
        location=Location(kind="image", path=path),
        files=files,
        undecided=undecided,
    )


def found_under(rule: Fake, chosen: Selection) -> tuple[Finding, ...]:
    return run_rules(make_context(), [rule], chosen)  # type: ignore[list-item] # ClassVar


def test_everything_is_selected_but_what_is_ignored() -> None:
    chosen = selection(ignore=["SCA3", "SCA101"])
    assert chosen.wants("SCA102")
    assert not chosen.wants("SCA101")
    assert not chosen.wants("SCA305")


def test_selected_families_shut_out_the_others() -> None:
    chosen = selection("SCA102", select=["SCA1"])
    assert chosen.wants("SCA101")
    assert not chosen.wants("SCA102")
    assert not chosen.wants("SCA201")


def test_longest_severity_that_fits_counts() -> None:
    chosen = selection(severity={"SCA": "info", "SCA3": "error", "SCA303": "warning"})
    assert chosen.severity("SCA303", "info") == "warning"
    assert chosen.severity("SCA305", "info") == "error"
    assert chosen.severity("SCA101", "error") == "info"
    assert selection().severity("SCA101", "error") == "error"


@pytest.mark.parametrize(
    "pattern", ["usr/lib/*", "usr/lib", "usr/lib/", "*.a", "usr/*/liba.a", "usr/lib/l*"]
)
def test_finding_whose_files_are_all_ignored_is_gone(pattern: str) -> None:
    chosen = selection(ignore=[f"SCA303:{pattern}"])
    assert not found_under(Fake(finding_on("usr/lib/liba.a")), chosen)


def test_file_that_is_not_ignored_keeps_its_finding() -> None:
    chosen = selection(ignore=["SCA303:usr/lib", "SCA1:*"])
    (found,) = found_under(
        Fake(finding_on("usr/lib/liba.a", "usr/libexec/b.a")), chosen
    )
    assert found.files == ("usr/libexec/b.a",)


def test_path_patterns_leave_findings_on_the_whole_alone() -> None:
    assert found_under(Fake(finding_on()), selection(ignore=["SCA303:*"]))


def test_selected_paths_shut_out_the_others() -> None:
    chosen = selection(select=["SCA303:usr/lib"])
    assert found_under(Fake(finding_on("usr/lib/liba.a")), chosen)
    assert not found_under(Fake(finding_on("bin/b.a")), chosen)


def test_severity_of_an_undecided_finding_stays_info() -> None:
    chosen = selection(severity={"SCA3": "error"})
    found = found_under(Fake(finding_on(undecided=True), finding_on()), chosen)
    assert [each.severity for each in found] == ["error", "info"]


def test_findings_come_by_severity_then_rule_then_place() -> None:
    context = make_context(
        saves=MUCH,
        project=make_project("name: x\n"),
        policy={"max-image-size": "1MB", "max-cold-start": {"hdd-laptop": "1ms"}},
    )
    found = run_rules(context, ALL_RULES, selection())
    assert [each.rule for each in found] == ["SCA201", "SCA301", "SCA101", "SCA103"]


def test_unknown_rules_are_refused_with_the_nearest() -> None:
    check_selectors(["SCA", "SCA1", "SCA101:x"], ALL_RULES, where="p")
    with pytest.raises(BadDataError, match="p: there is no rule 'SCA199'"):
        check_selectors(["SCA199"], ALL_RULES, where="p")
    with pytest.raises(UsageError) as raised:
        find_rule("lzo-would-gian", ALL_RULES)
    assert "Did you mean SCA101 (lzo-would-gain)?" in (raised.value.resolution or "")


def test_rule_is_found_by_id_or_name() -> None:
    for text in ("SCA101", "sca101", "lzo-would-gain"):
        assert find_rule(text, ALL_RULES).id == "SCA101"


BEFORE = "name: x\nconfinement: strict\n"
LZO = "name: x\ncompression: lzo\nconfinement: strict\n"
XZ = "name: x\ncompression: xz\nconfinement: strict\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    path = tmp_path / "snapcraft.yaml"
    path.write_text(BEFORE)
    return path


def finding_with_fix(
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
    made = report(
        (finding_with_fix(project, LZO), finding_with_fix(project, XZ, rule="SCA103"))
    )
    assert left(apply_fixes(made)) == []
    assert project.read_text() == LZO


def test_fix_that_contradicts_another_payload_is_left(project: Path) -> None:
    made = report(
        (finding_with_fix(project, LZO),),
        (finding_with_fix(project, XZ, rule="SCA102"),),
    )
    assert left(apply_fixes(made)) == ["SCA102"]
    assert project.read_text() == LZO


def test_same_fix_of_two_payloads_is_made_once(project: Path) -> None:
    made = report((finding_with_fix(project, LZO),), (finding_with_fix(project, LZO),))
    assert left(apply_fixes(made)) == []
    assert project.read_text() == LZO


def test_unsafe_fix_is_left(project: Path) -> None:
    made = report((finding_with_fix(project, LZO, safe=False),))
    assert left(apply_fixes(made)) == ["SCA101"]
    assert fixes_diff(made) == ""
    assert project.read_text() == BEFORE


def test_project_that_changed_meanwhile_is_left_alone(project: Path) -> None:
    made = report((finding_with_fix(project, LZO),))
    project.write_text("name: y\n")
    with pytest.raises(BadDataError, match="has changed since it was read"):
        apply_fixes(made)
    assert project.read_text() == "name: y\n"


def test_fixes_that_break_the_file_together_are_refused(project: Path) -> None:
    made = report((finding_with_fix(project, "name: x\nname: y\n" + BEFORE),))
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


COMPONENTS = "name: x\ncompression: xz\ncomponents:\n  a:\n    type: x\n"


def edit(after: str, before: str = COMPONENTS) -> Edit:
    return Edit(path=Path("p"), before=before.encode(), after=after.encode())


def test_edits_of_different_places_are_all_made() -> None:
    merged, made = merge_edits(
        [
            edit(COMPONENTS.replace("n: xz", "n: lzo")),
            edit(COMPONENTS + "    compression: xz\n"),
        ]
    )
    assert made == (True, True)
    assert merged.after.decode() == (
        COMPONENTS.replace("n: xz", "n: lzo") + "    compression: xz\n"
    )

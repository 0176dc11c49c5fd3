"""Payloads linted: rules selected, findings in order, fixes made together."""

import os
from pathlib import Path

import pytest
from pytest_mock import MockerFixture

from lint_contexts import MUCH, make_context, make_project
from snapcraft_compression_advisor.cli import lint
from snapcraft_compression_advisor.cli.edits import apply_fixes, fixes_diff
from snapcraft_compression_advisor.core.errors import BadDataError, UsageError
from snapcraft_compression_advisor.lint.finding import (
    Finding,
    Fix,
    LintedPayload,
    LintReport,
    Location,
)
from snapcraft_compression_advisor.lint.lint import LintRequest
from snapcraft_compression_advisor.lint.rule import Rule
from snapcraft_compression_advisor.lint.rules import ALL_RULES
from snapcraft_compression_advisor.lint.run import (
    Selection,
    check_selectors,
    find_rule,
    make_selection,
    run_rules,
)
from snapcraft_compression_advisor.project.edit import plan_edit
from snapcraft_compression_advisor.project.project_file import read_project
from snapcraft_compression_advisor.settings.load import LoadedSettings
from snapcraft_compression_advisor.settings.settings import Settings

REQUEST = LintRequest(loaded=LoadedSettings(settings=Settings(), devices=()))


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


def finding_on(*files: str, undecided: bool = False) -> Finding:
    return Finding(
        rule="SCA303",
        name="static-libraries",
        severity="info" if undecided else "warning",
        message="m",
        location=Location(kind="image", path="prime"),
        files=files,
        undecided=undecided,
    )


def found_under(chosen: Selection, *findings: Finding) -> tuple[Finding, ...]:
    """Return what is left of the findings of a rule."""
    rule = Rule(id="SCA303", severity="warning", judge=lambda *_: iter(findings))
    return run_rules(make_context(), [rule], chosen)


@pytest.mark.parametrize(
    ("ignored", "policy", "wanted"),
    [
        ((), {"ignore": ["SCA3", "SCA101"]}, ["SCA102", "SCA201"]),
        (("SCA102",), {"select": ["SCA1"]}, ["SCA101"]),
    ],
)
def test_rules_are_selected_and_ignored_by_family(
    ignored: tuple[str, ...], policy: dict[str, object], wanted: list[str]
) -> None:
    chosen = selection(*ignored, **policy)
    rules = ("SCA101", "SCA102", "SCA201", "SCA305")
    assert [rule for rule in rules if chosen.wants(rule)] == wanted


def test_longest_severity_that_fits_counts() -> None:
    chosen = selection(severity={"SCA": "info", "SCA3": "error", "SCA303": "warning"})
    assert chosen.severity("SCA303", "info") == "warning"
    assert chosen.severity("SCA305", "info") == "error"
    assert chosen.severity("SCA101", "error") == "info"
    assert selection().severity("SCA101", "error") == "error"


@pytest.mark.parametrize(
    ("policy", "files", "left"),
    [
        *(
            ({"ignore": [f"SCA303:{pattern}"]}, ("usr/lib/liba.a",), None)
            for pattern in (
                *("usr/lib/*", "usr/lib", "usr/lib/", "*.a"),
                *("usr/*/liba.a", "usr/lib/l*"),
            )
        ),
        (
            {"ignore": ["SCA303:usr/lib", "SCA1:*"]},
            ("usr/lib/liba.a", "usr/libexec/b.a"),
            ("usr/libexec/b.a",),
        ),
        ({"ignore": ["SCA303:*"]}, (), ()),  # a finding on the whole
        ({"select": ["SCA303:usr/lib"]}, ("usr/lib/liba.a",), ("usr/lib/liba.a",)),
        ({"select": ["SCA303:usr/lib"]}, ("bin/b.a",), None),
    ],
)
def test_patterns_leave_the_files_that_are_wanted(
    policy: dict[str, object], files: tuple[str, ...], left: tuple[str, ...] | None
) -> None:
    found = found_under(selection(**policy), finding_on(*files))
    assert [each.files for each in found] == ([] if left is None else [left])


def test_severity_of_an_undecided_finding_stays_info() -> None:
    chosen = selection(severity={"SCA3": "error"})
    found = found_under(chosen, finding_on(undecided=True), finding_on())
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
    check_selectors(["SCA", "SCA1", "SCA101:x"], where="p")
    with pytest.raises(BadDataError, match="p: there is no rule 'SCA199'"):
        check_selectors(["SCA199"], where="p")
    with pytest.raises(UsageError) as raised:
        find_rule("lzo-would-gian")
    assert "Did you mean SCA101 (lzo-would-gain)?" in (raised.value.resolution or "")
    for text in ("SCA101", "sca101", "lzo-would-gain"):
        assert find_rule(text).id == "SCA101"


BEFORE = "name: x\nconfinement: strict\n"
LZO = BEFORE + "compression: lzo\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    path = tmp_path / "snapcraft.yaml"
    path.write_text(BEFORE)
    return path


def fixable(
    path: Path, compression: str, *, rule: str = "SCA101", safe: bool = True
) -> Finding:
    edit = plan_edit(path, compression)
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
    lzo, xz = (fixable(project, "lzo"), fixable(project, "xz", rule="SCA103"))
    assert left(apply_fixes(report((lzo, xz)))) == []
    assert project.read_text() == LZO


@pytest.mark.parametrize(
    ("codec", "rule", "rest"), [("xz", "SCA102", ["SCA102"]), ("lzo", "SCA101", [])]
)
def test_fix_that_contradicts_another_payload_is_left(
    project: Path, codec: str, rule: str, rest: list[str]
) -> None:
    fixes = fixable(project, "lzo"), fixable(project, codec, rule=rule)
    assert left(apply_fixes(report(*((each,) for each in fixes)))) == rest
    assert project.read_text() == LZO


def test_unsafe_fix_is_left(project: Path) -> None:
    made = report((fixable(project, "lzo", safe=False),))
    assert left(apply_fixes(made)) == ["SCA101"]
    assert fixes_diff(made) == ""
    assert project.read_text() == BEFORE


def test_project_that_changed_meanwhile_is_left_alone(project: Path) -> None:
    made = report((fixable(project, "lzo"),))
    project.write_text("name: y\n")
    with pytest.raises(BadDataError, match="has changed since it was read"):
        apply_fixes(made)
    assert project.read_text() == "name: y\n"


def test_all_findings_on_a_project_are_fixed_at_once(tmp_path: Path) -> None:
    path = tmp_path / "snapcraft.yaml"
    text = "name: x\nbase: core24\ncomponents:\n  c:\n    type: standard\n"
    path.write_text(text)
    context = make_context(saves=MUCH, project=read_project(path, text.encode()))
    findings = run_rules(context, ALL_RULES, make_selection(context.settings))
    fixed = apply_fixes(report(findings))
    assert not {"SCA101", "SCA103"} & set(left(fixed))
    assert path.read_text() == (
        "name: x\nbase: core24\ncompression: lzo\n"
        "components:\n  c:\n    type: standard\n    compression: xz\n"
    )

"""Which rules are checked, and the order of what they find."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from lint_contexts import MUCH, make_context, make_project
from snapcraft_compression_advisor.core.errors import BadDataError, UsageError
from snapcraft_compression_advisor.lint.all_rules import ALL_RULES
from snapcraft_compression_advisor.lint.finding import Finding, Location
from snapcraft_compression_advisor.lint.run import (
    Selection,
    check_selectors,
    find_rule,
    make_selection,
    run_rules,
)
from snapcraft_compression_advisor.settings.lint_policy import LintPolicy

if TYPE_CHECKING:
    from collections.abc import Iterator

    from snapcraft_compression_advisor.lint.rule import Context


def selection(*ignored: str, **policy: object) -> Selection:
    return make_selection(LintPolicy.model_validate(policy), ignored=ignored)


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


def finding(*files: str, undecided: bool = False, path: str = "prime") -> Finding:
    return Finding(
        rule="SCA303",
        name="static-libraries",
        severity="info" if undecided else "warning",
        message="m",
        location=Location(kind="image", path=path),
        files=files,
        undecided=undecided,
    )


def run(rule: Fake, chosen: Selection) -> tuple[Finding, ...]:
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
    assert not run(Fake(finding("usr/lib/liba.a")), chosen)


def test_file_that_is_not_ignored_keeps_its_finding() -> None:
    chosen = selection(ignore=["SCA303:usr/lib", "SCA1:*"])
    (found,) = run(Fake(finding("usr/lib/liba.a", "usr/libexec/b.a")), chosen)
    assert found.files == ("usr/libexec/b.a",)


def test_path_patterns_leave_findings_on_the_whole_alone() -> None:
    assert run(Fake(finding()), selection(ignore=["SCA303:*"]))


def test_selected_paths_shut_out_the_others() -> None:
    chosen = selection(select=["SCA303:usr/lib"])
    assert run(Fake(finding("usr/lib/liba.a")), chosen)
    assert not run(Fake(finding("bin/b.a")), chosen)


def test_severity_of_an_undecided_finding_stays_info() -> None:
    chosen = selection(severity={"SCA3": "error"})
    found = run(Fake(finding(undecided=True), finding()), chosen)
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

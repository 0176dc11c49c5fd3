"""The comment on a merge request."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from hypothesis import HealthCheck, given, settings

from builds import make_difference
from lint_reports import (
    BUDGET_BROKEN,
    DEBUG_SYMBOLS,
    HOSTILE_PATHS,
    HOSTILE_REPORTS,
    LZO_WOULD_GAIN,
    OTHER_BUDGET_BROKEN,
    STRADDLES,
    rendered,
    report_of,
)
from snapcraft_compression_advisor.diff.figures import (
    BaselineBuild,
    LaunchFigure,
    PayloadFigures,
)
from snapcraft_compression_advisor.lint.baseline import Baseline, judge
from snapcraft_compression_advisor.lint.finding import LintReport, Location
from snapcraft_compression_advisor.report.lint_formats.markdown import COMMENT_MARK

if TYPE_CHECKING:
    from snapcraft_compression_advisor.diff.difference import BuildDifference
    from snapcraft_compression_advisor.lint.finding import Severity

GOLDEN = Path(__file__).parent / "golden"
SCRIPT = Path(__file__).parents[2] / "script/github-action"
MOVED = replace(
    DEBUG_SYMBOLS, location=Location(kind="payload", path="usr/lib/x/libcalc.so.1.0")
)


def comment(now: LintReport, before: LintReport, fail_on: Severity = "error") -> str:
    payloads = tuple(replace(each, fail_on=fail_on) for each in now.payloads)
    now = replace(now, payloads=payloads)
    return rendered("markdown", judge(now, Baseline(where="old.snap", report=before)))


def with_figures(report: LintReport, difference: BuildDifference) -> LintReport:
    """Return the report with the figures of the two builds."""
    sides = [
        PayloadFigures(
            codec=side.codec,
            image_bytes=side.image_bytes,
            measured=True,
            launches=tuple(
                LaunchFigure(
                    app=each.app, device=each.device, source="static", added_s=added
                )
                for each in difference.launches
                for added in (each.old_s if side is difference.old else each.new_s,)
            ),
        )
        for side in (difference.old, difference.new)
    ]
    (payload,) = report.payloads
    payload = replace(
        payload,
        figures=sides[1],
        baseline=BaselineBuild(figures=sides[0], difference=difference),
    )
    return replace(report, payloads=(payload,))


def test_comment_is_the_golden_one() -> None:
    now = report_of(
        BUDGET_BROKEN,
        OTHER_BUDGET_BROKEN,
        replace(LZO_WOULD_GAIN, severity="error"),
        MOVED,
        STRADDLES,
    )
    before = report_of(LZO_WOULD_GAIN, DEBUG_SYMBOLS)
    text = comment(with_figures(now, make_difference()), before)
    assert text == (GOLDEN / "comment.md").read_text()


def test_at_most_the_three_most_severe_findings_are_unfolded() -> None:
    findings = (LZO_WOULD_GAIN, STRADDLES, BUDGET_BROKEN, OTHER_BUDGET_BROKEN)
    unfolded = comment(report_of(*findings), report_of()).partition("<details>")[0]
    shown = re.findall(r"^- \*\*(\w+)\*\* (SCA\d+)", unfolded, re.MULTILINE)
    assert shown == [("error", "SCA201"), ("error", "SCA201"), ("warning", "SCA101")]


def test_what_this_change_made_worse_comes_before_others_of_its_weight() -> None:
    slower = replace(LZO_WOULD_GAIN, rule="SCA601", name="launch-slower")
    findings = (LZO_WOULD_GAIN, DEBUG_SYMBOLS, MOVED, slower)
    unfolded = comment(report_of(*findings), report_of()).partition("<details>")[0]
    shown = re.findall(r"^- \*\*warning\*\* (SCA\d+)", unfolded, re.MULTILINE)
    assert shown == ["SCA601", "SCA101", "SCA302"]


def test_verdict_follows_what_is_new_and_what_fails() -> None:
    report = report_of(LZO_WOULD_GAIN)
    assert "## compression-advisor: passes" in comment(report, report_of())
    assert "## compression-advisor: fails" in comment(report, report_of(), "warning")
    assert "- Passes: no new or worse finding" in comment(report, report, "warning")
    (payload,) = report.payloads
    broken = LintReport(version="1", payloads=(replace(payload, error="is broken"),))
    assert "not linted" in comment(broken, report)


def test_nothing_to_say_is_said_in_short() -> None:
    text = comment(report_of(), report_of())
    assert text.count("\n") == 8
    assert "nothing new" in text


def test_figures_of_a_report_make_a_table_too() -> None:
    text = comment(with_figures(report_of(), make_difference()), report_of())
    assert "| image, measured | 44.1 MB | 48.3 MB | +4.2 MB, +9.5% |" in text


def test_script_of_the_action_knows_the_mark() -> None:
    assert f"mark='{COMMENT_MARK}'" in SCRIPT.read_text()


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(report=HOSTILE_REPORTS, name=HOSTILE_PATHS)
def test_no_name_becomes_markup(report: LintReport, name: str) -> None:
    difference = make_difference(library=name, app=name)
    payload = replace(report.payloads[0], snap_name="s", error=None)
    now = with_figures(LintReport(version="1", payloads=(payload,)), difference)
    for before in (report_of(), report_of(*payload.findings)):
        text = comment(now, before)
        text.encode()
        for line in text.split("\n"):
            assert line.isprintable()
            assert re.match(
                r"$|<!-- compression-advisor -->$|#{3,4} |\| |- |  - |"
                r"<details><summary>Details</summary>$|</details>$",
                line,
            )

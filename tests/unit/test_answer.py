"""The answer, on the screen and as a comment."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from analyses import UNDECIDED, evidence_of, make_analysis
from builds import make_difference
from goldens import assert_golden
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
from reports import answer_text
from snapcraft_compression_advisor.advice.evidence import Evidence, Policy
from snapcraft_compression_advisor.advice.judging import recommend
from snapcraft_compression_advisor.advice.recommendation import Code
from snapcraft_compression_advisor.analysis import Analysis
from snapcraft_compression_advisor.core.units import Interval
from snapcraft_compression_advisor.diff.difference import BuildDifference
from snapcraft_compression_advisor.diff.figures import (
    BaselineBuild,
    LaunchFigure,
    PayloadFigures,
)
from snapcraft_compression_advisor.launch.launch_set import WindowEnd
from snapcraft_compression_advisor.lint.baseline import Baseline, judge
from snapcraft_compression_advisor.lint.finding import LintReport, Location, Severity
from snapcraft_compression_advisor.report.answer import pack_lines
from snapcraft_compression_advisor.report.lines import TextStyle
from snapcraft_compression_advisor.report.lint_formats.markdown import COMMENT_MARK

MOST_LINES = {"change": 16, "keep": 9, "no-benefit": 9, "undecided": 12}


def judged(policy: Policy, *, declared: str | None = "xz") -> Analysis:
    """Return the analysis of the calculator by a policy."""
    analysis = make_analysis()
    savings = [saving for launch in analysis.launches for saving in launch.savings()]
    evidence = evidence_of(analysis.trial, savings, declared=declared)
    return replace(
        analysis,
        payload=replace(analysis.payload, declared_compression=declared),
        policy=policy,
        recommendation=recommend(evidence, policy),
    )


CASES = {
    "change": judged(Policy()),
    "keep": judged(Policy(), declared="lzo"),
    "no-benefit": judged(Policy(min_saving_s=9.0)),
    "undecided": judged(Policy(min_saving_s=1.0)),
}


def test_answer_is_the_golden_one() -> None:
    text = "\n".join(answer_text(case) for case in CASES.values())
    assert_golden("answer.txt", text)


@pytest.mark.parametrize("verdict", CASES)
def test_answer_fits_on_one_screen(verdict: str) -> None:
    assert CASES[verdict].recommendation.verdict == verdict
    lines = answer_text(CASES[verdict]).splitlines()
    assert len(lines) <= MOST_LINES[verdict]
    assert all(len(line) <= 80 for line in lines if "compression-advisor" not in line)


@pytest.mark.parametrize(
    ("policy", "why"),
    [
        (Policy(max_launches=0.01), "Its larger download takes more than 0.01"),
        (Policy(max_growth_bytes=1.0), "It adds more to the image than the 1 B"),
    ],
)
def test_reason_that_is_no_saving_is_there(policy: Policy, why: str) -> None:
    assert why in " ".join(answer_text(judged(policy)).split())


def test_snap_without_known_launch_says_why() -> None:
    analysis = make_analysis()
    evidence = Evidence(
        declared=None,
        xz_bytes=Interval.exactly(4e6),
        lzo_bytes=Interval.exactly(5e6),
        bytes_added=Interval.exactly(1e6),
    )
    advice = recommend(evidence, Policy())
    text = answer_text(replace(analysis, launches=(), recommendation=advice))
    assert f"calculator: {UNDECIDED}; name a snap that runs with it:" in text
    assert "The snap has no app" in text


def test_component_of_an_unknown_reader_says_what_to_set() -> None:
    analysis = CASES["undecided"]
    advice = replace(analysis.recommendation, reasons=(Code.READER_UNKNOWN,))
    payload = replace(analysis.payload, name="calculator+data")
    analysis = replace(analysis, payload=payload, recommendation=advice)
    setting = "'components: {data: {read: all}}', or 'none'"
    assert f"{UNDECIDED}; set {setting}" in answer_text(analysis)


def test_program_that_is_missing_comes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    missing = {"calc": "bin/\x1bx"}
    monkeypatch.setattr(type(CASES["change"]), "missing_programs", missing)
    first = answer_text(CASES["change"]).splitlines()[0]
    assert first == r"NO PROGRAM for app calc: the snap has no file bin/\x1bx"
    undecided = answer_text(CASES["undecided"])
    assert f"{UNDECIDED}; ship what it starts" in undecided
    assert "--record" not in undecided  # which would start nothing either


def test_device_that_decides_is_among_those_shown() -> None:
    analysis = CASES["change"]
    launch = analysis.launches[0]
    estimates = launch.estimates["hdd-laptop"]
    more = {f"device-{number}": estimates for number in range(5)}
    launch = replace(launch, estimates={**more, **launch.estimates})
    decisive = analysis.recommendation.decisive
    assert decisive is not None
    text = answer_text(replace(analysis, launches=(launch,)))
    assert decisive.device in text.split("adds, on")[1].split("xz ")[0]


@pytest.mark.parametrize(
    ("window", "expected"),
    [
        ("drawn", "recorded."),
        ("early", "recorded up to a first window, which may be a dialog or a splash"),
        ("reading", "recorded up to a window with content; reading went on."),
        ("blank", "recorded up to a window that stayed blank."),
    ],
)
def test_recording_that_may_have_ended_too_soon_says_with_which_window(
    window: WindowEnd, expected: str
) -> None:
    analysis = make_analysis()
    (launch, *others) = analysis.launches
    seen = replace(
        launch.launch_set, source="recorded", method="residency", window=window
    )
    known = (replace(launch, launch_set=seen), *others)
    text = " ".join(answer_text(replace(analysis, launches=known)).split())
    assert f"What the app reads was {expected}" in text


def test_terminal_without_unicode_gets_ascii() -> None:
    assert answer_text(CASES["change"], TextStyle(unicode=False)).isascii()


def test_a_key_that_is_set_right_after_is_not_to_be_set() -> None:
    assert "--fix" in answer_text(CASES["change"])
    assert "--fix" not in answer_text(CASES["change"], apply=None)


def test_month_that_is_not_compared_is_named() -> None:
    why = "xdelta3 isn't installed, so the sizes of deltas aren't known"
    analysis = replace(make_analysis(), no_deltas=why)
    assert why in " ".join(answer_text(analysis).split())
    assert any(why in line for line in pack_lines(analysis))


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
    assert_golden("comment.md", text)


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
    assert "## compression-advisor: passed" in comment(report, report_of())
    assert "## compression-advisor: failed" in comment(report, report_of(), "warning")
    assert "- Passed: nothing new or worse" in comment(report, report, "warning")
    (payload,) = report.payloads
    broken = LintReport(version="1", payloads=(replace(payload, error="is broken"),))
    assert "not linted" in comment(broken, report)


def test_nothing_to_say_is_said_in_short() -> None:
    text = comment(report_of(), report_of())
    assert text.count("\n") == 8
    assert "nothing new" in text


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

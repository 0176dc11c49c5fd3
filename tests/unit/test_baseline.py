"""Findings against a baseline, also one that was saved with every kind of rule."""

import json
from collections.abc import Iterator
from dataclasses import replace

import pytest

from analyses import MB, make_analysis
from lint_contexts import (
    LITTLE,
    MUCH,
    ODD,
    PERHAPS,
    launching,
    make_context,
    make_packing,
    make_project,
    packed_context,
    storing,
)
from lint_reports import (
    BUDGET_BROKEN,
    DEBUG_SYMBOLS,
    LZO_WOULD_GAIN,
    OTHER_BUDGET_BROKEN,
    STRADDLES,
    make_report,
    rendered,
    report_of,
)
from snapcraft_compression_advisor.core.errors import BadDataError
from snapcraft_compression_advisor.core.units import Interval
from snapcraft_compression_advisor.diff.figures import (
    BaselineBuild,
    BaselineDelta,
    LaunchFigure,
    PayloadFigures,
    launch_changes,
)
from snapcraft_compression_advisor.lint.baseline import Baseline, judge
from snapcraft_compression_advisor.lint.finding import (
    Finding,
    LintedPayload,
    LintReport,
    Location,
)
from snapcraft_compression_advisor.lint.rule import ComponentSizes, Context
from snapcraft_compression_advisor.lint.rules import ALL_RULES
from snapcraft_compression_advisor.lint.run import Selection, run_rules
from snapcraft_compression_advisor.payload.caches import CacheFault
from snapcraft_compression_advisor.payload.copies import Copy, Supplied
from snapcraft_compression_advisor.payload.needless import Needless, NeedlessFile
from snapcraft_compression_advisor.preflight.differences import Difference
from snapcraft_compression_advisor.preflight.packing import Recompressed
from snapcraft_compression_advisor.preflight.resquash import Resquash
from snapcraft_compression_advisor.report.lines import TextStyle
from snapcraft_compression_advisor.report.lint_formats import FORMATS
from snapcraft_compression_advisor.report.lint_formats.phrases import changed_table
from snapcraft_compression_advisor.report.lint_formats.saved import parse_baseline

FIGURES = PayloadFigures(
    codec="xz",
    image_bytes=Interval(low=43e6, mid=44e6, high=45e6),
    measured=False,
    launches=(
        LaunchFigure(
            app="calculator",
            device="nvme-laptop",
            source="static",
            added_s=Interval(low=0.4, mid=0.7, high=1.2),
        ),
    ),
)


def judged(now: LintReport, before: LintReport) -> LintReport:
    saved = rendered("json", before).encode()
    known = parse_baseline(saved, where="base.json")
    return judge(now, Baseline(where="base.json", report=known))


def states(now: tuple[Finding, ...], before: tuple[Finding, ...]) -> list[str | None]:
    (payload,) = judged(report_of(*now), report_of(*before)).payloads
    return [each.state for each in payload.findings]


def state_of(payload: LintedPayload) -> str | None:
    (finding,) = payload.findings
    return finding.state


def at(path: str) -> Finding:
    return replace(DEBUG_SYMBOLS, location=Location(kind="payload", path=path))


def test_finding_is_known_though_figures_and_lines_have_changed() -> None:
    now = replace(
        LZO_WOULD_GAIN,
        message="other figures",
        location=replace(LZO_WOULD_GAIN.location, line=9),
    )
    assert states((now, BUDGET_BROKEN), (LZO_WOULD_GAIN,)) == ["known", "new"]


def test_what_weighs_more_than_before_is_worse() -> None:
    decided = replace(STRADDLES, undecided=False)
    assert states((decided,), (STRADDLES,)) == ["worse"]
    assert states((STRADDLES,), (decided,)) == ["known"]
    error = replace(LZO_WOULD_GAIN, severity="error")
    assert states((error,), (LZO_WOULD_GAIN,)) == ["worse"]


def test_finding_moves_with_its_file() -> None:
    assert states((at("lib/x/a.so"),), (at("lib/a.so"),)) == ["moved"]
    assert states((at("lib/b.so"),), (at("lib/a.so"),)) == ["new"]
    assert states((at("lib/x/a.so"), at("lib/a.so")), (at("lib/a.so"),)) == [
        "new",
        "known",
    ]


def test_other_words_make_no_finding_new_but_another_subject_does() -> None:
    evidence = DEBUG_SYMBOLS.evidence[0]
    with_lzo = replace(
        DEBUG_SYMBOLS, evidence=(replace(evidence, label="image with lzo"),)
    )
    assert states((with_lzo,), (DEBUG_SYMBOLS,)) == ["known"]
    assert states((OTHER_BUDGET_BROKEN,), (BUDGET_BROKEN,)) == ["new"]


def test_names_that_reports_escape_make_no_finding_new() -> None:
    odd = replace(
        DEBUG_SYMBOLS,
        location=Location("payload", "lib/\udcff.so"),
        subject={"target": "a\nkiosk"},
    )
    assert states((odd,), (odd,)) == ["known"]


def test_what_only_the_baseline_has_is_gone() -> None:
    (payload,) = judged(
        report_of(BUDGET_BROKEN), report_of(BUDGET_BROKEN, LZO_WOULD_GAIN)
    ).payloads
    assert [each.rule for each in payload.gone] == ["SCA101"]


def test_regression_is_new_each_time() -> None:
    slower = replace(LZO_WOULD_GAIN, rule="SCA601", name="launch-slower")
    result = judged(report_of(slower), report_of(slower))
    (payload,) = result.payloads
    assert [each.state for each in payload.findings] == ["new"]
    assert not payload.gone
    assert len(result.counting().payloads[0].findings) == 1


def test_only_new_and_worse_findings_count() -> None:
    result = judged(
        report_of(BUDGET_BROKEN, at("lib/x/a.so"), LZO_WOULD_GAIN),
        report_of(at("lib/a.so"), LZO_WOULD_GAIN),
    )
    (payload,) = result.counting().payloads
    assert payload.findings == (replace(BUDGET_BROKEN, state="new"),)


def test_baseline_of_another_snap_is_refused() -> None:
    with pytest.raises(BadDataError, match=r"is of 'other', not of 'mine'"):
        judged(report_of(snap="mine"), report_of(snap="other"))


def test_builds_of_one_name_are_held_against_their_own() -> None:
    pair = tuple(
        replace(report_of(finding).payloads[0], path=f"s_1_{architecture}.snap")
        for architecture, finding in (("amd64", BUDGET_BROKEN), ("arm64", STRADDLES))
    )
    report = LintReport(version="1", payloads=pair)
    assert [state_of(each) for each in judged(report, report).payloads] == ["known"] * 2
    next_version = replace(pair[1], path="s_2_arm64.snap")
    (payload,) = judged(replace(report, payloads=(next_version,)), report).payloads
    assert state_of(payload) == "known"
    other = replace(pair[1], path="s.snap")
    (payload,) = judged(replace(report, payloads=(other,)), report).payloads
    assert (payload.before, state_of(payload)) == (None, "new")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "Invalid JSON"),
        (b"\x00\xff", "Invalid JSON"),
        (b"[" * 100_000, "Invalid JSON"),
        (b"[]", "neither a report of lint nor a snap"),
        (b"{}", "none of the keys"),
        (b'{"schema": 1}', "advisor_version: Field required"),
        (b'{"schema": 2}', "schema: Input should be 1"),
        (b'{"schema": 1, "payloads": 3}', "neither a report"),
    ],
)
def test_what_is_no_report_is_refused(content: bytes, said: str) -> None:
    with pytest.raises(BadDataError, match=said):
        parse_baseline(content, where="base.json")


def test_figures_survive_the_report() -> None:
    report = report_of(LZO_WOULD_GAIN)
    payload = replace(report.payloads[0], figures=FIGURES)
    saved = rendered("json", replace(report, payloads=(payload,))).encode()
    (known,) = parse_baseline(saved, where="b").payloads
    assert known.figures == FIGURES


@pytest.mark.parametrize("figure", ["NaN", "Infinity", "1e999"])
def test_figures_that_are_no_numbers_are_refused(figure: str) -> None:
    report = report_of(LZO_WOULD_GAIN)
    payload = replace(report.payloads[0], figures=FIGURES)
    saved = rendered("json", replace(report, payloads=(payload,)))
    assert "44000000.0" in saved
    with pytest.raises(BadDataError, match="finite number"):
        parse_baseline(saved.replace("44000000.0", figure).encode(), where="b")


def test_figures_that_are_the_same_are_called_unchanged() -> None:
    linted = replace(
        make_report().payloads[0],
        figures=FIGURES,
        baseline=BaselineBuild(figures=FIGURES),
    )
    table = changed_table(linted)
    assert table is not None
    assert {change for _, _, _, change in table.rows} == {"unchanged"}


def test_refresh_from_the_baseline_is_among_the_figures() -> None:
    size = Interval(low=1e6, mid=2e6, high=3e6)
    delta = BaselineDelta(
        codec="xz", delta_format="xdelta3", size_bytes=size, changes=()
    )
    baseline = BaselineBuild(figures=FIGURES, delta=delta)
    report = make_report()
    linted = replace(report.payloads[0], figures=FIGURES, baseline=baseline)
    table = changed_table(linted)
    assert table is not None
    *_, (label, _, now, known) = table.rows
    assert label == "download of a refresh"
    assert str(now) == "2.0 MB (1.0\N{EN DASH}3.0 MB)"
    assert known == "estimated, plain delta with xz"
    saved = json.loads(rendered("json", replace(report, payloads=(linted,))))
    refresh = saved["payloads"][0]["refresh"]
    assert (refresh["format"], refresh["bytes"]["mid"]) == ("xdelta3", 2e6)


def test_figures_alone_leave_open_what_their_intervals_do() -> None:
    slower = replace(
        FIGURES,
        launches=(
            replace(FIGURES.launches[0], added_s=Interval(low=0.6, mid=1.0, high=1.6)),
        ),
    )
    (change,) = launch_changes(BaselineBuild(figures=FIGURES), slower)
    assert (change.change_s.low, change.change_s.high) == pytest.approx((-0.6, 1.2))
    assert change.change_s.mid == pytest.approx(0.3)


def test_text_shows_what_counts_in_full_and_the_rest_in_brief() -> None:
    result = judged(
        report_of(BUDGET_BROKEN, at("lib/x/a.so")),
        report_of(at("lib/a.so"), LZO_WOULD_GAIN),
    )
    short = rendered("text", result)
    assert "Against base.json: 1 new finding, 1 moved, 1 gone.\n" in short
    text = rendered("text", result, TextStyle(verbose=True))
    assert "  error SCA201 cold-start-budget: A cold launch" in text
    assert "Against base.json: 1 new finding, 1 moved, 1 gone.\n" in text
    assert "SCA302 debug-symbols: lib/x/a.so: " in text
    assert " (moved from lib/a.so)\n" in text
    assert "image with xz: 2.3 MB" not in text
    assert "  gone SCA101 lzo-would-gain: With lzo" in text


def test_json_and_sarif_say_each_state() -> None:
    result = judged(
        report_of(BUDGET_BROKEN, at("lib/x/a.so"), LZO_WOULD_GAIN),
        report_of(at("lib/a.so"), LZO_WOULD_GAIN, STRADDLES),
    )
    (payload,) = json.loads(rendered("json", result))["payloads"]
    assert [each["state"] for each in payload["findings"]] == ["new", "moved", "known"]
    assert [each["rule"] for each in payload["gone"]] == ["SCA301"]
    (run,) = json.loads(rendered("sarif", result))["runs"]
    assert [each["baselineState"] for each in run["results"]] == [
        "new",
        "updated",
        "unchanged",
    ]


def test_gitlab_keeps_known_findings_and_annotations_do_not() -> None:
    result = judged(report_of(LZO_WOULD_GAIN), report_of(LZO_WOULD_GAIN))
    shown = {name: rendered(name, result) for name in FORMATS}
    assert "SCA101" in shown["gitlab"]
    assert "SCA101" not in shown["github"]
    assert "SCA101" not in shown["junit"]


GIO = "usr/lib/x86_64-linux-gnu/libgio-2.0.so.0"
COMPONENTS = "name: x\ncompression: lzo\ncomponents:\n  data:\n    type: standard\n"


def linted() -> LintReport:
    """Return what all rules find now in what was linted then."""
    payloads = tuple(
        LintedPayload(
            path=f"{name}.snap",
            snap_name=name,
            findings=run_rules(context, ALL_RULES, Selection(severities={})),
        )
        for name, context in _contexts()
    )
    return LintReport(version="0.1.0", payloads=payloads)


def _contexts() -> Iterator[tuple[str, Context]]:
    budgets = {
        "max-cold-start": {"nvme-laptop": {"app0": "300ms"}, "hdd-laptop": "2min"},
        "max-image-size": "1MB",
    }
    context = make_context(
        saves=MUCH,
        policy={
            **budgets,
            "compression": "lzo",
            "targets": [{"name": "kiosk", "codecs": ["lzo"]}],
        },
        project=make_project("name: x\n"),
    )
    yield "slow", context
    yield "perhaps", make_context(saves=PERHAPS)
    sizes = ComponentSizes(
        xz_bytes=Interval.exactly(10.0 * MB),
        lzo_less_xz_bytes=Interval.exactly(3.0 * MB),
        whole=make_analysis().launches[0],
    )
    large = make_context(
        declared="lzo",
        saves=LITTLE,
        project=make_project(COMPONENTS),
        sizes={"data": sizes},
    )
    yield "large", large
    yield "foreign", make_context(declared="zstd")
    yield "surveyed", _surveyed()
    context = packed_context(ODD)
    difference = Difference(part="first difference", text="byte 24, in the superblock")
    resquash = Resquash(
        tool="mksquashfs 4.5.1",
        options=("-noappend",),
        equal=False,
        differences=(difference,),
    )
    yield "packed", replace(context, resquash=resquash)
    again = Recompressed(tried=4, differing="bin/tool", library="liblzma")
    small = make_packing(used_bytes=9000, padded_bytes=12288, image_bytes=12288)
    yield "small", packed_context(replace(small, recompressed=again))


def _surveyed() -> Context:
    site = "lib/python3.12/site-packages"
    gio = CacheFault(
        kind="gio-modules",
        state="stale",
        path="usr/lib/gio/modules/giomodule.cache",
        sources=("usr/lib/gio/modules/liba.so",),
        source_count=1,
        reason="it lacks modules",
        readers=("libgio-2.0",),
    )
    bytecode = CacheFault(
        kind="python-bytecode",
        state="missing",
        path=site,
        sources=(f"{site}/a.py", f"{site}/b.py"),
        source_count=2,
        reason="there is no bytecode",
    )
    static = NeedlessFile(path="usr/lib/liba.a", size_bytes=3 * MB)
    manual = NeedlessFile(path="usr/share/man/a.1", size_bytes=2 * MB, doubt="man")
    copy = Copy(
        path="usr/lib/libx.so.1.2",
        like="usr/lib/libx.so.1.3",
        size_bytes=4 * MB,
        doubt=None,
    )
    base = Supplied(
        path="usr/lib/libz.so.1", size_bytes=4 * MB, supplier="core24", same=True
    )
    files = {each.path: each.size_bytes for each in (static, manual, copy, base)}
    stored = storing(files).trial.stored
    analysis = launching(f"{site}/a.py", GIO)
    trial = replace(make_analysis().trial, stored=stored)
    context = make_context(analysis=replace(analysis, trial=trial))
    survey = replace(
        context.survey,
        caches=(gio, bytecode),
        needless=(
            Needless(kind="static-libraries", files=(static,)),
            Needless(kind="documentation", files=(manual,)),
        ),
        copies=(copy,),
        supplied=(base,),
    )
    return replace(context, survey=survey)


def test_what_is_saved_now_is_known_by_its_subject() -> None:
    now = linted()
    saved = parse_baseline(rendered("json", now).encode(), where="now")
    judged = judge(now, Baseline(where="now", report=saved))
    for payload, known in zip(judged.payloads, saved.payloads, strict=True):
        assert not payload.gone
        for finding, was in zip(payload.findings, known.findings, strict=True):
            assert (finding.state, finding.was) == ("known", was)
            assert finding.subject == was.subject

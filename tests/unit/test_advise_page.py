"""The page of ``advise``, in text, Markdown and HTML, and the JSON report beside it."""

import json
import re
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings

from analyses import CHANGE, UNDECIDED, make_analysis
from goldens import assert_golden
from lint_reports import HOSTILE_PATHS
from reports import answer_text, full_page, full_text, make_full_analysis, make_linted
from snapcraft_compression_advisor.advice.evidence import AVERAGE, Evidence, Saving
from snapcraft_compression_advisor.advice.judging import recommend
from snapcraft_compression_advisor.advice.recommendation import (
    Condition,
    Decides,
    DeviceVerdict,
    InDoubt,
    Recommendation,
)
from snapcraft_compression_advisor.analysis import Analysis
from snapcraft_compression_advisor.core.units import Interval
from snapcraft_compression_advisor.launch.launch_set import (
    GuessBasis,
    LaunchFile,
    Method,
)
from snapcraft_compression_advisor.report.advise_details import MODEL_ERROR
from snapcraft_compression_advisor.report.advise_json import advise_json
from snapcraft_compression_advisor.report.document import (
    read_page,
    saved_page,
    schema_text,
)
from snapcraft_compression_advisor.report.html_printer import print_html
from snapcraft_compression_advisor.report.lines import TextStyle
from snapcraft_compression_advisor.report.markdown_printer import print_markdown

MOST_BYTES = 200_000


def words(text: str) -> str:
    return " ".join(text.split())


def test_verbose_text_is_the_answer_and_then_its_details() -> None:
    analysis = make_full_analysis()
    text = full_text(analysis)
    assert_golden("report.txt", text)
    assert text.startswith(answer_text(analysis).partition("\nDetails:")[0])


def test_comment_is_the_golden_one_with_one_fold() -> None:
    text = print_markdown(full_page(make_full_analysis(), linted=make_linted()))
    assert_golden("report.md", text)
    assert text.count("<details>") == 1
    unfolded = text.partition("<details>")[0]
    assert unfolded.count("\n| ") == 4  # a head, a rule, two codecs


@pytest.mark.parametrize("columns", [60, 80, 100])
def test_text_fits_the_terminal(columns: int) -> None:
    text = full_text(make_full_analysis(apps=3), columns=columns)
    wide = [line for line in text.splitlines() if len(line) > columns]
    assert all("compression-advisor " in line or "usr/" in line for line in wide)


def test_text_is_coloured_only_where_that_is_asked_for() -> None:
    plain, coloured = (
        answer_text(make_analysis(), TextStyle(columns=80, coloured=each))
        for each in (False, True)
    )
    assert "\x1b" not in plain
    assert f"\x1b[1;36mcalculator: {CHANGE}" in coloured
    assert re.sub("\x1b\\[[0-9;]*m", "", coloured) == plain


def undecided(
    method: Method | None, *, doubts: tuple[Condition, ...] = ("saving",)
) -> Analysis:
    """Return an analysis of a recorded launch that leaves the advice open."""
    analysis = make_analysis()
    (launch,) = analysis.launches
    launch_set = replace(
        launch.launch_set, source="recorded", method=method, basis=None
    )
    advice = Recommendation(
        compression="xz", verdict="undecided", reasons=(InDoubt(doubts),)
    )
    launch = replace(launch, launch_set=launch_set)
    return replace(analysis, launches=(launch,), recommendation=advice)


def test_undecided_after_a_recording_says_what_would_decide() -> None:
    options = (("--device", "hdd-laptop"), ("--launch-profile", "my.json"))
    text = full_text(replace(undecided("residency"), options=options))
    program = '"$(command -v compression-advisor)"'
    assert f"sudo {program} calibrate -o this-machine.yaml" in text
    assert "--device hdd-laptop" not in text
    named = "--launch-profile my.json --device this-machine.yaml"
    assert named in " ".join(text.split())
    assert "--method residency" not in text
    growth = full_text(undecided("residency", doubts=("growth",)))
    assert "--exact packs with every codec, so the sizes are measured." in growth


def test_doubt_of_one_device_asks_for_the_devices_that_users_have() -> None:
    analysis = undecided("residency")
    saving = next(analysis.launches[0].savings())
    sure = DeviceVerdict(
        device="nvme-laptop", verdict="change", compression="lzo", saving=saving
    )
    doubted = replace(sure, device="hdd-laptop", verdict="undecided")
    decides = Decides(saving=saving, why="not-worth-there", by_device=(sure, doubted))
    advice = replace(analysis.recommendation, decides=decides)
    changed = replace(analysis, recommendation=advice)
    text = full_text(changed)
    assert f"{UNDECIDED}; name the devices that your users have:" in text
    assert "--device nvme-laptop\n" in text
    assert f"Judged by nvme-laptop alone: {CHANGE}." in words(text)


def guessed(*recorded: tuple[str, float]) -> Analysis:
    analysis = make_analysis()
    launch = analysis.launches[0]
    launch_set = replace(
        launch.launch_set,
        files=(LaunchFile(path="x", size_bytes=9, blocks=((0, 3),), shares=(0.25,)),),
        basis=GuessBasis(kind="GTK 4", recorded=recorded),
    )
    return replace(analysis, launches=(replace(launch, launch_set=launch_set),))


def test_text_says_how_sure_the_guess_is_for_its_kind() -> None:
    text = words(full_text(guessed(("a", 1.21), ("b", 0.88))))
    assert "Guessed from files: 1 file, about 1 of 4 data blocks" in text
    assert "2 recorded applications of this kind read 0.88\N{EN DASH}1.21 times" in text
    assert "no application of this kind was recorded" in words(full_text(guessed()))
    alone = words(answer_text(guessed(("a", 1.217))))
    assert "one app like it, recorded, read 1.22 times the guess." in alone
    many = (*((f"{n}", 1 + n / 100) for n in range(18)), ("a", 0.1), ("b", 9.0))
    few = words(answer_text(guessed(*many)))
    assert "; nine of ten apps like it read 1.00\N{EN DASH}1.17 times" in few


def test_accuracy_is_that_of_the_study() -> None:
    study = Path(__file__).parents[2]
    (file,) = (path for path in study.glob("docs/**/accuracy.md"))
    lines = file.read_text().splitlines()
    assert {f"- {text}" for text in MODEL_ERROR} <= {*lines}


def test_saved_page_prints_the_same() -> None:
    page = full_page(make_full_analysis(), linted=make_linted())
    again = read_page(saved_page(page))
    assert print_markdown(again) == print_markdown(page)
    assert print_html(again) == print_html(page)


@pytest.fixture(scope="module")
def html() -> str:
    return print_html(full_page(make_full_analysis(apps=2), linted=make_linted()))


def test_html_needs_nothing_else_and_runs_nothing(html: str) -> None:
    assert len(html.encode()) < MOST_BYTES
    assert "<script" not in html
    assert not re.search(r"""(?:src|href|action|style)=["'](?!#)|url\(|@import""", html)
    assert "default-src &#39;none&#39;" in html


def test_html_has_three_charts_of_one_width_before_its_details(html: str) -> None:
    before = html.partition("<h2>Details</h2>")[0]
    boxes = re.findall(
        r'<svg role="img" aria-label="[^"]+" viewBox="0 0 (\S+) ', before
    )
    assert len(boxes) == 3
    assert len({*boxes}) == 1


def test_html_leaves_figures_to_its_charts_and_text_has_a_table(html: str) -> None:
    assert "<table" not in html.partition("<h2>Details</h2>")[0]
    assert "download  cold start of" in answer_text(make_full_analysis())
    without = full_page(replace(make_full_analysis(), launches=()))
    assert "<table" in print_html(without).partition("<h2>Details</h2>")[0]


def test_html_names_findings_and_what_could_not_look(html: str) -> None:
    before = html.partition("<h2>Details</h2>")[0]
    assert "SCA302 debug-symbols" in before
    assert "SCA601 launch-slower: no baseline" in before


@settings(deadline=None, max_examples=5, suppress_health_check=[HealthCheck.too_slow])
@given(name=HOSTILE_PATHS)
def test_no_name_becomes_markup(name: str) -> None:
    files = ((name, 300_000), ("usr/lib/libcalc.so.1", 2_000_000))
    page = full_page(make_full_analysis(files))
    page = replace(page, title=f"<script>{name}", headline=f"<script>{name}")
    html = print_html(page)
    html.encode()
    assert "<script" not in html
    assert all(line.isprintable() for line in print_markdown(page).split("\n"))


def test_report_is_the_golden_one() -> None:
    assert_golden("report.json", advise_json(make_analysis()))


def test_every_size_says_how_it_is_known() -> None:
    analysis = make_analysis()
    codecs = json.loads(advise_json(analysis))["trial"]["codecs"]
    assert {each["origin"] for each in codecs.values()} == {"measured", None}
    sampled = replace(
        analysis,
        trial=replace(analysis.trial, mode="sampled"),
        payload=replace(analysis.payload, kind="snap", image_bytes=44_100_000),
    )
    codecs = json.loads(advise_json(sampled))["trial"]["codecs"]
    assert (codecs["xz"]["origin"], codecs["lzo"]["origin"]) == (
        "measured",
        "estimated",
    )


def test_guess_says_what_it_rests_on() -> None:
    analysis = make_analysis()
    launch = analysis.launches[0]
    basis = GuessBasis(kind="GTK 4", recorded=(("a", 1.1),))
    launch_set = replace(launch.launch_set, basis=basis)
    report = json.loads(
        advise_json(
            replace(analysis, launches=(replace(launch, launch_set=launch_set),))
        )
    )
    jsonschema.validate(report, json.loads(schema_text("report")))
    assert report["launches"][0]["guess"] == {
        "kind": "GTK 4",
        "expected_blocks": 3.0,
        "read_share": {"low": 0.5, "mid": 1.0, "high": 3.0},
        "recorded": {"a": 1.1},
        "blind_spots": [],
        "reference": {},
    }


def test_cold_total_is_never_invented() -> None:
    launch = json.loads(advise_json(make_analysis()))["launches"][0]
    cost = launch["devices"]["nvme-laptop"]["xz"]
    assert (cost["warm_s"], cost["cold_s"]) == (None, None)
    assert cost["added_s"]["mid"] == pytest.approx(cost["io_s"] + cost["decompress_s"])


def test_full_report_fits_the_schema() -> None:
    text = advise_json(
        make_full_analysis(apps=2),
        linted=make_linted(),
        command="compression-advisor advise prime",
    )
    report = json.loads(text)
    jsonschema.validate(report, json.loads(schema_text("report")))
    assert len(report["findings"]) == 4
    assert report["launches"][0]["heaviest"][0]["path"] == "usr/lib/libbig.so"


def test_average_over_the_users_names_their_shares_and_no_device() -> None:
    analysis = averaged()
    report = json.loads(advise_json(analysis))
    jsonschema.validate(report, json.loads(schema_text("report")))
    decides = report["recommendation"]["decides"]
    assert (decides["device"], decides["why"]) == (None, "average")
    assert decides["shares"] == SHARES
    assert report["method"]["policy"]["device_shares"] == SHARES
    assert "average of users" in full_text(analysis)


SHARES = {"nvme-laptop": 0.75, "hdd-laptop": 0.25}


def averaged() -> Analysis:
    """Return an analysis in which lzo gains on one device and on average."""
    known = make_analysis()
    policy = replace(known.policy, device_shares=SHARES)
    seconds = {"nvme-laptop": 2.0, "hdd-laptop": 0.0, AVERAGE: 1.5}
    savings = {
        device: Saving(app="app0", device=device, seconds=Interval.exactly(saved))
        for device, saved in seconds.items()
    }
    average = replace(savings.pop(AVERAGE), shares=SHARES)
    evidence = Evidence(
        declared="xz",
        xz_bytes=Interval.exactly(44.1e6),
        lzo_bytes=Interval.exactly(57.2e6),
        bytes_added=Interval.exactly(13.1e6),
        savings=tuple(savings.values()),
        averages=(average,),
    )
    advice = recommend(evidence, policy)
    return replace(known, policy=policy, recommendation=advice)

"""Questions to a data set, and its page."""

import json
import re
import shutil
from pathlib import Path

import pytest
from pytest_mock import MockerFixture

from doc_commands import ROOT
from fleets import make_advice, make_row
from snapcraft_compression_advisor.cli import fleet
from snapcraft_compression_advisor.cli.main import main
from snapcraft_compression_advisor.cli.write import print_page
from snapcraft_compression_advisor.core.errors import (
    BadDataError,
    NoInputError,
    UsageError,
)
from snapcraft_compression_advisor.fleet.dataset import Dataset
from snapcraft_compression_advisor.fleet.page import build_fleet_page, ranked, total
from snapcraft_compression_advisor.fleet.page_lists import FleetSources
from snapcraft_compression_advisor.fleet.query import ask, render_answer
from snapcraft_compression_advisor.fleet.reading import Fleet, read_fleet, read_weights
from snapcraft_compression_advisor.report.html_printer import print_html
from snapcraft_compression_advisor.report.markdown_printer import print_markdown
from snapcraft_compression_advisor.report.model import Page

FINDING = {
    "rule": "SCA101",
    "name": "xz-slows-launch",
    "severity": "warning",
    "undecided": False,
    "message": "lzo is faster.",
    "location": {"kind": "image", "path": "a.snap", "line": None},
    "subject": {},
}


def report(*findings: object) -> str:
    return json.dumps({"findings": findings})


@pytest.fixture
def root(tmp_path: Path) -> Path:
    Dataset(tmp_path / "data", settings="s").add(
        [
            make_advice("a", saved_s=2.0, report=report(FINDING)),
            make_advice("b", saved_s=0.1, codec="lzo", report=report()),
            make_row("c", error="damaged", verdict=None),
        ]
    )
    return tmp_path / "data"


def test_views_have_snaps_launches_and_findings(root: Path) -> None:
    sql = "SELECT codec, count(*) AS n FROM snaps GROUP BY codec ORDER BY codec"
    assert ask(root, sql).rows == (("lzo", 1), ("xz", 2))
    sql = "SELECT name, device, saved_s_mid FROM launches ORDER BY name"
    assert ask(root, sql).rows == (("a", "hdd-laptop", 2.0), ("b", "hdd-laptop", 0.1))
    assert ask(root, "SELECT DISTINCT rule FROM findings").rows == (("SCA101",),)
    sql = "SELECT DISTINCT advisor_version FROM snaps"
    assert ask(root, sql).rows == (("0.1.0",),)


def test_an_answer_is_text_csv_or_json(root: Path) -> None:
    answer = ask(root, "SELECT name, saved_s_mid, error FROM snaps ORDER BY name")
    assert render_answer(answer, "text") == (
        "name  saved_s_mid  error\na               2\nb             0.1\n"
        "c                  damaged\n"
    )
    assert render_answer(answer, "csv").splitlines()[1] == "a,2.0,"
    assert json.loads(render_answer(answer, "json"))[2] == {
        "name": "c", "saved_s_mid": None, "error": "damaged"
    }  # fmt: skip
    none = ask(root, "SELECT name FROM snaps WHERE false")
    assert render_answer(none, "text") == "name\n"


def test_a_query_that_fails_is_a_usage_error(root: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="query fails") as caught:
        ask(root, "SELECT nothing FROM snaps")
    assert "nothing" in (caught.value.details or "")
    with pytest.raises(NoInputError, match="isn't a fleet's data set"):
        ask(tmp_path / "gone", "SELECT 1")


def test_every_query_of_the_pages_is_one_that_runs(root: Path) -> None:
    page = (ROOT / "docs/how-to/fleet.md").read_text(encoding="utf-8")
    queries = re.findall(r"```sql\n(.*?)```", page, re.DOTALL)
    assert len(queries) >= 3
    for sql in queries:
        ask(root, sql, before=root)


def test_a_snap_that_was_built_anew_counts_once(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rebuilt = make_advice("a", saved_s=2.0, codec="lzo", digest="sha256:new")
    Dataset(root, settings="s").add([{**rebuilt, "state": "2", "report": report()}])
    snaps = ask(root, "SELECT name, codec FROM snaps ORDER BY name").rows
    assert snaps == (("a", "lzo"), ("b", "lzo"), ("c", "xz"))
    assert ask(root, "SELECT count(*) FROM launches").rows == ((2,),)
    digests = [snap.digest for snap in read_fleet(root).snaps]
    assert digests == ["sha256:new", "sha256:b"]
    assert main(["fleet", "lint", str(root), "--max-share", "34"]) == 0
    assert "1 of 3 snaps" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        ([], 1),
        (["--max-share", "70"], 0),
        (["--max-share", "60"], 1),
        (["--since", "{root}"], 1),
        (["--since", "{root}", "--max-share", "34"], 0),
    ],
)
def test_lint_fails_where_too_many_snaps_have_findings_that_count(
    root: Path, arguments: list[str], status: int, capsys: pytest.CaptureFixture[str]
) -> None:
    given = [each.format(root=root) for each in arguments]
    lint = ["fleet", "lint", str(root), "--fail-on", "warning", "--format"]
    assert main([*lint, "sarif", *given]) == status
    (run,) = json.loads(capsys.readouterr().out)["runs"]
    assert [result["ruleId"] for result in run["results"]] == ["SCA101"]
    main([*lint, "junit"])
    assert 'failures="1" errors="1"' in capsys.readouterr().out


def test_a_share_is_a_percentage(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fleet", "lint", "data", "--max-share", "101"]) == 64
    assert "'101' is not a whole number from 0 to 100" in capsys.readouterr().err


def _printed(page: object, output: Path) -> str:
    return print_page(page, output) if isinstance(page, Page) else ""


@pytest.mark.parametrize(("few_snaps", "pages"), [(2, {"slow", "fast"}), (1, {"slow"})])
def test_page_links_to_the_reports_of_all_snaps_where_they_are_few(
    few_snaps: int, pages: set[str], tmp_path: Path, mocker: MockerFixture
) -> None:
    mocker.patch.object(fleet, "_FEW_SNAPS", few_snaps)
    mocker.patch.object(fleet, "read_page")
    mocker.patch.object(fleet, "print_page", side_effect=_printed)
    written = mocker.patch.object(fleet, "replace_text")
    Dataset(tmp_path / "data", settings="s").add([
        make_advice("slow", saved_s=2.0, page="{}"),
        make_advice("fast", saved_s=0.1, page="{}"),
    ])  # fmt: skip
    output = tmp_path / "page.md"
    given = ["fleet", "report", str(tmp_path / "data"), "-o", str(output)]
    assert main(given) == 0
    names = {call.args[0].name.partition("-")[0] for call in written.call_args_list}
    text = output.read_text(encoding="utf-8")
    assert names == set(re.findall(r"<page-snaps/(\w+)-", text)) == pages


@pytest.mark.parametrize(
    "sql",
    [
        "COPY snaps TO '{file}'",
        "COPY (SELECT 1) TO '{part}'",
        "SELECT * FROM read_csv('/etc/passwd')",
        "SELECT * FROM read_text('{secret}')",
        "SELECT * FROM read_blob('{part}')",
        "SELECT * FROM parquet_scan('{part}')",
        "SELECT * FROM glob('/*')",
        "SELECT * FROM '{secret}'",
        "CREATE TABLE t AS FROM '{part}'",
        "ATTACH '{file}'",
        "EXPORT DATABASE '{file}'",
        "IMPORT DATABASE '{file}'",
        "INSTALL httpfs",
        "LOAD httpfs",
        "SET enable_external_access = true",
        "SET allowed_directories = ['/']",
        "SET temp_directory = '{file}'",
        "SET home_directory = '{file}'",
        "SELECT 1; SET lock_configuration = false; SELECT * FROM glob('/*')",
    ],
)
def test_a_query_neither_reads_nor_writes_files(
    root: Path, tmp_path: Path, sql: str
) -> None:
    secret = tmp_path / "secret.csv"
    secret.write_text("a,secret\n")
    (part,) = root.rglob("*.parquet")
    before = {
        path: path.is_file() and path.read_bytes() for path in tmp_path.rglob("*")
    }
    with pytest.raises(UsageError) as caught:
        ask(root, sql.format(file=tmp_path / "new", part=part, secret=secret))
    assert "a,secret" not in f"{caught.value} {caught.value.details}"
    after = {path: path.is_file() and path.read_bytes() for path in tmp_path.rglob("*")}
    assert after == before


def test_a_cell_is_one_line_of_text_and_of_csv(root: Path) -> None:
    answer = ask(root, "SELECT 'a\n::set-output\x1b[31m' AS \"b\n\x1b\", NULL AS n")
    for form in ("text", "csv"):
        head, line = render_answer(answer, form).splitlines()
        assert (head + line).isprintable()
        assert "::set-output" in line


def test_an_answer_in_markdown_is_a_table_without_markup_of_its_cells(
    root: Path,
) -> None:
    answer = ask(root, "SELECT '<b>' AS \"a|b\", 1 AS n")
    assert render_answer(answer, "markdown").splitlines() == [
        "| a\\|b | n |",
        "| --- | --- |",
        "| \\<b\\> | 1 |",
    ]


ROWS = [
    make_advice("slow", saved_s=2.0),
    make_advice("slower", saved_s=3.0),
    make_advice("fine", saved_s=0.01),
    make_advice("needless", saved_s=0.02, codec="lzo"),
    make_row("broken", error="damaged", verdict=None),
]


@pytest.fixture
def data_set(tmp_path: Path) -> Path:
    Dataset(tmp_path / "data", settings="s").add(ROWS)
    return tmp_path / "data"


@pytest.fixture
def fleet_of(data_set: Path) -> Fleet:
    return read_fleet(data_set)


def test_gains_are_ranked_and_summed_with_their_weights(fleet_of: Fleet) -> None:
    assert [each.snap.name for each in ranked(fleet_of, None, "lzo")] == [
        "slower",
        "slow",
    ]
    assert [each.snap.name for each in ranked(fleet_of, None, "xz")] == ["needless"]
    weighted = ranked(fleet_of, {"slow": 10.0}, "lzo")
    assert [(each.snap.name, each.weight) for each in weighted] == [
        ("slow", 10.0),
        ("slower", 0.0),
    ]
    sum_s = total(weighted)
    assert (sum_s.low, sum_s.mid, sum_s.high) == (10.0, 20.0, 30.0)


def test_page_says_what_to_change_first_and_links_to_reports(fleet_of: Fleet) -> None:
    links = {"sha256:slow": "fleet-snaps/slow.html"}
    page = build_fleet_page(FleetSources(fleet=fleet_of, links=links))
    assert page.headline == "3 of 4 snaps should change their compression"
    (order, *_) = page.sections[2].tables
    assert [row[0] for row in order.rows] == ["slower", "slow"]
    assert order.links == ("", "fleet-snaps/slow.html")
    text = print_html(page)
    assert text.count('<a href="fleet-snaps/slow.html">slow</a>') == 2
    assert "[slow](<fleet-snaps/slow.html>)" in print_markdown(page)
    assert "1 more couldn't be analysed." in page.sections[0].sentences


def test_seconds_of_many_users_are_hours(fleet_of: Fleet) -> None:
    weights = {"slow": 1e6, "slower": 1e6}
    page = build_fleet_page(FleetSources(fleet=fleet_of, weights=weights))
    figure = str(page.sections[1].tables[0].rows[0][1])
    assert re.fullmatch(r"[\d,.]+ h \([\d,.]+\N{EN DASH}[\d,.]+ h\)", figure)


def test_page_takes_hostile_names(tmp_path: Path) -> None:
    name = "<script>alert(1)</script>"
    Dataset(tmp_path, settings="s").add([
        make_advice(name, saved_s=2.0, digest="sha256:h")
    ])  # fmt: skip
    sources = FleetSources(fleet=read_fleet(tmp_path), links={"sha256:h": '"><script>'})
    assert "<script>alert" not in print_html(build_fleet_page(sources))
    assert '"><script>' not in print_html(build_fleet_page(sources))


def test_page_says_what_changed_since_an_earlier_data_set(
    fleet_of: Fleet, tmp_path: Path
) -> None:
    before = [
        make_advice("slow", saved_s=1.0, digest="sha256:old"),
        make_advice("slower", saved_s=3.0),
        make_advice("gone", saved_s=3.0),
    ]
    Dataset(tmp_path / "old", settings="s").add(before)
    old = read_fleet(tmp_path / "old")
    page = build_fleet_page(FleetSources(fleet=fleet_of, before=old))
    since = next(each for each in page.sections if each.title.startswith("Since"))
    assert since.sentences[0].startswith("Changed: 1 snap; new: 2; gone: 1.")
    (table,) = since.tables
    assert [row[:2] for row in table.rows] == [("slow", "cold launch")]


def test_weights_are_a_csv_of_names_and_numbers(tmp_path: Path) -> None:
    file = tmp_path / "weights.csv"
    file.write_text("name,installs,weight\nslow,x,10\nfine,x,0.5\n")
    assert read_weights(file) == {"slow": 10.0, "fine": 0.5}
    for text in ("name,weight\nslow,-1\n", "name,weight\n,1\n", "a,b\nslow,1\n"):
        file.write_text(text)
        with pytest.raises(BadDataError, match="line 2"):
            read_weights(file)
    with pytest.raises(NoInputError, match="Cannot read the weights"):
        read_weights(tmp_path / "nothing.csv")


def test_an_empty_fleet_has_a_page(data_set: Path, tmp_path: Path) -> None:
    shutil.rmtree(data_set)
    Dataset(tmp_path, settings="s").add([make_row("b", error="damaged", verdict=None)])
    page = build_fleet_page(FleetSources(fleet=read_fleet(tmp_path)))
    assert page.headline == "0 of 0 snaps should change their compression"
    assert "damaged" in print_html(page)

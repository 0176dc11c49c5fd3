"""The HTML page: self-contained, inert, within its size."""

from __future__ import annotations

import base64
import hashlib
import re
import subprocess
import sys
from functools import cache, partial
from html.parser import HTMLParser
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings

from lint_reports import HOSTILE_PATHS
from measurements import make_measurement
from reports import make_full_report
from snapcraft_compression_advisor.core.errors import ToolError
from snapcraft_compression_advisor.core.printable import printable
from snapcraft_compression_advisor.installing import install_command
from snapcraft_compression_advisor.report import html_report
from snapcraft_compression_advisor.report.html_report import (
    check_html_extra,
    render_html,
)
from snapcraft_compression_advisor.report.json_report import Report
from snapcraft_compression_advisor.report.measure_json import (
    build_measurement_report,
)
from snapcraft_compression_advisor.report.page.build import Sources, build_page
from snapcraft_compression_advisor.report.page.launch_files import draw_launch_map
from snapcraft_compression_advisor.report.page.model import (
    Chart,
    Entry,
    Group,
    Page,
    Section,
    Table,
)

if TYPE_CHECKING:
    from types import ModuleType

    from pytest_mock import MockerFixture

MOST_BYTES = 1_500_000
_VOID = {"meta", "br", "path", "line", "rect"}


class Element(NamedTuple):
    tag: str
    attributes: dict[str, str | None]


class Reader(HTMLParser):
    """Collects elements and the text between them."""

    def __init__(self) -> None:
        super().__init__()
        self.elements: list[Element] = []
        self.texts: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append(Element(tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def read(html: str) -> Reader:
    reader = Reader()
    reader.feed(html)
    reader.close()
    return reader


@pytest.fixture(scope="module")
def html() -> str:
    """Return the page of everything."""
    measurement = build_measurement_report(make_measurement(walk=True))
    sources = Sources(report=make_full_report(apps=2), measurement=measurement)
    return render_html(build_page(sources))


def test_page_stays_under_its_size(html: str) -> None:
    assert len(html.encode()) < MOST_BYTES


def test_page_names_no_address_but_its_own_parts(html: str) -> None:
    reader = read(html)
    for element in reader.elements:
        for name in ("src", "href", "xlink:href", "action", "srcset", "data"):
            value = element.attributes.get(name)
            assert value is None or value.startswith("#"), element
    style = re.search("<style>(.*?)</style>", html, re.DOTALL)
    assert style is not None
    assert "url(" not in style[1]
    assert "@import" not in style[1]


def test_policy_allows_the_pages_own_style_and_script_only(html: str) -> None:
    policy = re.search('Content-Security-Policy" content="([^"]*)"', html)
    assert policy is not None
    text = policy[1].replace("&#39;", "'")
    assert text.startswith("default-src 'none'; ")
    for tag in ("style", "script"):
        body = re.search(f"<{tag}>(.*?)</{tag}>", html, re.DOTALL)
        assert body is not None
        digest = base64.b64encode(hashlib.sha256(body[1].encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in text
    assert "unsafe" not in text


def test_nothing_is_styled_or_run_inline(html: str) -> None:
    for element in read(html).elements:
        assert "style" not in element.attributes, element
        assert not [name for name in element.attributes if name.startswith("on")]


def test_ids_are_unique_and_every_part_has_a_heading(html: str) -> None:
    elements = read(html).elements
    ids = [each.attributes["id"] for each in elements if "id" in each.attributes]
    assert len(ids) == len(set(ids))
    parts = [each.attributes for each in elements if each.tag == "section"]
    headings = {each.attributes["id"] for each in elements if each.tag == "h2"}
    assert {part["aria-labelledby"] for part in parts} == headings
    assert len(parts) > 6


def test_marks_of_charts_carry_the_reports_numbers(html: str) -> None:
    labels = {
        each.attributes.get("aria-label")
        for each in read(html).elements
        if each.attributes.get("role") == "graphics-symbol"
    }
    report = make_full_report(apps=2)
    added = report.launches[0].devices["nvme-laptop"]["xz"].added_s
    low, mid, high = (f"{end:.2f}" for end in (added.low, added.mid, added.high))
    assert f"xz: 44.1 MB, {mid} s ({low}–{high})" in labels  # noqa: RUF001 # as printed
    assert "largest 1: 75% of the payload" in labels


def test_charts_have_names_and_can_be_reached_by_keyboard(html: str) -> None:
    charts = [each for each in read(html).elements if each.tag == "svg"]
    assert charts
    for chart in charts:
        assert chart.attributes["aria-label"]
        assert chart.attributes["tabindex"] == "0"


def test_same_report_makes_the_same_page(html: str) -> None:
    measurement = build_measurement_report(make_measurement(walk=True))
    sources = Sources(report=make_full_report(apps=2), measurement=measurement)
    assert render_html(build_page(sources)) == html


def hostile_page(name: str) -> Page:
    """Return a page with a name wherever one can stand."""
    tiles = (name, ({"name": name, "share": 1, "text": name},))
    table = Table(
        caption=name,
        heads=("file", name),
        rows=((name, name),),
        names=frozenset((0,)),
    )
    chart = Chart(
        key="map",
        title=name,
        alt=name,
        draw=partial(draw_launch_map, (tiles,)),
        wide=True,
        table=table,
    )
    section = Section(
        key="files",
        title=name,
        origin=name,
        paragraphs=(name,),
        legend=name,
        groups=(Group(heading=name, paragraphs=(name,), charts=(chart,)),),
        entries=(
            Entry(mark=name, tone="info", title=name, text=name, details=(name,)),
        ),
        terms=((name, (name,)),),
    )
    return Page(
        title=name,
        tone="change",
        verdict=name,
        reasons=(name,),
        facts=(name,),
        tiles=(),
        sections=(section,),
        version="1",
    )


@cache
def harmless() -> Reader:
    return read(render_html(hostile_page("x")))


@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(HOSTILE_PATHS)
def test_whatever_a_file_is_called_stays_text(name: str) -> None:
    hostile = read(render_html(hostile_page(name)))
    outside = [each.tag for each in harmless().elements if each.tag not in _VOID]
    assert [each.tag for each in hostile.elements if each.tag not in _VOID] == outside
    for element in hostile.elements:
        assert {key for key in element.attributes if key.startswith("on")} == set()
    text = "".join(hostile.texts)
    assert text.count(printable(name).strip()) >= 10


@pytest.mark.parametrize(
    "name",
    [
        "</script><script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        '" onload="alert(1)',
        "{{ 7 * 7 }}",
        "${alert(1)}",
        "]]></svg><script>",
        "\u202egnp.exe",
        "javascript:alert(1)",
        *("x" * length + "\U0001f600" * 40 for length in (0, 1)),
    ],
)
def test_known_attacks_stay_text(name: str) -> None:
    reader = read(render_html(hostile_page(name)))
    assert [each.tag for each in reader.elements].count("script") == 1
    known = {key for each in harmless().elements for key in each.attributes}
    assert {key for each in reader.elements for key in each.attributes} <= known
    assert printable(name) in "".join(reader.texts)
    assert "49" not in "".join(reader.texts[-20:])


def test_hostile_names_of_a_whole_report_stay_text() -> None:
    name = "</title><script>alert('é')</script>/\"'><b>{{x}}"
    report = make_full_report(files=((f"usr/{name}", 9_000_000), ("b", 100)))
    text = report.model_dump_json(by_alias=True).replace("calculator", "<b>snap</b>")
    html = render_html(build_page(Sources(report=Report.model_validate_json(text))))
    tags = [each.tag for each in read(html).elements]
    assert tags.count("script") == 1
    assert "b" not in tags
    assert "&lt;b&gt;snap" in html


def test_without_the_extra_its_name_is_told(mocker: MockerFixture) -> None:
    def missing(name: str) -> ModuleType:
        if name == "vl_convert":
            raise ModuleNotFoundError(name)
        return import_module(name)

    mocker.patch.object(html_report, "import_module", missing)
    with pytest.raises(ToolError, match="vl_convert, which isn't installed") as caught:
        check_html_extra()
    assert install_command("report") in str(caught.value.resolution)


def test_chart_that_cannot_be_drawn_is_an_error_of_the_tool(
    mocker: MockerFixture,
) -> None:
    library = mocker.Mock()
    library.vega_to_svg.side_effect = ValueError("boom")
    mocker.patch.object(
        html_report,
        "imported",
        lambda name: library if name == "vl_convert" else import_module(name),
    )
    with pytest.raises(ToolError, match="cannot draw"):
        render_html(hostile_page("x"))


def test_library_that_draws_something_else_is_an_error(mocker: MockerFixture) -> None:
    library = mocker.Mock()
    library.vega_to_svg.return_value = "<p>"
    mocker.patch.object(
        html_report,
        "imported",
        lambda name: library if name == "vl_convert" else import_module(name),
    )
    with pytest.raises(ToolError, match="didn't return an SVG"):
        render_html(hostile_page("x"))


def test_nothing_is_fetched_for_a_chart(mocker: MockerFixture) -> None:
    library = mocker.Mock(wraps=import_module("vl_convert"))
    mocker.patch.object(
        html_report,
        "imported",
        lambda name: library if name == "vl_convert" else import_module(name),
    )
    render_html(hostile_page("x"))
    for call in library.vega_to_svg.call_args_list:
        assert call.kwargs == {"allowed_base_urls": []}


def test_advice_as_text_imports_nothing_that_pages_need() -> None:
    program = (
        "import sys; from snapcraft_compression_advisor.cli import advise; "
        "print({'jinja2', 'vl_convert'} & set(sys.modules))"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert ran.stdout == "set()\n"

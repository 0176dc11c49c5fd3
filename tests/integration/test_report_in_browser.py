"""What pages do in a real browser."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from axe_playwright_python.sync_playwright import Axe

from browsing import CHROMIUM, open_folds, opened
from measurements import make_measurement
from reports import make_full_report
from snapcraft_compression_advisor.report.html_report import render_html
from snapcraft_compression_advisor.report.measure_json import (
    build_measurement_report,
)
from snapcraft_compression_advisor.report.page.build import Sources, build_page

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page

SCREENSHOTS = Path(__file__).parents[2] / ".cache" / "screenshots"

pytestmark = pytest.mark.skipif(
    CHROMIUM is None, reason="neither chromium nor google-chrome is installed"
)


@pytest.fixture(scope="module")
def page_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the page of everything."""
    measurement = build_measurement_report(make_measurement(walk=True, compared=True))
    sources = Sources(report=make_full_report(), measurement=measurement)
    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(render_html(build_page(sources)), encoding="utf-8")
    return path


def first_mark(page: Page, text: str) -> Locator:
    """Return the mark of a chart that stands for what begins so, as it is shown."""
    marks = page.locator(f'svg [role="graphics-symbol"][aria-label^="{text}"]')
    return marks.locator("visible=true").first


@pytest.mark.parametrize(
    ("width", "colours"), [(1100, "light"), (1100, "dark"), (360, "light")]
)
def test_page_is_accessible_and_fits(
    browser: Browser, page_file: Path, width: int, colours: str
) -> None:
    dark = colours == "dark"
    with opened(browser, page_file, width=width, dark=dark) as page:
        for folds in ("", "-open"):
            if folds:
                open_folds(page)
            found = Axe().run(page)
            assert found.violations_count == 0, found.generate_report()
            inner = page.evaluate("document.documentElement.scrollWidth")
            assert inner <= width
            SCREENSHOTS.mkdir(parents=True, exist_ok=True)
            name = f"report-{width}-{colours}{folds}.png"
            page.screenshot(path=SCREENSHOTS / name, full_page=True)


def test_marks_show_the_reports_numbers_where_the_pointer_is(
    browser: Browser, page_file: Path
) -> None:
    added = make_full_report().launches[0].devices["nvme-laptop"]["xz"].added_s
    with opened(browser, page_file) as page:
        tip = page.locator("#tip")
        assert tip.is_hidden()
        first_mark(page, "xz: ").hover()
        text = tip.inner_text()
        assert text.startswith(f"xz: 44.1 MB, {added.mid:.2f} s ({added.low:.2f}")
        first_mark(page, "usr/lib/libbig.so: ").hover()
        assert tip.inner_text() == "usr/lib/libbig.so: 69 data blocks, 73%"
        page.locator("h1").hover()
        assert tip.is_hidden()


def test_arrow_keys_go_from_mark_to_mark(browser: Browser, page_file: Path) -> None:
    with opened(browser, page_file) as page:
        chart = page.locator("#tradeoff svg.broad").first
        labels = [
            each.get_attribute("aria-label")
            for each in chart.locator('[role="graphics-symbol"]').all()
        ]
        chart.focus()
        # Scrolling hides what is shown; the page hears of it before the next frame.
        page.evaluate(
            "new Promise(done => requestAnimationFrame(() => setTimeout(done)))"
        )
        tip = page.locator("#tip")
        seen = []
        for _ in labels:
            page.keyboard.press("ArrowRight")
            seen.append(tip.inner_text())
        assert seen == labels
        page.keyboard.press("Escape")
        assert tip.is_hidden()
        page.keyboard.press("End")
        assert tip.inner_text() == labels[-1]


def test_dark_screens_get_dark_pages(browser: Browser, page_file: Path) -> None:
    shades = []
    for dark in (False, True):
        with opened(browser, page_file, dark=dark) as page:
            shades.append(
                page.evaluate(
                    "[getComputedStyle(document.documentElement).backgroundColor,"
                    "getComputedStyle(document.querySelector('svg.broad text')).fill]"
                )
            )
    assert shades[0][0] == "rgb(255, 255, 255)"
    assert shades[1][0] == "rgb(18, 22, 27)"
    assert shades[0][1] != shades[1][1]


def test_phones_get_charts_of_their_width(browser: Browser, page_file: Path) -> None:
    with opened(browser, page_file, width=360) as page:
        assert page.locator("svg.broad").locator("visible=true").count() == 0
        open_folds(page)
        for chart in page.locator("figure:not([hidden]) svg.narrow").all():
            box = chart.bounding_box()
            assert box is not None
            assert 250 <= box["width"] <= 340


def test_phones_show_the_first_table_and_the_tiles_whole(
    browser: Browser, page_file: Path
) -> None:
    overflows = "each => each.scrollWidth > each.clientWidth"
    with opened(browser, page_file, width=360) as page:
        open_folds(page)
        for part in (
            page.locator("#tradeoff .scroll"),
            *page.locator(".tiles > *").all(),
        ):
            assert not part.evaluate(overflows)


@pytest.mark.parametrize(
    "place", ["h1", "main p", "summary", "select", ".steps button", ".drawing svg text"]
)
def test_text_is_proportional_whatever_fonts_there_are(
    browser: Browser, page_file: Path, place: str
) -> None:
    width = """([place, text]) => {
        const span = document.createElement("span");
        span.textContent = text;
        const look = getComputedStyle(document.querySelector(place));
        span.style.fontFamily = look.fontFamily;
        document.body.append(span);
        return span.getBoundingClientRect().width;
    }"""
    with opened(browser, page_file) as page:
        thin, thick = (page.evaluate(width, [place, text]) for text in ("iiii", "MMMM"))
        assert thin < thick / 2


def test_figures_of_tiles_stand_in_a_row(browser: Browser, page_file: Path) -> None:
    with opened(browser, page_file) as page:
        boxes = [each.bounding_box() for each in page.locator(".tiles strong").all()]
        # Two rows of two.
        assert len(boxes) == 4
        assert len({box["y"] for box in boxes if box is not None}) == 2


def test_paper_has_the_tables_and_no_navigation(
    browser: Browser, page_file: Path
) -> None:
    with opened(browser, page_file, dark=True, scripts=False) as page:
        page.emulate_media(media="print")
        assert page.locator("nav").is_hidden()
        colour = page.evaluate("getComputedStyle(document.body).color")
        assert colour == "rgb(0, 0, 0)"
        for table in page.locator("table").all():
            box = table.bounding_box()
            assert box is not None
            assert box["height"] > 0
        assert page.pdf().startswith(b"%PDF")


def test_charts_are_there_without_scripts(browser: Browser, page_file: Path) -> None:
    with opened(browser, page_file, scripts=False) as page:
        for fold in page.locator("main > details > summary").all():
            fold.click()
        charts = page.locator("figure:not([hidden]) svg.broad").all()
        assert len(charts) >= 10
        for chart in charts:
            assert chart.is_visible()
        assert page.locator("figure[data-device]:not([hidden])").count() == 1
        assert page.locator("#choices, .copied button").first.is_hidden()
        assert page.locator(".copied code").first.inner_text() == "compression: lzo"


def test_page_of_hostile_names_runs_nothing(browser: Browser, tmp_path: Path) -> None:
    attack = "</title></script><script>alert(1)</script><img src=x onerror=alert(2)>"
    finding = {"message": attack, "files": (attack,)}
    files = ((f"usr/{attack}", 9_000_000), (f"{attack}.so", 10_000_000))
    report = make_full_report(files)
    report = report.model_copy(
        update={
            "payload": report.payload.model_copy(update={"name": attack}),
            "findings": [
                each.model_copy(update=finding) for each in report.findings or ()
            ],
        }
    )
    path = tmp_path / "report.html"
    path.write_text(render_html(build_page(Sources(report=report))), encoding="utf-8")
    with opened(browser, path) as page:
        assert page.locator("script").count() == 1
        assert page.locator("img").count() == 0
        assert attack in page.locator("h1").inner_text()
        first_mark(page, "usr/</title>").hover()
        assert attack.removeprefix("</title>") in page.locator("#tip").inner_text()


def test_device_and_codecs_are_switched_without_loading_again(
    browser: Browser, page_file: Path
) -> None:
    with opened(browser, page_file) as page:
        shown = page.locator("#tradeoff figure:visible")
        assert shown.get_attribute("data-device") == "nvme-laptop"
        page.locator("select[name=device]").select_option("hdd-laptop")
        assert shown.get_attribute("data-device") == "hdd-laptop"
        assert first_mark(page, "zstd *: ").count() == 0
        page.get_by_role("checkbox").focus()
        page.keyboard.press("Space")
        assert shown.get_attribute("data-what-if") == "yes"
        first_mark(page, "zstd *: ").hover()
        assert page.locator("#tip").inner_text().startswith("zstd *: 48.5 MB, ")


def test_another_apps_charts_take_the_place_of_the_first_ones(
    browser: Browser, tmp_path: Path
) -> None:
    path = tmp_path / "report.html"
    sources = Sources(report=make_full_report(apps=3))
    path.write_text(render_html(build_page(sources)), encoding="utf-8")
    with opened(browser, path) as page:
        picked = page.locator("select[name=app]")
        shown = page.locator("main section > .group[data-app]")
        parts = page.locator("details.others").count()
        for app in ("app2", "app1", "app0"):
            picked.select_option(app)
            found = [each.get_attribute("data-app") for each in shown.all()]
            assert found == [app] * parts
            assert page.locator(f"#tradeoff [data-app={app}] svg:visible").count() == 1
        page.emulate_media(media="print")
        open_folds(page)
        for app in ("app1", "app2"):
            assert page.locator(f"#tradeoff [data-app={app}] table").is_visible()


def test_steps_are_copied(browser: Browser, page_file: Path) -> None:
    with opened(browser, page_file) as page:
        page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        for step in page.locator(".copied").all():
            step.get_by_role("button").click()
            expected = step.locator("code").inner_text()
            step.get_by_role("button", name="Copied").wait_for()
            assert page.evaluate("navigator.clipboard.readText()") == expected


def test_step_that_cannot_be_copied_is_selected(
    browser: Browser, page_file: Path
) -> None:
    with opened(browser, page_file) as page:
        page.evaluate(
            "void (navigator.clipboard.writeText = () => Promise.reject(Error()))"
        )
        page.locator(".copied button").first.click()
        page.get_by_role("button", name="Selected").wait_for()
        assert page.evaluate("getSelection().toString()") == "compression: lzo"

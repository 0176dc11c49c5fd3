"""What pages look like in a real browser."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from axe_playwright_python.sync_playwright import Axe

from browsing import CHROMIUM, open_folds, opened
from reports import full_page, make_full_analysis, make_linted
from snapcraft_compression_advisor.report.html_printer import print_html

if TYPE_CHECKING:
    from playwright.sync_api import Browser

SCREENSHOTS = Path(__file__).parents[2] / ".cache" / "screenshots"
MOST_PX = 1200

pytestmark = pytest.mark.skipif(
    CHROMIUM is None, reason="neither chromium nor google-chrome is installed"
)


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[int, Path]:
    """Write the pages of everything, by how many apps the snap has."""
    folder = tmp_path_factory.mktemp("page")
    for apps in (1, 40):
        page = full_page(make_full_analysis(apps=apps), linted=make_linted())
        (folder / f"{apps}.html").write_text(print_html(page), encoding="utf-8")
    return {apps: folder / f"{apps}.html" for apps in (1, 40)}


@pytest.fixture(params=[1, 40])
def page_file(pages: dict[int, Path], request: pytest.FixtureRequest) -> Path:
    return pages[request.param]


@pytest.mark.parametrize(
    ("apps", "width", "colours"),
    [(1, 400, "light"), (1, 1200, "dark"), (40, 400, "dark")],
)
def test_page_is_accessible_and_fits(
    browser: Browser, pages: dict[int, Path], apps: int, width: int, colours: str
) -> None:
    dark, page_file = colours == "dark", pages[apps]
    with opened(browser, page_file, width=width, dark=dark, scripts=True) as page:
        for folds in ("", "-open"):
            if folds:
                open_folds(page)
            found = Axe().run(page)
            assert found.violations_count == 0, found.generate_report()
            inner = page.evaluate("document.documentElement.scrollWidth")
            assert inner <= width
            SCREENSHOTS.mkdir(parents=True, exist_ok=True)
            name = f"{page_file.stem}-{width}-{colours}{folds}.png"
            page.screenshot(path=SCREENSHOTS / name, full_page=True)


def test_answer_and_its_charts_fit_one_and_a_half_screens(
    browser: Browser, page_file: Path
) -> None:
    with opened(browser, page_file, width=1200) as page:
        height = page.evaluate("document.documentElement.scrollHeight")
        assert height <= MOST_PX
        widths = page.evaluate(
            "[...document.querySelectorAll('section.drawn:not(details *) svg')]"
            ".map(each => Math.round(each.getBoundingClientRect().width))"
        )
        assert len(widths) == 3
        assert len({*widths}) == 1


@pytest.mark.parametrize("width", [400, 1200])
def test_nothing_is_cropped(browser: Browser, page_file: Path, width: int) -> None:
    with opened(browser, page_file, width=width) as page:
        cropped = page.evaluate(
            "[...document.querySelectorAll('pre')]"
            ".filter(each => each.scrollWidth > each.clientWidth).length"
        )
        assert cropped == 0
        assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("least_s", [0.05, 10.0])
def test_chart_shows_the_policys_limit_whole(
    browser: Browser, tmp_path: Path, least_s: float
) -> None:
    analysis = make_full_analysis()
    policy = replace(analysis.policy, min_saving_s=least_s)
    path = tmp_path / "page.html"
    path.write_text(print_html(full_page(replace(analysis, policy=policy))))
    with opened(browser, path, width=1200) as page:
        left, right, start, end = page.evaluate(
            "[...document.querySelectorAll('#saved svg, #saved svg text')]"
            ".filter(each => each.tagName == 'svg' || /policy/.test(each.textContent))"
            ".flatMap(each => [each.getBoundingClientRect()])"
            ".flatMap(each => [each.left, each.right])"
        )
        assert left <= start < end <= right

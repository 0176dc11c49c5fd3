"""Where things are on pages of several kinds, in a real browser: heights and labels."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from browsing import CHROMIUM, open_folds, opened
from measurements import make_measurement
from reports import make_full_report
from snapcraft_compression_advisor.report.contract import Interval
from snapcraft_compression_advisor.report.html_report import render_html
from snapcraft_compression_advisor.report.measure_json import (
    build_measurement_report,
)
from snapcraft_compression_advisor.report.page.build import Sources, build_page

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from playwright.sync_api import Browser

pytestmark = pytest.mark.skipif(
    CHROMIUM is None, reason="neither chromium nor google-chrome is installed"
)

TWO_SCREENS_PX = 1600
"""Of 1280 by 800 pixels."""

MOST_BYTES = 1_500_000

COVERED = """() => {
    const seen = (each) => each.getClientRects().length && each.checkVisibility();
    const inside = (box, x, y) =>
        x > box.left + 1 && x < box.right - 1 && y > box.top + 1 && y < box.bottom - 1;
    const found = [];
    for (const svg of document.querySelectorAll("figure:not(.map) .drawing svg")) {
        if (!seen(svg)) continue;
        const texts = [...svg.querySelectorAll("text")]
            .filter((each) => each.textContent.trim())
            .map((each) => [each.textContent, each.getBoundingClientRect()]);
        texts.forEach(([text, a], at) => {
            for (const [other, b] of texts.slice(at + 1)) {
                const width = Math.min(a.right, b.right) - Math.max(a.left, b.left);
                const height = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
                if (width > 1 && height > 4) found.push(`${text} and ${other}`);
            }
        });
        const labels = [...svg.querySelectorAll(".mark-text.role-mark text")].map(
            (each) => [each.textContent, each.getBoundingClientRect()],
        );
        const marks = svg.querySelectorAll(
            ".role-mark path, .role-mark line, .role-mark rect",
        );
        for (const mark of marks) {
            if (mark.closest(".mark-area")) continue; // a shade, to be written on
            const length = mark.getTotalLength();
            const matrix = mark.getScreenCTM();
            for (let step = 0; step <= 200; step++) {
                const point = mark.getPointAtLength((length * step) / 200);
                const { x, y } = point.matrixTransform(matrix);
                for (const [text, box] of labels)
                    if (inside(box, x, y)) found.push(`${text} on a mark`);
            }
        }
    }
    return [...new Set(found)];
}"""


def measured() -> Sources:
    measurement = build_measurement_report(make_measurement(walk=True))
    return Sources(report=make_full_report(), measurement=measurement)


def alike() -> Sources:
    """Return a report in which codecs are nearly as large, and as fast, as others."""
    report = make_full_report()
    codecs = {
        name: codec.model_copy(
            update={
                "image_bytes": Interval(
                    low=(44 + n) * 1e6, mid=(44.5 + n) * 1e6, high=(45 + n) * 1e6
                )
            }
        )
        for n, (name, codec) in enumerate(report.trial.codecs.items())
        if codec.image_bytes is not None
    }
    (launch,) = report.launches
    costs = launch.devices["nvme-laptop"]
    same = dict.fromkeys(costs, costs["xz"])
    return Sources(
        report=report.model_copy(
            update={
                "trial": report.trial.model_copy(update={"codecs": codecs}),
                "launches": [
                    launch.model_copy(
                        update={"devices": dict.fromkeys(launch.devices, same)}
                    )
                ],
            }
        )
    )


def undecided() -> Sources:
    report = make_full_report()
    advice = report.recommendation.model_copy(
        update={"verdict": "undecided", "compression": "xz"}
    )
    return Sources(report=report.model_copy(update={"recommendation": advice}))


def of_apps(apps: int) -> Sources:
    return Sources(report=make_full_report(apps=apps))


KINDS: Mapping[str, Callable[[], Sources]] = {
    "one-app": lambda: of_apps(1),
    "forty-apps": lambda: of_apps(40),
    "measured": measured,
    "alike": alike,
    "undecided": undecided,
}


@pytest.fixture(scope="module", params=KINDS)
def page_path(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """Write the page of a kind of report."""
    path = tmp_path_factory.mktemp("page") / f"{request.param}.html"
    sources = KINDS[request.param]()
    path.write_text(render_html(build_page(sources)), encoding="utf-8")
    return path


def test_main_story_fits_two_screens(browser: Browser, page_path: Path) -> None:
    with opened(browser, page_path, width=1280) as page:
        height = page.evaluate("document.documentElement.scrollHeight")
        assert height <= TWO_SCREENS_PX


def test_page_of_any_kind_stays_under_its_size(page_path: Path) -> None:
    assert page_path.stat().st_size < MOST_BYTES


@pytest.mark.parametrize("width", [360, 1280])
def test_labels_cover_neither_marks_nor_each_other(
    browser: Browser,
    page_path: Path,
    width: int,
) -> None:
    with opened(browser, page_path, width=width) as page:
        open_folds(page)
        assert page.evaluate(COVERED) == []
        page.get_by_role("checkbox").check()
        assert page.evaluate(COVERED) == []


def test_labels_that_cover_marks_are_noticed(
    browser: Browser,
    page_path: Path,
) -> None:
    move = """() => {
        const chart = [...document.querySelectorAll("#tradeoff svg.broad")].find(
            (each) => each.checkVisibility(),
        );
        const point = chart.querySelector('[role="graphics-symbol"]');
        const label = chart.querySelector(".mark-text.role-mark text");
        label.setAttribute("transform", point.getAttribute("transform"));
    }"""
    with opened(browser, page_path, width=1280) as page:
        page.evaluate(move)
        assert page.evaluate(COVERED) != []

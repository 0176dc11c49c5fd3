"""The page as Markdown."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from markdown_it import MarkdownIt

from lint_reports import HOSTILE_PATHS
from measurements import make_measurement
from reports import make_full_report
from snapcraft_compression_advisor.report.markdown_report import render_markdown
from snapcraft_compression_advisor.report.measure_json import (
    build_measurement_report,
)
from snapcraft_compression_advisor.report.page.build import Sources, build_page
from snapcraft_compression_advisor.report.page.model import (
    Entry,
    Group,
    Page,
    Section,
    Table,
)

if TYPE_CHECKING:
    from markdown_it.token import Token

GOLDEN = Path(__file__).parent / "golden"


def test_report_is_the_golden_one() -> None:
    measurement = build_measurement_report(make_measurement(walk=True))
    sources = Sources(report=make_full_report(), measurement=measurement)
    assert render_markdown(build_page(sources)) == (GOLDEN / "report.md").read_text()


def test_parts_and_figures_are_those_of_the_page() -> None:
    page = build_page(Sources(report=make_full_report()))
    text = render_markdown(page)
    headings = [line[3:] for line in text.splitlines() if line.startswith("## ")]
    assert headings == [section.title for section in page.sections]
    for tile in page.tiles:
        assert tile.figure in text


def tokens(text: str) -> list[Token]:
    """Return what a renderer of GitHub's Markdown makes of it, nested parts too."""
    found = []
    for token in MarkdownIt("gfm-like", {"linkify": False}).parse(text):
        found += [token, *(token.children or ())]
    return found


def page_of(name: str) -> Page:
    table = Table(caption=name, heads=("file", name), rows=((name, name),))
    section = Section(
        key="files",
        title=f"T {name}",
        origin=f"O {name}",
        paragraphs=(f"P {name}",),
        groups=(
            Group(heading=f"G {name}", table=table),
            Group(table=table, open_table=True),
        ),
        entries=(
            Entry(mark="info", tone="info", title=name, text=name, details=(name,)),
        ),
        terms=((f"T {name}", (name,)),),
    )
    return Page(
        title=f"T {name}",
        tone="change",
        verdict=f"V {name}",
        reasons=(name,),
        facts=(f"F {name}",),
        tiles=(),
        sections=(section,),
        version="1",
    )


HARMLESS = [token.type for token in tokens(render_markdown(page_of("name")))]


@pytest.mark.parametrize(
    "name",
    ["a|b", "<b>x</b>", "</summary><script>", "![x](http://x)", "`|`", "\\|", "a\n# b"],
)
def test_known_attacks_stay_text(name: str) -> None:
    _check_inert(name)


@given(HOSTILE_PATHS)
def test_whatever_a_file_is_called_stays_text(name: str) -> None:
    _check_inert(name)


def _check_inert(name: str) -> None:
    found = tokens(render_markdown(page_of(name)))
    kinds = {token.type for token in found}
    assert not kinds & {"link_open", "image", "code_inline", "fence"}
    tables = [token.type for token in found if token.type in {"table_open", "td_open"}]
    assert tables == [kind for kind in HARMLESS if kind in {"table_open", "td_open"}]
    html = [t.content for t in found if t.type in {"html_block", "html_inline"}]
    for content in html:
        assert content.strip().startswith(("<details><summary>", "</details>", "<!-- "))
        assert "<script" not in content
        assert content.count("<") <= 3

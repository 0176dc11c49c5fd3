"""Links of the pages, and what the README quotes from them."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import jsonschema
import pytest
from ruamel.yaml import YAML

from doc_commands import ROOT, pages
from glossary_links import TERMS, with_glossary_links

if TYPE_CHECKING:
    from pathlib import Path

LINK = re.compile(r"\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?\)")
OTHERS = ("meta/", "snap/", "reviewtools/", "store/")
"""Files of snaps and of other projects, by the beginning of their paths."""

CODE = re.compile(r"^(````*)\w*\n.*?^\1$|`[^`\n]+`", re.MULTILINE | re.DOTALL)
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)


def prose(page: Path) -> str:
    return CODE.sub("", page.read_text(encoding="utf-8"))


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as GitHub makes them."""
    headings = HEADING.findall(page.read_text(encoding="utf-8"))
    return {
        re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        for heading in headings
    }


@pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_links_of_a_page_lead_somewhere(page: Path) -> None:
    for name, anchor in LINK.findall(prose(page)):
        target = (page.parent / name).resolve() if name else page
        assert target.exists(), name
        assert not anchor or anchor in anchors(target), f"{name}#{anchor}"


def test_figures_of_the_readme_are_those_of_the_pages() -> None:
    (row,) = re.findall(
        r"^\| seconds of a start \|(.*)\|$",
        (ROOT / "README.md").read_text(),
        re.MULTILINE,
    )
    accuracy = (ROOT / "docs/study/accuracy.md").read_text(encoding="utf-8")
    figures = re.findall(r"[\d.]+%|\d+ of \d+", row)
    assert len(figures) == 4
    assert [each for each in figures if each not in accuracy] == []


def test_example_of_the_settings_fits_their_schema() -> None:
    text = (ROOT / "docs/reference/settings.md").read_text(encoding="utf-8")
    example = text.partition("```yaml\n")[2].partition("```")[0]
    schema = json.loads((ROOT / "docs/compression-advisor.schema.json").read_text())
    jsonschema.validate(YAML(typ="safe").load(example), schema)


MODULE = re.compile(r"`((?:\w+/)+\w+\.(?:py|yaml|csv|patch))`")


@pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_files_that_a_page_names_are_there(page: Path) -> None:
    folders = (ROOT, ROOT / "snapcraft_compression_advisor", page.parent)
    named = MODULE.findall(page.read_text(encoding="utf-8"))
    missing = [n for n in named if not any((folder / n).exists() for folder in folders)]
    assert [name for name in missing if not name.startswith(OTHERS)] == []


def test_contributing_names_the_rooms_in_the_order_of_their_contract() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    picture = text.partition("## The map")[2].split("```")[1]
    shown = [
        re.split(r"\s{2,}|(?<=preflight) ", line)[0] for line in picture.split("\n")
    ]
    pyproject = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    layers = pyproject.partition("layers = [")[2].partition("]")[0]
    rooms = [layer.partition(" : ")[0] for layer in re.findall(r'"([^"]+)"', layers)]
    assert [room for room in shown if room] == rooms[1:]


def test_generated_pages_link_a_terms_first_use_to_the_glossary() -> None:
    linked = with_glossary_links(
        "# Cold launch\n\n`cold launch`: cold\nlaunches take long.\n\nCold launch\n"
    )
    assert linked == (
        "# Cold launch\n\n`cold launch`: [cold\nlaunches](../glossary.md#cold-launch) "
        "take long.\n\nCold launch\n"
    )
    assert with_glossary_links(linked) == linked


def test_linked_terms_are_in_the_glossary() -> None:
    headings = anchors(ROOT / "docs/glossary.md")
    assert {term.replace(" ", "-") for term in TERMS} <= headings

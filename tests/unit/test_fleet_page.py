"""The page of a fleet: what to act on first, what stands out, what changed."""

from __future__ import annotations

import re
import shutil
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from fleets import make_advice, make_row
from snapcraft_compression_advisor.core.errors import BadDataError, NoInputError
from snapcraft_compression_advisor.fleet.dataset import Dataset
from snapcraft_compression_advisor.fleet.page import build_fleet_page, ranked, total
from snapcraft_compression_advisor.fleet.page_lists import FleetSources, outliers
from snapcraft_compression_advisor.fleet.reading import read_fleet, read_weights
from snapcraft_compression_advisor.report.html_printer import print_html
from snapcraft_compression_advisor.report.markdown_printer import print_markdown

if TYPE_CHECKING:
    from pathlib import Path

    from snapcraft_compression_advisor.fleet.reading import Fleet

ROWS = [
    make_advice("slow", saved_s=2.0),
    make_advice("slower", saved_s=3.0),
    make_advice("fine", saved_s=0.01),
    make_advice("needless", saved_s=0.02, codec="lzo"),
    make_row("broken", error="damaged", verdict=None),
]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    Dataset(tmp_path / "data", settings="s").add(ROWS)
    return tmp_path / "data"


@pytest.fixture
def fleet(root: Path) -> Fleet:
    return read_fleet(root)


def test_gains_are_ranked_and_summed_with_their_weights(fleet: Fleet) -> None:
    assert [each.snap.name for each in ranked(fleet, None, "lzo")] == ["slower", "slow"]
    assert [each.snap.name for each in ranked(fleet, None, "xz")] == ["needless"]
    weighted = ranked(fleet, {"slow": 10.0}, "lzo")
    assert [(each.snap.name, each.weight) for each in weighted] == [
        ("slow", 10.0),
        ("slower", 0.0),
    ]
    sum_s = total(weighted)
    assert (sum_s.low, sum_s.mid, sum_s.high) == (10.0, 20.0, 30.0)


def test_page_says_what_to_change_first_and_links_to_reports(fleet: Fleet) -> None:
    links = {"sha256:slow": "fleet-snaps/slow.html"}
    page = build_fleet_page(FleetSources(fleet=fleet, links=links))
    assert page.headline == "3 of 4 snaps should change their compression"
    (order, *_) = page.sections[2].tables
    assert [row[0] for row in order.rows] == ["slower", "slow"]
    assert order.links == ("", "fleet-snaps/slow.html")
    text = print_html(page)
    assert text.count('<a href="fleet-snaps/slow.html">slow</a>') == 2
    assert "[slow](<fleet-snaps/slow.html>)" in print_markdown(page)
    assert "1 more couldn't be analysed." in page.sections[0].sentences


def test_seconds_of_many_users_are_hours(fleet: Fleet) -> None:
    weights = {"slow": 1e6, "slower": 1e6}
    page = build_fleet_page(FleetSources(fleet=fleet, weights=weights))
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
    fleet: Fleet, tmp_path: Path
) -> None:
    before = [
        make_advice("slow", saved_s=1.0, digest="sha256:old"),
        make_advice("slower", saved_s=3.0),
        make_advice("gone", saved_s=3.0),
    ]
    Dataset(tmp_path / "old", settings="s").add(before)
    old = read_fleet(tmp_path / "old")
    page = build_fleet_page(FleetSources(fleet=fleet, before=old))
    since = next(each for each in page.sections if each.title.startswith("Since"))
    assert since.sentences[0].startswith("Changed: 1 snap; new: 2; gone: 1.")
    (table,) = since.tables
    assert [row[:2] for row in table.rows] == [("slow", "cold launch")]


def test_outliers_are_beyond_the_fence_of_their_logarithms(fleet: Fleet) -> None:
    one = fleet.snaps[0]
    sizes = [10, 11, 12, 13, 14, 15, 16, 1000]
    snaps = [replace(one, image_bytes=each) for each in sizes]
    found = outliers(snaps, lambda snap: float(snap.image_bytes))
    assert [value for _, value in found] == [1000.0]
    assert outliers(snaps[:7], lambda snap: float(snap.image_bytes)) == []


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


def test_an_empty_fleet_has_a_page(root: Path, tmp_path: Path) -> None:
    shutil.rmtree(root)
    Dataset(tmp_path, settings="s").add([make_row("b", error="damaged", verdict=None)])
    page = build_fleet_page(FleetSources(fleet=read_fleet(tmp_path)))
    assert page.headline == "0 of 0 snaps should change their compression"
    assert "damaged" in print_html(page)

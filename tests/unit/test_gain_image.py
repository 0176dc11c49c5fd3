"""The plot of what lzo saves as a picture of its own."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import pytest

from measurements import make_measurement
from reports import make_full_report
from snapcraft_compression_advisor.cli.report import check_report_path, write_page
from snapcraft_compression_advisor.core.errors import BadDataError
from snapcraft_compression_advisor.report.gain_image import render_png, render_svg
from snapcraft_compression_advisor.report.measure_json import (
    build_measurement_report,
)
from snapcraft_compression_advisor.report.page.build import Sources

if TYPE_CHECKING:
    from pathlib import Path

SVG = "{http://www.w3.org/2000/svg}"


def texts(svg: str) -> str:
    found = ET.fromstring(svg).iter(f"{SVG}text")  # noqa: S314 # our own
    return " ".join("".join(each.itertext()) for each in found)


def test_svg_shows_verdict_figures_and_limit() -> None:
    told = texts(render_svg(Sources(report=make_full_report())))
    assert "calculator: CHANGE: set 'compression: lzo' in snapcraft.yaml" in told
    assert "1.00 s (0.29–3.24)" in told  # noqa: RUF001 # as it is printed
    assert "lzo over xz: seconds saved per cold launch of app0" in told
    assert "policy: 0.25 s" in told
    assert "Estimated, with intervals." in told


def test_svg_needs_nothing_from_outside() -> None:
    measurement = build_measurement_report(make_measurement())
    svg = render_svg(Sources(report=make_full_report(), measurement=measurement))
    assert "var(" not in svg
    assert "url(" not in svg
    addresses = set(re.findall(r"https?://[^\"\s]+", svg))
    assert addresses == {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}
    assert "diamonds are measured" in texts(svg)


def test_svg_has_a_light_background_and_a_name() -> None:
    root = ET.fromstring(  # noqa: S314 # our own
        render_svg(Sources(report=make_full_report()))
    )
    background = root.find(f"{SVG}rect")
    assert background is not None
    assert background.attrib["fill"] == "#fff"
    assert root.attrib["role"] == "img"
    assert root.attrib["aria-label"].startswith("calculator: CHANGE")


def test_names_cannot_become_markup_or_colours() -> None:
    name = '"/><script>var(--ink) var(--no-such-name)\x1b</script>'
    report = make_full_report()
    payload = report.payload.model_copy(update={"name": name})
    svg = render_svg(Sources(report=report.model_copy(update={"payload": payload})))
    assert "<script" not in svg
    ET.fromstring(svg)  # noqa: S314 # our own


def test_png_is_as_large_as_a_sharp_screen_wants_it() -> None:
    png = render_png(Sources(report=make_full_report()))
    assert png.startswith(b"\x89PNG\r\n")
    width = int.from_bytes(png[16:20], "big")
    assert width == 2 * 760


def test_report_without_a_saving_has_no_plot() -> None:
    report = make_full_report().model_copy(update={"launches": []})
    with pytest.raises(BadDataError, match="no estimate of what lzo saves"):
        render_svg(Sources(report=report))


@pytest.mark.parametrize("name", ["plot.svg", "plot.PNG"])
def test_name_of_the_file_tells_what_is_written(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    check_report_path(path)
    write_page(Sources(report=make_full_report()), path)
    start = path.read_bytes()[:5]
    assert start == (b"\x89PNG\r" if name.endswith("PNG") else b"<svg ")

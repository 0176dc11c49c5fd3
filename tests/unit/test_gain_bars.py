"""What lzo saves, in lines of characters."""

from __future__ import annotations

import io
import locale
from typing import TYPE_CHECKING

import pytest

from snapcraft_compression_advisor.core.units import Interval
from snapcraft_compression_advisor.report.contract import Interval as IntervalPart
from snapcraft_compression_advisor.report.gain import Gain, Gains
from snapcraft_compression_advisor.report.gain_bars import gain_lines
from snapcraft_compression_advisor.report.lines import (
    TextStyle,
    shows_unicode,
    style_for,
)
from snapcraft_compression_advisor.report.report_launch import SavingReport

if TYPE_CHECKING:
    from pytest_mock import MockerFixture

ASCII = TextStyle(columns=64, unicode=False)


def gain(
    low: float, mid: float, high: float, *, app: str = "calc", decides: bool = False
) -> Gain:
    part = IntervalPart(low=low, mid=mid, high=high)
    return Gain(
        app=app,
        place="disk",
        saved_s=Interval(low=low, mid=mid, high=high),
        share=None,
        estimate=SavingReport(seconds_saved=part, share_saved=None),
        decides=decides,
    )


def gains_of(*shown: Gain, least_s: float | None = 0.25) -> Gains:
    return Gains(every=shown, shown=shown, least_s=least_s, least_share=None)


def bar_of(line: str) -> str:
    """Return what is drawn after the figures."""
    return line.partition(")  ")[2]


def test_bar_shows_interval_middle_zero_and_the_policys_limit() -> None:
    _, line, scale = gain_lines(gains_of(gain(0.5, 0.75, 1.0)), ASCII)
    assert line.startswith("  disk  0.75 s (0.50 to 1.00)  |")
    bar = bar_of(line)
    assert len(bar) == 64 - len("  disk  0.75 s (0.50 to 1.00)  ")
    assert (bar.index("|"), bar.index(":"), bar.index("=")) == (0, 8, 16)
    assert (bar.index("#"), bar.rindex("=")) == (24, 32)
    assert scale.index("0") == line.index("|")
    assert scale.index("policy: 0.25 s") == line.index(":")


def test_limit_within_an_interval_is_seen() -> None:
    line = [*gain_lines(gains_of(gain(0.1, 0.4, 1.0)), ASCII)][1]
    before, _, after = bar_of(line).partition(":")
    assert "=" in before
    assert "#" in after


def test_loss_is_left_of_zero() -> None:
    line = [*gain_lines(gains_of(gain(-0.5, -0.4, -0.3)), ASCII)][1]
    bar = bar_of(line)
    assert bar.rindex("=") < bar.index("|") < bar.index(":")


def test_wider_interval_is_a_longer_bar_on_the_same_axis() -> None:
    _, narrow, wide, _ = gain_lines(
        gains_of(gain(0.4, 0.5, 0.6), gain(0.1, 0.5, 1.0)), ASCII
    )
    assert bar_of(narrow).count("=") < bar_of(wide).count("=")
    assert bar_of(narrow).index("#") == bar_of(wide).index("#")


def test_measured_launches_are_drawn_with_other_characters() -> None:
    measured = Gain(
        app="calc",
        place="measured on a disk",
        saved_s=Interval(low=0.4, mid=0.5, high=0.6),
        share=None,
    )
    line = [*gain_lines(gains_of(gain(0.3, 0.5, 1.0), measured), ASCII)][2]
    assert "+" in line
    assert "-" in line
    assert "=" not in line


def test_apps_are_headings_and_the_deciding_one_is_named() -> None:
    shown = gain(0.4, 0.5, 0.6, decides=True), gain(0.4, 0.5, 0.6, app="more")
    lines = [*gain_lines(gains_of(*shown), ASCII)]
    assert lines[1] == "  calc"
    assert lines[2].startswith("    disk, decides  0.50 s")
    assert lines[3] == "  more"


def test_apps_that_are_left_out_are_counted() -> None:
    first = gain(0.4, 0.5, 0.6)
    others = [gain(0.1, 0.2, 0.3, app=f"app{number}") for number in range(9)]
    found = Gains(
        every=(first, *others), shown=(first,), least_s=None, least_share=None
    )
    assert any("9 other apps" in line for line in gain_lines(found, ASCII))


def test_narrow_terminal_gets_figures_without_bars() -> None:
    lines = [*gain_lines(gains_of(gain(0.5, 0.75, 1.0)), TextStyle(columns=40))]
    assert [line.rstrip() for line in lines[2:]] == ["  disk  0.75 s (0.50 to 1.00)"]


def test_bars_have_box_drawing_characters_where_these_are_shown() -> None:
    line = [*gain_lines(gains_of(gain(0.5, 0.75, 1.0)), TextStyle(columns=64))][1]
    assert {"│", "┊", "━", "╋"} < {*line}


@pytest.mark.parametrize(
    ("stream", "codeset", "shown"),
    [
        ("utf-8", "UTF-8", True),
        ("utf-8", "ANSI_X3.4-1968", False),
        ("ascii", "UTF-8", False),
        ("latin-1", "ISO-8859-1", False),
        ("utf-8", "no-such-codec", False),
    ],
)
def test_locale_decides_on_characters(
    mocker: MockerFixture, stream: str, codeset: str, *, shown: bool
) -> None:
    mocker.patch.object(locale, "nl_langinfo", return_value=codeset)
    text = io.TextIOWrapper(io.BytesIO(), encoding=stream)
    assert shows_unicode(text) is shown


def test_pipes_have_80_columns_and_no_colour(mocker: MockerFixture) -> None:
    mocker.patch("shutil.get_terminal_size", return_value=(60, 24))
    pipe = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    style = style_for(pipe, {"TERM": "xterm"})
    assert (style.columns, style.coloured) == (80, False)


def test_terminals_have_their_width_and_colour(mocker: MockerFixture) -> None:
    size = mocker.Mock(columns=60)
    mocker.patch("shutil.get_terminal_size", return_value=size)
    terminal = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    mocker.patch.object(terminal, "isatty", return_value=True, create=True)
    assert style_for(terminal, {"TERM": "xterm"}).columns == 60
    assert style_for(terminal, {"TERM": "xterm"}).coloured
    assert not style_for(terminal, {"TERM": "xterm", "NO_COLOR": "1"}).coloured

"""How drawn applications are started, and what becomes of a slot."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import pytest

from apt_tools import run_tool
from draw import Drawn, read_drawn, write_drawn
from drawn_commands import below_root, desktop_words, event_of, service_words, words_of
from launch_drawn import Work, launch_event, probed
from machine import write_script
from prime_error import PrimeError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

DESKTOP = """\
[Desktop Action New]
Exec=other --new
[Desktop Entry]
Name=App
Terminal=false
Exec=app --open %U "two words" 100%%
"""


def test_exec_loses_its_field_codes_and_keeps_quoted_words() -> None:
    assert desktop_words(DESKTOP) == ["app", "--open", "two words", "100%"]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("Terminal=true", "Terminal=true"),
        ("NoDisplay=true", "NoDisplay=true"),
        ("Exec=%U", "no Exec"),
        ('Exec=app "', "can't be read"),
    ],
)
def test_a_desktop_file_that_shows_no_application_is_refused(
    line: str, reason: str
) -> None:
    with pytest.raises(PrimeError, match=reason):
        desktop_words(f"[Desktop Entry]\n{line}\n")


def test_a_unit_s_command_loses_prefixes_and_variables() -> None:
    text = "[Service]\nExecStart=-!/usr/sbin/served \\\n  -f $OPTIONS ${MORE}\n"
    assert service_words(text) == ["/usr/sbin/served", "-f"]


def test_a_unit_that_asks_for_an_instance_is_refused() -> None:
    with pytest.raises(PrimeError, match="specifiers"):
        service_words("[Service]\nExecStart=/usr/sbin/served --name %i\n")


def test_a_program_stands_for_itself() -> None:
    assert words_of("usr/bin/tool", "\x7fELF") == ["/usr/bin/tool"]


@pytest.mark.parametrize(
    ("file", "kind", "event"),
    [
        ("usr/share/applications/a.desktop", "gtk3", "window"),
        ("lib/systemd/system/a.service", "cli", "seconds:5"),
        ("usr/bin/a", "cli", "exit"),
        ("usr/bin/a", "sdl-game", "window"),
    ],
)
def test_the_event_follows_from_what_shows_the_application(
    file: str, kind: str, event: str
) -> None:
    assert launch_event(replace(ROW, file=file, kind=kind)) == event
    assert kind != "cli" or event_of(file) == event


def test_a_program_is_found_in_the_tree(tmp_path: Path) -> None:
    (tmp_path / "usr" / "games").mkdir(parents=True)
    (tmp_path / "usr" / "games" / "play").touch(mode=0o755)
    found = ("usr/games/play", "-f")
    assert below_root(["play", "-f"], tmp_path) == found
    assert below_root(["/usr/games/play", "-f"], tmp_path) == found
    with pytest.raises(PrimeError, match="no program '/usr/bin/play'"):
        below_root(["/usr/bin/play"], tmp_path)


ROW = Drawn(
    seed="seed",
    slot=0,
    set="fit",
    stratum="c",
    kind="cli",
    release="trixie",
    package="first",
    version="1",
    file="usr/bin/first",
)


@dataclass(kw_only=True)
class _Launches(Work):
    """Work that builds and records nothing: those named fail."""

    failing: frozenset[str]

    def launch(self, row: Drawn) -> Drawn:
        """Fail, or not."""
        if row.package in self.failing:
            said = f"/places/of/this/machine/{row.package} shows\nno window"
            message = f"dbus-daemon[7]: no limit\n{said}"
            raise PrimeError(message, exit_status=65)
        return replace(row, outcome="recorded", event="exit")


def make_work(tmp_path: Path, *failing: str) -> _Launches:
    return _Launches(
        trees=tmp_path,
        cache=tmp_path,
        until=float("inf"),
        table=tmp_path / "drawn.csv",
        failing=frozenset(failing),
    )


def test_the_next_of_the_draw_takes_the_place_of_one_that_fails(tmp_path: Path) -> None:
    rows = [replace(ROW, package=name) for name in ("first", "second", "third")]
    work = make_work(tmp_path, "first")
    write_drawn(work.table, rows)
    work.fill(rows)
    first, second, third = read_drawn(work.table)
    assert (first.outcome, first.reason) == ("failed", "first shows no window")
    assert (second.outcome, second.event) == ("recorded", "exit")
    assert third.outcome == ""


def test_an_application_of_two_draws_has_an_outcome_of_each(tmp_path: Path) -> None:
    rows = [ROW, replace(ROW, seed="other")]
    work = make_work(tmp_path)
    write_drawn(work.table, rows)
    work.fill(rows[1:])
    assert [row.outcome for row in read_drawn(work.table)] == ["", "recorded"]


def test_what_failed_before_isnt_tried_again(tmp_path: Path) -> None:
    rows = [replace(ROW, outcome="failed"), replace(ROW, package="second")]
    work = make_work(tmp_path)
    write_drawn(work.table, rows)
    work.fill(rows)
    assert [row.outcome for row in read_drawn(work.table)] == ["failed", "recorded"]


def test_a_slot_that_is_filled_stays_as_it_is(tmp_path: Path) -> None:
    rows = [replace(ROW, outcome="recorded"), replace(ROW, package="second")]
    work = make_work(tmp_path)
    write_drawn(work.table, rows)
    work.fill(rows)
    assert read_drawn(work.table) == rows


def test_nothing_is_begun_when_the_time_is_over(tmp_path: Path) -> None:
    work = make_work(tmp_path)
    work.until = 0
    write_drawn(work.table, [ROW])
    work.fill([ROW])
    assert read_drawn(work.table) == [ROW]


@dataclass(kw_only=True)
class _Rebuilding(_Launches):
    """Work that only notes what it builds."""

    rebuilt: list[str] = field(default_factory=list)

    def rebuild(self, row: Drawn) -> None:
        """Note a row."""
        self.rebuilt.append(row.package)


def test_again_builds_only_what_was_recorded(tmp_path: Path) -> None:
    rows = [
        replace(ROW, outcome="failed"),
        replace(ROW, package="second", outcome="recorded"),
        replace(ROW, package="third"),
    ]
    work = _Rebuilding(**vars(make_work(tmp_path)) | {"again": True})
    work.fill(rows)
    work.fill(rows[2:])
    assert work.rebuilt == ["second"]


def run_beside(root: Path, words: Sequence[str]) -> str:
    """Run a tree's script without changing the root directory, which requires root."""
    *before, program, argument = words
    return run_tool([*before, f"{root}{program}", argument])


def test_a_program_without_version_is_asked_for_help(tmp_path: Path) -> None:
    write_script(tmp_path / "tool", 'test "$*" = --help')
    assert probed(tmp_path, "tool", run_beside) == ("tool", "--help")
    write_script(tmp_path / "tool", "exit 0")
    assert probed(tmp_path, "tool", run_beside) == ("tool", "--version")


def test_a_program_that_knows_neither_isnt_recorded(tmp_path: Path) -> None:
    write_script(tmp_path / "tool", "exit 1")
    with pytest.raises(PrimeError, match="--version and with --help"):
        probed(tmp_path, "tool", run_beside)

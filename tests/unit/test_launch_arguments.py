"""Arguments that say what to start and until when."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

import pytest

from payloads import make_payload
from snapcraft_compression_advisor.capture.launch_event import (
    EXITED,
    LaunchEvent,
    elapsed,
    output_line,
    window_mapped,
    window_or_exit,
)
from snapcraft_compression_advisor.cli.commands import add_arguments, split_command
from snapcraft_compression_advisor.cli.launch_arguments import (
    LAUNCH_ARGUMENTS,
    chosen_app,
    chosen_launch,
)
from snapcraft_compression_advisor.core.errors import UsageError

if TYPE_CHECKING:
    from craft_cli.pytest_plugin import RecordingEmitter

    from snapcraft_compression_advisor.capture.start import Command

PAYLOAD = make_payload(
    {"bin/tool": b"", "meta/gui/pad.desktop": b""},
    apps={"pad": {"command": "bin/pad"}, "tool": {"command": "bin/tool"}},
)


@pytest.fixture
def said(
    emitter: RecordingEmitter, monkeypatch: pytest.MonkeyPatch
) -> RecordingEmitter:
    """Return what takes messages to the user, who has no display."""
    monkeypatch.delenv("DISPLAY", raising=False)
    return emitter


def options(*arguments: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser(exit_on_error=False)
    add_arguments(parser, LAUNCH_ARGUMENTS)
    words = split_command(["record", *arguments])
    return parser.parse_args(words[1:])


def choose(*arguments: str) -> tuple[Command, LaunchEvent, float]:
    parsed_args = options(*arguments)
    chosen = chosen_launch(parsed_args, PAYLOAD)
    return chosen.command, chosen.event, chosen.timeout_s


@pytest.mark.usefixtures("said")
def test_app_is_that_which_advice_would_look_at() -> None:
    command, event, timeout_s = choose("--display", ":0")
    assert command.words == ("$SNAP/bin/pad",)
    assert (event, timeout_s) == (window_mapped(display=":0"), 60)
    assert choose("--app", "tool")[0].words == ("$SNAP/bin/tool",)


def test_without_a_display_only_the_end_counts_and_xvfb_is_named(
    said: RecordingEmitter,
) -> None:
    assert choose("--app", "tool")[1] == EXITED
    assert "xvfb" in said.interactions[-1].args[1]


@pytest.mark.usefixtures("said")
@pytest.mark.parametrize("arguments", [(), ("--app", "tool", "--until", "window")])
def test_window_without_a_display_is_refused_before_any_work(
    arguments: tuple[str, ...],
) -> None:
    with pytest.raises(UsageError, match="No X display") as raised:
        choose(*arguments)
    assert "apt-get install xvfb" in str(raised.value.resolution)


@pytest.mark.parametrize(
    ("arguments", "event"),
    [
        (("--app", "pad"), window_mapped(display=None)),
        (("--app", "tool"), window_or_exit()),
        (("--", "tool"), window_or_exit()),
        (("--until", "exit"), EXITED),
        (("--until", "window", "--", "tool"), window_mapped(display=None)),
    ],
)
def test_window_is_waited_for_where_there_may_be_one(
    said: RecordingEmitter,
    monkeypatch: pytest.MonkeyPatch,
    arguments: tuple[str, ...],
    event: LaunchEvent,
) -> None:
    monkeypatch.setenv("DISPLAY", ":0")
    assert choose(*arguments)[1] == event
    assert bool(said.interactions) == ("--until" not in arguments)


@pytest.mark.usefixtures("said")
def test_named_display_is_for_the_window_and_the_app() -> None:
    command, event, _ = choose("--display", ":7")
    assert event == window_mapped(display=":7")
    assert command.environment["DISPLAY"] == ":7"


@pytest.mark.usefixtures("said")
def test_command_keeps_its_own_options() -> None:
    command, _, _ = choose("--timeout", "5", "--", "tool", "-v", "--quiet", "--", "-h")
    assert command.words == ("$SNAP/bin/tool", "-v", "--quiet", "--", "-h")


def test_only_commands_that_start_something_take_a_command() -> None:
    assert split_command(["advise", "--", "-x"]) == [
        "advise", "--", "-x",
    ]  # fmt: skip
    assert split_command(["record", "-o", "x"]) == [
        "record", "-o", "x",
    ]  # fmt: skip


@pytest.mark.usefixtures("said")
def test_events_with_a_value() -> None:
    assert choose("--until", "output:ready: go")[1] == output_line("ready: go")
    for text in ("1.5", "1.5s", "1500ms"):
        assert choose("--until", f"seconds:{text}")[1] == elapsed(1.5)


@pytest.mark.parametrize(
    "arguments",
    [
        ("--until", "breakfast"),
        ("--until", "output:"),
        ("--until", "seconds:-1"),
        ("--until", "seconds:x"),
        ("--until", "seconds:5h"),
        ("--timeout", "0"),
        ("--timeout", "nan"),
    ],
)
def test_arguments_of_no_known_form_are_refused(arguments: tuple[str, ...]) -> None:
    with pytest.raises(argparse.ArgumentError):
        options(*arguments)


@pytest.mark.usefixtures("said")
@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (("--app", "pad", "--", "tool"), "Both an app and a command"),
        (("--app", "nobody"), "no app 'nobody'"),
        (("--until", "seconds:61"), "exceeds the timeout"),
    ],
)
def test_arguments_that_do_not_fit_are_a_usage_error(
    arguments: tuple[str, ...], what: str
) -> None:
    with pytest.raises(UsageError, match=what):
        choose(*arguments)


def test_snap_without_apps_needs_a_command() -> None:
    with pytest.raises(UsageError, match="no apps"):
        chosen_app(options(), make_payload({}))
    assert chosen_app(options("--", "tool"), make_payload({})) == "hello"


@pytest.mark.usefixtures("said")
def test_system_tree_is_asked_for() -> None:
    assert choose("--unconfined", "--chroot", "--app", "tool")[0].chroot
    assert not choose("--app", "tool")[0].chroot

"""Commands, their options and their help."""

import argparse
import json
from pathlib import Path

import jsonschema
import pytest
from craft_cli.pytest_plugin import RecordingEmitter

from payloads import make_payload
from snapcraft_compression_advisor.capture.launch_event import (
    EXITED,
    LaunchEvent,
    event_named,
    usual_event,
    window_mapped,
)
from snapcraft_compression_advisor.capture.start import Command
from snapcraft_compression_advisor.cli.command_texts import (
    command_parser,
    general_parser,
)
from snapcraft_compression_advisor.cli.commands import (
    COMMANDS,
    add_arguments,
    command_named,
    load_command,
    split_command,
)
from snapcraft_compression_advisor.cli.listings import SCHEMAS
from snapcraft_compression_advisor.cli.main import main
from snapcraft_compression_advisor.cli.record import (
    LAUNCH_ARGUMENTS,
    chosen_app,
    chosen_launch,
)
from snapcraft_compression_advisor.core.errors import ToolError, UsageError

DOCS = Path(__file__).parents[2] / "docs"


def test_the_default_of_every_option_is_stated() -> None:
    for name in COMMANDS:
        for action in command_parser(load_command(name))._actions:
            assert _states_default(action), f"{name}: {action.dest}"


def _states_default(action: argparse.Action) -> bool:
    text, default = action.help or "", action.default
    if action.required:
        return text.endswith("(required)") or not action.option_strings
    if default in (None, True, False, []):
        return action.nargs == 0 or "(default: " in text
    stated = f"{default:g}" if isinstance(default, float) else str(default)
    return stated in text.partition("(default: ")[2] or default == Path()


@pytest.mark.parametrize("name", COMMANDS)
def test_help_of_every_command_shows_what_its_options_take(
    name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    parsers = (command_parser(load_command(name)), general_parser())
    for words in ([*name.split(), "--help"], ["help", *name.split()]):
        assert main(words) == 0
        shown = capsys.readouterr().out
        text = " ".join(shown.split())
        for action in (each for parser in parsers for each in parser._actions):
            value = f" {action.metavar}" if action.nargs != 0 else ""
            *_, flag = action.option_strings or [""]
            assert f"{flag}{value} {action.help}" in text
        assert max(map(len, shown.splitlines())) <= 80


def test_help_in_markdown_and_of_the_program_is_there(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["help", "--format", "markdown", "lint"]) == 0
    assert "| `--fail-on` |" in capsys.readouterr().out
    assert main(["--help"]) == 0
    shown = capsys.readouterr().out
    names = [line.split()[0] for line in shown.splitlines() if line.startswith("  ")]
    assert names[:5] == ["advise", "lint", "record", "trim", "diff"]
    assert "launch-set" not in names
    assert main(["help", "--all"]) == 0
    assert "\n  launch-set " in capsys.readouterr().out


@pytest.mark.parametrize("name", ["advise", "lint", "trim"])
def test_short_help_fits_on_a_screen(
    name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert main([name, "-h"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) <= 24 + 12
    overview = " ".join(load_command(name).overview.split("\n\n")[0].split())
    assert overview in " ".join("\n".join(lines).split())
    assert not {"payload", "launch", "launches"}.intersection(" ".join(lines).split())
    assert lines[-1] == f"All options: compression-advisor {name} --help"


def test_path_alone_asks_for_advice(tmp_path: Path) -> None:
    there, absent = str(tmp_path), str(tmp_path / "absent")
    assert split_command(["-v", there]) == ["-v", "advise", there]
    assert split_command([absent]) == [absent]
    assert split_command(["lint", there]) == ["lint", there]


def test_help_is_asked_for_anywhere_but_behind_a_program() -> None:
    assert split_command(["lint", "a", "-v", "--help"]) == ["lint", "--help"]
    assert split_command(["-v", "advise", "--record", "--", "-h"]) == [
        "-v", "advise", "-h",
    ]  # fmt: skip
    record = split_command(["record", "a", "--", "x", "--help"])
    assert record[:2] == ["record", "a"]
    assert "--help" not in record


@pytest.mark.parametrize("name", SCHEMAS)
def test_schemas_are_printed_as_the_docs_have_them(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["schema", name]) == 0
    shown = capsys.readouterr().out
    assert shown == (DOCS / f"{name}.schema.json").read_text()
    jsonschema.Draft202012Validator.check_schema(json.loads(shown))


def test_schemas_are_listed_and_others_refused(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["schema"]) == 0
    names = [line.split()[0] for line in capsys.readouterr().out.splitlines()]
    assert names == list(SCHEMAS)
    assert {path.name for path in DOCS.glob("*.schema.json")} == {
        f"{name}.schema.json" for name in names
    }
    assert main(["schema", "reprot"]) == 64
    choices = capsys.readouterr().err.partition("choose from")[2]
    assert "report" in choices  # quoted or not: Python's patch releases differ


def test_no_command_has_a_second_name() -> None:
    assert command_named(split_command(["fleet-lint", "data"])) is None
    assert split_command(["fleet", "report", "data"]) == ["fleet report", "data"]
    for same in (["fleet", "./report"], ["fleet", "a.snap", "lint"], ["lint", "fleet"]):
        assert split_command(same) == same


WINDOW_OR_EXIT = usual_event(has_desktop_file=False, has_display=True)
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
    with pytest.raises(ToolError, match="There is no display") as raised:
        choose(*arguments)
    assert "apt-get install xvfb" in str(raised.value.resolution)


@pytest.mark.parametrize(
    ("arguments", "event"),
    [
        (("--app", "pad"), window_mapped(display=None)),
        (("--app", "tool"), WINDOW_OR_EXIT),
        (("--", "tool"), WINDOW_OR_EXIT),
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


@pytest.mark.usefixtures("said")
def test_events_with_a_value() -> None:
    assert choose("--until", "output:ready: go")[1] == event_named("output:ready: go")
    for text in ("1.5", "1.5s", "1500ms"):
        assert choose("--until", f"seconds:{text}")[1] == event_named("seconds:1.5")


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

"""Commands, their options and their help."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import jsonschema
import pytest

from snapcraft_compression_advisor.cli.command_texts import (
    command_parser,
    read_commands,
    read_global_options,
)
from snapcraft_compression_advisor.cli.commands import (
    COMMANDS,
    command_named,
    load_command,
    split_command,
)
from snapcraft_compression_advisor.cli.listings import SCHEMAS
from snapcraft_compression_advisor.cli.main import main

if TYPE_CHECKING:
    import argparse


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


@pytest.mark.parametrize("name", [command.name for command in read_commands()])
def test_help_of_every_command_shows_what_its_options_take(
    name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    command = next(each for each in read_commands() if each.name == name)
    for words in ([*name.split(), "--help"], ["help", *name.split()]):
        assert main(words) == 0
        shown = capsys.readouterr().out
        lines = [line.strip() for line in shown.splitlines()]
        for argument in (*command.arguments, *read_global_options()):
            assert ", ".join(argument.labels) in lines
            assert argument.text in " ".join(lines)
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


@pytest.mark.parametrize("name", ["advise", "lint"])
def test_short_help_fits_on_a_screen(
    name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert main([name, "-h"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) <= 24 + 12
    assert lines[-1] == f"All options: compression-advisor {name} --help"


def test_path_alone_asks_for_advice(tmp_path: Path) -> None:
    there, absent = str(tmp_path), str(tmp_path / "absent")
    assert split_command(["-v", there]) == ["-v", "advise", there]
    assert split_command([absent]) == [absent]
    assert split_command(["lint", there]) == ["lint", there]


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


def test_every_command_of_the_table_is_there() -> None:
    for name in COMMANDS:
        assert load_command(name).name == name
        assert command_named(split_command(["-q", *name.split(), "prime"])) == name


def test_no_command_has_a_second_name() -> None:
    assert command_named(split_command(["fleet-lint", "data"])) is None
    assert split_command(["fleet", "report", "data"]) == ["fleet report", "data"]
    for same in (["fleet", "./report"], ["fleet", "a.snap", "lint"], ["lint", "fleet"]):
        assert split_command(same) == same


def test_other_commands_are_not_imported() -> None:
    program = (
        "import sys; from snapcraft_compression_advisor.cli.main import main; "
        "main(['set', '--compression', 'xz', '/nowhere']); "
        "print([name for name in sys.modules if name.endswith('cli.lint')])"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert ran.stdout == "[]\n"

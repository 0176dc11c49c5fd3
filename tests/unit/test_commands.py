"""Which commands are imported."""

from __future__ import annotations

import subprocess
import sys

import pytest

from snapcraft_compression_advisor.cli.commands import (
    COMMANDS,
    command_named,
    load_command,
    split_command,
)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_of_the_table_is_there(name: str) -> None:
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

"""Which commands are imported."""

from __future__ import annotations

import subprocess
import sys

import pytest

from snapcraft_compression_advisor.cli.commands import command_groups, every_command

ALL = {
    "advise", "set", "lint", "rule", "launch-set", "record", "measure", "calibrate",
    "devices", "diff", "fleet", "fleet-lint", "fleet-query", "fleet-report", "refresh",
    "schema", "prefetch", "trim",
}  # fmt: skip


def names(*arguments: str) -> set[str]:
    return {
        command.name
        for group in command_groups(arguments)
        for command in group.commands
    }


@pytest.mark.parametrize("name", sorted(ALL))
def test_command_that_is_asked_for_is_there_alone(name: str) -> None:
    assert names(name, "prime") == {name}


@pytest.mark.parametrize(
    "arguments",
    [(), ("help",), ("-q", "lint"), ("lint", "--help"), ("lint", "-h"), ("no-such",)],
)
def test_all_commands_are_there_where_none_or_help_is_asked_for(
    arguments: tuple[str, ...],
) -> None:
    assert names(*arguments) == ALL


def test_help_says_of_commands_what_they_say_of_themselves() -> None:
    said, own = (
        [
            (group.name, each.name, each.help_msg, each.common)
            for group in groups
            for each in group.commands
        ]
        for groups in (command_groups([]), every_command())
    )
    assert said == own


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

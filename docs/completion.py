"""What bash completes after the program's name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from command_table import (
    read_commands,
    read_global_options,
)
from snapcraft_compression_advisor.cli.commands import APP_NAME
from snapcraft_compression_advisor.cli.listings import SCHEMAS
from snapcraft_compression_advisor.devices.builtin_devices import builtin_devices
from snapcraft_compression_advisor.lint.rules import ALL_RULES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from command_table import (
        ArgumentText,
        CommandText,
    )

_DIRECTORIES = ("DATASET", "DIR", "PROJECT_DIR")
_FREE_TEXT = (
    *("NAME", "WORD", "EVENT", "COUNT"),
    *("SECONDS", "SECONDS|PERCENT", "MBIT/S", "KIB", "MB", "PERCENT", "SQL", "ADDRESS"),
)

_HEAD = """\
# bash completion for {name}; made by docs/generate.py
_compression_advisor() {{
    local cur=${{COMP_WORDS[COMP_CWORD]}} prev=${{COMP_WORDS[COMP_CWORD - 1]}}
    local command="" word words=""
    # bash takes --option=value for three words.
    if [[ $cur == "=" ]]; then
        cur=""
    elif [[ $prev == "=" && $COMP_CWORD -ge 2 ]]; then
        prev=${{COMP_WORDS[COMP_CWORD - 2]}}
    fi
    for word in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
        case "$command $word" in
        {commands}) command=${{command:+$command }}$word ;;
        esac
    done
    case "$command $prev" in
"""
_MIDDLE = """\
    esac
    if [[ -n $words ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
        return
    fi
    case "$command" in
"""
_TAIL = """\
    esac
    # Else files, as -o default has it.
    if [[ -z $command || $cur == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
    {arguments}fi
}}
complete -o bashdefault -o default -F _compression_advisor {name}
"""


def render_bash_completion() -> str:
    """Return the script that bash reads."""
    commands = read_commands()
    names = [command.name for command in commands]
    shared = [name for option in read_global_options() for name in option.names]
    patterns = (f'"{name}"' if " " in name else f'" {name}"' for name in names)
    text = _HEAD.format(name=APP_NAME, commands=" | ".join(patterns))
    text += "".join(
        _values(f'*" {name}"', option)
        for option in read_global_options()
        for name in option.names
    )
    for command in commands:
        text += "".join(_option_values(command))
    text += _MIDDLE
    for command in commands:
        own = [name for each in command.arguments for name in each.names]
        own += [
            name.split()[1] for name in names if name.startswith(f"{command.name} ")
        ]
        text += f'    "{command.name}") words="{" ".join([*own, *shared])}" ;;\n'
    first = [name for name in names if " " not in name]
    text += f'    *) words="{" ".join([*first, "help", *shared])}" ;;\n'
    return text + _TAIL.format(name=APP_NAME, arguments=_named_things())


def _option_values(command: CommandText) -> Iterator[str]:
    for argument in command.arguments:
        for name in argument.names:
            yield _values(f'"{command.name} {name}"', argument)


def _values(pattern: str, argument: ArgumentText) -> str:
    """Return the branch that completes an option's value; none for a flag."""
    if not argument.metavar:
        return ""
    words = " ".join(_words(argument))
    if words and argument.metavar != "NAME|FILE":
        return f'    {pattern}) words="{words}" ;;\n'
    if words:
        return (
            f"    {pattern})\n"
            f'        mapfile -t COMPREPLY < <(compgen -W "{words}" -f -- "$cur")\n'
            "        return\n        ;;\n"
        )
    if argument.metavar in _DIRECTORIES:
        return (
            f"    {pattern})\n"
            '        mapfile -t COMPREPLY < <(compgen -d -- "$cur")\n'
            "        compopt -o filenames\n        return\n        ;;\n"
        )
    free = "compopt +o default +o bashdefault; " * (argument.metavar in _FREE_TEXT)
    return f"    {pattern}) {free}return ;;\n"


def _words(argument: ArgumentText) -> Sequence[str]:
    if "--device" in argument.names:
        return [device.name for device in builtin_devices()]
    if {"--select", "--ignore"} & set(argument.names):
        return [rule.id for rule in ALL_RULES]
    return argument.choices


def _named_things() -> str:
    """Return the branches that complete a rule's and a schema's name."""
    schemas = " ".join(SCHEMAS)
    words = " ".join([*(rule.id for rule in ALL_RULES), *(r.name for r in ALL_RULES)])
    return (
        "elif [[ $command == rule ]]; then\n"
        f'        mapfile -t COMPREPLY < <(compgen -W "{words}" -- "$cur")\n'
        "        compopt +o default +o bashdefault\n    "
        "elif [[ $command == schema ]]; then\n"
        f'        mapfile -t COMPREPLY < <(compgen -W "{schemas}" -- "$cur")\n'
        "        compopt +o default +o bashdefault\n    "
    )

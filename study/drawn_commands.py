"""How an application that was drawn is started, as its own files say."""

from __future__ import annotations

import os
import re
import shlex
from typing import TYPE_CHECKING, NoReturn

from prime_error import PrimeError
from snap_metadata import is_program

if TYPE_CHECKING:
    from pathlib import Path

SETTLED_S = 5
"""A service has no event that shows from outside, so this long counts as its start."""

_FOLDERS = ("usr/bin", "usr/games", "usr/sbin", "bin", "sbin")
_FIELD_CODE = re.compile(r"%[a-zA-Z]")


def words_of(file: str, text: str) -> list[str]:
    """Return the command that a desktop file, a unit or a program stands for.

    :param file: its path, which tells which of them it is.
    :param text: its contents; those of a program aren't looked at.
    :raises PrimeError: if it starts nothing that can be recorded.
    """
    if file.endswith(".desktop"):
        return desktop_words(text)
    return service_words(text) if file.endswith(".service") else [f"/{file}"]


def event_of(file: str) -> str:
    """Return what ends the launch, as ``record --until`` takes it."""
    if file.endswith(".service"):
        return f"seconds:{SETTLED_S}"
    return "window" if file.endswith(".desktop") else "exit"


def desktop_words(text: str) -> list[str]:
    """Return the words of a desktop file's ``Exec``, without field codes.

    :raises PrimeError: if it opens no window of its own, or menus don't show it.
    """
    keys = _keys(text, "[Desktop Entry]")
    for key in ("Terminal", "NoDisplay", "Hidden"):
        if keys.get(key, "").lower() == "true":
            refuse(f"its desktop file says {key}=true")
    words = _split(keys.get("Exec", ""))
    plain = [word for word in words if not _FIELD_CODE.fullmatch(word)]
    if not plain:
        refuse("its desktop file has no Exec")
    return [word.replace("%%", "%") for word in plain]


def service_words(text: str) -> list[str]:
    """Return the words of a unit's first ``ExecStart``.

    Variables are left out: they come from files that an administrator fills.

    :raises PrimeError: if it has none, or asks for an instance's name.
    """
    keys = _keys(text.replace("\\\n", " "), "[Service]")
    words = _split(keys.get("ExecStart", "").lstrip("-@:+!|"))
    plain = [word for word in words if "$" not in word]
    if not plain:
        refuse("its unit has no ExecStart")
    if any(_FIELD_CODE.search(word) for word in plain):
        refuse("its unit's ExecStart has specifiers")
    return plain


def _keys(text: str, group: str) -> dict[str, str]:
    """Return the keys of a group; of one that is there twice, the first."""
    keys: dict[str, str] = {}
    inside = False
    for line in text.splitlines():
        if line.startswith("["):
            inside = line.strip() == group
        elif inside and not line.startswith("#"):
            key, equals, value = line.partition("=")
            if equals and value.strip():
                keys.setdefault(key.strip(), value.strip())
    return keys


def _split(command: str) -> list[str]:
    try:
        return shlex.split(command)
    except ValueError as error:
        refuse(f"its command can't be read: {error}")


def below_root(words: list[str], root: Path) -> tuple[str, ...]:
    """Return a command whose program is a path below a tree's root.

    :raises PrimeError: if the tree has no such program.
    """
    program = words[0].lstrip("/")
    names = [program] if words[0].startswith("/") else []
    names += [f"{folder}/{program}" for folder in _FOLDERS if not names]
    found = next((name for name in names if is_program(name, root)), None)
    if found is None:
        refuse(f"there is no program '{words[0]}' in the tree")
    return found, *words[1:]


def refuse(reason: str) -> NoReturn:
    """Say why nothing of an application can be recorded.

    :param reason: as the table has it.
    :raises PrimeError: always, with status 65.
    """
    raise PrimeError(reason, exit_status=os.EX_DATAERR)

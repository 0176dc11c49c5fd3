"""What a program is by its ELF file: its language, a launcher, what it carries."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ...payload.elf import BrokenElfError, elf_of
from ...payload.elf_symbols import LEAST_CARRIED_BYTES, carried_parts, language_of
from .own_files import is_data

if TYPE_CHECKING:
    from ...payload.elf import Elf
    from ...payload.inventory import Entry
    from ...payload.source import Payload

NODE_IN_ONE = "Node program in one file"
FROZEN_PYTHON = "Python program frozen by PyInstaller"
CARRYING = "program that carries its files"
_CARRIED_BY = {
    ".NET": ".NET program in one file",
    "Node": NODE_IN_ONE,
    "PyInstaller": FROZEN_PYTHON,
}

TRAITS = (
    *_CARRIED_BY.values(),
    CARRYING,
    "program in Bun",
    "program in Go",
    "program in Haskell",
    "program in Rust",
)


def program_trait(payload: Payload, program: Entry) -> str:
    """Return which kind of program it is by itself, one of ``TRAITS``; else empty."""
    if is_data(program.path):
        return ""
    try:
        elf = elf_of(payload, program)
        return _trait(elf, program) if elf is not None else ""
    except BrokenElfError:
        return ""


def _trait(elf: Elf, program: Entry) -> str:
    carries = bool(carried_parts(elf))
    if not carries and elf.size_bytes < LEAST_CARRIED_BYTES:
        return ""
    language = language_of(elf)
    if carries:
        return _CARRIED_BY.get(language, CARRYING)
    if language == "Node":
        own = program.path.rpartition("/")[2] in ("node", "nodejs")
        return "" if own or "libffmpeg.so" in elf.linkage().needed else NODE_IN_ONE
    return f"program in {language}" if language else ""


STARTER_MAX_BYTES = 1024 * 1024
"""Of a program that only starts another: a launcher written in C."""

_STARTS = re.compile(rb"\0(exec[lv]p?e?|posix_spawnp?)(?=\0)")


def starts_others(payload: Payload, program: Entry) -> bool:
    """Return whether a small program calls what starts others."""
    if is_data(program.path) or program.size_bytes > STARTER_MAX_BYTES:
        return False
    try:
        elf = elf_of(payload, program)
        return bool(elf is not None and _STARTS.search(elf.dynamic_names()))
    except BrokenElfError:
        return False

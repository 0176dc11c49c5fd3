"""Programs in Lua."""

from __future__ import annotations

import pytest

from elf_files import make_elf
from guesses import found

LUA = {
    "usr/bin/lua5.4": make_elf(),
    "usr/bin/love": make_elf(needed=["libSDL2-2.0.so.0"]),
    "usr/lib/libSDL2-2.0.so.0": make_elf(),
}
MODULES = {
    "usr/share/lua/5.4/pl/path.lua": b"local lfs = require 'lfs'",
    "usr/lib/x86_64-linux-gnu/lua/5.4/lfs.so": make_elf(),
    "usr/share/lua/5.4/other/init.lua": b"x",
    "usr/share/greet/own.lua": b"require('pl.path')",
}


@pytest.mark.parametrize(
    ("script", "left"),
    [
        (b'local p = require("pl.path")', {"other/init", "own"}),
        (b"require 'other'", {"path", "lfs", "own"}),
        (b"package.path = '/usr/share/greet/?.lua'\nrequire'own'", {"other/init"}),
    ],
)
def test_program_reads_the_modules_that_it_requires(
    script: bytes, left: set[str]
) -> None:
    files = {**MODULES, "usr/bin/hello": b"#!/usr/bin/lua5.4\n" + script}
    named = set(found({**LUA, **files}, "usr/bin/hello")) - set(LUA)
    gone = {path for path in files if any(f"{name}." in path for name in left)}
    assert named == set(files) - gone


def test_game_of_love_starts_with_the_main_file_of_its_directory() -> None:
    files = {
        **LUA,
        "usr/share/games/hello/main.lua": b"require 'lib.states'",
        "usr/share/games/hello/lib/states.lua": b"x",
    }
    command = "usr/bin/love $SNAP/usr/share/games/hello"
    assert set(found(files, command)) == set(files) - {"usr/bin/lua5.4"}

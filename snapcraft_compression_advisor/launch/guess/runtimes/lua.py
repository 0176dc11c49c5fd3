"""Programs in Lua, games of LÖVE among them: the modules that they require."""

from __future__ import annotations

import re

from .script_modules import Language

_INTERPRETER = r"(?:lua(?:jit)?(?:-?\d[\d.]*)?|love(?:-?\d[\d.]*)?)"
_REQUIRE = rb"\brequire[ \t(]*[\"'](?P<name>[\w./-]+)[\"'](?P<near>)"

LUA = Language(
    interpreter="lua",
    suffix=".lua",
    way="lua-module",
    statement=re.compile(rb"^(?P<later>[ \t]+(?=\S))?[^\n]*?" + _REQUIRE, re.MULTILINE),
    folders=re.compile(r"(?:.*/)?(?:lib|share)/(?:[^/]+-linux-gnu\w*/)?lua/5\.\d"),
    suffixes=(".lua", "/init.lua", ".so"),
    separator=".",
    beside=True,
    search=re.compile(rb"\bpackage\.path\s*=[^\"'\n]*[\"'](?P<path>[^\"'\n?;]+)/\?"),
    computed=re.compile(
        rb"^(?:local[ \t]+\w+[ \t]*=[ \t]*)?require[ \t(]+[a-zA-Z_]", re.MULTILINE
    ),
)

loads = LUA.loads

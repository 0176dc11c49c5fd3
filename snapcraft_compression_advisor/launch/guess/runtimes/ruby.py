"""Ruby programs: the files that they require."""

from __future__ import annotations

import re

from .script_modules import Language

RUBY = Language(
    interpreter="ruby",
    suffix=".rb",
    way="ruby-module",
    statement=re.compile(
        rb"^(?P<later>[ \t]+)?(?:require[ (]*[\"'](?P<name>(?:[\w./-]|#\{\w+\})+)[\"']"
        rb"|require_relative[ (]*[\"'](?P<near>(?:[\w./-]|#\{\w+\})+)[\"'])",
        re.MULTILINE,
    ),
    folders=re.compile(
        r"(?:.*/)?(?:ruby/(?:\d[\d.]*|vendor_ruby)(?:/\d[\d.]*)?(?:/[^/]+-linux[^/]*)?"
        r"|gems/[^/]+/lib|extensions/[^/]+/[^/]+/[^/]+)"
    ),
    suffixes=(".rb", ".so", ""),
    search=re.compile(
        rb"(?:\$LOAD_PATH|\$:)[^\"'\n]{0,80}[\"'](?P<path>[^\"'\n]+)[\"']"
    ),
    variable="RUBYLIB",
    introspected=re.compile(
        rb"\b(?:load(?:er\.load)?|super)[ \t(]+[\"'](?P<name>[A-Z]\w*)[\"']"
        rb"(?:[^\"'\n]{0,40}[\"'](?P<version>[\d.]+)[\"'])?"
    ),
    introspected_by=(b"load", b"super"),
    launched=(
        re.compile(
            rb"\b(?:activate_)?bin_path[ \t(]+[\"'](?P<package>[\w.-]+)[\"'][ \t]*,"
            rb"[ \t]*[\"'](?P<name>[\w.-]+)[\"']"
        ),
        r"(?:.*/)?gems/{package}-\d[^/]*/(?:bin|exe)/{name}",
    ),
    inserted=re.compile(rb"#\{(?P<name>\w+)\}"),
    assigned=re.compile(
        rb"\b(?P<name>\w+)[ \t]*(?:\|\|)?=[ \t]*[\"'](?P<value>[\w./-]+)[\"']"
    ),
    computed=re.compile(rb"^require[ \t(]+[a-z@$]", re.MULTILINE),
    startup=("rubygems", "did_you_mean", "error_highlight", "monitor"),
)

loads = RUBY.loads

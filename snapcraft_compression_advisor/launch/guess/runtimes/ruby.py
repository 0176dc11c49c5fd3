"""Ruby programs: the files that they require."""

from __future__ import annotations

import re

from .runtime import Runtime
from .script_modules import Language

RUBY = Language(
    interpreter="ruby",
    suffix=".rb",
    way="ruby-module",
    statement=re.compile(
        rb"^(?P<later>[ \t]+)?(?:require[ (]*[\"'](?P<name>[\w./-]+)[\"']"
        rb"|require_relative[ (]*[\"'](?P<near>[\w./-]+)[\"'])",
        re.MULTILINE,
    ),
    folders=re.compile(
        r"(?:.*/)?(?:ruby/(?:\d[\d.]*|vendor_ruby)(?:/[^/]+-linux[^/]*)?|gems/[^/]+/lib)"
    ),
    suffixes=(".rb", ".so", ""),
    startup=("rubygems", "did_you_mean", "error_highlight", "monitor"),
)

RUNTIME = Runtime(
    kind="Ruby",
    mapped=re.compile(r"ruby[\d.]*|libruby\S+"),
    interpreter=RUBY.interpreter,
    loads=RUBY.loads,
)

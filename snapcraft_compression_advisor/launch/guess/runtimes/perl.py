"""Perl programs: the modules that they use."""

from __future__ import annotations

import re

from .script_modules import Language

PERL = Language(
    interpreter="perl",
    suffix=".pl",
    way="perl-module",
    statement=re.compile(
        rb"^(?P<later>[ \t]+(?=require))?[ \t]*(?:use|require)[ \t]+"
        rb"(?:(?:parent|base)[ \t]+(?:qw[ \t]*)?[\"'(\[{/]{1,2}[ \t]*)?"
        rb"(?P<name>[A-Za-z_]\w*(?:::\w+)*)(?P<near>)\b",
        re.MULTILINE,
    ),
    folders=re.compile(
        r"(?:.*/)?(?:lib|share)/(?:[^/]+-linux-gnu\w*/)?perl(?:5|-base)?(?:/5[\d.]*)?"
    ),
    suffixes=(".pm",),
    native="auto/{path}/{last}.so",
    search=re.compile(
        rb"^[ \t]*use[ \t]+lib[ \t]+(?:qw)?[\"'(\[{/ \t]+(?P<path>[^\"'\s)\]};]+)",
        re.MULTILINE,
    ),
    variable="PERL5LIB",
    introspected=re.compile(
        rb"(?:\bbasename[ \t]*=>|_BASENAME[ \t]*=)[ \t]*[\"'](?P<name>\w+)[\"']"
        rb"(?:[^\"'=]{0,80}(?:=>?)[ \t]*[\"'](?P<version>[\d.]+)[\"'])?"
    ),
    introspected_by=(b"basename", b"_BASENAME"),
    computed=re.compile(
        rb"^(?:require[ \t]+\$|eval[ \t]+[\"'](?:use|require)[ \t]+\$)",
        re.MULTILINE,
    ),
)

loads = PERL.loads

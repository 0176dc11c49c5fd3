"""Links of generated pages to the glossary."""

from __future__ import annotations

import re

TERMS = (
    "prime directory",
    "payload",
    "data block",
    "fragment",
    "cold launch",
    "warm launch",
    "launch set",
    "launch profile",
    "target app",
    "added seconds",
    "device profile",
    "trial",
    "interval",
    "policy",
    "budget",
    "verdict",
    "baseline",
    "repack",
)
"""Those whose words mean nothing else; each is a heading of the glossary."""

_LEFT_ALONE = re.compile(r"`[^`]*`|\[[^]]*\]\([^)]*\)|^(?:#|    ).*$", re.MULTILINE)


def with_glossary_links(text: str) -> str:
    """Return a page of a folder in docs with each term's first use as a link.

    Code, headings and existing links stay as they are.
    """
    for term in TERMS:
        anchor = term.replace(" ", "-")
        if f"glossary.md#{anchor}" in text:
            continue
        taken = [match.span() for match in _LEFT_ALONE.finditer(text)]
        for match in re.finditer(_forms(term), text, re.IGNORECASE):
            if not any(start <= match.start() < end for start, end in taken):
                link = f"[{match[0]}](../glossary.md#{anchor})"
                text = f"{text[: match.start()]}{link}{text[match.end() :]}"
                break
    return text


def _forms(term: str) -> str:
    """Return a pattern of a term, singular or plural, also across a line's end."""
    words = r"\s".join(term.split())
    plural = f"{words[:-1]}(?:y|ies)" if words.endswith("y") else f"{words}(?:e?s)?"
    return rf"(?<![\w-])(?:{plural})(?![\w-])"

"""Rules in words: a list for the terminal, a page in Markdown for each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..settings.settings import Settings
from .lines import wrapped

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..lint.rule import Rule

_PAGE_COLUMNS = 88
_NAME_COLUMNS = 26
_FAMILIES = {
    "SCA1": "Compression",
    "SCA2": "Launch",
    "SCA3": "Size",
    "SCA4": "Compatibility",
    "SCA5": "Store",
    "SCA6": "Regression",
}


def render_rule_list(rules: Sequence[Rule]) -> str:
    """Return a line for each rule, and its summary below."""
    lines = []
    for rule in rules:
        lines.append(f"{rule.id}  {rule.name.ljust(_NAME_COLUMNS)} {rule.severity}")
        lines += wrapped(rule.text.summary, first=" " * 8, rest=" " * 8)
    return "\n".join(lines) + "\n"


def render_rule_page(rule: Rule) -> str:
    """Return all that a rule says of itself, in Markdown."""
    blocks = [
        f"# {rule.id}: {rule.name}",
        _filled(rule.text.summary),
        f"Severity: {rule.severity}, unless the policy says otherwise.",
        "## Fails if",
        _filled(rule.text.fails_if),
        "## Why",
        _filled(rule.text.why),
        "## How to fix",
        _filled(rule.text.how_to_fix),
    ]
    if rule.text.options:
        fields = Settings.model_fields
        rows = (
            f"| `{key}` | {fields[key.replace('-', '_')].description} |"
            for key in rule.text.options
        )
        blocks += [
            "## Options",
            "\n".join(("| key | what it is |", "|---|---|", *rows)),
        ]
    return "\n\n".join(blocks) + "\n"


def render_rule_index(rules: Sequence[Rule]) -> str:
    """Return the page that leads to those of all rules, in Markdown."""
    blocks = ["# Rules"]
    for family, title in _FAMILIES.items():
        rows = (
            f"| [{rule.id}]({rule.id}.md) | {rule.name} | {rule.severity} | "
            f"{rule.text.summary} |"
            for rule in rules
            if rule.id.startswith(family)
        )
        head = ("| rule | name | severity | |", "|---|---|---|---|")
        blocks += [f"## {family}: {title}", "\n".join((*head, *rows))]
    return "\n\n".join(blocks) + "\n"


def _filled(text: str) -> str:
    return "\n".join(wrapped(text, _PAGE_COLUMNS))

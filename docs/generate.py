"""Writes what is generated here and in ``share``; a test fails where it is stale."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from command_pages import render_command_reference, render_man_page
from completion import render_bash_completion
from glossary_links import with_glossary_links
from settings_page import render_settings_page
from snapcraft_compression_advisor.cli.listings import SCHEMAS, rule_page, schema_of
from snapcraft_compression_advisor.lint.rules import ALL_RULES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from snapcraft_compression_advisor.lint.rule import Rule

FOLDER = Path(__file__).parent
_FAMILIES = {
    "SCA1": "Compression",
    "SCA2": "Launch",
    "SCA3": "Size",
    "SCA4": "Compatibility",
    "SCA5": "Store",
    "SCA6": "Regression",
}


def generated_files() -> Mapping[str, str]:
    """Return the text of every generated file by its path in this folder."""
    return {
        **{f"{name}.schema.json": schema_of(name) for name in SCHEMAS},
        "reference/commands.md": with_glossary_links(render_command_reference()),
        "reference/settings.md": with_glossary_links(render_settings_page()),
        "../share/man/man1/compression-advisor.1": render_man_page(),
        "../share/bash-completion/completions/compression-advisor": (
            render_bash_completion()
        ),
        "rules/README.md": _rule_index(ALL_RULES),
        **{
            f"rules/{rule.id}.md": with_glossary_links(_rule_page(rule))
            for rule in ALL_RULES
        },
    }


def _rule_page(rule: Rule) -> str:
    """Return a rule's page with links to its settings, which have a page."""
    page = rule_page(rule).replace(", unless the policy says otherwise.", ".")
    text, _, options = page.partition("## Options\n")
    keys = ", ".join(f"`{key}`" for key in rule.text.options)
    return f"{text}[Settings](../reference/settings.md): {keys}.\n" if options else text


def _rule_index(rules: Sequence[Rule]) -> str:
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


def main() -> None:
    """Write every generated file, and remove the pages of rules that are gone."""
    files = generated_files()
    for name in files:
        (FOLDER / name).parent.mkdir(parents=True, exist_ok=True)
    for path in (FOLDER / "rules").iterdir():
        if f"rules/{path.name}" not in files:
            path.unlink()
    for name, text in files.items():
        (FOLDER / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()

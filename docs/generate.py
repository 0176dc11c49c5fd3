"""Writes what is generated here and in ``share``; a test fails where it is stale."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from command_pages import render_command_reference, render_man_page
from completion import render_bash_completion
from settings_page import render_settings_page
from snapcraft_compression_advisor.advice.lint_policy import policy_schema_text
from snapcraft_compression_advisor.launch.device_file import device_schema_text
from snapcraft_compression_advisor.launch.profile import profile_schema_text
from snapcraft_compression_advisor.output.compare_json import comparison_schema_text
from snapcraft_compression_advisor.output.diff_json import diff_schema_text
from snapcraft_compression_advisor.output.json_report import schema_text
from snapcraft_compression_advisor.output.lint_json import lint_schema_text
from snapcraft_compression_advisor.output.measure_json import measurement_schema_text
from snapcraft_compression_advisor.output.rule_pages import (
    render_rule_index,
    render_rule_page,
)
from snapcraft_compression_advisor.rules.all_rules import ALL_RULES

if TYPE_CHECKING:
    from collections.abc import Mapping

FOLDER = Path(__file__).parent


def generated_files() -> Mapping[str, str]:
    """Return the text of every generated file by its path in this folder."""
    return {
        "report.schema.json": schema_text(),
        "launch-profile.schema.json": profile_schema_text(),
        "diff.schema.json": diff_schema_text(),
        "launch-set-comparison.schema.json": comparison_schema_text(),
        "measure.schema.json": measurement_schema_text(),
        "device.schema.json": device_schema_text(),
        "lint.schema.json": lint_schema_text(),
        "compression-advisor.schema.json": policy_schema_text(),
        "reference/commands.md": render_command_reference(),
        "reference/settings.md": render_settings_page(),
        "../share/man/man1/compression-advisor.1": render_man_page(),
        "../share/bash-completion/completions/compression-advisor": (
            render_bash_completion()
        ),
        "rules/README.md": render_rule_index(ALL_RULES),
        **{f"rules/{rule.id}.md": render_rule_page(rule) for rule in ALL_RULES},
    }


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

"""Writes the generated files of this folder; a test fails where one is stale."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

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
        "rules/README.md": render_rule_index(ALL_RULES),
        **{f"rules/{rule.id}.md": render_rule_page(rule) for rule in ALL_RULES},
    }


def main() -> None:
    """Write every generated file, and remove the pages of rules that are gone."""
    files = generated_files()
    (FOLDER / "rules").mkdir(exist_ok=True)
    for path in (FOLDER / "rules").iterdir():
        if f"rules/{path.name}" not in files:
            path.unlink()
    for name, text in files.items():
        (FOLDER / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()

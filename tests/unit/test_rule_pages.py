"""What rules say of themselves, and the pages made of it."""

from __future__ import annotations

import re
import runpy
from dataclasses import replace
from pathlib import Path

import pytest

from lint_contexts import make_context
from snapcraft_compression_advisor.lint.all_rules import ALL_RULES
from snapcraft_compression_advisor.lint.rule import Rule
from snapcraft_compression_advisor.report.rule_pages import (
    render_rule_list,
    render_rule_page,
)

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize("rule", ALL_RULES, ids=lambda rule: rule.id)
def test_every_rule_says_what_it_is(rule) -> None:  # type: ignore[no-untyped-def] # noqa: ANN001 # a Rule
    assert re.fullmatch(r"SCA[1-9]\d\d", rule.id)
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", rule.name)
    assert rule.severity in ("error", "warning", "info")
    for text in (rule.summary, rule.fails_if, rule.why, rule.how_to_fix):
        assert text.endswith("."), text
        assert text == text.strip()
        assert "  " not in text
    assert "\n" not in rule.summary
    page = render_rule_page(rule)
    assert page.startswith(f"# {rule.id}: {rule.name}\n")
    for heading in ("## Fails if", "## Why", "## How to fix"):
        assert heading in page
    assert ("## Options" in page) == bool(rule.options)


def test_a_rule_without_a_function_never_passes_for_one_that_found_nothing() -> None:
    rule = replace(ALL_RULES[0], judge=Rule.__dataclass_fields__["judge"].default)
    with pytest.raises(NotImplementedError, match=rule.id):
        rule.check(make_context())


def test_ids_are_in_order_and_no_id_or_name_is_there_twice() -> None:
    ids = [rule.id for rule in ALL_RULES]
    assert ids == sorted(set(ids))
    assert len({rule.name for rule in ALL_RULES}) == len(ALL_RULES)


def test_list_has_every_rule_and_fits_the_terminal() -> None:
    lines = render_rule_list(ALL_RULES).splitlines()
    heads = [line for line in lines if not line.startswith(" ")]
    assert [line.split()[0] for line in heads] == [rule.id for rule in ALL_RULES]
    assert max(map(len, lines)) <= 80


def test_generated_files_are_up_to_date() -> None:
    made = runpy.run_path(str(DOCS / "generate.py"))["generated_files"]()
    for name, text in made.items():
        assert (DOCS / name).read_text() == text, f"{name}: run docs/generate.py"
    kept = {f"rules/{path.name}" for path in (DOCS / "rules").iterdir()}
    assert kept == {name for name in made if name.startswith("rules/")}

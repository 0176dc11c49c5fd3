"""The page on the store's preflight."""

from __future__ import annotations

from pathlib import Path

from snapcraft_compression_advisor.lint.all_rules import ALL_RULES
from store_images import STORE_IMAGES, table_text

PAGE = Path(__file__).parents[2] / "docs/study/store-preflight.md"


def test_table_of_the_page_is_that_of_the_tests() -> None:
    assert table_text() in PAGE.read_text(encoding="utf-8")
    assert len(STORE_IMAGES) >= 30


def test_page_links_every_rule_of_the_preflight() -> None:
    text = PAGE.read_text(encoding="utf-8")
    for rule in ALL_RULES:
        if rule.id.startswith("SCA5") or rule.id in {"SCA106", "SCA107", "SCA402"}:
            assert f"[{rule.id}](../rules/{rule.id}.md)" in text

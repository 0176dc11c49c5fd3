"""The last run under the real snapd, and its page."""

from __future__ import annotations

from pathlib import Path

from real_snapd import RESULTS, agreement, blocks_by_snap, page
from snapcraft_compression_advisor.launch.profile import read_profile

PAGE = Path(__file__).parents[2] / "docs/study/real-snapd.md"


def test_page_is_that_of_the_kept_results() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(RESULTS)


def test_snapd_and_mounts_agree_on_the_blocks_of_a_launch() -> None:
    inside, outside = (
        blocks_by_snap(read_profile(RESULTS / f"{name}.json"))
        for name in ("inside", "outside")
    )
    own = next(iter(inside))
    assert agreement(inside[own], outside[own]) >= 0.9


def test_agreement_is_the_blocks_in_common_by_those_of_either() -> None:
    one, other = frozenset({("a", 0), ("a", 1)}), frozenset({("a", 1), ("b", 0)})
    assert agreement(one, other) == 1 / 3
    assert agreement(frozenset(), frozenset()) == 1

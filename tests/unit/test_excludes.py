"""What ``snap pack`` leaves out."""

import pytest

from snapcraft_compression_advisor.payload.inventory import (
    exclude_file_text,
    is_excluded,
)


@pytest.mark.parametrize("name", [".git", "CVS", "{arch}", ".snapignore", "DEBIAN"])
def test_version_control_is_left_out_of_the_root_only(name: str) -> None:
    assert is_excluded(name, top_level=True)
    assert not is_excluded(name, top_level=False)


@pytest.mark.parametrize(
    "name", ["old.snap", "notes~", ".#lock", ".~lock", ".x.swp", ",,temp", "a.click"]
)
def test_leftovers_are_left_out_at_any_depth(name: str) -> None:
    assert is_excluded(name, top_level=True)
    assert is_excluded(name, top_level=False)


@pytest.mark.parametrize(
    "name", [".hidden.snap", ".hidden~", "a.snap.txt", "git", "x.swp", ".a.sw"]
)
def test_wildcards_match_neither_leading_dots_nor_more(name: str) -> None:
    assert not is_excluded(name, top_level=True)


def test_exclude_file_marks_what_applies_anywhere() -> None:
    lines = exclude_file_text().splitlines()
    assert "... *.snap" in lines
    assert ".git" in lines

"""Filters added to the parts of a snapcraft.yaml."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ruamel.yaml import YAML

from snapcraft_compression_advisor.core.errors import BadDataError
from snapcraft_compression_advisor.project.add_filters import add_filters

PROJECT = """\
name: calculator
parts:
  # the program
  app:
    plugin: dump   # from the archive
    source: .
    prime:
      - -usr/include   # not needed
    # below the list

  deps:
    plugin: nil
    stage-packages: [libfoo]

apps:
  calculator: {command: bin/calculator}
"""


def added(text: str, filters: dict[str, list[str]]) -> str:
    return add_filters(text.encode(), filters, where="snapcraft.yaml").decode()


def test_list_gets_more_items_and_comments_stay() -> None:
    expected = PROJECT.replace(
        "# not needed\n", "# not needed\n      - '-usr/share/doc'\n"
    )
    assert added(PROJECT, {"app": ["usr/share/doc", "usr/include"]}) == expected


def test_part_without_a_list_gets_one_at_its_end() -> None:
    expected = PROJECT.replace(
        "[libfoo]\n", "[libfoo]\n    prime:\n      - '-usr/share/man'\n"
    )
    assert added(PROJECT, {"deps": ["usr/share/man"]}) == expected


def test_present_filters_change_nothing() -> None:
    content = PROJECT.encode()
    assert add_filters(content, {"app": ["usr/include"]}, where="x") is content


def test_last_line_without_a_break_gets_one() -> None:
    text = "parts:\n  app:\n    plugin: nil"
    assert added(text, {"app": ["a"]}) == f"{text}\n    prime:\n      - '-a'\n"


def test_line_breaks_are_those_of_the_file() -> None:
    text = "parts:\r\n  app:\r\n    prime:\r\n    - -a\r\n"
    assert added(text, {"app": ["b"]}) == text + "    - '-b'\r\n"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("parts:\n  app: {plugin: nil}\n", "flow mapping"),
        ("parts:\n  app:\n    prime: [-a]\n", "list with an item a line"),
        ("parts:\n  app:\n    prime: &x\n    - -a\n", "anchor"),
        ("parts:\n  app: &x\n    plugin: nil\n", "anchor"),
        ("parts:\n  app:\n    prime:\n    - on amd64: [-a]\n    - *x\n", "no anchor"),
        ("parts:\n  other:\n    plugin: nil\n", "no part 'app'"),
        ("name: x\n", "no part 'app'"),
    ],
)
def test_what_cannot_be_added_is_refused(text: str, problem: str) -> None:
    with pytest.raises(BadDataError, match=problem):
        added(text, {"app": ["b"]})


PATTERNS = st.lists(
    st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Zl", "Zp"))).filter(
        str.strip
    ),
    min_size=1,
    unique=True,
)


@given(patterns=PATTERNS)
def test_result_is_read_as_the_same_project_with_these_filters(
    patterns: list[str],
) -> None:
    yaml = YAML(typ="safe", pure=True)
    before, after = yaml.load(PROJECT), yaml.load(added(PROJECT, {"app": patterns}))
    new = [f"-{each}" for each in patterns if each != "usr/include"]
    assert after["parts"]["app"].pop("prime") == ["-usr/include", *new]
    del before["parts"]["app"]["prime"]
    assert after == before

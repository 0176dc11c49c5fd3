"""A component's compression, changed or inserted in one line."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from snapcraft_compression_advisor.core.errors import BadDataError, UsageError
from snapcraft_compression_advisor.project.project_lines import read_project_lines
from snapcraft_compression_advisor.project.set_scalar import set_compression


def splice(text: str, component: str = "c", compression: str = "xz") -> str:
    return set_compression(text.encode(), compression, component=component).decode()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("    compression: lzo # a\n", "    compression: xz # a\n"),
        ("    compression: 'lzo'\n", "    compression: 'xz'\n"),
        ('    compression: "lzo"\n', '    compression: "xz"\n'),
        (
            "    summary: s\n    type: standard # t\n    x: 1\n",
            "    summary: s\n    type: standard # t\n    compression: xz\n    x: 1\n",
        ),
        (
            "    # about it\n    summary: s\n",
            "    # about it\n    summary: s\n    compression: xz\n",
        ),
        ("    type: standard", "    compression: xz\n    type: standard"),
        ("    compression:\n", "    compression: xz\n"),
        ('    compression: "\\x6czo"\n', '    compression: "xz"\n'),
        (
            "    type: a\r\n    x: 1\r\n",
            "    type: a\r\n    compression: xz\r\n    x: 1\r\n",
        ),
        (
            "    type: standard\n    type2: |\n      text\n",
            "    type: standard\n    compression: xz\n    type2: |\n      text\n",
        ),
    ],
)
def test_one_line_is_changed_or_inserted(before: str, after: str) -> None:
    head = "name: x\ncomponents:\n  b: {}\n  c:\n"
    assert splice(head + before) == head + after


def test_component_written_with_braces_can_be_changed_but_not_extended() -> None:
    assert splice("components: {c: {compression: lzo}}\n") == (
        "components: {c: {compression: xz}}\n"
    )
    with pytest.raises(BadDataError, match="'c' is a flow mapping"):
        splice("components: {c: {type: x}}\n")


def test_nothing_to_change_returns_the_same_bytes() -> None:
    content = b"components:\n  c:\n    compression: xz\n"
    assert set_compression(content, "xz", component="c") is content


def test_byte_order_mark_stays() -> None:
    content = "\ufeffcomponents:\n  c:\n    type: x\n"
    assert splice(content) == f"{content}    compression: xz\n"


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("", "line 3: 'c' has no keys"),
        ("    [a]\n", "'c' is a flow mapping"),
        ("    - a\n", "line 4: 'c' has no keys"),
        ("    compression: |\n      lzo\n", "line 4: .* spans several lines"),
        ("    compression: &a lzo\n    x: *a\n", "line 4: .* has an anchor"),
        ("    compression: !!str lzo\n", "line 4: .* or a tag"),
        ("    compression: [lzo]\n", "line 4: compression is a mapping or a list"),
        ("    ? type\n    : x\n", r"line 4: 'c' begins with '\?'"),
        ("    compression: lzo\n    x: 1\n    compression: lzo\n", "line 4: .* twice"),
    ],
)
def test_what_cannot_be_edited_safely_is_refused(body: str, reason: str) -> None:
    with pytest.raises(BadDataError, match=reason):
        splice(f"name: x\ncomponents:\n  c:\n{body}")


def test_mapping_that_two_components_share_is_refused() -> None:
    text = "components:\n  b: &b\n    type: x\n  c: *b\n"
    for component in "bc":
        with pytest.raises(BadDataError, match=f"{component} has an anchor or an al"):
            splice(text, component)


def test_unknown_component_or_codec_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match="no component 'd'"):
        splice("components:\n  c:\n    type: x\n", "d")
    with pytest.raises(UsageError, match="doesn't accept compression 'zstd'"):
        splice("components:\n  c:\n    type: x\n", "c", "zstd")


LINES = st.sampled_from(
    [
        "    type: standard\n",
        "    summary: 'it''s'\n",
        "    # comment\n",
        "\n",
        "    description: |\n      compression: no\n\n",
        "    hooks: {install: {plugs: [network]}}\n",
        '    version: "1"\n',
        "    adopt-info: >-\n      part\n",
    ]
)


@given(
    st.lists(LINES, max_size=6, unique=True), st.lists(LINES, max_size=4, unique=True)
)
def test_edited_text_says_the_same_but_for_the_key(
    first: list[str], second: list[str]
) -> None:
    text = f"name: x\ncomponents:\n  c:\n{''.join(first)}  d:\n{''.join(second)}"
    try:
        after = splice(text)
    except BadDataError:
        assert not any(line.startswith("    ") and "#" not in line for line in first)
        return
    found = read_project_lines(after.encode(), where="x")
    assert found.components == {"c": "xz", "d": None}
    assert after.replace("    compression: xz\n", "", 1) == text

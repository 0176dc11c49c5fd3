"""Keys of components, and properties of every edit."""

import difflib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml as pyyaml  # as snapcraft reads its files
from hypothesis import HealthCheck, assume, event, given, settings
from hypothesis import strategies as st
from ruamel.yaml import YAML

from snapcraft_compression_advisor.core.errors import BadDataError, UsageError
from snapcraft_compression_advisor.project.changes import set_compression
from snapcraft_compression_advisor.project.project_file import read_project

_HEADS = (
    "",
    "# Copyright 2024\n# compression: lzo\n\n",
    "---\n",
    "%YAML 1.1\n---\n# after the marker\n",
    "\n\n",
    "# vim: set ts=2:\n--- # the only document\n",
)
_TAILS = (
    "",
    "\n",
    "# the end",
    "...\n",
    "...\n# after the end\n",
    "\n\n  # indented\n",
)
_COMMENTS = (
    "",
    "",
    "# a comment\n",
    "\n# ---- section ----\n#compression: xz\n\n",
    "    # indented by hand\n",
    "#\n#\ttabbed: comment\n",
)
VALUES = (
    "compression: xz",
    "compression: lzo   # was: xz",
    "compression:    'xz'",
    '"compression": "lzo" # quoted',
    "'compression' : xz",
    "compression:\n  xz",
    "compression: lzo  ",
)
"""The key with a value; behind them in :data:`_DECLARED`, none and null."""
_DECLARED = (*VALUES, "", "compression: ~")
_KEYS: tuple[tuple[str, ...], ...] = (
    ("name: demo", "name: 'demo' # it's", 'name: "demo"'),
    ("base: core24", "base:   core22  # LTS", "base: !!str core24"),
    ("version: '1.0'", 'version: "1e3"', "version: git", "adopt-info: main"),
    ("title: Größe — 中文 🎉", "title: 'It''s: #1'", 'title: "tab\\there"'),
    (
        "summary: one line",
        "summary: goes on\n  over two lines\n\n  and a blank one",
        "summary: >-\n  folded\n  compression: lzo\n",
        'summary: "goes on \\\n  escaped"',
    ),
    (
        "description: |\n  compression: xz\n\n    indented\n  # no comment\n",
        "description: |2+\n    more\n  compression: lzo\n\n",
        "description: >\n  a\ttab\tand more\n  base: core18\n",
        "description: 'compression: xz'",
        "description: |-\n    ---\n    ...\n    compression: lzo",
    ),
    ("grade: stable", 'grade: "devel"'),
    ("confinement: strict", "confinement: >-\n  classic"),
    (
        "platforms:\n  amd64:\n  arm64: {build-on: [amd64, arm64]}",
        "architectures: [amd64, {build-on: arm64,\n   run-on: all}]",
        "architectures:\n- build-on: [amd64] # here\n- build-on: arm64",
    ),
    (
        "environment:\n  A: &a $SNAP/bin:$PATH\n  B: *a",
        "environment: &env\n    LD_LIBRARY_PATH: $SNAP/lib\n    EMPTY: ''",
        'environment: {"A": \'b\', C: "d\\n"}',
    ),
    (
        (
            "apps:\n  demo: &app\n    command: bin/demo # compression: lzo\n"
            "    plugs: [home, network]\n  other:\n    <<: *app\n    command: bin/other"
        ),
        "apps: {demo: {command: bin/demo, plugs: [home]}}",
        (
            "apps:\n    demo:\n        command: bin/demo\n        environment:\n"
            "            compression: xz"
        ),
        "apps:\n  ? demo\n  : command: bin/demo",
    ),
    (
        (
            "parts:\n  demo:\n    plugin: nil\n    override-build: |\n"
            "      cat > x <<EOF\n      compression: xz\n      EOF\n"
            "      \tmake install\n    compression: lzo"
        ),
        (
            "parts:\n  demo:\n    plugin: make\n    stage-packages:\n    - libc6 # y\n"
            "    - on amd64:\n      - gcc\n    prime: [-usr/share/doc, '-*.a']"
        ),
        "parts:\n\n    demo:\n\n        plugin: dump   \n        source: .\n",
        "parts: {demo: {plugin: nil}}",
    ),
    (
        (
            "components:\n  data:\n    type: standard\n    compression: lzo\n"
            "    summary: x"
        ),
        "layout:\n  /usr/lib/x:\n    bind: $SNAP/usr/lib/x",
        "hooks:\n  configure: {plugs: [network]}",
    ),
    ("lint:\n  ignore:\n  - library:\n    - usr/lib/**", "links: {}", "assumes: []"),
)


@st.composite
def project_files(draw: st.DrawFn, declared: Sequence[str] = _DECLARED) -> bytes:
    """Return a project file, with or without the key."""
    keys = draw(st.lists(st.sampled_from(_KEYS), min_size=1, unique=True))
    blocks = [draw(st.sampled_from(key)) for key in keys]
    if key := draw(st.sampled_from(declared)):
        blocks.insert(draw(st.integers(0, len(blocks))), key)
    body = "".join(
        draw(st.sampled_from(_COMMENTS)) + block.rstrip("\n") + "\n" for block in blocks
    )
    text = draw(st.sampled_from(_HEADS)) + body + draw(st.sampled_from(_TAILS))
    if draw(st.booleans()):
        text = text.rstrip("\n")  # no line break at the end
    text = text.replace("\n", draw(st.sampled_from(["\n", "\r\n", "\r"])))
    return (draw(st.sampled_from(["", "\ufeff"])) + text).encode()


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
            "    # about it\n    compression: xz\n    summary: s\n",
        ),
        ("    type: standard", "    type: standard\n    compression: xz\n"),
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
    with pytest.raises(BadDataError, match="not each key or item has a line"):
        splice("components: {c: {type: x}}\n")


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("", "c has no keys"),
        ("    [a]\n", "c has no keys"),
        ("    - a\n", "line 4: c has no keys"),
        ("    compression: |\n      lzo\n", "line 4: .* spans several lines"),
        ("    compression: &a lzo\n    x: *a\n", "line 4: .* has an anchor"),
        ("    compression: !!str lzo\n", "line 4: .* has a tag"),
        ("    compression: [lzo]\n", "line 4: compression is a mapping or a list"),
        (
            "    compression: lzo\n    x: 1\n    compression: lzo\n",
            "line 6: .* already on line 4",
        ),
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
    found = read_project(Path("x"), after.encode())
    assert found.components == {"c": "xz", "d": None}
    assert after.replace("    compression: xz\n", "", 1) == text


def root_compression(content: bytes) -> str | None:
    return read_project(Path("snapcraft.yaml"), content).compression


# A busy machine must not fail a test, nor chance decide what is tested.
PROPERTY = settings(
    deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)

COMPRESSION = st.sampled_from(["xz", "lzo"])

MANGLINGS = (
    *(b"", b" ", b"\n", b"\t", b":", b"- ", b"{", b"]", b"'", b'"', b"|", b"#", b"@"),
    *(b"&a", b"*a", b"!", b"? ", b"%", b"<<: ", b"---", b"...", b"compression: xz\n"),
    *(b"\xff", b"\xe2\x80\xa8", b"\0", b"\\U"),
)


def by_ruamel(content: bytes) -> dict[str, Any]:
    """Return the document as objects, which the code under test never builds."""
    reader = YAML(typ="safe", pure=True)
    reader.version = (1, 1)
    loaded: dict[str, Any] = reader.load(content.decode().removeprefix("\ufeff"))
    return loaded


@PROPERTY
@given(project_files(), COMPRESSION)
def test_the_document_says_the_same_but_for_its_compression(
    before: bytes, compression: str
) -> None:
    after = set_compression(before, compression)
    for read in (pyyaml.safe_load, by_ruamel):
        said, says = read(before), read(after)
        assert root_compression(before) == said.pop("compression", None)
        assert says.pop("compression") == root_compression(after) == compression
        assert says == said


@PROPERTY
@given(project_files(), COMPRESSION)
def test_exactly_one_line_differs_where_anything_does(
    before: bytes, compression: str
) -> None:
    assume(before.endswith((b"\n", b"\r")))
    after = set_compression(before, compression)
    assert after.startswith("\ufeff".encode()) == before.startswith("\ufeff".encode())
    old, new = (
        text.decode().removeprefix("\ufeff").splitlines(keepends=True)
        for text in (before, after)
    )
    differing = [line for line in difflib.ndiff(old, new) if line[0] in "+-"]
    assert sum(line[0] == "+" for line in differing) == (after != before)
    assert sum(line[0] == "-" for line in differing) <= 1
    assert (after == before) == (root_compression(before) == compression)


@PROPERTY
@given(project_files(), COMPRESSION)
def test_setting_twice_changes_nothing_more(before: bytes, compression: str) -> None:
    once = set_compression(before, compression)
    assert set_compression(once, compression) is once


@PROPERTY
@given(project_files(declared=VALUES))
def test_setting_the_other_one_and_back_gives_the_original(original: bytes) -> None:
    declared = root_compression(original)
    assert declared is not None
    other = {"xz": "lzo", "lzo": "xz"}[declared]
    assert set_compression(original, other) != original
    there_and_back = set_compression(set_compression(original, other), declared)
    assert there_and_back == original


@PROPERTY
@given(
    project_files(),
    st.lists(
        st.tuples(st.integers(0, 2000), st.integers(0, 3), st.sampled_from(MANGLINGS)),
        max_size=6,
    ),
)
def test_a_mangled_file_is_edited_in_one_line_or_refused(
    content: bytes, manglings: list[tuple[int, int, bytes]]
) -> None:
    for position, cut, put in manglings:
        start = position % (len(content) + 1)
        content = content[:start] + put + content[start + cut :]
    try:
        edited = set_compression(content, "lzo")
    except BadDataError:
        event("refused")
    else:
        event("edited")
        assert root_compression(edited) == "lzo"
        assert abs(len(edited) - len(content)) < 2000


@PROPERTY
@given(st.binary(max_size=200))
def test_arbitrary_bytes_are_read_or_refused(content: bytes) -> None:
    try:
        root_compression(content)
    except BadDataError:
        event("refused")

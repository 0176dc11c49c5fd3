"""The text edit of the root key ``compression``: what it does and what it refuses."""

from pathlib import Path

import pytest
from pytest_mock import MockerFixture

from snapcraft_compression_advisor.core.errors import BadDataError, UsageError
from snapcraft_compression_advisor.project.changes import set_compression
from snapcraft_compression_advisor.project.document import (
    MAX_PROJECT_FILE_BYTES,
    read_document,
    statements,
)
from snapcraft_compression_advisor.project.project_file import read_project


def root_compression(content: bytes) -> str | None:
    return read_project(Path("snapcraft.yaml"), content).compression


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("compression: xz\n", "compression: lzo\n"),
        ("compression: xz", "compression: lzo"),
        ("compression:   xz  \n", "compression:   lzo  \n"),
        ("compression: xz # fast\t!\n", "compression: lzo # fast\t!\n"),
        ("compression: zstd\n", "compression: lzo\n"),
        ("\"compression\": 'xz' # c\n", "\"compression\": 'lzo' # c\n"),
        ('compression : "xz"\n', 'compression : "lzo"\n'),
        ("compression:\n  # why\n  xz\n", "compression:\n  # why\n  lzo\n"),
        ("compression: ~\n", "compression: lzo\n"),
        ("compression: null\n", "compression: lzo\n"),
        ("compression: ''\n", "compression: 'lzo'\n"),
        ("{name: x, compression: xz}\n", "{name: x, compression: lzo}\n"),
        ('{"compression":"xz"}', '{"compression":"lzo"}'),
        ("? compression\n: xz\n", "? compression\n: lzo\n"),
        ("---\ncompression: xz\n...\n", "---\ncompression: lzo\n...\n"),
        ("%YAML 1.1\n---\ncompression: xz\n", "%YAML 1.1\n---\ncompression: lzo\n"),
        ("  name: x\n  compression: xz\n", "  name: x\n  compression: lzo\n"),
        ("compression: xz\r\nname: x\r\n", "compression: lzo\r\nname: x\r\n"),
        ("compression: xz\rname: x\r", "compression: lzo\rname: x\r"),
        ("\ufeffcompression: xz\n", "\ufeffcompression: lzo\n"),
        ("title: ø🐧\ncompression: xz\n", "title: ø🐧\ncompression: lzo\n"),
    ],
)
def test_an_existing_value_is_replaced_where_it_stands(before: str, after: str) -> None:
    assert set_compression(before.encode(), "lzo") == after.encode()


NEW = "compression: lzo\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "base: core24\nconfinement: strict # c\n# apps\napps: {}\n",
            f"base: core24\nconfinement: strict # c\n{NEW}# apps\napps: {{}}\n",
        ),
        (
            "confinement: strict\ngrade: stable\nlicense: MIT\nparts: {}\n",
            f"confinement: strict\ngrade: stable\n{NEW}license: MIT\nparts: {{}}\n",
        ),
        ("base:\n  core24\nlicense: MIT\n", f"base:\n  core24\n{NEW}license: MIT\n"),
        (
            "name: x\n# c\n\n# the apps\n# are here\napps: {}\ngrade: stable\n",
            f"name: x\n# c\n\n# the apps\n# are here\napps: {{}}\ngrade: stable\n{NEW}",
        ),
        (
            "description: |\n  a\n  # not a comment\nparts: {}\n",
            f"{NEW}description: |\n  a\n  # not a comment\nparts: {{}}\n",
        ),
        ("apps: {}\nparts: {}\n", f"{NEW}apps: {{}}\nparts: {{}}\n"),
        ("base: x\n...\n# end\n", f"base: x\n{NEW}...\n# end\n"),
        ("base: [a,\n b] # c\n", f"base: [a,\n b] # c\n{NEW}"),
        ("type:\n  b:\n    - c\n\n# e\n", f"type:\n  b:\n    - c\n{NEW}\n# e\n"),
        ("version: |\n  a\n\n...\n", f"version: |\n  a\n{NEW}\n...\n"),
        ("# c\ndescription: |\n  a", f"# c\n{NEW}description: |\n  a"),
        ("name: x\nbase: core24", f"name: x\nbase: core24\n{NEW}"),
        ("base: core24", f"base: core24\n{NEW}"),
        ("? base\n: core24\n", f"? base\n: core24\n{NEW}"),
        ("version: a\n  b\ngrade:\n", f"version: a\n  b\ngrade:\n{NEW}"),
        ("version: |\n  1\nparts: {}\n", f"version: |\n  1\n{NEW}parts: {{}}\n"),
        ("grade: a\n  b\n", f"grade: a\n  b\n{NEW}"),
        ("  base: core24\n  apps: {}\n", f"  base: core24\n  {NEW}  apps: {{}}\n"),
        ("---\nbase: core24\n", f"---\nbase: core24\n{NEW}"),
        ("\ufeffbase: core24\n", f"\ufeffbase: core24\n{NEW}"),
        ("\ufeffapps: {}\n", f"\ufeff{NEW}apps: {{}}\n"),
        ("base: a\r\nx: b\n", "base: a\r\ncompression: lzo\r\nx: b\n"),
        ("apps: {}\r\n", "compression: lzo\r\napps: {}\r\n"),
        ("apps: {}\r\nx: y\n", "compression: lzo\r\napps: {}\r\nx: y\n"),
        ("base: a\nx: y\r\n", f"base: a\n{NEW}x: y\r\n"),
        ("base: a\rx: b\r", "base: a\rcompression: lzo\rx: b\r"),
        ("base: a\ngrade:\n# c\nx: b\n", f"base: a\ngrade:\n{NEW}# c\nx: b\n"),
        ("base: &b a\nbuild-base: *b\n", f"base: &b a\nbuild-base: *b\n{NEW}"),
    ],
)
def test_an_absent_key_is_inserted_as_one_whole_line(before: str, after: str) -> None:
    assert set_compression(before.encode(), "lzo") == after.encode()


@pytest.mark.parametrize(
    "text",
    [
        "# compression: xz\nbase: core24\n",
        "base: core24\nparts:\n  p:\n    compression: xz\n",
        "base: core24\ncomponents:\n  c: {compression: xz}\n",
        "description: |\n  compression: xz\nbase: core24\n",
        "description: >-\n  a\n\n  compression: xz\nbase: core24\n",
        'description: "a\n  compression: xz"\nbase: core24\n',
        "base: core24 # compression: xz\n",
    ],
)
def test_a_compression_elsewhere_is_neither_read_nor_changed(text: str) -> None:
    content = text.encode()
    assert root_compression(content) is None
    edited = set_compression(content, "lzo")
    assert root_compression(edited) == "lzo"
    assert edited.replace(b"compression: lzo\n", b"") == content


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "not a mapping"),
        ("# nothing\n", "not a mapping"),
        ("---\n", "not a mapping"),
        ("- compression: xz\n", "not a mapping"),
        ("compression", "not a mapping"),
        ("!!omap\ncompression: xz\n", "not a mapping"),
        ("a: b: c\n", "line 1: invalid YAML"),
        ("compression:\txz\n", "line 1: invalid YAML"),
        ("base: a\u2028# compression: xz\n", r"character 7 is U\+2028"),
        ("base: a\u2029# compression: xz\n", r"character 7 is U\+2029"),
        ("base: a\x85# compression: xz\n", r"character 7 is U\+0085"),
        ("a: b\n\tc: d\n", "line 2: invalid YAML"),
        ("a: 'b\n", "invalid YAML"),
        ("a: {b\n", "invalid YAML"),
        ("a: b\x1b[0m\n", "invalid YAML"),
        ("a: b\0\n", "invalid YAML"),
        ('a: "\\UFFFFFFFF"\n', "invalid YAML"),
        ("%YAML 3.0\n---\na: b\n", "invalid YAML"),
        ("a: *nowhere\n", "line 1: invalid YAML"),
        ("a: b\n---\nc: d\n", "line 2: invalid YAML"),
        ("a: b\n---\n", "line 2: invalid YAML"),
        (
            "compression: xz\ncompression: xz\n",
            "line 2: 'compression' is already on line 1",
        ),
        ("name: a\n'name': b\n", "line 2: 'name' is already on line 1"),
        ("parts:\n  a:\n    b: c\n    b: d\n", "line 4: 'b' is already on line 3"),
        ("a: {b: [{c: d, c: e}]}\n", "line 1: 'c' is already on line 1"),
        ("a: &a {compression: xz}\n<<: *a\n", "line 2: the root has a merge key"),
        ("a: &a {b: c}\n!!merge c: *a\n", "line 2: the root has a merge key"),
        ("a: [b?]\n", "invalid YAML"),  # YAML 1.2 would take it
        ("? [a]\n: b\n", "line 1: a key of the root"),
        ("a: &a compression\n*a : xz\n", "line 1: a key of the root"),
        ("compression:\n  - on amd64: xz\n", "line 2: compression is a mapping"),
        ("compression: {on amd64: xz}\n", "line 1: compression is a mapping"),
    ],
)
def test_what_snapcraft_could_not_read_is_refused_with_its_place(
    text: str, reason: str
) -> None:
    with pytest.raises(BadDataError, match=reason) as refusal:
        set_compression(text.encode(), "lzo", where="snap/snapcraft.yaml")
    assert str(refusal.value).startswith("snap/snapcraft.yaml")
    assert refusal.value.resolution
    with pytest.raises(BadDataError, match=reason):
        root_compression(text.encode())


@pytest.mark.parametrize(
    ("text", "declared", "reason"),
    [
        ("compression: &c xz\nname: *c\n", "xz", "has an anchor or an alias"),
        ("name: &c xz\ncompression: *c\n", "xz", "has an anchor or an alias"),
        ("compression: !!str xz\n", "xz", "has a tag"),
        ("compression: ! xz\n", "xz", "has a tag"),
        ("compression: |\n  xz\n", "xz\n", "spans several lines"),
        ("compression: >-\n  xz\n", "xz", "spans several lines"),
        ("compression: a\n  b\n", "a b", "spans several lines"),
        ('compression: "x\\\n  z"\n', "xz", "spans several lines"),
        ("&a\nname: x\ncompression: xz\n", "xz", "the root has an anchor"),
        ("{name: x}\n", None, "line 1: not each key or item has a line"),
        ("{}\n", None, "the root has no keys"),
        ("{compression, name: x}\n", None, "line 1: compression has no value"),
        ("? compression\nname: x\n", None, "line 1: compression has no value"),
        ("name: x\ncompression:  # later\n", None, "line 2: compression has no value"),
        ("version: |+\n  a\n\n", None, "without changing more"),
        ("version:\n  - b\n  -\n", None, "without changing more"),
    ],
)
def test_what_one_line_cannot_edit_is_read_but_not_written(
    text: str, declared: str | None, reason: str
) -> None:
    assert root_compression(text.encode()) == declared
    with pytest.raises(BadDataError, match=reason) as refusal:
        set_compression(text.encode(), "lzo")
    assert refusal.value.resolution == "Write the line by hand: compression: lzo"


@pytest.mark.parametrize(
    ("text", "declared"),
    [
        ("compression: xz\n", "xz"),
        ("compression: 'lzo'\n", "lzo"),
        ('compression: "\\x78z"\n', "xz"),
        ("compression: zstd\n", "zstd"),
        ("compression: on\n", "on"),
        ("compression:\n", None),
        ("compression: ~\n", None),
        ("compression: ''\n", ""),
        ("name: x\n", None),
    ],
)
def test_the_declared_value_is_what_yaml_reads(text: str, declared: str | None) -> None:
    assert root_compression(text.encode()) == declared


@pytest.mark.parametrize(
    "text", ["compression: xz", "compression: &c 'xz'", 'compression: "\\x78z"']
)
def test_a_value_that_is_set_already_stays_as_it_is_written(text: str) -> None:
    content = text.encode()
    assert set_compression(content, "xz") is content


@pytest.mark.parametrize("compression", ["zstd", "XZ", "", "xz\nname: y", "gzip"])
def test_a_compression_that_snapcraft_refuses_is_a_usage_error(
    compression: str,
) -> None:
    with pytest.raises(UsageError, match="doesn't accept compression") as refusal:
        set_compression(b"base: core24\n", compression)
    assert refusal.value.resolution == "Use xz or lzo."


@pytest.mark.parametrize(
    ("encoding", "reason"),
    [
        ("utf-16", "byte 0 is not UTF-8"),
        ("utf-32", "byte 0 is not UTF-8"),
        ("utf-16-le", "byte 14 is not UTF-8"),
        ("utf-16-be", "byte 15 is not UTF-8"),
        ("latin-1", "byte 7 is not UTF-8"),
    ],
)
def test_another_encoding_than_utf_8_is_refused(encoding: str, reason: str) -> None:
    content = "title: ø\nbase: core24\n".encode(encoding)
    with pytest.raises(BadDataError, match=reason):
        set_compression(content, "lzo")


def test_a_file_beyond_the_limit_is_refused_and_one_at_the_limit_is_not() -> None:
    head = b"base: core24\n#"
    content = head + b"x" * (MAX_PROJECT_FILE_BYTES - len(head))
    assert root_compression(content) is None
    with pytest.raises(BadDataError, match="larger than 128 KiB"):
        root_compression(content + b"x")


@pytest.mark.parametrize("opening", ["[", "{a: ", "- ", "? "])
def test_deep_nesting_is_refused_before_it_costs_anything(opening: str) -> None:
    bomb = f"a:\n {opening * 30_000}"
    with pytest.raises(BadDataError, match="too deeply"):
        set_compression(bomb.encode(), "lzo")


def test_the_deepest_nesting_that_snapcraft_has_is_edited() -> None:
    text = f"base: core24\na: {'[' * 64}{']' * 64}\n"
    assert root_compression(set_compression(text.encode(), "lzo")) == "lzo"


def test_an_alias_bomb_is_edited_without_being_expanded() -> None:
    lines = ["a0: &a0 [lol, lol]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 30)]
    text = "\n".join([*lines, "base: *a1"]) + "\n"
    assert set_compression(text.encode(), "lzo").decode() == text + NEW


@pytest.mark.parametrize(
    ("after", "same"),
    [
        ("a: [b, {c: d}]\n'compression': 'lzo' # c\n", True),
        ("a: [b, {c: d}]\n", True),
        ("compression: xz\na: [b, {c: e}]\n", False),
        ("compression: xz\na: [b, {c: 'd'}]\n", True),
        ("compression: xz\na: [b, {c: !!int d}]\n", False),
        ("compression: xz\na: [b, {c: &d d}]\n", False),
        ("compression: xz\na: [b, c: d]\n", True),
        ("compression: xz\na: [b, {c: d}]\ne:\n", False),
        ("compression: xz\nb: [b, {c: d}]\n", False),
    ],
)
def test_the_last_check_tells_what_else_a_document_says(
    after: str, *, same: bool
) -> None:
    first, second = (
        statements(
            read_document(text.encode(), where="x").root, besides=["compression"]
        )
        for text in ("a: [b, {c: d}]\ncompression: xz\n", after)
    )
    assert (first == second) is same


def test_an_edit_that_would_change_more_is_refused(mocker: MockerFixture) -> None:
    module = set_compression.__module__
    mocker.patch(f"{module}.statements", side_effect=[[1], [2]])
    with pytest.raises(BadDataError, match="without changing more"):
        set_compression(b"base: core24\n", "lzo")

"""Bounded documents: what one reader says of files that aren't as they must be."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pydantic
import pytest

from snapcraft_compression_advisor.core.documents import DocumentKind
from snapcraft_compression_advisor.core.errors import BadDataError, NoInputError

if TYPE_CHECKING:
    from pathlib import Path


class Example(pydantic.BaseModel):
    """A document with one key."""

    number: int


EXAMPLE = DocumentKind(
    model=Example,
    name="example",
    max_bytes=2048,
    broken="{where!r} is no example",
    resolution="Write another.",
)


def test_document_is_read_from_yaml_and_from_json(tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    path.write_text("number: 3\n")
    assert EXAMPLE.parse_yaml(EXAMPLE.read(path), where="x").number == 3
    assert EXAMPLE.parse_json(b'{"number": 3}', where="x").number == 3


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"number: x\n", "number: Input should be a valid integer"),
        (b"- 1\n", "file: Input should be a valid dictionary"),
        (b"a: [\n", "line 2: expected the node content, but found"),
        (b"a: 1\na: 2\n", "line 2: found duplicate key"),
        (b'a: "\\UFFFFFFFF"\n', "Python int too large|not in range"),
        (b"[" * 2000, "recursion"),
        (b"a: b\0\n", "special characters are not allowed"),
        (b"#" * 2049, "it has more than 2 KiB"),
    ],
)
def test_broken_yaml_is_named_with_its_place(content: bytes, problem: str) -> None:
    with pytest.raises(BadDataError, match=f"^'x' is no example: .*({problem})") as bad:
        EXAMPLE.parse_yaml(content, where="x")
    assert bad.value.resolution == "Write another."
    assert "\n" not in str(bad.value)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "file: Invalid JSON"),
        (b"[" * 2000, "file: Invalid JSON"),
        (b'{"number": 1.5}', "number: Input should be a valid integer"),
        (b" " * 2049, "it has more than 2 KiB"),
    ],
)
def test_broken_json_is_named_with_its_place(content: bytes, problem: str) -> None:
    with pytest.raises(BadDataError, match=f"^'x' is no example: {problem}"):
        EXAMPLE.parse_json(content, where="x")


def test_no_more_of_a_file_is_read_than_tells_that_it_is_too_large(
    tmp_path: Path,
) -> None:
    path = tmp_path / "large"
    path.write_bytes(b"x" * 9000)
    assert len(EXAMPLE.read(path)) == 2049


@pytest.mark.parametrize(
    ("name", "reason"), [("none", "No such file"), ("", "Is a dir"), ("a\0b", "null")]
)
def test_file_that_cannot_be_read_is_no_input(
    tmp_path: Path, name: str, reason: str
) -> None:
    with pytest.raises(NoInputError, match="Cannot read the example") as unread:
        EXAMPLE.read(tmp_path / name)
    assert reason in str(unread.value)
    assert unread.value.resolution == "Check its path."


@pytest.mark.parametrize(
    "content",
    [
        b"password: hunter2\n",
        b"token: hunter2\ntoken: hunter2\n",
        b"hunter2\n",
        b"a: !hunter2 x\n",
        b"a: *hunter2\n",
        b"user@hunter2: [\n",
        b"number: 1\nnumber: hunter2\n",
    ],
)
def test_an_error_quotes_nothing_of_another_kind_of_file(content: bytes) -> None:
    with pytest.raises(BadDataError) as bad:
        EXAMPLE.parse_yaml(content, where="x")
    shown = f"{bad.value} {bad.value.details} {bad.value.resolution}"
    assert not {"password", "token", "hunter2"} & {*re.findall(r"\w+", shown)}


def test_keys_of_another_json_are_not_named() -> None:
    with pytest.raises(BadDataError, match="it has none of the keys") as bad:
        EXAMPLE.parse_json(b'{"password": "hunter2"}', where="x")
    assert "password" not in f"{bad.value} {bad.value.details}"

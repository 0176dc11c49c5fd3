"""What snapcraft.yaml says of compression and lint, and where."""

from __future__ import annotations

import pytest

from snapcraft_compression_advisor.core.errors import BadDataError
from snapcraft_compression_advisor.project.project_lines import (
    ProjectLines,
    read_project_lines,
)


def read(text: str) -> ProjectLines:
    return read_project_lines(text.encode(), where="snapcraft.yaml")


def test_keys_are_found_with_their_lines() -> None:
    found = read(
        "# a comment\n"
        "name: app\n"
        "compression: lzo\n"
        "components:\n"
        "  fonts:\n"
        "    type: standard\n"
        "    compression: xz\n"
        "  data: {type: standard}\n"
        "  empty:\n"
    )
    assert (found.name, found.compression, found.compression_line) == ("app", "lzo", 3)
    assert found.components == {"fonts": "xz", "data": None, "empty": None}
    assert found.component_lines == {"fonts": 7, "data": 8, "empty": 9}


def test_nothing_said_is_nothing_found() -> None:
    found = read("base: core24\n")
    assert (found.name, found.compression, found.compression_line) == (None, None, None)
    assert (found.components, found.ignored) == ({}, ())


def test_null_key_has_a_line_but_no_value() -> None:
    found = read("name: app\ncompression:\nbase: core24\n")
    assert (found.compression, found.compression_line) == (None, 2)


@pytest.mark.parametrize(
    ("ignore", "selectors"),
    [
        ("[compression]", ("SCA",)),
        ("[library, classic: [usr/lib/*]]", ()),
        ("[compression: [SCA305, SCA2]]", ("SCA305", "SCA2")),
        (
            "[compression: [usr/lib/*, 'SCA303:*.a']]",
            ("SCA:usr/lib/*", "SCA303:*.a"),
        ),
        ("[SCA301, SCA305: [usr/share/doc/*]]", ("SCA301", "SCA305:usr/share/doc/*")),
        ("[compression, compression]", ("SCA",)),
        ("compression", ()),
        ("{compression: [SCA1]}", ()),
        ("[[compression], 3, null, {}]", ()),
        ("[SCARF, SCA-1]", ()),
    ],
)
def test_lint_ignore_names_rules_and_paths(
    ignore: str, selectors: tuple[str, ...]
) -> None:
    assert read(f"name: x\nlint:\n  ignore: {ignore}\n").ignored == selectors


@pytest.mark.parametrize(
    "text", ["name: [", "compression: [xz]\n", "a: 1\na: 2\n", "- x\n", "", "a: *b\n"]
)
def test_broken_files_are_bad_data(text: str) -> None:
    with pytest.raises(BadDataError):
        read(text)


def test_aliases_of_aliases_cost_nothing() -> None:
    levels = "".join(
        f"l{n}: &l{n} [{', '.join([f'*l{n - 1}'] * 9)}]\n" for n in range(1, 40)
    )
    found = read(f"l0: &l0 [x]\n{levels}components: *l39\nlint: {{ignore: *l39}}\n")
    assert found.components == {}

"""The last thing that happens to all text: nothing in it steers who reads it."""

from __future__ import annotations

import ast
import copyreg
import json
import re
import unicodedata
from typing import TYPE_CHECKING, get_args

import craft_cli
from hypothesis import given
from hypothesis import strategies as st

from doc_commands import ROOT
from snapcraft_compression_advisor.core.errors import AdvisorError
from snapcraft_compression_advisor.core.printable import Kept, safe_line, safe_text
from snapcraft_compression_advisor.core.terminal import emit

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pytest
    from pytest_mock import MockerFixture

TEXTS = st.lists(
    st.sampled_from(
        ["::", "##[", "\n", " ", "\t", "\r", "\x1b[1;31m", "\u202e", "\udcff"]
    )
    | st.text(max_size=3),
    max_size=8,
).map("".join)
WRITERS = {
    "cli/write.py",
    "core/terminal.py",
    "core/bound_start.py",  # becomes another program
}


def steers(character: str) -> bool:
    kind, direction = (
        unicodedata.category(character),
        unicodedata.bidirectional(character),
    )
    return kind in {"Cc", "Zl", "Zp", "Cs"} or direction in {
        *("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI")
    }


@given(text=TEXTS)
def test_no_text_steers_a_terminal_or_a_runner(text: str) -> None:
    for shown in (safe_text(text), safe_line(text)):
        shown.encode()
        assert not [each for each in shown if each != "\n" and steers(each)]
        assert not re.search(r"^\s*::|##\[", shown, re.MULTILINE)
    assert "\n" not in safe_line(text)
    assert safe_text(safe_text(text)) == safe_text(text)


@given(text=TEXTS)
def test_json_says_the_same_after_that(text: str) -> None:
    name = text.encode("utf-8", "backslashreplace").decode()
    document = json.dumps({name: name}, ensure_ascii=False, indent=1)
    assert json.loads(safe_text(document)) == {name: name}


def test_an_output_keeps_what_is_its_own() -> None:
    text = "\x1b[1;31mred\x1b[0m \x1b[2Jgone\n"
    assert safe_text(text, kept="colours") == "\x1b[1;31mred\x1b[0m \\u001b[2Jgone\n"
    assert safe_text("-\ta\r\n+\tb\rc\r\n", kept="patch") == "-\ta\r\n+\tb\\u000dc\r\n"
    assert safe_text("::error::a##[b\x1b\n", kept="commands") == (
        "::error::a\\u0023#[b\\u001b\n"
    )
    for kept in get_args(Kept):
        assert safe_text("plain ✓\n", kept=kept) == "plain ✓\n"


def test_an_error_is_one_line_that_steers_nothing() -> None:
    error = AdvisorError("a\n::b\x1b", details="c\n::d\x1b", resolution="\u202e")
    assert str(error) == "a\\n::b\\x1b"
    assert (error.details, error.resolution) == ("c\n\\u003a:d\\u001b", "\\u202e")


def test_an_error_is_shown_without_its_cause(
    mocker: MockerFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(copyreg.dispatch_table, AdvisorError, _keep_cause)  # as tblib
    shown = mocker.patch.object(craft_cli.emit, "error")
    mocker.patch.object(craft_cli.emit, "debug")
    error = AdvisorError("a")
    error.__cause__ = OSError("##[error]b")
    emit.error(error)
    assert shown.call_args.args[0].__cause__ is None


def _keep_cause(error: BaseException) -> tuple[object, ...]:
    return _with_cause, (type(error), error.args, error.__cause__)


def _with_cause(kind: type[BaseException], args: tuple[str], cause: object) -> object:
    error = kind(*args)
    error.__cause__ = cause  # type: ignore[assignment] # an exception or None
    return error


def test_nothing_writes_past_that() -> None:
    package = ROOT / "snapcraft_compression_advisor"
    for path in package.rglob("*.py"):
        if path.relative_to(package).as_posix() not in WRITERS:
            assert not [*_writes(ast.parse(path.read_bytes()))], path


def _writes(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module == "craft_cli":
            yield from {each.name for each in node.names} & {"emit"}
        if isinstance(node, ast.Call):
            called = ast.unparse(node.func)
            yield from {called} & {"print", "sys.stdout.write", "sys.stderr.write"}

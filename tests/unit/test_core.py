"""Errors, terminals and texts; and what no file of the package does."""

import ast
import copyreg
import json
import re
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import craft_cli
import pydantic
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pytest_mock import MockerFixture

import snapcraft_compression_advisor
from doc_commands import ROOT
from snapcraft_compression_advisor.core.documents import DocumentKind
from snapcraft_compression_advisor.core.errors import (
    AdvisorError,
    BadDataError,
    NoInputError,
)
from snapcraft_compression_advisor.core.terminal import Kept, emit, safe_line, safe_text
from snapcraft_compression_advisor.core.units import format_bytes, format_seconds

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


def test_figures_print_in_decimal_units_and_hundredths_below_ten() -> None:
    sizes = (999, 1000, -1500, 2_340_000_000)
    assert [*map(format_bytes, sizes)] == ["999 B", "1.0 kB", "-1.5 kB", "2.34 GB"]
    assert [*map(format_seconds, (0.254, 9.994, 12.34))] == [
        "0.25 s",
        "9.99 s",
        "12.3 s",
    ]


PACKAGE = Path(snapcraft_compression_advisor.__file__).parent
STARTERS = frozenset({"run", "Popen", "call", "check_call", "check_output"})
SHELLS = frozenset(
    {
        *("os.system", "os.popen", "subprocess.getoutput"),
        *("subprocess.getstatusoutput", "asyncio.create_subprocess_shell"),
        *("pty.spawn", "commands.getoutput"),
    }
)
BUILT = (ast.JoinedStr, ast.Constant, ast.BinOp)
"""Text put together; a command is a tuple, a list, or a call that returns one."""


def shell_uses(source: str) -> Iterator[str]:
    """Yield what in a module would have a shell read something."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and node.module in {"os", "subprocess"}:
            yield f"line {node.lineno}: names of {node.module} without its name"
        if not isinstance(node, ast.Call):
            continue
        called = ast.unparse(node.func)
        if called in SHELLS:
            yield f"line {node.lineno}: {called}"
        for keyword in node.keywords:
            if keyword.arg == "shell" and called.startswith("subprocess."):
                yield f"line {node.lineno}: shell="
        if (
            called.startswith("subprocess.")
            and called.rpartition(".")[2] in STARTERS
            and (not node.args or isinstance(node.args[0], BUILT))
        ):
            yield f"line {node.lineno}: a command that is no list"


def test_no_module_uses_a_shell() -> None:
    for path in PACKAGE.rglob("*.py"):
        assert list(shell_uses(path.read_text())) == [], path

"""Lines of an strace log."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from snapcraft_compression_advisor.capture.strace_log import (
    Call,
    descriptor,
    quoted,
    read_calls,
    unescape,
)

OPENED = Call(
    pid=0,
    name="openat",
    arguments=("AT_FDCWD", '"/a"', "O_RDONLY"),
    result=3,
)


def only_call(*lines: str) -> Call:
    (call,) = (item for item in read_calls(lines) if not getattr(item, "begun", False))
    assert isinstance(call, Call)
    return call


@pytest.mark.parametrize(
    ("prefix", "pid"),
    [
        ("", 0),
        ("1234  ", 1234),
        ("[pid  1234] ", 1234),
        ("1234  12:00:01 ", 1234),
        ("1234  12:00:01.123456 ", 1234),
        ("1234  1700000000.123456 ", 1234),
        ("1234       0.000041 ", 1234),
        ("12:00:01.123456 ", 0),
    ],
)
def test_line_may_begin_with_a_process_and_a_time(prefix: str, pid: int) -> None:
    call = only_call(f'{prefix}openat(AT_FDCWD, "/a", O_RDONLY) = 3\n')
    assert (call.pid, call.name, call.arguments, call.result) == (
        pid, OPENED.name, OPENED.arguments, 3,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("end", "result", "path"),
    [
        ("= 3", 3, None),
        ("= 3</a b>", 3, "/a b"),
        ("= 3</a> <0.000012>", 3, "/a"),
        ("= 3<socket:[1]>", 3, None),
        ("= 3 (flags O_RDONLY)", 3, None),
        ("= -1 ENOENT (No such file or directory)", -1, None),
        ("= 0x7f00", 0x7F00, None),
        ("= ?", None, None),
        ("= ? ERESTARTSYS (To be restarted)", None, None),
        ("              = 3", 3, None),
    ],
)
def test_results_of_all_forms(end: str, result: int | None, path: str | None) -> None:
    call = only_call(f'openat(AT_FDCWD, "/a", O_RDONLY) {end}')
    assert (call.result, call.result_path) == (result, path)


def test_arguments_are_split_at_the_commas_between_them() -> None:
    call = only_call(
        r'1 x(3</a,b>, "a\", (b", [{iov_base=""..., iov_len=5}, 7], {a=1, b=[2, 3]}, '
        "1<<20, AT_FDCWD</home>) = 0"
    )
    assert call.arguments == (
        "3</a,b>",
        r'"a\", (b"',
        '[{iov_base=""..., iov_len=5}, 7]',
        "{a=1, b=[2, 3]}",
        "1<<20",
        "AT_FDCWD</home>",
    )


def test_interrupted_calls_are_put_together() -> None:
    lines = [
        '7 openat(AT_FDCWD, "/a", <unfinished ...>',
        "8 read(3, <unfinished ...>",
        '8 <... read resumed>"", 100) = 5',
        "7 <... openat resumed>O_RDONLY) = 3</a>",
        "9 vfork( <unfinished ...>",
        "9 <... vfork resumed>) = 10",
    ]
    items = list(read_calls(lines))
    assert all(isinstance(item, Call) for item in items)
    done = [item for item in items if isinstance(item, Call) and not item.begun]
    assert [(item.pid, item.name, item.result) for item in done] == [
        (8, "read", 5),
        (7, "openat", 3),
        (9, "vfork", 10),
    ]
    assert done[0].arguments == ("3", '""', "100")
    assert done[1].arguments == ("AT_FDCWD", '"/a"', "O_RDONLY")


@pytest.mark.parametrize(
    "line",
    [
        "strace: Process 7 attached",
        "7 +++ exited with 0 +++",
        "7 --- SIGCHLD {si_signo=SIGCHLD} ---",
        "",
    ],
)
def test_lines_about_processes_and_signals_are_passed_over(line: str) -> None:
    assert list(read_calls([line])) == []


@pytest.mark.parametrize(
    "line",
    [
        "hello",
        "7 open(",
        '7 open("/a", O_RDONLY',
        '7 open("/a", O_RDONLY) 3',
        '7 open("/a", O_RDONLY) = three',
        "7 <... read resumed>) = 3",
        "Makefile:7: open(x) = 3",
        "open(" * 1000,
        "\x00\udcff",
    ],
)
def test_lines_of_unknown_form_are_told(line: str) -> None:
    assert list(read_calls(["exit(0) = ?", line]))[1:] == [None]


@pytest.mark.parametrize(
    ("argument", "found"),
    [
        ("3", (3, None)),
        ("3</a>", (3, "/a")),
        (r"3</a\76b>", (3, "/a>b")),
        ("3<pipe:[5]>", (3, None)),
        ("AT_FDCWD", (None, None)),
        ("AT_FDCWD</home>", (None, "/home")),
        ("-1", (-1, None)),
        ("NULL", (None, None)),
    ],
)
def test_descriptors(argument: str, found: tuple[int | None, str | None]) -> None:
    assert descriptor(argument) == found


def test_strings_are_unescaped_and_those_cut_short_are_none() -> None:
    assert quoted(r'"/a\"\\\n\303\274\x20b"') == '/a"\\\nü b'
    assert quoted(r'"/\377"') == "/\udcff"
    assert quoted('"/a"...') is None
    assert quoted("0x7f") is None


def escaped(text: str) -> str:
    """Return a name as strace prints it."""
    return "".join(
        chr(byte) if 32 <= byte < 127 and chr(byte) not in '"\\<>' else f"\\{byte:03o}"
        for byte in text.encode(errors="surrogateescape")
    )


NAMES = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))


@given(NAMES)
def test_any_name_survives_its_escapes(name: str) -> None:
    assert unescape(escaped(name)) == name
    call = only_call(f'5 openat(3</{escaped(name)}>, "{escaped(name)}", 0) = 4')
    assert quoted(call.arguments[1]) == name
    assert descriptor(call.arguments[0]) == (3, f"/{name}")


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"])), max_size=5))
def test_no_line_is_fatal(lines: list[str]) -> None:
    assert len(list(read_calls(lines))) <= len(lines)


PIECES = st.sampled_from(
    ["7 ", "[pid 7] ", "open", "mmap(", "(", ")", ", ", '"', "\\", "<", ">", "3</a>",
     " = ", "-1", "0x", "9" * 5000, "<unfinished ...>", "<... open resumed>", "[", "}",
     "12:00:00.1 ", "AT_FDCWD", "?", "+++ ", "clone("]
)  # fmt: skip


@given(st.lists(st.lists(PIECES, max_size=12).map("".join), max_size=6))
def test_no_mix_of_pieces_is_fatal(lines: list[str]) -> None:
    assert len(list(read_calls(lines))) <= len(lines)

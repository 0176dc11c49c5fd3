"""What lies in directories named after a program."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from elf_files import make_elf
from payloads import MemoryPayload, make_payload
from snapcraft_compression_advisor.launch.guess.candidates import (
    Candidate,
    find_candidates,
)
from snapcraft_compression_advisor.launch.guess.guess import static_launch_set
from snapcraft_compression_advisor.launch.guess.own_files import is_data

if TYPE_CHECKING:
    from pytest_mock import MockerFixture

LIB = "usr/lib/x86_64-linux-gnu"


def found(files: dict[str, bytes], command: str) -> dict[str, Candidate]:
    """Return what a launch may read."""
    payload = make_payload(files, base="bare", apps={"hello": {"command": command}})
    candidates = find_candidates(payload, "hello")
    return {candidate.entry.path: candidate for candidate in candidates.files}


def test_programs_own_directories_are_looked_at() -> None:
    files = {
        "usr/games/hello2": make_elf(),
        "usr/share/games/hello2/images/a.png": b"x",
        f"{LIB}/hello/2.0/plug.so": make_elf(),
        f"{LIB}/helloplugins/paint.so": make_elf(),
        "usr/share/other/b.png": b"x",
        "meta/gui/hello.desktop": b"",
    }
    candidates = found(files, "usr/games/hello2")
    assert candidates["usr/share/games/hello2/images/a.png"].way == "own-image"
    assert candidates[f"{LIB}/hello/2.0/plug.so"].way == "own-code"
    assert f"{LIB}/helloplugins/paint.so" in candidates
    assert "usr/share/other/b.png" not in candidates


@pytest.mark.parametrize(
    ("path", "data"),
    [
        ("share/a.PNG", True),
        ("a.py", True),
        ("a", False),
        ("png/a", False),
        ("a.so", False),
        ("a.bin", False),
    ],
)
def test_names_tell_data_from_what_may_be_a_program(path: str, *, data: bool) -> None:
    assert is_data(path) is data


def test_what_is_data_by_its_name_is_not_looked_into(mocker: MockerFixture) -> None:
    files = {
        "usr/games/hello": make_elf(),
        "usr/share/games/hello/a.png": b"x" * 300_000,
        "usr/share/games/hello/b.bin": b"x" * 300_000,
        "meta/gui/hello.desktop": b"",
    }
    payload = make_payload(files, apps={"hello": {"command": "usr/games/hello"}})
    read = mocker.spy(MemoryPayload, "read")
    launch_set = static_launch_set(payload, "hello")
    assert {file.path for file in launch_set.files} == set(files) - {
        "meta/gui/hello.desktop"
    }
    read_of = {call.args[1] for call in read.call_args_list}
    assert "usr/share/games/hello/b.bin" in read_of
    assert "usr/share/games/hello/a.png" not in read_of

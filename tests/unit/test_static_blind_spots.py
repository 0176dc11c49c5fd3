"""What the search can't follow, and where it looks by itself."""

from __future__ import annotations

import pytest
from pytest_mock import MockerFixture

from elf_files import make_elf
from guesses import found, guessed
from payloads import MemoryPayload, make_payload
from snapcraft_compression_advisor.launch.guess import programs
from snapcraft_compression_advisor.launch.guess.guess import static_launch_set
from snapcraft_compression_advisor.launch.guess.own_files import is_data
from snapcraft_compression_advisor.launch.launch_set import BlindSpot
from snapcraft_compression_advisor.payload import linkage


def blind_spots(files: dict[str, bytes], command: str) -> tuple[BlindSpot, ...]:
    return guessed(files, command).blind_spots


@pytest.mark.parametrize("text", [b"\x7fELF", b"#!/bin/sh\nexec $SNAP/bin/other\n"])
def test_program_that_is_followed_leaves_none(text: bytes) -> None:
    files = {"bin/hello": text, "bin/other": make_elf()}
    assert blind_spots(files, "bin/hello") == ()


@pytest.mark.parametrize("interpreter", ["wish8.6", "expect", "tclsh", "nodejs"])
def test_language_that_is_followed_is_none(interpreter: str) -> None:
    files = {"bin/hello": f"#!/usr/bin/env {interpreter}\n".encode()}
    assert blind_spots(files, "bin/hello") == ()


@pytest.mark.parametrize("interpreter", ["befunge", "Rscript"])
def test_language_that_is_not_followed_is_one(interpreter: str) -> None:
    files = {"bin/hello": f"#!/usr/bin/env {interpreter}\n".encode()}
    assert blind_spots(files, "bin/hello") == (
        BlindSpot(reason="unfollowed-runtime", where="bin/hello", what=interpreter),
    )


@pytest.mark.parametrize(
    "script",
    [
        b'exec "$(choose)"',
        b'$SNAP/bin/other --check; exec "$(choose)" "$@"',
        b'A=$(choose)\nother x\n$A/bin/run "$@"',
        b"$A x",
        b"other; $A x",
        b"missing",
    ],
)
def test_shell_script_that_computes_what_it_starts_is_one(script: bytes) -> None:
    files = {"bin/hello": b"#!/bin/sh\n" + script, "bin/other": make_elf()}
    assert blind_spots(files, "bin/hello") == (
        BlindSpot(reason="computed-command", where="bin/hello"),
    )


@pytest.mark.parametrize(
    "script",
    [
        b'exec "$@"',
        b'other "$@"',
        b"other",
        b'exec $WRAPPER $SNAP/bin/other "$@"',
        b'if x; then exec "$DEBUGGER" "$@"; fi; exec other',
        b"exec ${A:-${B:-other}}",
        b". bin/settings; exec $OTHER",
        b"$HOME_OF_OTHER/bin/other",
    ],
)
def test_shell_script_that_names_what_it_starts_is_none(script: bytes) -> None:
    files = {
        "bin/hello": b"#!/bin/sh\nother\n" + script,
        "bin/settings": b"OTHER=other",
        "bin/other": make_elf(),
    }
    assert blind_spots(files, "bin/hello") == ()


def test_more_programs_than_are_followed_are_one() -> None:
    names = [f"bin/p{number}" for number in range(programs.MAX_PROGRAMS + 9)]
    files = dict.fromkeys(names, make_elf())
    files["bin/hello"] = "\n".join(("#!/bin/sh", *names)).encode()
    (spot,) = blind_spots(files, "bin/hello")
    assert (spot.reason, spot.what) == ("limit-reached", "programs")


def test_of_a_far_snap_few_libraries_are_asked_what_they_need(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The libraries that are found are there all the same, and the guess says it."""
    monkeypatch.setattr(linkage, "MOST_FAR_FILES", 2)
    names = ("a", "b", "c", "d")
    files = {f"lib/lib{name}.so.1": make_elf() for name in names}
    needed = [f"lib{name}.so.1" for name in names[:3]]
    files["bin/hello"] = make_elf(needed=needed)
    files["lib/libc.so.1"] = make_elf(needed=["libd.so.1"])
    assert blind_spots(files, "bin/hello") == ()
    monkeypatch.setattr(linkage, "is_far", lambda _: True)
    candidates = guessed(files, "bin/hello")
    (spot,) = candidates.blind_spots
    assert (spot.reason, spot.what) == ("limit-reached", "libraries")
    assert {file.entry.path for file in candidates.files} == {*files} - {
        "lib/libd.so.1"
    }
    assert candidates.blindness == "modules"


LIB = "usr/lib/x86_64-linux-gnu"


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

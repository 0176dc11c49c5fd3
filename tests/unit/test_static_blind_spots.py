"""What a guess could not follow, told by codes."""

from __future__ import annotations

import pytest

from elf_files import make_elf
from payloads import make_payload
from snapcraft_compression_advisor.launch.guess import programs
from snapcraft_compression_advisor.launch.guess.candidates import find_candidates
from snapcraft_compression_advisor.launch.launch_set import BlindSpot


def blind_spots(files: dict[str, bytes], command: str) -> tuple[BlindSpot, ...]:
    payload = make_payload(files, base="bare", apps={"hello": {"command": command}})
    return find_candidates(payload, "hello").blind_spots


@pytest.mark.parametrize("text", [b"\x7fELF", b"#!/bin/sh\nexec $SNAP/bin/other\n"])
def test_program_that_is_followed_leaves_none(text: bytes) -> None:
    files = {"bin/hello": text, "bin/other": make_elf()}
    assert blind_spots(files, "bin/hello") == ()


@pytest.mark.parametrize("interpreter", ["wish8.6", "expect", "tclsh", "nodejs"])
def test_language_that_is_followed_is_none(interpreter: str) -> None:
    files = {"bin/hello": f"#!/usr/bin/env {interpreter}\n".encode()}
    assert blind_spots(files, "bin/hello") == ()


def test_language_that_is_not_followed_is_one() -> None:
    files = {"bin/hello": b"#!/usr/bin/env befunge\n"}
    assert blind_spots(files, "bin/hello") == (
        BlindSpot(reason="unfollowed-runtime", where="bin/hello", what="befunge"),
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

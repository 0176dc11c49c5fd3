"""Guesses of payloads that are hostile, and what they can't follow."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pytest_mock import MockerFixture

from elf_files import EM_AARCH64, make_elf
from guesses import found, guessed
from payloads import MemoryPayload, make_payload
from snapcraft_compression_advisor.launch.guess import programs
from snapcraft_compression_advisor.launch.guess.candidates import MAX_FAMILY_FILES
from snapcraft_compression_advisor.launch.guess.guess import (
    UNREACHED_SMALL_SHARE,
    static_launch_set,
)
from snapcraft_compression_advisor.launch.guess.priors import (
    NO_WINDOWS,
    built_in_priors,
)
from snapcraft_compression_advisor.launch.guess.programs import (
    MAX_PROGRAMS,
    SCRIPT_MAX_BYTES,
)
from snapcraft_compression_advisor.launch.guess.runtimes import UNKNOWN
from snapcraft_compression_advisor.launch.guess.traits import is_data
from snapcraft_compression_advisor.launch.launch_set import BlindSpot, LaunchSet
from snapcraft_compression_advisor.payload import linkage

LIB = "usr/lib/x86_64-linux-gnu"
PYTHON = "usr/lib/python3"


def guess(
    files: dict[str, bytes],
    *,
    links: dict[str, str] | None = None,
    command: str = "usr/bin/hello",
) -> LaunchSet:
    payload = make_payload(
        files, links=links, base="bare", apps={"hello": {"command": command}}
    )
    return static_launch_set(payload, "hello")


def paths(launch_set: LaunchSet) -> set[str]:
    return {file.path for file in launch_set.files}


def unresolved(launch_set: LaunchSet) -> dict[str, str]:
    return {item.name: item.supplier for item in launch_set.unresolved}


def test_library_of_another_architecture_is_missing() -> None:
    found = guess(
        {
            "usr/bin/hello": make_elf(needed=["liba.so"]),
            f"{LIB}/liba.so": make_elf(machine=EM_AARCH64),
        }
    )
    assert paths(found) == {"usr/bin/hello"}
    assert unresolved(found) == {"liba.so": "missing"}


def test_broken_program_is_read_and_said_to_be_unreadable() -> None:
    found = guess({"usr/bin/hello": make_elf()[:70]})
    assert paths(found) == {"usr/bin/hello"}
    assert unresolved(found) == {"usr/bin/hello": "unreadable"}


def test_broken_library_is_said_to_be_unreadable() -> None:
    found = guess(
        {
            "usr/bin/hello": make_elf(needed=["liba.so"]),
            f"{LIB}/liba.so": make_elf()[:70],
        }
    )
    assert unresolved(found) == {"liba.so": "unreadable"}


def test_broken_plugin_is_guessed_like_any_other_file() -> None:
    driver = f"{LIB}/dri/swrast_dri.so"
    found = guess(
        {
            "usr/bin/hello": make_elf(needed=["libgtk-4.so.1"]),
            f"{LIB}/libgtk-4.so.1": make_elf(),
            driver: make_elf()[:70],
        }
    )
    assert driver in paths(found)


def test_command_that_links_to_itself_is_missing() -> None:
    found = guess({}, links={"usr/bin/hello": "other", "usr/bin/other": "hello"})
    assert paths(found) == set()
    assert unresolved(found) == {"usr/bin/hello": "missing"}


def test_directory_that_links_to_itself_is_no_end() -> None:
    found = guess(
        {"usr/bin/hello": make_elf(needed=["liba.so"])}, links={LIB: ".", "lib": "lib"}
    )
    assert unresolved(found) == {"liba.so": "missing"}


@pytest.mark.parametrize(
    "script",
    [b"#!/usr/bin/gforth\nbye\n", b"#!/opt/own/interpreter -x\n", b"#!\n", b"#!/"],
)
def test_script_in_an_unknown_language_may_read_anything(script: bytes) -> None:
    found = guess({"usr/bin/hello": script, "usr/share/data": bytes(10_000_000)})
    assert "usr/bin/hello" in paths(found)
    if script.startswith(b"#!/"):
        blind = built_in_priors().references[NO_WINDOWS].read_share
        assert found.read_share.low <= blind.low < 1 < blind.high
        assert found.read_share.high >= blind.high
        assert found.basis is not None
        assert found.basis.kind == UNKNOWN


def test_python_package_with_a_syntax_error_is_followed_as_far_as_it_goes() -> None:
    found = guess(
        {
            "usr/bin/hello": b"#!/usr/bin/python3\nimport a\n",
            "usr/bin/python3": make_elf(),
            f"{PYTHON}/dist-packages/a.py": b"import b\ndef (:\n\x00\xff import c",
            f"{PYTHON}/dist-packages/b.py": b"\xff\xfe\x00",
        }
    )
    assert f"{PYTHON}/dist-packages/b.py" in paths(found)


def test_of_ten_thousand_plugins_some_are_followed() -> None:
    plugins = {
        f"{LIB}/gio/modules/lib{number}.so": make_elf() for number in range(10_000)
    }
    found = guess(
        {
            "usr/bin/hello": make_elf(needed=["libgio-2.0.so.0"]),
            f"{LIB}/libgio-2.0.so.0": make_elf(),
            **plugins,
        }
    )
    assert len(paths(found)) == 2 + MAX_FAMILY_FILES


def test_scripts_that_start_more_and_more_end() -> None:
    files = {
        f"usr/bin/p{number}": b"#!/bin/sh\nexec $SNAP/usr/bin/p%d\n" % (number + 1)
        for number in range(10 * MAX_PROGRAMS)
    }
    found = guess({**files, "usr/bin/hello": b"#!/bin/sh\nexec $SNAP/usr/bin/p0\n"})
    assert len(paths(found)) <= MAX_PROGRAMS + 2


def test_huge_script_is_read_in_part() -> None:
    text = b"#!/bin/sh\n" + b"# \n" * SCRIPT_MAX_BYTES + b"exec $SNAP/usr/bin/other\n"
    found = guess({"usr/bin/hello": text, "usr/bin/other": make_elf()})
    (other,) = (file for file in found.files if file.path == "usr/bin/other")
    assert other.shares == (UNREACHED_SMALL_SHARE,)


@settings(max_examples=60)
@given(
    st.dictionaries(
        st.sampled_from(
            [
                "usr/bin/python3",
                "usr/bin/node",
                "usr/bin/ruby",
                "usr/bin/perl",
                f"{LIB}/girepository-1.0/Gtk-3.0.typelib",
                f"{PYTHON}/dist-packages/gi/__init__.py",
                f"{LIB}/dri/swrast_dri.so",
                "usr/share/hello/package.json",
            ]
        ),
        st.binary(max_size=200) | st.just(make_elf(needed=["libgtk-4.so.1"])),
    ),
    st.sampled_from(["python3", "node", "ruby", "perl", "sh"]),
    st.binary(max_size=200),
)
def test_no_content_is_an_error(
    files: dict[str, bytes], interpreter: str, text: bytes
) -> None:
    script = b"#!/usr/bin/" + interpreter.encode() + b"\n" + text
    found = guess(
        {**files, "usr/bin/hello": script, f"{LIB}/libgtk-4.so.1": make_elf()}
    )
    assert "usr/bin/hello" in paths(found)
    assert all(0 < share <= 1 for file in found.files for share in file.shares)


def blind_spots(files: dict[str, bytes], command: str) -> tuple[BlindSpot, ...]:
    return guessed(files, command).blind_spots


@pytest.mark.parametrize("text", [b"\x7fELF", b"#!/bin/sh\nexec $SNAP/bin/other\n"])
def test_program_that_is_followed_leaves_none(text: bytes) -> None:
    files = {"bin/hello": text, "bin/other": make_elf()}
    assert blind_spots(files, "bin/hello") == ()


@pytest.mark.parametrize("interpreter", ["python3.12", "perl", "ruby3.1", "nodejs"])
def test_language_that_is_followed_is_none(interpreter: str) -> None:
    files = {"bin/hello": f"#!/usr/bin/env {interpreter}\n".encode()}
    assert blind_spots(files, "bin/hello") == ()


@pytest.mark.parametrize(
    "interpreter", ["befunge", "Rscript", "wish8.6", "expect", "lua5.4", "escript"]
)
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
    monkeypatch.setattr(linkage, "MOST_REMOTE_FILES", 2)
    names = ("a", "b", "c", "d")
    files = {f"lib/lib{name}.so.1": make_elf() for name in names}
    needed = [f"lib{name}.so.1" for name in names[:3]]
    files["bin/hello"] = make_elf(needed=needed)
    files["lib/libc.so.1"] = make_elf(needed=["libd.so.1"])
    assert blind_spots(files, "bin/hello") == ()
    monkeypatch.setattr(MemoryPayload, "is_remote", True)
    candidates = guessed(files, "bin/hello")
    (spot,) = candidates.blind_spots
    assert (spot.reason, spot.what) == ("limit-reached", "libraries")
    assert {file.entry.path for file in candidates.files} == {*files} - {
        "lib/libd.so.1"
    }
    assert candidates.blindness == "modules"


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

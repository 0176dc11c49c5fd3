"""The launch set guessed from files."""

from collections.abc import Mapping
from dataclasses import replace

import pytest

from elf_files import make_elf
from payloads import make_payload
from snapcraft_compression_advisor.core.units import Interval
from snapcraft_compression_advisor.launch.guess.families import PROGRAM
from snapcraft_compression_advisor.launch.guess.guess import static_launch_set
from snapcraft_compression_advisor.launch.guess.priors import (
    UNKNOWN_FILE_SHARE,
    UNKNOWN_SHARE,
    Counts,
    Priors,
    built_in_priors,
)
from snapcraft_compression_advisor.launch.launch_set import LaunchSet

BLOCK = 128 * 1024
NOTHING_KNOWN = Priors(
    files=Counts(),
    blocks=Counts(),
    read_share=Interval(low=0.5, mid=1.0, high=2.0),
    seek_share=Interval(low=0.5, mid=1.0, high=2.0),
    unseen_share=Interval(low=0.5, mid=1.0, high=2.0),
    kinds={PROGRAM: ()},
)


def launch_set(
    files: dict[str, bytes],
    *,
    links: dict[str, str] | None = None,
    command: str = "bin/hello",
    keys: Mapping[str, object] | None = None,
    priors: Priors | None = None,
) -> LaunchSet:
    payload = make_payload(
        files, links=links, apps={"hello": {"command": command, **(keys or {})}}
    )
    return static_launch_set(payload, "hello", priors=priors)


def paths(found: LaunchSet) -> list[str]:
    return [file.path for file in found.files]


def test_command_and_its_libraries_are_read_and_no_other_file() -> None:
    found = launch_set(
        {
            "bin/hello": make_elf(needed=["liba.so"], padding_bytes=BLOCK),
            "lib/liba.so": make_elf(),
            "share/data": b"x",
        }
    )
    assert paths(found) == ["bin/hello", "lib/liba.so"]
    assert found.data_blocks == 3
    assert found.source == "static"


def test_each_block_is_expected_by_the_share_of_its_class() -> None:
    blocks = Counts()
    blocks.add("linking", read=10_000, counted=10_000)
    blocks.add("text 1 behind linking", read=0, counted=10_000)
    found = launch_set(
        {"bin/hello": make_elf(padding_bytes=2 * BLOCK)},
        priors=replace(NOTHING_KNOWN, blocks=blocks),
    )
    (hello,) = found.files
    opened = UNKNOWN_FILE_SHARE
    assert hello.blocks == ((0, 0), (2, 2))
    assert hello.shares == pytest.approx((opened, opened * UNKNOWN_SHARE), abs=0.01)
    assert hello.expected_blocks == pytest.approx(1.5 * opened, abs=0.02)


def test_interpreter_of_a_script_is_found_in_the_payload() -> None:
    found = launch_set(
        {
            "bin/hello": b"#!/usr/bin/env python3\nimport os\n",
            "usr/bin/python3.12": make_elf(needed=["libpython.so"]),
            "usr/lib/libpython.so": make_elf(),
        },
        links={"usr/bin/python3": "python3.12"},
    )
    assert paths(found) == ["bin/hello", "usr/bin/python3.12", "usr/lib/libpython.so"]


def test_interpreter_of_the_base_is_listed_as_such() -> None:
    found = launch_set({"bin/hello": b"#!/usr/bin/python3\n"})
    assert [(u.name, u.needed_by, u.supplier) for u in found.unresolved] == [
        ("/usr/bin/python3", "bin/hello", "base")
    ]


def test_arguments_that_name_files_are_read() -> None:
    found = launch_set(
        {"bin/node": make_elf(), "app/main.js": b"x", "other.js": b"x"},
        command="bin/node $SNAP/app/main.js --flag other",
    )
    assert paths(found) == ["app/main.js", "bin/node"]


def test_library_path_of_the_environment_is_searched() -> None:
    found = launch_set(
        {"bin/hello": make_elf(needed=["liba.so"]), "opt/liba.so": make_elf()},
        keys={"environment": {"LD_LIBRARY_PATH": "$SNAP/opt"}},
    )
    assert paths(found) == ["bin/hello", "opt/liba.so"]


def test_command_that_is_not_shipped_is_missing_and_names_nothing() -> None:
    found = launch_set({"bin/other": make_elf()})
    assert found.files == ()
    assert [(u.name, u.supplier) for u in found.unresolved] == [
        ("bin/hello", "missing")
    ]


def test_command_with_an_open_quote_is_taken_word_by_word() -> None:
    assert paths(launch_set({"bin/hello": make_elf()}, command="bin/hello 'x")) == [
        "bin/hello"
    ]


@pytest.mark.parametrize("text", [b"#!/usr/bin/perl\n", b"#!/bin/sh\nexec something\n"])
def test_script_that_cannot_be_followed_may_read_the_whole_payload(text: bytes) -> None:
    found = launch_set(
        {"bin/hello": text, "lib/data": bytes(99 * BLOCK)}, priors=NOTHING_KNOWN
    )
    expected = sum(file.expected_blocks for file in found.files)
    assert found.read_share.high == pytest.approx(100 / expected)


def test_read_share_of_a_program_is_that_of_the_applications_left_out() -> None:
    found = launch_set(
        {"bin/hello": make_elf(padding_bytes=BLOCK), "x": bytes(99 * BLOCK)}
    )
    assert found.read_share == built_in_priors().spread_of("plain program")


def test_read_share_never_exceeds_the_payload() -> None:
    many = Interval(low=0.5, mid=1.0, high=1000.0)
    found = launch_set(
        {"bin/hello": make_elf(), "x": b"1"},
        priors=replace(NOTHING_KNOWN, read_share=many),
    )
    expected = sum(file.expected_blocks for file in found.files)
    assert found.read_share.high == pytest.approx(2 / expected)


def test_seeks_are_no_more_than_there_are_files() -> None:
    found = launch_set(
        {"bin/hello": b"#!/usr/bin/perl\n", "data": bytes(999 * BLOCK)},
        priors=NOTHING_KNOWN,
    )
    assert found.read_share.high > 500
    assert found.seek_share.high == NOTHING_KNOWN.seek_share.high == 2


@pytest.mark.parametrize(
    ("interpreter", "missing"),
    [
        ("/root/parts/app/install/bin/python3", True),
        ("/home/me/venv/bin/python3", True),
        ("/usr/bin/python3", False),
        ("/usr/bin/env python3", False),
    ],
)
def test_script_for_an_interpreter_where_it_was_built_cannot_start(
    interpreter: str, *, missing: bool
) -> None:
    script = f"#!{interpreter}\n".encode()
    found = launch_set({"bin/hello": script, "bin/python3": make_elf()})
    assert found.missing_program == (interpreter if missing else None)


def test_content_snap_may_supply_libraries() -> None:
    payload = make_payload(
        {"bin/hello": make_elf(needed=["libgtk-4.so.1"])},
        apps={"hello": {"command": "bin/hello"}},
        plugs={"gnome": {"interface": "content"}},
    )
    unresolved = static_launch_set(payload, "hello").unresolved
    assert [(each.name, each.needed_by) for each in unresolved] == [
        ("gnome", "plug gnome"),
        ("libgtk-4.so.1", "bin/hello"),
    ]
    assert {each.supplier for each in unresolved} == {"base or content snap"}


def test_snap_of_a_desktop_extension_is_followed_through_its_command_chain() -> None:
    payload = make_payload(
        {
            "usr/bin/hello": make_elf(needed=["libgtk-4.so.1", "libown.so"]),
            "usr/lib/x86_64-linux-gnu/libown.so": make_elf(),
            "snap/command-chain/desktop-launch": b"#!/bin/bash\n"
            b'. "$SNAP/snap/command-chain/run"\n'
            b'export PATH="$SNAP/gnome-platform/usr/bin:$PATH"\nexec "$@"\n',
            "snap/command-chain/run": b"#!/bin/sh\n$SNAP/bin/prepare\n",
            "bin/prepare": make_elf(),
            "usr/share/glib-2.0/schemas/gschemas.compiled": b"x",
        },
        apps={
            "hello": {
                "command": "usr/bin/hello",
                "command-chain": ["snap/command-chain/desktop-launch"],
            }
        },
        plugs={
            "gnome-46-2404": {
                "interface": "content",
                "target": "$SNAP/gnome-platform",
                "default-provider": "gnome-46-2404",
            }
        },
    )
    found = static_launch_set(payload, "hello")
    assert paths(found) == sorted(payload.files)
    assert {each.name for each in found.unresolved} >= {
        "gnome-46-2404",
        "libgtk-4.so.1",
    }
    assert found.basis is not None
    assert found.basis.kind == "GTK 4"


def test_layout_brings_an_absolute_path_into_the_payload() -> None:
    payload = make_payload(
        {"bin/hello": b"#!/opt/run/python\n", "run/python": make_elf()},
        apps={"hello": {"command": "bin/hello"}},
        layout={"/opt/run": {"bind": "$SNAP/run"}},
    )
    assert "run/python" in paths(static_launch_set(payload, "hello"))

"""The launch set guessed from files."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from elf_files import make_elf
from payloads import make_payload
from snapcraft_compression_advisor.launch.launch_set import (
    READ_SHARE,
    LaunchFile,
    LaunchSet,
    static_launch_set,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

BLOCK = 128 * 1024


def launch_set(
    files: dict[str, bytes],
    *,
    links: dict[str, str] | None = None,
    command: str = "bin/hello",
    keys: Mapping[str, object] | None = None,
) -> LaunchSet:
    payload = make_payload(
        files, links=links, apps={"hello": {"command": command, **(keys or {})}}
    )
    return static_launch_set(payload, "hello")


def paths(found: LaunchSet) -> list[str]:
    return [file.path for file in found.files]


def test_command_and_its_libraries_are_read_whole() -> None:
    found = launch_set(
        {
            "bin/hello": make_elf(needed=["liba.so"], padding_bytes=BLOCK),
            "lib/liba.so": make_elf(),
            "share/data": b"x",
        }
    )
    assert paths(found) == ["bin/hello", "lib/liba.so"]
    assert found.files[0].blocks == ((0, 1),)
    assert found.data_blocks == 3
    assert found.source == "static"


def test_command_chain_is_followed() -> None:
    found = launch_set(
        {
            "bin/hello": make_elf(),
            "snap/command-chain/run": b'#!/bin/sh\nexec "$SNAP/bin/prepare" "$@"',
            "bin/prepare": make_elf(),
        },
        keys={"command-chain": ["snap/command-chain/run"]},
    )
    assert paths(found) == ["bin/hello", "bin/prepare", "snap/command-chain/run"]


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


def test_wrapper_of_a_distribution_package_leads_to_its_program() -> None:
    found = launch_set(
        {
            "usr/bin/browser": b"#!/bin/sh\nDIR=/usr/lib/browser\nexec $DIR/browser",
            "usr/lib/browser/browser": make_elf(),
        },
        command="usr/bin/browser",
    )
    assert paths(found) == ["usr/bin/browser", "usr/lib/browser/browser"]


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


def test_scripts_that_start_each_other_end() -> None:
    found = launch_set(
        {
            "bin/hello": b"#!/bin/sh\n$SNAP/bin/again",
            "bin/again": b"#!/bin/sh\n$SNAP/bin/hello",
        }
    )
    assert paths(found) == ["bin/again", "bin/hello"]


@pytest.mark.parametrize(
    "text", [b"#!/usr/bin/python3\n", b"#!/bin/sh\nexec something\n"]
)
def test_script_that_cannot_be_followed_may_read_the_whole_payload(text: bytes) -> None:
    found = launch_set({"bin/hello": text, "lib/data": bytes(BLOCK)})
    assert found.read_share.high == pytest.approx((len(text) + BLOCK) / len(text))


def test_read_share_never_exceeds_the_payload() -> None:
    found = launch_set({"bin/hello": make_elf(padding_bytes=BLOCK), "x": b"1" * 10})
    assert READ_SHARE.high > found.read_share.high > 1


def test_seeks_are_no_more_than_there_are_files() -> None:
    found = launch_set({"bin/hello": b"#!/usr/bin/perl\n", "data": bytes(BLOCK)})
    assert found.read_share.high > 1000
    assert found.seek_share.high == 2


def test_content_snap_may_supply_libraries() -> None:
    payload = make_payload(
        {"bin/hello": make_elf(needed=["libgtk-4.so.1"])},
        apps={"hello": {"command": "bin/hello"}},
        plugs={"gnome": {"interface": "content"}},
    )
    assert static_launch_set(payload, "hello").unresolved[0].supplier == (
        "base or content snap"
    )


def test_bare_base_supplies_nothing() -> None:
    payload = make_payload(
        {"bin/hello": make_elf(needed=["libgtk-4.so.1"])},
        base="bare",
        apps={"hello": {"command": "bin/hello"}},
    )
    assert static_launch_set(payload, "hello").unresolved[0].supplier == "missing"


def test_block_ranges_include_both_ends() -> None:
    assert LaunchFile(path="x", size_bytes=9, blocks=((0, 0), (3, 5))).block_count == 4

"""``meta/snap.yaml``."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from image_bombs import yamls
from snapcraft_compression_advisor.core.errors import BadDataError
from snapcraft_compression_advisor.payload.snap_yaml import (
    SNAP_YAML_MAX_BYTES,
    parse_snap_yaml,
)

SNAP_YAML = b"""
name: hello
version: '1'
base: core24
confinement: strict
environment:
  LD_LIBRARY_PATH: $SNAP/usr/lib
  NOTHING: null
  NUMBER: 1
apps:
  hello:
    command: usr/bin/hello --world
    command-chain: [snap/command-chain/desktop-launch]
    plugs: [network]
  daemon:
    command: usr/bin/daemon
    daemon: simple
plugs:
  network: null
  other: home
  gnome-46-2404:
    interface: content
    target: $SNAP/gnome-platform
    default-provider: gnome-46-2404
layout:
  /usr/share/x:
    bind: $SNAP/usr/share/x
"""


def test_apps_base_and_plugs_are_read() -> None:
    snap = parse_snap_yaml(SNAP_YAML, where="snap.yaml")
    assert (snap.name, snap.base_name, snap.type) == ("hello", "core24", "app")
    assert snap.apps["hello"].command == "usr/bin/hello --world"
    assert snap.apps["hello"].command_chain == ("snap/command-chain/desktop-launch",)
    assert snap.apps["daemon"].daemon == "simple"
    assert snap.environment == {"LD_LIBRARY_PATH": "$SNAP/usr/lib", "NUMBER": "1"}
    assert snap.plugs["other"].interface == "home"
    assert snap.plugs["gnome-46-2404"].default_provider == "gnome-46-2404"


def test_app_without_base_runs_on_core() -> None:
    assert parse_snap_yaml(b"name: old", where="x").base_name == "core"


def test_base_snap_has_no_base() -> None:
    assert parse_snap_yaml(b"name: core99\ntype: base", where="x").base_name == "none"


def test_empty_sections_count_as_none() -> None:
    snap = parse_snap_yaml(b"name: a\napps:\nplugs:\nenvironment:\n", where="x")
    assert (snap.apps, snap.plugs, snap.environment) == ({}, {}, {})


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"[]",
        b"name: [",
        b"name: x\n\tapps: 1",
        b"version: 1",
        b"name: x\napps: [a]",
        b"name: x\napps: {a: {command: [1]}}",
        b"\xff\xfe\x00",
        b"\x00",
        b"name: x\nname: y",
        b"&a [*a, *a]",
        b"[" * 5000,
        b"#" * (SNAP_YAML_MAX_BYTES + 1),
        *(yaml for name, yaml in yamls() if not name.endswith("-allowed")),
    ],
)
def test_what_is_no_snap_yaml_is_bad_data(text: bytes) -> None:
    with pytest.raises(BadDataError, match=r"prime/meta/snap\.yaml") as caught:
        parse_snap_yaml(text, where="prime/meta/snap.yaml")
    assert caught.value.resolution


@given(st.binary(max_size=200) | st.text(max_size=200).map(str.encode))
def test_any_bytes_parse_or_are_bad_data(text: bytes) -> None:
    try:
        snap = parse_snap_yaml(b"name: x\napps: " + text, where="x")
    except BadDataError:
        return
    assert snap.name

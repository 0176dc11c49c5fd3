"""Metadata of snaps and components, and their target apps."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from image_bombs import yamls
from payloads import MemoryPayload, make_payload
from real_payloads import fill_component
from snapcraft_compression_advisor.core.errors import (
    BadDataError,
    NoInputError,
    UsageError,
)
from snapcraft_compression_advisor.launch.launch_set import select_apps
from snapcraft_compression_advisor.payload import snap_yaml
from snapcraft_compression_advisor.payload.snap_yaml import (
    COMPONENT_TYPE,
    SNAP_YAML_MAX_BYTES,
    parse_component_yaml,
    split_component_name,
)
from snapcraft_compression_advisor.payload.source import open_payload

parse_snap_yaml = snap_yaml.SNAP_YAML.parse_yaml
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


def test_snap_without_base_runs_on_core_or_is_a_base() -> None:
    assert parse_snap_yaml(b"name: old", where="x").base_name == "core"
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


def test_a_component_has_its_whole_name_and_neither_apps_nor_base() -> None:
    text = b"component: editor+fonts\ntype: standard\nversion: 1.0\n"
    metadata = parse_component_yaml(text, where="c")
    assert (metadata.name, metadata.type) == ("editor+fonts", COMPONENT_TYPE)
    assert (metadata.base_name, metadata.apps) == ("none", {})


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"component: editor\n",
        b"component: editor+\n",
        b"component: +fonts\n",
        b"component: a+b+c\n",
        b"component: ../a+b\n",
        b"component: [a+b]\n",
        b"- component: a+b\n",
        b"component: {",
        b"\xff\xfe\x00",
        b"[" * 100_000,
        b"component: a+b\n" + b"#" * SNAP_YAML_MAX_BYTES,
    ],
)
def test_what_names_no_component_is_refused(text: bytes) -> None:
    with pytest.raises(BadDataError, match=r"'x\.comp/meta' doesn't name"):
        parse_component_yaml(text, where="x.comp/meta")


@pytest.mark.parametrize("name", ["editor", "a+", "+b", "a+b+c", "a b+c"])
def test_other_names_are_those_of_snaps(name: str) -> None:
    assert split_component_name(name) == (name, None)


def test_a_directory_with_component_yaml_is_a_component(tmp_path: Path) -> None:
    with open_payload(fill_component(tmp_path / "c")) as payload:
        assert (payload.snap.name, payload.kind) == ("sample+texts", "prime")
        assert payload.read("text", offset=0, length=6) == b"line 0"


def test_a_directory_with_both_files_is_a_snap(tmp_path: Path) -> None:
    folder = fill_component(tmp_path / "c")
    (folder / "meta/snap.yaml").write_text("name: sample\nbase: core24\n")
    with open_payload(folder) as payload:
        assert (payload.snap.name, payload.snap.type) == ("sample", "app")


def test_a_directory_with_neither_is_refused(tmp_path: Path) -> None:
    (tmp_path / "meta").mkdir()
    (tmp_path / "meta/component.yaml").symlink_to("elsewhere")
    with (
        pytest.raises(NoInputError, match=r"it has no meta/snap\.yaml"),
        open_payload(tmp_path),
    ):
        pass


def make(*apps: str, files: tuple[str, ...] = (), desktop: str = "") -> MemoryPayload:
    snap_apps = {
        app: {"command": f"bin/{app}", **({"desktop": "x"} if app == desktop else {})}
        for app in apps
    }
    return make_payload(dict.fromkeys(files, b"x"), apps=snap_apps)


def select(payload: MemoryPayload, *requested: str) -> tuple[str, ...]:
    return select_apps(payload.snap, payload.inventory, requested=requested)[0]


def test_requested_apps_count_in_their_order_once() -> None:
    assert select(make("hello", "a", "b"), "b", "a", "b") == ("b", "a")


def test_app_with_the_name_of_the_snap_counts() -> None:
    payload = make("a", "hello", desktop="a")
    assert select(payload) == ("hello",)
    assert "named after the snap" in select_apps(payload.snap, payload.inventory)[1]


def test_else_apps_with_a_desktop_file_count_else_all() -> None:
    assert select(make("a", "b", "c", desktop="b")) == ("b",)
    assert select(make("a", "b", files=("meta/gui/b.desktop",))) == ("b",)
    assert select(make("a", "b")) == ("a", "b")
    assert select(make()) == ()


def test_unknown_app_is_a_usage_error_that_names_the_others() -> None:
    with pytest.raises(UsageError, match="no app 'helo'") as caught:
        select(make("hello", "other"), "helo")
    assert (
        str(caught.value.resolution) == "Did you mean 'hello'? Its apps: hello, other."
    )

"""Components as payloads."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from component_payloads import fill_component
from snapcraft_compression_advisor.core.errors import BadDataError, NoInputError
from snapcraft_compression_advisor.payload.snap_yaml import (
    COMPONENT_TYPE,
    SNAP_YAML_MAX_BYTES,
    parse_component_yaml,
    split_component_name,
)
from snapcraft_compression_advisor.payload.source import open_payload

if TYPE_CHECKING:
    from pathlib import Path


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

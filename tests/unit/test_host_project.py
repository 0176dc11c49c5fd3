"""What the advisor reads of the project that is packed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from snapcraft_compression_advisor.core.errors import BadDataError, NoInputError
from snapcraft_compression_advisor.host.project import raw_parts, read_host_project
from snapcraft_compression_advisor.payload.source import (
    ComponentDirectory,
    component_name,
)

if TYPE_CHECKING:
    from pathlib import Path

PLUGIN = "compression-advisor"


def test_a_folder_without_a_project_says_nothing(tmp_path: Path) -> None:
    project = read_host_project(tmp_path)
    assert project.file is None
    assert project.says is None


def test_the_project_file_is_named_as_people_do(tmp_path: Path) -> None:
    (tmp_path / "snap").mkdir()
    (tmp_path / "snap" / "snapcraft.yaml").write_text("name: hello\ncompression: lzo\n")
    project = read_host_project(tmp_path)
    assert project.file == tmp_path / "snap" / "snapcraft.yaml"
    assert project.says is not None
    assert str(project.says.path) == "snap/snapcraft.yaml"
    assert project.says.compression == "lzo"


def test_apps_with_the_extension_make_a_part() -> None:
    parts = raw_parts(
        {
            "apps": {
                "b": {"extensions": [PLUGIN]},
                "a": {"extensions": ["gnome", PLUGIN]},
                "c": {"extensions": ["gnome"]},
            },
            "parts": {"files": {"plugin": "dump"}},
        }
    )
    assert parts[f"{PLUGIN}/settings"] == {
        "plugin": PLUGIN,
        f"{PLUGIN}-apps": ["b", "a"],
    }


def test_apps_with_the_extension_come_first_in_a_part_that_is_there() -> None:
    parts = raw_parts(
        {
            "apps": {"a": {"extensions": [PLUGIN]}},
            "parts": {"ours": {"plugin": PLUGIN, f"{PLUGIN}-apps": ["c", "a"]}},
        }
    )
    assert parts == {"ours": {"plugin": PLUGIN, f"{PLUGIN}-apps": ["a", "c"]}}


@pytest.mark.parametrize(
    "document",
    [{}, {"parts": None}, {"parts": ["a"], "apps": 3}, {"apps": {"a": None}}],
)
def test_what_is_no_project_has_no_parts(document: dict[str, object]) -> None:
    assert raw_parts(document) == {}


def test_a_component_is_named_by_its_metadata(tmp_path: Path) -> None:
    (tmp_path / "meta").mkdir()
    (tmp_path / "meta" / "component.yaml").write_text("component: hello+more\n")
    assert component_name(tmp_path) == "more"


@pytest.mark.parametrize(
    "text", ["component: hello", "component: hello+", "- a", "a: ["]
)
def test_metadata_that_names_no_component_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "meta").mkdir()
    (tmp_path / "meta" / "component.yaml").write_text(text)
    with pytest.raises(BadDataError):
        component_name(tmp_path)


def test_a_directory_without_metadata_is_no_component(tmp_path: Path) -> None:
    with pytest.raises(NoInputError):
        component_name(tmp_path)


def test_a_component_has_files_and_no_apps(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("some")
    payload = ComponentDirectory(tmp_path, name="more")
    assert payload.snap.apps == {}
    assert payload.snap.name == "more"
    assert payload.read("data", offset=1, length=2) == b"om"

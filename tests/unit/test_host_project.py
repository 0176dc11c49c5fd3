"""The project that the host packs, its part and its extension."""

from __future__ import annotations

import copy
import importlib
from pathlib import Path
from typing import Any

import pydantic
import pytest

from host_doubles import install_snapcraft
from snapcraft_compression_advisor.core.errors import BadDataError, NoInputError
from snapcraft_compression_advisor.host.project import (
    AdvisorPluginProperties,
    raw_parts,
    read_host_project,
)
from snapcraft_compression_advisor.payload.source import (
    DirectoryPayload,
    component_name,
)
from snapcraft_compression_advisor.settings.load import PLUGIN, SETTINGS
from trees import fill


def test_a_folder_without_a_project_says_nothing(tmp_path: Path) -> None:
    project = read_host_project(tmp_path)
    assert project.file is None
    assert project.says is None


def test_the_project_file_is_named_as_people_do(tmp_path: Path) -> None:
    fill(tmp_path, {"snap/snapcraft.yaml": "name: hello\ncompression: lzo\n"})
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
    fill(tmp_path, {"meta/component.yaml": "component: hello+more\n"})
    assert component_name(tmp_path) == "more"


@pytest.mark.parametrize(
    "text", ["component: hello", "component: hello+", "- a", "a: ["]
)
def test_metadata_that_names_no_component_is_refused(tmp_path: Path, text: str) -> None:
    fill(tmp_path, {"meta/component.yaml": text})
    with pytest.raises(BadDataError):
        component_name(tmp_path)


def test_a_directory_without_metadata_is_no_component(tmp_path: Path) -> None:
    with pytest.raises(NoInputError):
        component_name(tmp_path)


def test_a_component_has_files_and_no_apps(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("some")
    payload = DirectoryPayload(tmp_path, component="more")
    assert payload.snap.apps == {}
    assert payload.snap.name == "more"
    assert payload.read("data", offset=1, length=2) == b"om"


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> type[Any]:
    install_snapcraft(monkeypatch)
    name = "snapcraft_compression_advisor.host.snapcraft_classes"
    found: type[Any] = importlib.import_module(name).CompressionAdvisorExtension
    return found


def apply(made: type[Any], document: dict[str, Any], apps: set[str]) -> None:
    """Apply an extension as snapcraft does, order included."""
    extension = made(
        yaml_data=copy.deepcopy(document), arch="amd64", target_arch="amd64"
    )
    assert all(name.startswith(f"{PLUGIN}/") for name in extension.get_parts_snippet())
    assert extension.get_root_snippet() == {}
    for app in apps:
        assert extension.get_app_snippet(app_name=app) == {}
    for part in document["parts"].values():
        for key, value in extension.get_part_snippet(
            plugin_name=part["plugin"]
        ).items():
            part[key] = [*value, *part.get(key, [])]
    document["parts"].update(extension.get_parts_snippet())


def test_it_adds_a_part_with_the_marked_apps_in_order(
    made: type[Any],
) -> None:
    document = {
        "apps": {"b": {}, "a": {}, "c": {}},
        "parts": {"files": {"plugin": "dump"}},
    }
    apply(made, document, {"a", "b"})
    assert document["parts"] == {
        "files": {"plugin": "dump"},
        f"{PLUGIN}/settings": {"plugin": PLUGIN, f"{PLUGIN}-apps": ["b", "a"]},
    }


def test_it_adds_to_the_part_that_is_there(made: type[Any]) -> None:
    document = {"apps": {"a": {}}, "parts": {"ours": {"plugin": PLUGIN}}}
    apply(made, document, {"a"})
    assert document["parts"] == {"ours": {"plugin": PLUGIN, f"{PLUGIN}-apps": ["a"]}}


def test_on_core22_the_yaml_as_written_comes_to_the_same(
    made: type[Any],
) -> None:
    document: dict[str, Any] = {
        "apps": {"b": {}, "a": {}},
        "parts": {"files": {"plugin": "dump"}},
    }
    written = copy.deepcopy(document)
    for app in written["apps"].values():
        app["extensions"] = [PLUGIN]
    apply(made, document, {"a", "b"})
    assert raw_parts(written) == document["parts"]


def test_it_has_a_property_for_every_setting() -> None:
    properties = set(AdvisorPluginProperties.model_properties())
    assert properties >= {f"{PLUGIN}-{key}" for key in SETTINGS}
    assert len(properties - {"plugin", "source"}) == len(SETTINGS)


def test_it_takes_valid_settings_and_leaves_other_keys_alone() -> None:
    AdvisorPluginProperties.unmarshal(
        {"plugin": PLUGIN, "after": ["files"], f"{PLUGIN}-mode": "apply"}
    )


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("mode", "aply", "'advise', 'apply', 'write' or 'enforce'"),
        ("mod", "apply", "did you mean 'mode'?"),
        ("max-size-growth", 3, "3 isn't a number with a unit"),
        ("max-cold-start", {"hdd-laptop": "fast"}, "'fast' isn't a number"),
    ],
)
def test_it_refuses_broken_settings_in_the_words_of_the_model(
    key: str, value: object, said: str
) -> None:
    with pytest.raises(pydantic.ValidationError) as raised:
        AdvisorPluginProperties.unmarshal({"plugin": PLUGIN, f"{PLUGIN}-{key}": value})
    assert said in str(raised.value)
    assert f"{PLUGIN}-{key}" in str(raised.value)

"""The extension ``compression-advisor``, against a double of snapcraft's."""

from __future__ import annotations

import copy
import importlib
from typing import Any

import pytest

from host_doubles import install_snapcraft
from snapcraft_compression_advisor.host.project import raw_parts

PLUGIN = "compression-advisor"


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> type[Any]:
    install_snapcraft(monkeypatch)
    name = "snapcraft_compression_advisor.host.extension"
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


def test_it_supports_every_base_with_a_pack_hook(made: type[Any]) -> None:
    assert made.get_supported_bases() == ("core22", "core24", "core26")
    assert "classic" in made.get_supported_confinement()
    assert not made.is_experimental("core24")

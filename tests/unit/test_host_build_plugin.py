"""The build plugin ``compression-advisor``."""

from __future__ import annotations

import pydantic
import pytest

from snapcraft_compression_advisor.host.build_plugin import (
    AdvisorPlugin,
    AdvisorPluginProperties,
)
from snapcraft_compression_advisor.settings.load import (
    PLUGIN,
    SETTINGS,
)


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
        ("max-size-growth", 3, "3 has no unit"),
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


def test_a_setting_makes_nothing_build_again() -> None:
    assert AdvisorPluginProperties.get_build_properties() == []


def test_it_builds_nothing() -> None:
    plugin = AdvisorPlugin.__new__(AdvisorPlugin)
    assert plugin.get_build_commands() == []
    assert plugin.get_build_environment() == {}
    assert plugin.get_build_packages() == set()
    assert plugin.get_build_snaps() == set()

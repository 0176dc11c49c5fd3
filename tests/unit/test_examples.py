"""The example projects, as far as they can be tried without snapcraft."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from snapcraft_compression_advisor.host.project import (
    raw_parts,
    read_host_project,
    read_settings,
)
from snapcraft_compression_advisor.settings.lint_policy import LintPolicy

EXAMPLES = Path(__file__).parents[2] / "examples"
MODES = {
    "advise": "advise",
    "apply": "apply",
    "enforce": "enforce",
    "extension": "apply",
    "write": "write",
}


def test_every_example_is_known_here() -> None:
    folders = {path.name for path in EXAMPLES.iterdir() if path.is_dir()}
    assert folders == set(MODES)
    index = (EXAMPLES / "README.md").read_text()
    assert all(f"[{name}]({name})" in index for name in folders)


@pytest.mark.parametrize("name", MODES)
def test_its_settings_hold(name: str) -> None:
    folder = EXAMPLES / name
    written = (folder / "snap" / "snapcraft.yaml").read_text()
    parts = raw_parts(YAML(typ="safe", pure=True).load(written))
    settings = read_settings(folder, parts, {})
    assert settings.policy.mode == MODES[name]
    assert [profile.app for profile in settings.profiles] == ["hello"]


@pytest.mark.parametrize("name", MODES)
def test_only_one_that_enforces_declares_a_compression(name: str) -> None:
    says = read_host_project(EXAMPLES / name).says
    assert says is not None
    assert says.compression == ("lzo" if name == "enforce" else None)


def test_its_launch_reads_what_the_build_makes() -> None:
    written = (EXAMPLES / "advise" / "snap" / "snapcraft.yaml").read_text()
    found = re.search(r"i\+\+ < (\d+)\) printf \"%0(\d)d\\n", written)
    assert found is not None
    settings = read_settings(EXAMPLES / "advise", {}, {})
    (file,) = settings.profiles[0].files
    lines, digits = map(int, found.groups())
    assert (file.path, file.size) == ("share/numbers", lines * (digits + 1))


@pytest.mark.parametrize("name", MODES)
def test_it_asks_for_no_more_than_real_snaps_do(name: str) -> None:
    settings = read_settings(EXAMPLES / name, {}, {})
    assert settings.policy.min_saving == LintPolicy().min_saving
    assert settings.policy.max_launches == LintPolicy().max_launches

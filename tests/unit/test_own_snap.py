"""Projects that are shipped: the advisor's own snap and the examples."""

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from snapcraft_compression_advisor import __version__
from snapcraft_compression_advisor.host.project import (
    raw_parts,
    read_host_project,
    read_settings,
)
from snapcraft_compression_advisor.project.edit import plan_edit
from snapcraft_compression_advisor.project.project_file import (
    find_project_file,
    read_project,
)

PROJECT_DIR = Path(__file__).parents[2]


@pytest.fixture
def project() -> dict[str, Any]:
    text = find_project_file(PROJECT_DIR).read_text(encoding="utf-8")
    loaded = YAML(typ="safe", pure=True).load(text)
    assert isinstance(loaded, dict)
    return loaded


def test_its_version_is_the_package_s(project: dict[str, Any]) -> None:
    part = project["parts"][project["adopt-info"]]
    _, _, command = part["override-build"].partition('version="$(')
    run = subprocess.run(
        ["sh", "-c", command.rpartition(')"')[0]],
        cwd=PROJECT_DIR,
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stdout == f"{__version__}\n"
    assert "version" not in project


def test_its_completion_is_what_the_wheel_installs(project: dict[str, Any]) -> None:
    completer = project["apps"]["compression-advisor"]["completer"]
    assert (PROJECT_DIR / completer).is_file()
    pyproject = (PROJECT_DIR / "pyproject.toml").read_text(encoding="utf-8")
    assert f'    "{completer}",\n' in pyproject


@pytest.mark.parametrize("compression", ["xz", "lzo"])
def test_the_advisor_edits_it_in_one_line_at_most(compression: str) -> None:
    path = find_project_file(PROJECT_DIR)
    edit = plan_edit(path, compression)
    assert edit.changes == (
        read_project(path, path.read_bytes()).effective != compression
    )
    changed = [
        (before, after)
        for before, after in zip(
            edit.before.splitlines(), edit.after.splitlines(), strict=True
        )
        if before != after
    ]
    assert [after for _, after in changed] == [
        f"compression: {compression}".encode()
    ] * edit.changes


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
    loaded = read_settings(folder, parts, {})
    assert loaded.settings.mode == MODES[name]
    assert [profile.app for profile in loaded.profiles] == ["hello"]


@pytest.mark.parametrize("name", MODES)
def test_only_one_that_enforces_declares_a_compression(name: str) -> None:
    says = read_host_project(EXAMPLES / name)
    assert says is not None
    assert says.compression == ("lzo" if name == "enforce" else None)


def test_its_launch_reads_what_the_build_makes() -> None:
    written = (EXAMPLES / "advise" / "snap" / "snapcraft.yaml").read_text()
    found = re.search(r"i\+\+ < (\d+)\) printf \"%0(\d)d\\n", written)
    assert found is not None
    loaded = read_settings(EXAMPLES / "advise", {}, {})
    (file,) = loaded.profiles[0].files
    lines, digits = map(int, found.groups())
    assert (file.path, file.size) == ("share/numbers", lines * (digits + 1))
